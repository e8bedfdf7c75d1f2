package main

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"writ/callers"
)

// Two callers of one server: each reaches what its entry says, has limits of its own, and stands in the audit by its name.
func TestCallersAreKeptApart(t *testing.T) {
	t.Parallel()
	root := vault(t, "docs/a.md", "alpha\n", "src/b.md", "alpha beta\n")
	readerToken, readerHash := callers.NewToken()
	writerToken, writerHash := callers.NewToken()
	file := filepath.Join(t.TempDir(), "writ.yaml")
	text := fmt.Sprintf(`roots: [{path: %q}]
scope: {read: ["docs/**", "src/**"], write: ["src/**"]}
programs:
  - {name: wc, path: /usr/bin/wc, allow: ["{path}"], writes: false}
callers:
  - {name: reader, token: %q, scope: {write: ["docs/**"]}, limits: {calls_per_minute: 6}}
  - {name: writer, token: %q}
`, root, readerHash, writerHash)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	state := t.TempDir()
	s := startHTTP(t, "--policy", file, "--state", state, "--tools", "all")
	connections := &http.Transport{}
	defer connections.CloseIdleConnections()
	client := &http.Client{Transport: connections}
	reader, writer := caller{client, s.url, readerToken}, caller{client, s.url, writerToken}
	expect := func(who string, c caller, tool string, arguments map[string]any, status, code string) outcome {
		t.Helper()
		o, err := c.call(t.Context(), tool, arguments)
		if err != nil || o.envelope.Status != status || o.code() != code {
			t.Errorf("%s, %s %v: %s %s, %v", who, tool, arguments, o.envelope.Status, o.code(), err)
		}
		return o
	}
	read := map[string]any{"path": "src/b.md"}
	version := expect("writer", writer, "read_file", read, "ok", "").envelope.Version
	change := map[string]any{"path": "src/b.md", "old_text": "beta", "new_text": "gamma", "observed_version": version}
	expect("writer", writer, "replace_text", change, "succeeded", "")
	expect("reader", reader, "read_file", read, "denied", "outside-scope")
	expect("reader", reader, "read_file", map[string]any{"path": "docs/a.md"}, "ok", "")
	if o := expect("reader", reader, "search_notes", map[string]any{"query": "alpha"}, "ok", ""); o.total != 1 {
		t.Errorf("reader finds %d notes", o.total)
	}
	if o := expect("writer", writer, "search_notes", map[string]any{"query": "alpha"}, "ok", ""); o.total != 2 {
		t.Errorf("writer finds %d notes", o.total)
	}
	if o := expect("reader", reader, "list_changes", map[string]any{}, "ok", ""); o.total != 0 {
		t.Errorf("reader is told of %d changes", o.total)
	}
	if _, err := reader.call(t.Context(), "replace_text", change); err == nil || !strings.Contains(err.Error(), "Unknown tool") {
		t.Errorf("a tool that can never be allowed is there: %v", err)
	}
	if _, err := reader.call(t.Context(), "run_program", map[string]any{"program": "wc"}); err == nil || !strings.Contains(err.Error(), "Unknown tool") {
		t.Errorf("a program that sees all is there for one who may not: %v", err)
	}
	limited := false
	for range 100 {
		o, err := reader.call(t.Context(), "read_file", map[string]any{"path": "docs/a.md"})
		if limited = o.code() == "rate-limited"; limited || err != nil {
			break
		}
	}
	if !limited {
		t.Error("a hundred calls are within six a minute")
	}
	expect("writer", writer, "read_file", read, "ok", "")
	s.stop()
	out, err := program(t, "audit", "--policy", file, "--state", state).Output()
	if err != nil || strings.Count(string(out), `"caller":"reader"`) < 6 || strings.Count(string(out), `"caller":"writer"`) != 4 || strings.Contains(string(out), `"caller":"http"`) {
		t.Errorf("the audit, %v:\n%s", err, out)
	}
}
