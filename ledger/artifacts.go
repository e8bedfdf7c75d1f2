package ledger

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"writ/contract"
	"writ/envelope"
)

// Artifacts are results that were too large for an answer, each a file of its own in artifacts/, which all processes
// share. The file's name is the artifact's, random, so that it can't be guessed. Its first line is JSON and says whom it
// is for and what it is about; the text follows.
//
// What is older than artifactAge, and the oldest of what is more than artifactBytes together, is put out: an empty file
// takes its place for another while, so that who asks for it is told that it has expired.
const (
	artifactsDir   = "artifacts"
	artifactPrefix = "artifact:"
	artifactAge    = 24 * time.Hour
	artifactBytes  = 64 << 20
	artifactName   = 26 // characters of a random name
)

// Artifact is a result that was too large for an answer.
type Artifact struct {
	Caller string          // who may read it
	About  []contract.Path // the files that it tells of
	Text   string
}

// artifactHead is the first line of an artifact's file.
type artifactHead struct {
	Caller string   `json:"caller"`
	About  []string `json:"about"`
}

// KeepArtifact keeps a and returns its name, artifact:… . It does not survive a power cut for certain.
func (l *Ledger) KeepArtifact(a Artifact) (name string, err error) {
	dir := filepath.Join(l.dir, artifactsDir)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", causeOf(err)
	}
	head := artifactHead{Caller: a.Caller, About: []string{}}
	for _, p := range a.About {
		head.About = append(head.About, p.String())
	}
	line, err := json.Marshal(head)
	if err != nil {
		return "", fmt.Errorf("artifact: %w", err)
	}
	random := strings.ToLower(rand.Text()[:artifactName])
	if err := replaceFile(filepath.Join(dir, random), [][]byte{line, {'\n'}, []byte(a.Text)}); err != nil {
		return "", causeOf(err)
	}
	if err := l.expireArtifacts(dir); err != nil {
		l.log.Error("old artifacts could not be removed", "error", err)
	}
	return artifactPrefix + random, nil
}

// replaceFile puts a whole file in place at once. Who has the old one open keeps it.
func replaceFile(name string, parts [][]byte) error {
	f, err := os.CreateTemp(filepath.Dir(name), tempPrefix) // mode 0600
	if err != nil {
		return err
	}
	for _, p := range parts {
		if err == nil {
			_, err = f.Write(p)
		}
	}
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(f.Name(), name)
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return nil
}

// Artifact returns the artifact of that name, or an Error of code unknown-artifact or expired. That the caller may read
// it is for the gate to see to.
func (l *Ledger) Artifact(_ context.Context, name string) (Artifact, error) {
	random, isArtifact := strings.CutPrefix(name, artifactPrefix)
	if !isArtifact || !isRandomName(random) {
		return Artifact{}, UnknownArtifact(name)
	}
	file := filepath.Join(l.dir, artifactsDir, random)
	data, err := os.ReadFile(file)
	info, statErr := os.Stat(file)
	err = cmp.Or(err, statErr)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return Artifact{}, UnknownArtifact(name)
	case err != nil:
		return Artifact{}, causeOf(err)
	case len(data) == 0, l.clock().Sub(info.ModTime()) > artifactAge:
		return Artifact{}, envelope.Errorf(envelope.Expired, "The artifact %s is no longer kept. Ask for what you need anew: read the files.", contract.Quote(name))
	}
	line, text, _ := strings.Cut(string(data), "\n")
	var head artifactHead
	if err := json.Unmarshal([]byte(line), &head); err != nil {
		return Artifact{}, UnknownArtifact(name)
	}
	a := Artifact{Caller: head.Caller, Text: text}
	for _, about := range head.About {
		p, err := parsePathOrTop(about)
		if err != nil {
			return Artifact{}, UnknownArtifact(name)
		}
		a.About = append(a.About, p)
	}
	return a, nil
}

// UnknownArtifact is the error of a name that no artifact has, or none that the caller may know of.
func UnknownArtifact(name string) error {
	return envelope.Errorf(envelope.NoArtifact, "There is no artifact %s. Use the artifact that an earlier answer named.", contract.Quote(name))
}

func isRandomName(s string) bool {
	return len(s) == artifactName && strings.Trim(s, "abcdefghijklmnopqrstuvwxyz234567") == ""
}

// expireArtifacts puts out what is too old or too much, and removes what was put out long ago.
func (l *Ledger) expireArtifacts(dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	var kept []fs.FileInfo
	for _, e := range entries {
		if info, err := e.Info(); err == nil {
			kept = append(kept, info)
		}
	}
	slices.SortFunc(kept, func(a, b fs.FileInfo) int { return cmp.Compare(b.ModTime().UnixNano(), a.ModTime().UnixNano()) })
	var errs []error
	total := int64(0)
	for _, info := range kept { // newest first
		name, age := filepath.Join(dir, info.Name()), l.clock().Sub(info.ModTime())
		total += info.Size()
		switch {
		case info.Size() == 0 && age > artifactAge, strings.HasPrefix(info.Name(), tempPrefix) && age > time.Hour:
			errs = append(errs, os.Remove(name))
		case info.Size() == 0 || age <= artifactAge && total <= artifactBytes || strings.HasPrefix(info.Name(), tempPrefix):
		default:
			errs = append(errs, replaceFile(name, nil))
		}
	}
	return errors.Join(errs...)
}
