package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"writ/contract"
)

// What a person does after an agent has worked: look, undo, and see who did what.
func TestChangesUndoAndAudit(t *testing.T) {
	root := vault(t, "a.md", "one\n")
	state := t.TempDir()
	if got := writ(t, "", "call", "--root", root, "--state", state, "--write", "**", "create_file", "path=docs/odd\x1b[2J.md", "content=x"); got.status != 1 {
		t.Fatalf("a name with an escape: %+v", got)
	}
	if got := writ(t, "", "call", "--root", root, "--state", state, "--write", "**", "create_file", "path=docs/b.md", "content=two"); got.status != 0 {
		t.Fatalf("create: %+v", got)
	}
	listed := writ(t, "", "changes", "--root", root, "--state", state)
	var line changeLine
	if err := json.Unmarshal([]byte(listed.stdout), &line); err != nil || line.Path != "docs/b.md" || line.Kind != "create" || line.Outcome != "succeeded" {
		t.Fatalf("changes: %+v, %v", listed, err)
	}
	if got := writ(t, "", "changes", "nowhere", "--root", root, "--state", state); got.status != 0 || got.stdout != "" {
		t.Errorf("changes of a place where nothing was: %+v", got)
	}
	undone := writ(t, "", "undo", line.ChangeID, "--root", root, "--state", state)
	if undone.status != 0 || !strings.HasPrefix(undone.stdout, "Undone: docs/b.md. `writ undo chg_") {
		t.Errorf("undo: %+v", undone)
	}
	if _, err := os.Stat(filepath.Join(root, "docs")); err == nil {
		t.Error("what was created is still there")
	}
	if got := writ(t, "", "undo", line.ChangeID, "--root", root, "--state", state); got.status != 1 || !strings.Contains(got.stdout, "was undone already") {
		t.Errorf("undo twice: %+v", got)
	}
	if got := writ(t, "", "undo", line.ChangeID, "--json", "--root", root, "--state", state); got.status != 1 || !strings.Contains(got.stdout, `"code":"already-applied"`) {
		t.Errorf("undo as JSON: %+v", got)
	}
	if got := writ(t, "", "undo", line.ChangeID, "--root", root, "--state", state, "--write", "elsewhere/**"); got.status != 1 {
		t.Errorf("undo where nothing may be written: %+v", got)
	}
	if got := writ(t, "", "audit", "--root", root, "--state", state, "--tool", "create_file"); got.status != 0 || strings.Count(got.stdout, "\n") != 2 ||
		!strings.Contains(got.stdout, `"paths":["docs/b.md"]`) || strings.Contains(got.stdout, "two") {
		t.Errorf("audit: %+v", got)
	}
	if got := writ(t, "", "audit", "--root", root, "--state", state, "--since", "2099-01-01"); got.status != 0 || got.stdout != "" {
		t.Errorf("audit of the future: %+v", got)
	}
	if got := writ(t, "", "audit", "--root", root, "--state", state, "--since", "yesterday"); got.status != 2 {
		t.Errorf("a time that is none: %+v", got)
	}
	if got := writ(t, "", "audit", "verify", "--root", root, "--state", state); got.status != 0 || !strings.HasPrefix(got.stdout, "The audit is whole: ") {
		t.Errorf("verify: %+v", got)
	}
	if got := writ(t, "", "doctor", root, "--state", state); got.status != 0 || !strings.Contains(got.stdout, "right  audit: whole") {
		t.Errorf("doctor: %+v", got)
	}
}

// The change log of one root is not carried out on another.
func TestStateOfAnotherRoot(t *testing.T) {
	a, b, state := vault(t, "a.md", "one\n"), vault(t, "a.md", "one\n"), t.TempDir()
	version := contract.VersionOf([]byte("one\n")).String()
	edited := writ(t, "", "call", "--root", a, "--state", state, "--write", "**", "replace_text", "path=a.md", "old_text=one", "new_text=two", "observed_version="+version)
	if edited.status != 0 {
		t.Fatalf("the edit: %+v", edited)
	}
	var line changeLine
	if err := json.Unmarshal([]byte(writ(t, "", "changes", "--root", a, "--state", state).stdout), &line); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(b, "a.md"), []byte("two\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	undone := writ(t, "", "undo", line.ChangeID, "--root", b, "--state", state)
	if undone.status == 0 || !strings.Contains(undone.stdout+undone.stderr, "other roots") {
		t.Errorf("undo in another root: %+v", undone)
	}
	if data, err := os.ReadFile(filepath.Join(b, "a.md")); err != nil || string(data) != "two\n" {
		t.Errorf("the other root's file holds %q, %v", data, err)
	}
	if undone := writ(t, "", "undo", line.ChangeID, "--root", a, "--state", state); undone.status != 0 {
		t.Errorf("undo in its own root: %+v", undone)
	}
}

func TestNamesAreShownHarmless(t *testing.T) {
	for _, name := range []string{"docs/a.md", "a b", "日本.md"} {
		if got := shownName(name); got != name {
			t.Errorf("%q is shown as %q", name, got)
		}
	}
	for _, name := range []string{"a\x1b[2J", "a\nb", "a\u202eb"} {
		if got := shownName(name); strings.ContainsAny(got, "\x1b\n\u202e") {
			t.Errorf("%q is shown as %q", name, got)
		}
	}
}
