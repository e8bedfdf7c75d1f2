package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"writ/contract"
	"writ/gate"
	"writ/ledger"
)

// tree is what a directory holds: mode and bytes by path.
type tree map[string]string

func treeOf(t testing.TB, root string) tree {
	t.Helper()
	found := tree{}
	err := filepath.WalkDir(root, func(name string, entry fs.DirEntry, err error) error {
		if err != nil || name == root {
			return err
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		var data []byte
		if !entry.IsDir() {
			data, err = os.ReadFile(name)
		}
		relative, _ := filepath.Rel(root, name)
		found[filepath.ToSlash(relative)] = fmt.Sprintf("%v %q", info.Mode(), data)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// TestUndoIsTheIdentity makes any sequence of changes through the gate, reverts among them, and undoes them from the last
// to the first: everything must be as it was. And each change that was answered must be in the log.
func TestUndoIsTheIdentity(t *testing.T) {
	base := t.TempDir()
	root := filepath.Join(base, "root")
	if err := os.Mkdir(root, 0o755); err != nil {
		t.Fatal(err)
	}
	o := options{profile: "all", state: filepath.Join(base, "state"), write: []string{"**"}, keepAlways: true}
	h, err := o.open([]string{root})
	if err != nil {
		t.Fatal(err)
	}
	defer h.finish()
	n := 0
	rapid.Check(t, func(r *rapid.T) {
		n++
		w := &changing{T: r, root: root, h: h, caller: fmt.Sprint("caller ", n)} // a caller of its own: no breaker
		w.reset()
		before := treeOf(t, root)
		for range rapid.IntRange(1, 7).Draw(r, "changes") {
			w.step()
		}
		w.checkLog()
		for _, id := range slices.Backward(w.made) {
			if status, answer := w.call("revert_change", map[string]any{"change_id": id}); status != "succeeded" {
				r.Fatalf("undoing %s was answered %s", id, answer)
			}
		}
		if after := treeOf(t, root); !maps.Equal(before, after) {
			r.Fatalf("before %v\nafter  %v", before, after)
		}
	})
}

// changing is one sequence of changes.
type changing struct {
	*rapid.T
	root, caller string
	h            *house
	made         []string // ids of the changes
}

// reset makes the tree that every sequence begins with.
func (w *changing) reset() {
	entries, err := os.ReadDir(w.root)
	if err != nil {
		w.Fatal(err)
	}
	for _, e := range entries {
		if err := os.RemoveAll(filepath.Join(w.root, e.Name())); err != nil {
			w.Fatal(err)
		}
	}
	for name, file := range map[string]struct {
		text string
		mode fs.FileMode
	}{"a": {"one\ntwo\n", 0o644}, "d/b": {"\ufeffone\r\ntwo\r\n", 0o600}, "d/c": {"\x00\x01", 0o755 | fs.ModeSetuid}, "e": {"", 0o640}} {
		full := filepath.Join(w.root, name)
		if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
			w.Fatal(err)
		}
		if err := os.WriteFile(full, []byte(file.text), 0o600); err != nil {
			w.Fatal(err)
		}
		if err := os.Chmod(full, file.mode); err != nil {
			w.Fatal(err)
		}
	}
}

func (w *changing) call(tool string, arguments map[string]any) (status, answer string) {
	raw, err := json.Marshal(arguments)
	if err != nil {
		w.Fatal(err)
	}
	e := w.h.gate.Call(context.Background(), gate.Call{Caller: w.caller, Tool: tool, Arguments: raw})
	return string(e.Status), string(e.AppendJSON(nil))
}

// change makes a call and keeps the change that it was told of.
func (w *changing) change(tool string, arguments map[string]any) {
	status, answer := w.call(tool, arguments)
	var told struct {
		Changed  string
		ChangeID string `json:"change_id"`
	}
	if err := json.Unmarshal([]byte(answer), &told); err != nil {
		w.Fatal(err)
	}
	if told.Changed == "yes" && told.ChangeID == "" || status == "failed" && !strings.Contains(answer, `"not-text"`) && !strings.Contains(answer, `"is-directory"`) && !strings.Contains(answer, `"not-a-directory"`) {
		w.Fatalf("%s %v was answered %s", tool, arguments, answer)
	}
	if told.Changed == "yes" {
		w.made = append(w.made, told.ChangeID)
	}
}

// step makes one change, or tries to.
func (w *changing) step() {
	names := []string{"a", "d/b", "d/c", "e", "f", "d/n/o/p", "n/q"}
	name := func(label string) string { return rapid.SampledFrom(names).Draw(w.T, label) }
	text := func(label string) string {
		return rapid.SampledFrom([]string{"", "one", "two\n", "three\r\n", "één\n", strings.Repeat("long line\n", 100)}).Draw(w.T, label)
	}
	path := name("path")
	switch rapid.IntRange(0, 8).Draw(w.T, "kind") {
	case 0:
		w.change("create_file", map[string]any{"path": path, "content": text("content")})
	case 1:
		w.change("overwrite_file", map[string]any{"path": path, "content": text("content"), "observed_version": w.version(path)})
	case 2:
		w.change("append_text", map[string]any{"path": path, "text": text("text") + "x", "observed_version": w.version(path)})
	case 3:
		w.change("delete_file", map[string]any{"path": path, "observed_version": w.version(path)})
	case 4:
		w.change("move_file", map[string]any{"source": path, "destination": name("destination"), "observed_version": w.version(path)})
	case 5:
		w.change("create_directory", map[string]any{"path": rapid.SampledFrom([]string{"n/o", "n", "x/y/z", "d/n/o"}).Draw(w.T, "directory")})
	case 6, 7:
		var edits []map[string]any
		for range rapid.IntRange(1, 4).Draw(w.T, "edits") {
			p := name("path")
			edits = append(edits, map[string]any{
				"path": p, "old_text": rapid.SampledFrom([]string{"one", "tw", "o\n", "long"}).Draw(w.T, "old"), "new_text": text("new"), "observed_version": w.version(p),
			})
		}
		w.change("apply_edits", map[string]any{"edits": edits, "atomic": rapid.Bool().Draw(w.T, "atomic")})
	case 8:
		if len(w.made) > 0 {
			w.change("revert_change", map[string]any{"change_id": rapid.SampledFrom(w.made).Draw(w.T, "change")})
		}
	}
}

func (w *changing) version(name string) string {
	data, err := os.ReadFile(filepath.Join(w.root, name))
	if err != nil {
		return strings.Repeat("0", contract.VersionDigits)
	}
	return contract.VersionOf(data).String()
}

// checkLog looks for every change that was answered.
func (w *changing) checkLog() {
	changes, _, err := w.h.ledger.Changes(context.Background(), ledger.Filter{Limit: 100})
	if err != nil {
		w.Fatal(err)
	}
	for _, id := range w.made {
		if !slices.ContainsFunc(changes, func(c contract.Change) bool {
			return (c.ID == id || c.Batch == id) && c.Outcome == contract.OutcomeDone
		}) {
			w.Fatalf("the change %s is not in the log", id)
		}
	}
}
