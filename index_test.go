package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"writ/notes"
)

func TestIndexCommands(t *testing.T) {
	root := vault(t, "a.md", "# Garden\nthe sensor\n", "b.md", "---\nprivate: true\n---\nthe sensor\n")
	state := t.TempDir()
	for _, c := range []struct {
		command, want string
	}{
		{"status", "There is no index yet"},
		{"build", "1 notes in"},
		{"status", "1 are private, 0 can't be searched; 0 are not as the index knows them"},
		{"verify", "1 notes in"},
		{"status --json", `"exists":true`},
		{"verify --json", `"notes":1,"private":1,"skipped":0,"stale":0}`},
		{"rebuild", "1 notes in"},
	} {
		r := writ(t, "", slices.Concat([]string{"index"}, strings.Fields(c.command), []string{"--state", state, root})...)
		if r.status != 0 || !strings.Contains(r.stdout, c.want) || r.stderr != "" {
			t.Errorf("index %s: %+v, want %q", c.command, r, c.want)
		}
	}
	if err := os.WriteFile(filepath.Join(root, "c.md"), []byte("the sensor\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if r := writ(t, "", "index", "status", "--state", state, root); !strings.Contains(r.stdout, "; 1 are not as the index knows them") {
		t.Errorf("after a change: %+v", r)
	}
	found, err := filepath.Glob(filepath.Join(state, "index", fmt.Sprintf("notes-v%d-*.db", notes.IndexVersion)))
	if err != nil || len(found) != 1 {
		t.Fatalf("the index is at %v (%v)", found, err)
	}
	if info, err := os.Stat(found[0]); err != nil || info.Mode().Perm()&0o077 != 0 && filepath.Separator == '/' {
		t.Errorf("the index is open to others: %v (%v)", info.Mode(), err)
	}
	data, err := os.ReadFile(found[0])
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(found[0], append(data[:4096:4096], strings.Repeat("garbage ", len(data)/8)...), 0o600); err != nil {
		t.Fatal(err)
	}
	if r := writ(t, "", "index", "verify", "--json", "--state", state, root); r.status != 1 || !strings.Contains(r.stdout, `"exists":false`) || !strings.Contains(r.stdout, `"wrong":"`) {
		t.Errorf("a damaged index: %+v", r)
	}
	if err := os.WriteFile(found[0], []byte(strings.Repeat("garbage ", 2000)), 0o600); err != nil {
		t.Fatal(err)
	}
	if r := writ(t, "", "search", "--state", state, "--root", root, "sensor"); r.status != 0 || !strings.Contains(r.stdout, "a.md:2  Garden") {
		t.Errorf("a search with a damaged index: %+v", r)
	}
}

func TestProgressBar(t *testing.T) {
	for _, c := range []struct {
		p    notes.Progress
		want string
	}{
		{notes.Progress{}, "[                              ] 0 of 0 notes"},
		{notes.Progress{Done: 5, Total: 10}, "[===============               ] 5 of 10 notes"},
		{notes.Progress{Done: 10, Total: 10}, "[==============================] 10 of 10 notes"},
		{notes.Progress{Done: 11, Total: 10}, "[==============================] 11 of 10 notes"}, // a note came to it meanwhile
	} {
		if got := progressBar(c.p); got != c.want {
			t.Errorf("%+v: %q, want %q", c.p, got, c.want)
		}
	}
}

// An index is that of one policy: what another may not read it is not told of.
func TestIndexIsOfOnePolicy(t *testing.T) {
	root := vault(t, "open/a.md", "apple\n", "closed/b.md", "apple cherry\n")
	state := t.TempDir()
	if r := writ(t, "", "index", "build", "--state", state, root); r.status != 0 {
		t.Fatalf("%+v", r)
	}
	for _, c := range []struct{ query, want string }{{"apple", `"total":1`}, {"cherry", `"total":0`}, {"chery", `"total":0`}} {
		for _, prepare := range []string{"status", "build"} {
			writ(t, "", "index", prepare, "--state", state, "--read", "open/**", root)
			r := writ(t, "", "search", "--json", "--state", state, "--read", "open/**", "--root", root, c.query)
			if !strings.Contains(r.stdout, c.want) || strings.Contains(r.stdout, "cherry") && c.query != "cherry" {
				t.Errorf("%s after index %s: %+v, want %s", c.query, prepare, r, c.want)
			}
		}
	}
}

func TestSearchCommand(t *testing.T) {
	root := vault(t, "a.md", "# Garden\n\nthe sensor \x1b[31mred\u202e\n")
	r := writ(t, "", "search", "--state", t.TempDir(), "--root", root, "sensor", "red")
	if r.status != 0 || !strings.HasPrefix(r.stdout, "a.md:3  Garden\n    the sensor \\u{1b}[31mred\\u{202e}\n") {
		t.Errorf("%+v", r)
	}
	if r := writ(t, "", "search", "--state", t.TempDir(), "--root", root, "xylophone"); r.status != 0 || r.stdout != "No note matches.\n" {
		t.Errorf("%+v", r)
	}
	if r := writ(t, "", "search", "--state", t.TempDir(), "--root", root, strings.Repeat("x", 300)); r.status != 1 || r.stderr == "" {
		t.Errorf("a query that is too long: %+v", r)
	}
	if got, want := inBold("Ein Garten", nil), "Ein Garten"; got != want {
		t.Errorf("%q", got)
	}
}
