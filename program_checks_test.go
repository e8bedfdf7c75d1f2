//go:build unix

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"
)

// What a policy's own checks say of what was written. The shell reads a script with -n and does nothing of it.
const programChecks = `
-- policy --
scope: {write: ["**"]}
checks:
  "**/*.sh": [/bin/sh, -n, "{path}"]
  "**/*.txt": [/bin/sh, -c, 'echo "$1:1:2: $(basename "$1") is bad" >&2; echo x > "$1"; exit 3', sh, "{path}"]
  "**/*.json": [/bin/sh, -c, "kill -KILL $$", sh, "{path}"]
  "**/*.gone": [/no/such/program, "{path}"]
  "**/*.half": [/bin/sh, -c, "exec no-such-program", sh, "{path}"]
  "**/*.flood": [/bin/sh, -c, "yes", sh, "{path}"]
-- call right --
{"path": "a.sh", "content": "echo one\n"}
-- want right --
{"status": "succeeded", "checks": [{"checker": "sh -n", "status": "passed", "diagnostics": []}]}
-- call wrong --
replace_text {"path": "a.sh", "old_text": "echo one", "new_text": "echo one\nif true; then", "observed_version": "$version(a.sh)"}
-- want wrong --
{"status": "succeeded", "changed": "yes", "untrusted": true, "checks": [{"checker": "sh -n", "status": "failed", "diagnostics": [{"new": true}]}]}
-- after a.sh --
echo one
if true; then
-- call wrong as before --
append_text {"path": "a.sh", "text": "# more\n", "observed_version": "$version(a.sh)"}
-- want wrong as before --
{"status": "succeeded", "checks": [{"checker": "sh -n", "status": "failed", "before": 1, "diagnostics": [{"new": null}]}]}
-- call a name that could be an option --
{"path": "-c; $(id).txt", "content": "text\n"}
-- want a name that could be an option --
{"status": "succeeded", "checks": [{"checker": "sh -c echo \"$1:1:2: $(basename \"$1\") is bad\" >&2; echo x > \"$1\"; exit 3 sh", "status": "failed", "diagnostics": [{"line": 1, "column": 2, "message": "-c; $(id).txt is bad"}]}]}
-- after -c; $(id).txt --
text
-- call beside a parser --
{"path": "a.json", "content": "{}"}
-- want beside a parser --
{"status": "succeeded", "checks": [{"checker": "json", "status": "passed"}, {"status": "skipped", "reason": "The program crashed or met a bound: killed."}]}
-- call no program --
{"path": "a.gone", "content": "x"}
-- want no program --
{"status": "succeeded", "checks": [{"checker": "program", "status": "skipped", "reason": "The program could not be found when the server started, or lies where callers could change it."}]}
-- call a program of which a part is missing --
{"path": "a.half", "content": "x"}
-- want a program of which a part is missing --
{"status": "succeeded", "checks": [{"status": "skipped", "diagnostics": [], "reason": "The program could not run what it needs: a part of it is missing, or lies where it may not reach."}]}
-- call a flood --
{"path": "a.flood", "content": "x"}
-- want a flood --
{"status": "succeeded", "changed": "yes", "checks": [{"checker": "sh -c yes sh", "status": "skipped", "reason": "The program wrote far too much and was ended."}]}
-- call what nobody checks --
{"path": "a.c", "content": "x"}
-- want what nobody checks --
{"status": "succeeded", "checks": []}
`

// It is the same in a process behind walls, where the programs can reach less.
func TestChecksByPrograms(t *testing.T) {
	for name, process := range map[string]bool{"in a process": true, "in this one": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			archive := txtar.Parse([]byte(programChecks))
			s := newScript(t, "create_file")
			s.process = process
			for i := range archive.Files {
				s.section(&archive.Files[i])
			}
			if left, err := os.ReadDir(filepath.Join(s.base, "state", "programs")); err != nil || len(left) > 0 {
				t.Errorf("%v are left behind (%v)", left, err)
			}
		})
	}
}

// A program that callers could change is never run, by whichever way it is named.
func TestNoCheckRunsWhatCallersCouldChange(t *testing.T) {
	s := newScript(t, "create_file")
	tool := filepath.Join(s.root, "tool")
	s.must(os.WriteFile(tool, []byte("#!/bin/sh\nexit 0\n"), 0o755))
	link := filepath.Join(s.base, "link")
	s.must(os.Symlink(tool, link))
	for _, program := range []string{tool, link} {
		s.start([]byte("scope: {write: ['**']}\nchecks: {'**': ['" + program + "', '{path}']}\n"))
		answer := s.client.call(t, "create_file", `{"path": "`+filepath.Base(program)+`.txt", "content": "x"}`)
		if got := compact(answer.envelope["checks"]); !strings.Contains(got, `"skipped"`) {
			t.Errorf("%s: %s", program, got)
		}
	}
}
