package main

import (
	"encoding/base64"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/tools/txtar"

	"writ/contract"
	"writ/ledger"
	"writ/programs"
)

// Each tool has a script, testdata/tools/NAME.txtar, that calls it over the stdio transport. Its sections are carried
// out in order. Somebody who is not the server does this to the root:
//
//	file PATH           writes a file
//	base64 PATH         the same, for bytes that are no text
//	repeat N PATH       writes a file that holds the section's text N times
//	directory PATH      makes a directory
//	link PATH           makes a symbolic link; the section is its target
//	hardlink PATH       gives the file that the section names one more name
//	mode PATH           sets the permission bits, octal
//	fifo PATH           makes a FIFO
//	remove PATH         removes a file
//
// The server is asked, and its answers and the disk looked at:
//
//	needs landlock      ends the script here where the kernel does not have that
//	policy              (re)starts the server under this policy file; without any, all may be written
//	call NAME           makes a call; the section holds arguments of the script's own tool, or TOOL and arguments
//	repeat-call N NAME  the same N times; the last answer is kept
//	approve NAME        a person approves what that call was refused for, once or, where the section says so, for a while
//	decline NAME        a person declines it
//	want NAME           what the envelope of that call holds: a part of it, as JSON; null where there is no such field
//	text NAME           the text blocks of that call, joined
//	block NAME          a part of the second block of that call, as JSON
//	after PATH          what the file holds now
//	after-base64 PATH   the same, for bytes that are no text
//	absent PATH         nothing is there now
//
// In arguments and wants $version(PATH) is the version of a file on disk as the section is reached, $zero a version of
// no file, $root the root's absolute path, $long(N) a text of N characters, and $NAME(call) the text field NAME of an
// earlier answer or of its truncated, such as $change_id(first edit).
//
// Whatever a script wants, the codes of every answer must be those of the tool's contract and of the answer's status.
//
// go test -run Scripts -update rewrites the wants that differ: each keeps its fields and gets the values that came.
var update = flag.Bool("update", false, "rewrite what scripts and golden files want")

func TestScripts(t *testing.T) {
	for _, file := range scripts(t) {
		tool := strings.TrimSuffix(filepath.Base(file), ".txtar")
		t.Run(tool, func(t *testing.T) {
			t.Parallel()
			archive, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			s := newScript(t, tool)
			for i := range archive.Files {
				s.section(&archive.Files[i])
			}
			if s.rewritten {
				s.must(os.WriteFile(file, txtar.Format(archive), 0o644))
			}
		})
	}
}

func scripts(t *testing.T) []string {
	t.Helper()
	files, err := filepath.Glob("testdata/tools/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no scripts: %v", err)
	}
	return files
}

// script is one run of a script.
type script struct {
	*testing.T
	tool      string
	base      string // holds the root, the state and the policy
	root      string
	client    *mcpClient // nil until the first call
	answers   map[string]*answered
	rewritten bool // a want was
	process   bool // serve in a process of its own
}

func newScript(t *testing.T, tool string) *script {
	base := t.TempDir()
	s := &script{T: t, tool: tool, base: base, root: filepath.Join(base, "root"), answers: map[string]*answered{}}
	s.must(os.Mkdir(s.root, 0o755))
	return s
}

func (s *script) section(f *txtar.File) {
	kind, name, _ := strings.Cut(f.Name, " ")
	switch kind {
	case "policy":
		s.start(f.Data)
	case "needs":
		if !programs.KeepsReadOnly() {
			s.Skipf("there is no %s", name)
		}
	case "call":
		s.call(name, s.expand(string(f.Data)), 1)
	case "repeat-call":
		times, name := s.counted(name)
		s.call(name, s.expand(string(f.Data)), times)
	case "approve", "decline":
		s.decide(name, kind == "approve", strings.TrimSpace(string(f.Data)))
	case "want":
		s.want(name, f)
	case "text":
		if got := strings.Join(s.answer(name).texts, ""); got != string(f.Data) {
			s.Errorf("%s: the text is %q, want %q", name, got, f.Data)
		}
	case "block":
		s.block(name, f.Data)
	default:
		s.disk(kind, name, f.Data)
	}
}

