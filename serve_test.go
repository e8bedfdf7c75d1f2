package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"unicode/utf8"

	"writ/envelope"
)

// served is `writ serve` as a process of its own, over stdio.
type served struct {
	mcpClient
	command *exec.Cmd
	stderr  *bytes.Buffer
}

// serve starts the program and shakes hands.
func serve(t *testing.T, args ...string) *served {
	t.Helper()
	s := &served{command: program(t, append([]string{"serve", "--tools", "all"}, args...)...), stderr: &bytes.Buffer{}}
	s.command.Stderr = s.stderr
	in, err := s.command.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := s.command.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := s.command.Start(); err != nil {
		t.Fatal(err)
	}
	s.in, s.out = in, bufio.NewReader(out)
	s.end = func(t *testing.T) { in.Close(); s.wait(t) }
	t.Cleanup(func() { s.stop(t) })
	s.shakeHands(t)
	return s
}

// wait waits for the end of the process, which has to be a good one.
func (s *served) wait(t *testing.T) {
	t.Helper()
	rest, err := io.ReadAll(s.out)
	if len(rest) > 0 || err != nil {
		t.Errorf("at its end the server writes %.300q, %v", rest, err)
	}
	if err := s.command.Wait(); err != nil {
		t.Errorf("the server ended with %v: %.2000s", err, s.stderr)
	}
}

// lives checks that the server still answers, and nothing else has come.
func (s *served) lives(t *testing.T) {
	t.Helper()
	if got := s.request(t, "ping", "{}"); len(got) != 0 {
		t.Errorf("ping is answered %v", got)
	}
}

// Whatever comes in is answered, and the server lives on.
func TestServeSurvivesBadMessages(t *testing.T) {
	t.Parallel()
	s := serve(t, "--write", "**", vault(t, "a.md", "one\n"))
	const noJSON, noRequest, noMethod, badParams = -32700, -32600, -32601, -32602
	for _, c := range []struct {
		name string
		line string
		code int // of the error; 0: no answer at all
	}{
		{"no JSON", `hello`, noJSON},
		{"half an object", `{"jsonrpc":"2.0","id":1,`, noJSON},
		{"no UTF-8", "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"\xff\"}", noMethod},
		{"NUL bytes", "\x00\x00\x00", noJSON},
		{"a number", `7`, noRequest},
		{"an empty batch", `[]`, noRequest},
		{"no method", `{"jsonrpc":"2.0","id":1}`, noRequest},
		{"another protocol", `{"jsonrpc":"1.0","id":1,"method":"ping"}`, noRequest},
		{"a method that does not exist", `{"jsonrpc":"2.0","id":1,"method":"tools/cook"}`, noMethod},
		{"a tool that does not exist", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"cook","arguments":{}}}`, badParams},
		{"no tool", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{}}`, badParams},
		{"params of another type", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":[1]}`, badParams},
		{"a tool whose name is a number", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":7}}`, badParams},
		{"a notification that nobody knows", `{"jsonrpc":"2.0","method":"notifications/cooked"}`, 0},
		{"the cancelling of nothing", `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":99}}`, 0},
		{"an answer to no question", `{"jsonrpc":"2.0","id":99,"result":{}}`, 0},
		{"an empty line", ``, 0},
		{"nesting without end", strings.Repeat("[", 100_000), noJSON},
	} {
		t.Run(c.name, func(t *testing.T) {
			if _, err := io.WriteString(s.in, c.line+"\n"); err != nil {
				t.Fatal(err)
			}
			if c.code != 0 {
				line, err := s.out.ReadBytes('\n')
				if err != nil {
					t.Fatal(err)
				}
				var m struct {
					Error struct {
						Code    int
						Message string
					}
				}
				if err := json.Unmarshal(line, &m); err != nil || !utf8.Valid(line) || m.Error.Code != c.code || m.Error.Message == "" {
					t.Errorf("it is answered %.300s, want the error %d", line, c.code)
				}
			}
			s.lives(t)
		})
	}
}

// Arguments of every wrong kind are the tool's to answer, not the protocol's.
func TestServeAnswersBadArguments(t *testing.T) {
	t.Parallel()
	s := serve(t, vault(t, "a.md", "one\n"))
	for _, arguments := range []string{
		`[]`, `"a.md"`, `7`, `{"path":{}}`, `{"path":["a.md"]}`, `{"path":true}`, `{"path":"a.md","limit":1e9999}`, `{"path":"a.md","limit":1.5}`,
		`{"path":"a.md","path":"a.md"}`, `{"path":"\ud83d"}`, `{"path":"a.md","offset":"1e3"}`,
	} {
		if got := s.call(t, "read_file", arguments); got.status() != envelope.Invalid {
			t.Errorf("%s: %s", arguments, compact(got.envelope))
		}
	}
	s.lives(t)
}

