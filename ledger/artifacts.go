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
	"sync"
	"time"

	"writ/contract"
	"writ/envelope"
)

// Artifacts are results that were too large for an answer, each a file of its own in artifacts/, which all processes
// share. The file's name is the artifact's, random, so that it can't be guessed. Its first line is JSON and says whom it
// is for and what it is about; the text follows.
//
// What is older than artifactAge, and the oldest of what is more than the budget together or more than mostArtifacts, is
// put out: an empty file takes its place for another while, so that who asks for it is told that it has expired.
const (
	artifactsDir   = "artifacts"
	artifactPrefix = "artifact:"
	artifactAge    = 24 * time.Hour
	artifactName   = 26 // characters of a random name
	mostArtifacts  = 1000
	mostPutOut     = 10_000

	// DefaultArtifactBytes is what artifacts may take together where Options leaves it open.
	DefaultArtifactBytes = 64 << 20

	// Looking through the directory takes longer than keeping an artifact, so it is not done each time: artifacts may
	// exceed their budget by this part of it, and live on for this long.
	expireAfterKept = 32
	expirePause     = 10 * time.Minute
)

// Artifact is a result that was too large for an answer.
type Artifact struct {
	Caller string          // who may read it
	About  []contract.Path // the files that it tells of
	Names  bool            // of those files it tells no more than their names
	Clean  bool            // secrets were kept back when it was made
	Query  string          // in the place of a text: it is the notes that answer this
	Text   string
}

// artifactHead is the first line of an artifact's file.
type artifactHead struct {
	Caller string   `json:"caller"`
	About  []string `json:"about"`
	Names  bool     `json:"names,omitempty"`
	Clean  bool     `json:"clean,omitempty"`
	Query  string   `json:"query,omitempty"`
}

// artifactUse is what is known of the artifacts since the directory was looked through.
type artifactUse struct {
	mu    sync.Mutex
	at    time.Time // when it was
	bytes int64     // what is there, as far as is known
	kept  int       // since then
}

// add counts one more artifact, and tells whether it is time to look through them all.
func (u *artifactUse) add(size int, budget int64, now time.Time) bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.bytes += int64(size)
	u.kept++
	if u.bytes <= budget && u.kept < expireAfterKept && now.Sub(u.at) < expirePause {
		return false
	}
	u.at, u.kept = now, 0
	return true
}

func (u *artifactUse) found(bytes int64) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.bytes = bytes
}

// KeepArtifact keeps a and returns its name, artifact:… . It does not survive a power cut for certain.
func (l *Ledger) KeepArtifact(a Artifact) (name string, err error) {
	dir := filepath.Join(l.dir, artifactsDir)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", causeOf(err)
	}
	head := artifactHead{Caller: a.Caller, About: []string{}, Names: a.Names, Clean: a.Clean, Query: a.Query}
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
	if l.artifacts.add(len(line)+len(a.Text)+1, l.artifactBytes, l.clock()) {
		if err := l.expireArtifacts(dir); err != nil {
			l.log.Error("old artifacts could not be removed", "error", err)
		}
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
	a := Artifact{Caller: head.Caller, Names: head.Names, Clean: head.Clean, Query: head.Query, Text: text}
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

// Artifacts names those that are kept for the caller, newest first, at most so many.
func (l *Ledger) Artifacts(caller string, most int) ([]string, error) {
	dir := filepath.Join(l.dir, artifactsDir)
	files, err := artifactFiles(dir)
	if err != nil {
		return nil, causeOf(err)
	}
	var names []string
	for _, info := range files {
		if len(names) == most || l.clock().Sub(info.ModTime()) > artifactAge {
			break
		}
		if info.Size() == 0 || !isRandomName(info.Name()) {
			continue
		}
		if head, err := readHead(filepath.Join(dir, info.Name())); err == nil && head.Caller == caller {
			names = append(names, artifactPrefix+info.Name())
		}
	}
	return names, nil
}

func readHead(name string) (artifactHead, error) {
	f, err := os.Open(name)
	if err != nil {
		return artifactHead{}, err
	}
	defer f.Close()
	var head artifactHead
	return head, json.NewDecoder(f).Decode(&head)
}

// artifactFiles lists the files of the directory, newest first; none where it is not there.
func artifactFiles(dir string) ([]fs.FileInfo, error) {
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	var files []fs.FileInfo
	for _, e := range entries {
		if info, err := e.Info(); err == nil {
			files = append(files, info)
		}
	}
	slices.SortFunc(files, func(a, b fs.FileInfo) int { return cmp.Compare(b.ModTime().UnixNano(), a.ModTime().UnixNano()) })
	return files, nil
}

// expireArtifacts puts out what is too old or too much, and removes what was put out long ago.
func (l *Ledger) expireArtifacts(dir string) error {
	files, err := artifactFiles(dir)
	if err != nil {
		return err
	}
	var errs []error
	total, kept, putOut := int64(0), 0, 0
	for _, info := range files { // newest first
		name, age := filepath.Join(dir, info.Name()), l.clock().Sub(info.ModTime())
		switch {
		case strings.HasPrefix(info.Name(), tempPrefix):
			if age > time.Hour {
				errs = append(errs, os.Remove(name))
			}
		case info.Size() == 0:
			if putOut++; age > artifactAge || putOut > mostPutOut {
				errs = append(errs, os.Remove(name))
			}
		case age > artifactAge, kept == mostArtifacts, total+info.Size() > l.artifactBytes:
			errs = append(errs, replaceFile(name, nil))
		default:
			total += info.Size()
			kept++
		}
	}
	l.artifacts.found(total)
	return errors.Join(errs...)
}
