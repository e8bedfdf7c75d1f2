package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"writ/contract"
	"writ/envelope"
	"writ/gate"
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
	if got := writ(t, "", "changes", "--limit", "-1", "--root", root, "--state", state); got.status != 2 || got.stdout != "" {
		t.Errorf("fewer than no changes: %+v", got)
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

// What the policy says of the log: a second copy of the audit, and how much is kept for undoing.
func TestPolicyOfTheLog(t *testing.T) {
	base := t.TempDir()
	policyFile := filepath.Join(base, "writ.yaml")
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(policyFile, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	root := vault(t, "a.md", strings.Repeat("x", 2<<20))
	flags := []string{"--root", root, "--policy", policyFile, "--state", filepath.Join(base, "state")}
	with := func(arguments ...string) ran { return writ(t, "", append(arguments, flags...)...) }

	write("scope: {write: ['**']}\naudit: {file: shipped/audit.jsonl}\nlimits: {undo_bytes: 1MiB}\n")
	if got := with("call", "create_file", "path=b.md", "content=x"); got.status != 0 {
		t.Fatalf("create: %+v", got)
	}
	shipped, err := os.ReadFile(filepath.Join(base, "shipped/audit.jsonl"))
	if audit := with("audit"); err != nil || string(shipped) != audit.stdout || !strings.Contains(audit.stdout, `"create_file"`) {
		t.Errorf("shipped %s, %v; the audit is %+v", shipped, err, audit)
	}
	if got := with("audit", "verify", filepath.Join(base, "shipped/audit.jsonl")); got.status != 0 || !strings.Contains(got.stdout, "1 rows, all in the audit") {
		t.Errorf("verify with what was shipped: %+v", got)
	}
	if got := with("audit", "b.md", "--status", "succeeded"); strings.Count(got.stdout, "\n") != 1 {
		t.Errorf("audit of a path: %+v", got)
	}
	if got := with("audit", "verify", policyFile); got.status != 1 || !strings.Contains(got.stdout, "something else") {
		t.Errorf("verify with what is no copy: %+v", got)
	}
	copied := filepath.Join(base, "shipped/audit.jsonl")
	for _, c := range []struct {
		copies []string
		status int
		want   string
	}{
		{nil, 0, `{"whole":true,"rows":1}`},
		{[]string{copied}, 0, `{"whole":true,"rows":1,"copies":[{"file":` + strconv.Quote(copied) + `,"whole":true,"rows":1}]}`},
		{[]string{policyFile, copied}, 1, `{"whole":false,"rows":1,"copies":[{"file":` + strconv.Quote(policyFile) + `,"whole":false,`},
	} {
		got := with(append([]string{"audit", "verify", "--json"}, c.copies...)...)
		if got.status != c.status || !strings.HasPrefix(got.stdout, c.want) || !json.Valid([]byte(got.stdout)) {
			t.Errorf("verify --json %v: %+v", c.copies, got)
		}
	}
	t.Run("undo data go with their budget", func(t *testing.T) {
		o := options{profile: "all", state: filepath.Join(base, "state"), policyFile: policyFile}
		h, err := o.open([]string{root})
		if err != nil {
			t.Fatal(err)
		}
		defer h.finish()
		call := func(tool, arguments string) (status, changeID, code string) {
			e := h.gate.Call(t.Context(), gate.Call{Caller: gate.CallerLocal, Tool: tool, Arguments: json.RawMessage(arguments)})
			var told struct {
				ChangeID string `json:"change_id"`
			}
			if err := json.Unmarshal(e.AppendJSON(nil), &told); err != nil {
				t.Fatal(err)
			}
			if len(e.Errors) > 0 {
				code = string(e.Errors[0].Code)
			}
			return string(e.Status), told.ChangeID, code
		}
		version := contract.VersionOf([]byte(strings.Repeat("x", 2<<20)))
		status, first, _ := call("overwrite_file", fmt.Sprintf(`{"path":"a.md","content":"y","observed_version":%q}`, version))
		if status != "succeeded" {
			t.Fatal(status)
		}
		if status, _, _ := call("create_file", `{"path":"c.md","content":"z"}`); status != "succeeded" {
			t.Fatal(status)
		}
		for end := time.Now().Add(20 * time.Second); ; time.Sleep(20 * time.Millisecond) {
			if _, _, err := h.ledger.Change(t.Context(), first); envelope.CodeOf(err) == envelope.Expired {
				break
			}
			if time.Now().After(end) {
				t.Fatal("two MiB are kept where the policy keeps one")
			}
		}
		if status, _, code := call("revert_change", fmt.Sprintf(`{"change_id":%q}`, first)); status != "not-found" || code != "expired" {
			t.Errorf("undoing what expired was answered %s, %s", status, code)
		}
	})
	write("audit: {file: " + filepath.Join(root, "audit.jsonl") + "}\n")
	if got := with("changes"); got.status == 0 || !strings.Contains(got.stdout+got.stderr, "inside the root") {
		t.Errorf("an audit file where callers reach it: %+v", got)
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
		if got := contract.Shown(name); got != name {
			t.Errorf("%q is shown as %q", name, got)
		}
	}
	for _, name := range []string{"a\x1b[2J", "a\nb", "a\u202eb"} {
		if got := contract.Shown(name); strings.ContainsAny(got, "\x1b\n\u202e") {
			t.Errorf("%q is shown as %q", name, got)
		}
	}
}