// A line of 64 MB is refused, and what comes after it is read.
func TestServeSurvivesALineOf64MB(t *testing.T) {
	t.Parallel()
	s := serve(t, "--write", "**", vault(t))
	const size = 64 << 20
	head := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"create_file","arguments":{"path":"big.md","content":"`
	if _, err := io.WriteString(s.in, head+strings.Repeat("x", size-len(head))+"\"}}}\n"); err != nil {
		t.Fatal(err)
	}
	line, err := s.out.ReadBytes('\n')
	if err != nil || !bytes.Contains(line, []byte(`"error"`)) && !bytes.Contains(line, []byte(`"isError":true`)) || len(line) > 4096 {
		t.Errorf("it is answered %.300s, %v", line, err)
	}
	s.lives(t)
}

// Files that no text is in, and those that are too much, are answered and do not hold the server up.
func TestServeSurvivesStrangeFiles(t *testing.T) {
	t.Parallel()
	root := vault(t, "a.md", "one\n")
	in := func(name string) string { return filepath.Join(root, name) }
	if err := makeFIFO(in("pipe")); err != nil {
		t.Skip(err)
	}
	if err := makeSparse(in("sparse"), 2<<30); err != nil {
		t.Fatal(err)
	}
	zero := makeZero(in("zero"))
	s := serve(t, "--write", "**", root)
	version := strings.Repeat("0", 32)
	writes := func(path string) string {
		return fmt.Sprintf(`{"path":%q,"old_text":"a","new_text":"b","observed_version":%q}`, path, version)
	}
	for _, c := range []struct{ tool, arguments, code string }{
		{"read_file", `{"path":"pipe"}`, "not-a-regular-file"},
		{"replace_text", writes("pipe"), "not-a-regular-file"},
		{"search_text", `{"pattern":"one","path":"pipe"}`, "not-a-regular-file"},
		{"read_file", `{"path":"sparse"}`, "too-large"},
		{"replace_text", writes("sparse"), "too-large"},
		{"read_media", `{"path":"sparse"}`, "too-large"},
		{"get_file_info", `{"path":"sparse"}`, ""},
		{"search_text", `{"pattern":"one"}`, ""},
		{"find_files", `{"glob":"**"}`, ""},
		{"list_directory", `{}`, ""},
		{"read_file", `{"path":"zero"}`, "not-a-regular-file"},
		{"replace_text", writes("zero"), "not-a-regular-file"},
	} {
		t.Run(c.tool+" "+c.arguments, func(t *testing.T) {
			if strings.Contains(c.arguments, "zero") && zero != nil {
				t.Skip("no device can be made here: ", zero)
			}
			got := s.call(t, c.tool, c.arguments)
			if codes := got.codes(); c.code == "" && len(codes) > 0 || c.code != "" && (len(codes) != 1 || string(codes[0]) != c.code) {
				t.Errorf("it is answered %s", compact(got.envelope))
			}
			s.lives(t)
		})
	}
}

// A directory of 50,000 entries is told of in pages.
func TestServeLargeDirectory(t *testing.T) {
	t.Parallel()
	const entries = 50_000
	root := t.TempDir()
	for i := range entries {
		if err := os.WriteFile(filepath.Join(root, fmt.Sprintf("note-%05d.md", i)), nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	s := serve(t, root)
	for offset := 0; offset < entries; offset += entries - 1000 {
		list := s.call(t, "list_directory", fmt.Sprintf(`{"offset":%d}`, offset))
		names, _ := list.envelope["entries"].([]any)
		if list.envelope["total"] != float64(entries) || len(names) != 1000 || names[0].(map[string]any)["name"] != fmt.Sprintf("note-%05d.md", offset) {
			t.Errorf("the page from %d: %.300s", offset, compact(list.envelope))
		}
	}
	if found := s.call(t, "find_files", `{"glob":"*7.md"}`); found.envelope["total"] != float64(entries/10) {
		t.Errorf("find_files: %.300s", compact(found.envelope))
	}
	s.lives(t)
}

// The server ends well when its client hangs up, and when it is told to.
func TestServeEnds(t *testing.T) {
	t.Parallel()
	root := vault(t, "a.md", "one\n")
	t.Run("the client hangs up", func(t *testing.T) {
		serve(t, root).stop(t)
	})
	t.Run("the client hangs up at once", func(t *testing.T) {
		if got := writ(t, "", "serve", root); got.status != 0 || got.stdout != "" || got.stderr != "" {
			t.Errorf("got %+v", got)
		}
	})
	t.Run("the client hangs up in the midst of a line", func(t *testing.T) {
		s := serve(t, root)
		if _, err := io.WriteString(s.in, `{"jsonrpc":"2.0","id":7,"method":"pi`); err != nil {
			t.Fatal(err)
		}
		s.in.Close()
		rest, err := io.ReadAll(s.out)
		if err != nil || len(rest) > 0 && !bytes.Contains(rest, []byte(`"error"`)) {
			t.Errorf("half a line is answered %.300s, %v", rest, err)
		}
		s.stop(t)
	})
	t.Run("it is told to", func(t *testing.T) {
		s := serve(t, root)
		if err := s.command.Process.Signal(syscall.SIGTERM); err != nil {
			t.Fatal(err)
		}
		s.wait(t)
		s.once.Do(func() {}) // it has ended
	})
}
