package main

import (
	"bufio"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"writ/contract"
	"writ/server"
	"writ/tools"
)

// Each tool has a script, testdata/tools/NAME.txtar, that calls it over the stdio transport. Its sections are carried
// out in order:
//
//	policy              a policy file, before all else; without it everything may be written
//	file PATH           somebody writes a file
//	base64 PATH         the same, for bytes that are no text
//	link PATH           somebody makes a symbolic link; the section is its target
//	remove PATH         somebody removes a file
//	call NAME           a call; arguments of the script's own tool, or TOOL and arguments
//	want NAME           what the envelope of that call holds: a part of it, as JSON
//	text NAME           the text block of that call
//	after PATH          what the file holds now
//	absent PATH         nothing is there now
//
// In arguments and wants $version(PATH) is the version of a file on disk as the section is reached, $zero a version of
// no file, and $NAME(call) the field NAME of an earlier answer, such as $change_id(first edit).
//
// go test -run Script -update rewrites the wants: each keeps its fields and gets the values that came.
var update = flag.Bool("update", false, "rewrite what scripts and golden files want")

func TestScripts(t *testing.T) {
	scripts, err := filepath.Glob("testdata/tools/*.txtar")
	if err != nil || len(scripts) == 0 {
		t.Fatalf("no scripts: %v", err)
	}
	for _, file := range scripts {
		tool := strings.TrimSuffix(filepath.Base(file), ".txtar")
		t.Run(tool, func(t *testing.T) {
			t.Parallel()
			archive, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			s := newScript(t, tool, archive)
			for i := range archive.Files {
				s.section(&archive.Files[i])
			}
			if *update {
				if err := os.WriteFile(file, txtar.Format(archive), 0o644); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}

// script is one run of a script.
type script struct {
	*testing.T
	tool    string
	root    string
	client  *client
	answers map[string]*answered
}

// answered is the answer to one call.
type answered struct {
	tool     string
	envelope map[string]any
	texts    []string
}

func newScript(t *testing.T, tool string, archive *txtar.Archive) *script {
	base := t.TempDir()
	s := &script{T: t, tool: tool, root: filepath.Join(base, "root"), answers: map[string]*answered{}}
	if err := os.Mkdir(s.root, 0o755); err != nil {
		t.Fatal(err)
	}
	o := options{profile: "all", state: filepath.Join(base, "state"), write: []string{"**"}}
	if len(archive.Files) > 0 && archive.Files[0].Name == "policy" {
		o.write, o.policyFile = nil, filepath.Join(base, "writ.yaml")
		if err := os.WriteFile(o.policyFile, archive.Files[0].Data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	s.client = startClient(t, o, s.root)
	return s
}

func (s *script) section(f *txtar.File) {
	kind, name, _ := strings.Cut(f.Name, " ")
	file := filepath.Join(s.root, filepath.FromSlash(name))
	text := string(f.Data)
	switch kind {
	case "policy":
	case "file":
		s.must(os.MkdirAll(filepath.Dir(file), 0o755))
		s.must(os.WriteFile(file, f.Data, 0o644))
	case "base64":
		s.must(os.MkdirAll(filepath.Dir(file), 0o755))
		var data []byte
		s.must(json.Unmarshal([]byte(`"`+strings.TrimSpace(text)+`"`), &data))
		s.must(os.WriteFile(file, data, 0o644))
	case "link":
		s.must(os.MkdirAll(filepath.Dir(file), 0o755))
		s.must(os.Symlink(strings.TrimSpace(text), file))
	case "remove":
		s.must(os.Remove(file))
	case "call":
		s.call(name, s.expand(text))
	case "want":
		s.want(name, f)
	case "text":
		if got := strings.Join(s.answer(name).texts, ""); got != text {
			s.Errorf("%s: the text is %q, want %q", name, got, text)
		}
	case "after":
		if got, err := os.ReadFile(file); err != nil || string(got) != text {
			s.Errorf("%s holds %q (%v), want %q", name, got, err, text)
		}
	case "absent":
		if _, err := os.Lstat(file); err == nil {
			s.Errorf("%s is there", name)
		}
	default:
		s.Fatalf("there is no section %q", f.Name)
	}
}

func (s *script) must(err error) {
	s.Helper()
	if err != nil {
		s.Fatal(err)
	}
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

func (s *script) call(name, text string) {
	s.Helper()
	tool := s.tool
	if m := startsWithTool.FindStringSubmatch(text); m != nil {
		tool, text = m[1], m[2]
	}
	text = strings.ReplaceAll(text, "\n", " ") // a message is one line
	if s.answers[name] != nil {
		s.Fatalf("there are two calls %q", name)
	}
	s.answers[name] = s.client.call(s.T, tool, text)
}

var placeholder = regexp.MustCompile(`\$(version|zero|[a-z_]+)(?:\(([^)]*)\))?`)

func (s *script) expand(text string) string {
	return placeholder.ReplaceAllStringFunc(text, func(word string) string {
		m := placeholder.FindStringSubmatch(word)
		switch {
		case m[1] == "zero":
			return strings.Repeat("0", contract.VersionDigits)
		case m[1] == "version" && m[2] != "":
			data, err := os.ReadFile(filepath.Join(s.root, m[2]))
			s.must(err)
			return contract.VersionOf(data).String()
		case m[2] == "":
			return word
		}
		value, ok := s.answer(m[2]).envelope[m[1]].(string)
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
	s.must(json.Unmarshal([]byte(s.expand(string(f.Data))), &want))
	var differ []string
	for key, value := range want {
		if !covers(value, a.envelope[key]) {
			differ = append(differ, fmt.Sprintf("%s is %s, want %s", key, compact(a.envelope[key]), compact(value)))
		}
	}
	if len(differ) == 0 {
		return
	}
	if *update {
		for key := range want {
			want[key] = a.envelope[key]
		}
		f.Data, _ = json.MarshalIndent(want, "", "  ")
		f.Data = append(f.Data, '\n')
		return
	}
	slices.Sort(differ)
	s.Errorf("%s: %s\nin %s", name, strings.Join(differ, "\n"), compact(a.envelope))
}

// covers tells whether got holds everything in want: the same values, objects with at least the members, lists of the
// same length.
func covers(want, got any) bool {
	switch want := want.(type) {
	case map[string]any:
		g, ok := got.(map[string]any)
		if !ok {
			return false
		}
		for key, value := range want {
			if !covers(value, g[key]) {
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
			if !covers(want[i], g[i]) {
				return false
			}
		}
		return true
	}
	return reflect.DeepEqual(want, got)
}

func compact(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		return err.Error()
	}
	return string(b)
}

// client speaks to a server of its own over stdio.
type client struct {
	in  io.Writer
	out *bufio.Reader
	id  int
}

// startClient serves the directory as `writ serve` would and returns a client that has shaken hands.
func startClient(t *testing.T, o options, directories ...string) *client {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	o.keepAlways = true
	h, err := o.open(ctx, directories)
	if err != nil {
		t.Fatal(err)
	}
	toServer, in, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	out, fromServer, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	s := server.New(serverGate{h.gate}, server.Info{Name: "writ", Version: "test", Log: h.log})
	done := make(chan error, 1)
	go func() {
		done <- s.Stdio(ctx, toServer, fromServer)
		fromServer.Close()
	}()
	t.Cleanup(func() {
		in.Close()
		if err := <-done; err != nil {
			t.Errorf("the server ended with %v", err)
		}
		cancel()
		if err := h.close(); err != nil {
			t.Error(err)
		}
		out.Close()
		toServer.Close()
	})
	c := &client{in: in, out: bufio.NewReader(out)}
	c.request(t, "initialize", `{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"test","version":"1"}}`)
	return c
}

// request sends one request and returns its result.
func (c *client) request(t *testing.T, method, params string) map[string]any {
	t.Helper()
	var result map[string]any
	if err := json.Unmarshal(c.raw(t, method, params), &result); err != nil {
		t.Fatalf("%s: %v", method, err)
	}
	return result
}

// raw sends one request and returns its result as it was written.
func (c *client) raw(t *testing.T, method, params string) json.RawMessage {
	t.Helper()
	c.id++
	if _, err := fmt.Fprintf(c.in, `{"jsonrpc":"2.0","id":%d,"method":%q,"params":%s}`+"\n", c.id, method, params); err != nil {
		t.Fatal(err)
	}
	line, err := c.out.ReadBytes('\n')
	if err != nil {
		t.Fatalf("%s: no answer: %v", method, err)
	}
	var message struct {
		ID     int
		Result json.RawMessage
		Error  any
	}
	if err := json.Unmarshal(line, &message); err != nil {
		t.Fatalf("%s: %v in %s", method, err, line)
	}
	if message.Error != nil || message.ID != c.id {
		t.Fatalf("%s was answered %s", method, line)
	}
	return message.Result
}

func (c *client) call(t *testing.T, tool, arguments string) *answered {
	t.Helper()
	result := c.request(t, "tools/call", fmt.Sprintf(`{"name":%q,"arguments":%s}`, tool, arguments))
	a := &answered{tool: tool}
	for i, block := range result["content"].([]any) {
		text, _ := block.(map[string]any)["text"].(string)
		if i > 0 {
			a.texts = append(a.texts, text)
			continue
		}
		if err := json.Unmarshal([]byte(text), &a.envelope); err != nil {
			t.Fatalf("%s: the first block is no envelope: %v", tool, err)
		}
	}
	if structured, sent := result["structuredContent"]; sent && !reflect.DeepEqual(structured, any(a.envelope)) {
		t.Errorf("%s: structuredContent differs from the first block", tool)
	}
	return a
}

func allTools() []string {
	var names []string
	for _, t := range tools.All() {
		names = append(names, t.Name)
	}
	return names
}
