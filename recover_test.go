package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"writ/contract"
	"writ/gate"
	"writ/ledger"
)

// cutShort leaves a root and a state as a process does that was killed in the midst of a batch: the first file is
// swapped, the second is not.
func cutShort(t *testing.T) (root, state string) {
	t.Helper()
	root, state = t.TempDir(), t.TempDir()
	temps := []string{".writ-00000000000000aa.tmp", ".writ-00000000000000bb.tmp"}
	for name, text := range map[string]string{"a.txt": "new a\n", temps[0]: "old a\n", "b.txt": "old b\n", temps[1]: "new b\n", "c.txt": "c\n"} {
		if err := os.WriteFile(filepath.Join(root, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	book, err := ledger.Open(state, ledger.Options{})
	if err != nil {
		t.Fatal(err)
	}
	origin := contract.Origin{RequestID: "req_cut", Tool: "apply_edits", Caller: gate.CallerLocal}
	batch := contract.Batch{Origin: origin}
	for i, name := range []string{"a", "b"} {
		p, err := contract.ParsePath(name + ".txt")
		if err != nil {
			t.Fatal(err)
		}
		batch.Intents = append(batch.Intents, contract.Intent{
			Origin: origin, Kind: contract.ChangeEdit, Path: p, Mode: 0o644, Temp: temps[i],
			Before: contract.VersionOf([]byte("old " + name + "\n")), After: contract.VersionOf([]byte("new " + name + "\n")),
			Undo: []contract.Splice{{Length: 3, New: []byte("old")}},
		})
	}
	if _, _, err := book.BeginBatch(t.Context(), batch); err != nil {
		t.Fatal(err)
	}
	if err := book.Close(); err != nil {
		t.Fatal(err)
	}
	return root, state
}

func openCut(t *testing.T) (h *house, root string) {
	t.Helper()
	root, state := cutShort(t)
	o := options{profile: "all", state: state, write: []string{"**"}}
	h, err := o.open([]string{root})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = h.close() })
	return h, root
}

func wantFiles(t *testing.T, root string, want map[string]string) {
	t.Helper()
	entries, err := os.ReadDir(root)
	if err != nil || len(entries) != len(want) {
		t.Errorf("%d entries, %v; want %d", len(entries), err, len(want))
	}
	for name, text := range want {
		if data, err := os.ReadFile(filepath.Join(root, name)); err != nil || string(data) != text {
			t.Errorf("%s holds %q, %v; want %q", name, data, err, text)
		}
	}
}

func TestRecoverTakesBackHalfABatch(t *testing.T) {
	h, root := openCut(t)
	for range 2 { // the second time there is nothing to do
		if err := h.gate.Recover(t.Context()); err != nil {
			t.Fatal(err)
		}
		wantFiles(t, root, map[string]string{"a.txt": "old a\n", "b.txt": "old b\n", "c.txt": "c\n"})
	}
	outcome, err := h.ledger.Outcome(t.Context(), "req_cut")
	if err != nil || outcome.Status != "unavailable" || len(outcome.Changes) > 0 {
		t.Errorf("the outcome of the call is %+v, %v", outcome, err)
	}
}

// The first call, whatever it is, finds the batch settled and meets what is there then.
func TestACallSettlesWhatWasCutShort(t *testing.T) {
	edit := func(path, old, observed string) json.RawMessage {
		return fmt.Appendf(nil, `{"path":%q,"old_text":%q,"new_text":"mine","observed_version":%q}`, path, old, contract.VersionOf([]byte(observed)))
	}
	for _, c := range []struct {
		name, tool string
		arguments  json.RawMessage
		status     string
		a, b, c    string
	}{
		{"an edit of the half that was made", "replace_text", edit("a.txt", "new", "new a\n"), "conflict", "old a\n", "old b\n", "c\n"},
		{"an edit of the half that was not made", "replace_text", edit("b.txt", "old", "old b\n"), "succeeded", "old a\n", "mine b\n", "c\n"},
		{"an edit of another file", "replace_text", edit("c.txt", "c", "c\n"), "succeeded", "old a\n", "old b\n", "mine\n"},
		{"a read of the half that was made", "read_file", json.RawMessage(`{"path":"a.txt"}`), "ok", "old a\n", "old b\n", "c\n"},
		{"a batch", "apply_edits", fmt.Appendf(nil, `{"edits":[%s,%s]}`, edit("c.txt", "c", "c\n"), edit("b.txt", "old", "old b\n")), "succeeded", "old a\n", "mine b\n", "mine\n"},
		{"a batch that is not atomic", "apply_edits", fmt.Appendf(nil, `{"atomic":false,"edits":[%s,%s]}`, edit("a.txt", "new", "new a\n"), edit("c.txt", "c", "c\n")), "partial", "old a\n", "old b\n", "mine\n"},
		{"a deletion", "delete_file", fmt.Appendf(nil, `{"path":"a.txt","observed_version":%q}`, contract.VersionOf([]byte("new a\n"))), "conflict", "old a\n", "old b\n", "c\n"},
		{"a move", "move_file", fmt.Appendf(nil, `{"source":"a.txt","destination":"d.txt","observed_version":%q}`, contract.VersionOf([]byte("new a\n"))), "conflict", "old a\n", "old b\n", "c\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			h, root := openCut(t)
			e := h.gate.Call(t.Context(), gate.Call{Caller: gate.CallerLocal, Tool: c.tool, Arguments: c.arguments})
			if string(e.Status) != c.status {
				t.Errorf("answered %s", e.AppendJSON(nil))
			}
			for name, want := range map[string]string{"a.txt": c.a, "b.txt": c.b, "c.txt": c.c} {
				if data, err := os.ReadFile(filepath.Join(root, name)); err != nil || string(data) != want {
					t.Errorf("%s holds %q, %v; want %q", name, data, err, want)
				}
			}
		})
	}
}

func TestDoctorNamesWhatIsUnknown(t *testing.T) {
	root, state := cutShort(t)
	if err := os.WriteFile(filepath.Join(root, "a.txt"), []byte("a person's\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	before := writ(t, "", "doctor", root, "--state", state)
	if before.status != 1 {
		t.Errorf("before the recovery: %+v", before)
	}
	if got := writ(t, "", "serve", root, "--state", state); got.status != 0 { // its input ends at once
		t.Errorf("serve: %+v", got)
	}
	o := options{profile: "all", state: state}
	h, err := o.open([]string{root})
	if err != nil {
		t.Fatal(err)
	}
	if err := h.gate.Recover(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := h.close(); err != nil {
		t.Fatal(err)
	}
	after := writ(t, "", "doctor", root, "--state", state)
	if after.status != 0 || !regexp.MustCompile(`(?m)^look   change chg_\w+ of a\.txt: `).MatchString(after.stdout) {
		t.Errorf("after the recovery: %+v", after)
	}
	if data, err := os.ReadFile(filepath.Join(root, "a.txt")); string(data) != "a person's\n" {
		t.Errorf("a.txt holds %q, %v", data, err)
	}
}