// disk does something to the root, or looks at it.
func (s *script) disk(kind, name string, data []byte) {
	times := 1
	if kind == "repeat" {
		times, name = s.counted(name)
	}
	file := filepath.Join(s.root, filepath.FromSlash(name))
	text := strings.TrimSpace(string(data))
	switch kind {
	case "after", "after-base64", "absent", "mode", "remove":
	default:
		s.must(os.MkdirAll(filepath.Dir(file), 0o755))
	}
	switch kind {
	case "file", "repeat":
		s.must(os.WriteFile(file, []byte(strings.Repeat(string(data), times)), 0o644))
	case "base64":
		s.must(os.WriteFile(file, s.base64(text), 0o644))
	case "directory":
		s.must(os.MkdirAll(file, 0o755))
	case "link":
		s.must(os.Symlink(s.expand(text), file))
	case "hardlink":
		s.must(os.Link(filepath.Join(s.root, text), file))
	case "mode":
		bits, err := strconv.ParseUint(text, 8, 12)
		s.must(err)
		s.must(os.Chmod(file, os.FileMode(bits)))
	case "fifo":
		s.must(makeFIFO(file))
	case "remove":
		s.must(os.RemoveAll(file))
	case "after":
		s.after(name, file, data)
	case "after-base64":
		s.after(name, file, s.base64(text))
	case "absent":
		if _, err := os.Lstat(file); err == nil {
			s.Errorf("%s is there", name)
		}
	default:
		s.Fatalf("there is no section %q", kind)
	}
}

func (s *script) after(name, file string, want []byte) {
	s.Helper()
	if got, err := os.ReadFile(file); err != nil || string(got) != string(want) {
		s.Errorf("%s holds %q (%v), want %q", name, got, err, want)
	}
}

func (s *script) base64(text string) []byte {
	s.Helper()
	data, err := base64.StdEncoding.DecodeString(text)
	s.must(err)
	return data
}

// decide answers the question of a call, as `writ approvals` does.
func (s *script) decide(name string, approve bool, lasts string) {
	s.Helper()
	d := ledger.Decision{Approve: approve}
	if lasts != "" {
		var err error
		d.For, err = time.ParseDuration(lasts)
		s.must(err)
	}
	_, err := decide(s.Context(), s.client.house.ledger, s.answer(name).approvalID(), d)
	s.must(err)
}

// approvalID is the name of the approval that the call was refused for.
func (a *answered) approvalID() string {
	problems, _ := a.envelope["errors"].([]any)
	for _, p := range problems {
		details, _ := p.(map[string]any)["details"].(map[string]any)
		if id, ok := details["approval_id"].(string); ok {
			return id
		}
	}
	return ""
}

// counted splits "N name".
func (s *script) counted(text string) (int, string) {
	s.Helper()
	number, name, _ := strings.Cut(text, " ")
	n, err := strconv.Atoi(number)
	s.must(err)
	return n, name
}

func (s *script) must(err error) {
	s.Helper()
	if err != nil {
		s.Fatal(err)
	}
}

// start serves the root, under a policy unless that is nil. A server that runs is stopped first; the state stays.
func (s *script) start(policy []byte) {
	s.Helper()
	if s.client != nil {
		s.client.stop(s.T)
	}
	o := options{profile: "all", state: filepath.Join(s.base, "state")}
	if policy == nil {
		o.write = []string{"**"}
	} else {
		o.policyFile = filepath.Join(s.base, "writ.yaml")
		s.must(os.WriteFile(o.policyFile, policy, 0o644))
	}
	if s.process {
		args := []string{"--tools", "all", "--state", o.state}
		if policy == nil {
			args = append(args, "--write", "**")
		} else {
			args = append(args, "--policy", o.policyFile)
		}
		s.client, _ = startProcess(s.T, append(args, s.root)...)
		beside, err := o.open([]string{s.root}) // a person at the same change log
		s.must(err)
		s.Cleanup(func() { s.must(beside.close()) })
		s.client.house = beside
		return
	}
	s.client = startClient(s.T, o, s.root)
}

func (s *script) answer(name string) *answered {
	s.Helper()
	a := s.answers[name]
	if a == nil {
		s.Fatalf("there was no call %q", name)
	}
	return a
}

var startsWithTool = regexp.MustCompile(`^([a-z_]+)\s+(\{[\s\S]*)`)

