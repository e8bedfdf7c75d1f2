package gate

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"writ/contract"
)

// hiding hides one file.
func hiding(name string) teller {
	return func(_ context.Context, p contract.Path) bool { return p.String() != name }
}

// A page and the total are the same whether the ledger pages or what is hidden is left out first.
func TestPagesOfChanges(t *testing.T) {
	now := time.Now()
	g, _ := testGate(t, &now)
	for i := range 6 {
		g.Call(t.Context(), Call{Caller: "a", Tool: "create_file", Arguments: fmt.Appendf(nil, `{"path":"%d.md","content":""}`, i)})
	}
	for hidden, want := range map[string][]string{"": {"4.md", "3.md", "2.md"}, "3.md": {"4.md", "2.md", "1.md"}, "5.md": {"3.md", "2.md", "1.md"}} {
		log := changeLog{g.ledger, hiding(hidden)}
		page, total, err := log.Changes(t.Context(), contract.Path{}, 1, 3)
		var paths []string
		for _, c := range page {
			paths = append(paths, c.Path.String())
		}
		if all := 6 - min(1, len(hidden)); err != nil || total != all || !slices.Equal(paths, want) {
			t.Errorf("with %q hidden: %v of %d, %v", hidden, paths, total, err)
		}
	}
}

// The files of a change are known without its undo data.
func TestNamesOfAChangeWithoutItsUndoData(t *testing.T) {
	now := time.Now()
	g, root := testGate(t, &now)
	old := strings.Repeat("old ", 1<<18)
	if err := os.WriteFile(filepath.Join(root, "a.md"), []byte(old), 0o644); err != nil {
		t.Fatal(err)
	}
	e := g.Call(t.Context(), Call{Caller: "a", Tool: "delete_file", Arguments: fmt.Appendf(nil, `{"path":"a.md","observed_version":"%s"}`, contract.VersionOf([]byte(old)))})
	changes, _, err := changeLog{g.ledger, hiding("")}.Changes(t.Context(), contract.Path{}, 0, 1)
	if err != nil || len(changes) != 1 {
		t.Fatalf("%s, %v", e.AppendJSON(nil), err)
	}
	images := filepath.Join(filepath.Dir(root), "state", "images")
	if entries, err := os.ReadDir(images); err != nil || len(entries) == 0 {
		t.Fatalf("no image is kept: %v", err)
	}
	if err := os.RemoveAll(images); err != nil {
		t.Fatal(err)
	}
	k := callOf(t, g, Call{Caller: "a", Tool: "revert_change", Arguments: fmt.Appendf(nil, `{"change_id":%q}`, changes[0].ID)})
	if names := g.namesOf(t.Context(), k); !slices.Equal(names, []string{"a.md"}) {
		t.Errorf("got %q", names)
	}
}