func (s *script) call(name, text string, times int) {
	s.Helper()
	if s.client == nil {
		s.start(nil)
	}
	tool := s.tool
	if m := startsWithTool.FindStringSubmatch(text); m != nil {
		tool, text = m[1], m[2]
	}
	text = strings.ReplaceAll(text, "\n", " ") // a message is one line
	if s.answers[name] != nil {
		s.Fatalf("there are two calls %q", name)
	}
	for range times {
		s.answers[name] = s.client.call(s.T, tool, text)
	}
}

var placeholder = regexp.MustCompile(`\$([a-z_]+)(?:\(([^)]*)\))?`)

func (s *script) expand(text string) string {
	return placeholder.ReplaceAllStringFunc(text, func(word string) string {
		m := placeholder.FindStringSubmatch(word)
		switch {
		case m[1] == "zero":
			return strings.Repeat("0", contract.VersionDigits)
		case m[1] == "root":
			return s.root
		case m[1] == "long":
			n, err := strconv.Atoi(m[2])
			s.must(err)
			return strings.Repeat("x", n)
		case m[1] == "version" && m[2] != "" && s.answers[m[2]] == nil:
			data, err := os.ReadFile(filepath.Join(s.root, m[2]))
			s.must(err)
			return contract.VersionOf(data).String()
		case m[2] == "":
			return word
		}
		envelope := s.answer(m[2]).envelope
		value, ok := envelope[m[1]].(string)
		if t, cut := envelope["truncated"].(map[string]any); cut && !ok {
			value, ok = t[m[1]].(string)
		}
		if !ok {
			s.Fatalf("the answer to %q has no text %s", m[2], m[1])
		}
		return value
	})
}

// want compares the parts of an envelope that a script names.
func (s *script) want(name string, f *txtar.File) {
	s.Helper()
	a := s.answer(name)
	var want map[string]any
	if err := json.Unmarshal(f.Data, &want); err != nil {
		s.Fatalf("want %s: %v", name, err)
	}
	var differ []string
	for key, value := range want {
		if !s.covers(value, a.envelope[key]) {
			differ = append(differ, fmt.Sprintf("%s is %s, want %s", key, compact(a.envelope[key]), compact(value)))
		}
	}
	if len(differ) == 0 {
		return
	}
	if *update {
		f.Data, _ = json.MarshalIndent(s.reshape(want, a.envelope), "", "  ")
		f.Data = append(f.Data, '\n')
		s.rewritten = true
		return
	}
	slices.Sort(differ)
	s.Errorf("%s: %s\nin %s", name, strings.Join(differ, "\n"), compact(a.envelope))
}

func (s *script) block(name string, part []byte) {
	s.Helper()
	var want any
	s.must(json.Unmarshal(part, &want))
	blocks := s.answer(name).blocks
	if len(blocks) < 2 || !s.covers(want, blocks[1]) {
		s.Errorf("%s: the blocks are %.300s, want %s", name, compact(blocks), compact(want))
	}
}

// covers tells whether got holds everything in want: the same values, objects with at least the members, lists of the
// same length.
func (s *script) covers(want, got any) bool {
	switch want := want.(type) {
	case map[string]any:
		g, ok := got.(map[string]any)
		if !ok {
			return false
		}
		for key, value := range want {
			if !s.covers(value, g[key]) {
				return false
			}
		}
		return true
	case []any:
		g, ok := got.([]any)
		if !ok || len(g) != len(want) {
			return false
		}
		for i := range want {
			if !s.covers(want[i], g[i]) {
				return false
			}
		}
		return true
	case string:
		return s.expand(want) == got
	}
	return reflect.DeepEqual(want, got)
}

// reshape returns what want would have to be to cover got: its own members and placeholders, with the values of got
// where they differ.
func (s *script) reshape(want, got any) any {
	if s.covers(want, got) {
		return want
	}
	switch g := got.(type) {
	case map[string]any:
		w, ok := want.(map[string]any)
		if !ok {
			return got
		}
		for key := range w {
			w[key] = s.reshape(w[key], g[key])
		}
		return w
	case []any:
		w, ok := want.([]any)
		if !ok || len(w) != len(g) {
			return got
		}
		for i := range w {
			w[i] = s.reshape(w[i], g[i])
		}
		return w
	}
	return got
}

func compact(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		return err.Error()
	}
	return string(b)
}
