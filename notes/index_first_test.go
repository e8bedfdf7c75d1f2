package notes

import (
	"context"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"writ/workspace"
)

// held is a vault in which a walk does not end before it is let go.
type held struct {
	watchless
	letGo chan struct{}
}

func (v held) Notes(ctx context.Context, visit func(Candidate) error) (workspace.Skips, error) {
	left, err := v.watchless.Notes(ctx, visit)
	<-v.letGo
	return left, err
}

// While a process looks at the notes for the first time, what it shows is so at that moment, and it says that there may
// be more. It never says that there is nothing.
func TestIndexBeforeTheFirstLook(t *testing.T) {
	d := vault(t, map[string]string{
		"stays.md": "apple\n", "changes.md": "apple\n", "goes.md": "apple\n", "hides.md": "apple\n", "other.md": "berry\n",
	})
	file := filepath.Join(t.TempDir(), "notes.db")
	if err := indexOf(t, watchless{d}, IndexOptions{File: file}).Close(); err != nil {
		t.Fatal(err)
	}
	d.write(t, "changes.md", "cherry\n")
	d.write(t, "hides.md", "---\nprivate: true\n---\napple\n")
	d.write(t, "new.md", "apple damson\n")
	if err := os.Remove(filepath.Join(d.root, "goes.md")); err != nil {
		t.Fatal(err)
	}

	v := held{watchless{d}, make(chan struct{})}
	x := NewIndex(IndexOptions{File: file, Vault: v})
	defer x.Close()
	r := search(t, x, v, "apple")
	if got := paths(r); len(got) != 1 || got[0] != "stays.md" || r.Total != 1 || !r.Unsettled || r.Building != nil {
		t.Errorf("before the notes were looked at, %q of %d are found, unsettled: %v", got, r.Total, r.Unsettled)
	}
	queries := map[string]int{"damson": 1, "cherry": 1, "nowhere": 0} // nothing that the index knows
	found := make(chan Result)
	for query := range queries {
		go func() { found <- search(t, x, v, query) }()
	}
	if r := search(t, x, v, "berry"); r.Total != 1 || !r.Unsettled {
		t.Errorf("berry is found %d times, unsettled: %v", r.Total, r.Unsettled)
	}
	close(v.letGo)
	total := 0
	for range queries {
		r := <-found
		total += r.Total
		if r.Unsettled && r.Tier != TierExact { // the index may know of a note before all were looked at
			t.Errorf("the answer %q was not waited for", paths(r))
		}
	}
	if total != 2 {
		t.Errorf("of two new words %d are found", total)
	}
	wantFound(t, x, v, "apple", "stays.md", "new.md")
}

// A process that has changed files finds what it wrote, however long the first look takes.
func TestIndexWaitsForTheFirstLookAfterAWrite(t *testing.T) {
	d := vault(t, map[string]string{"old.md": "apple\n"})
	file := filepath.Join(t.TempDir(), "notes.db")
	if err := indexOf(t, watchless{d}, IndexOptions{File: file}).Close(); err != nil {
		t.Fatal(err)
	}
	var wrote atomic.Bool
	v := held{watchless{d}, make(chan struct{})}
	x := NewIndex(IndexOptions{File: file, Vault: v, Wrote: wrote.Load})
	defer x.Close()
	if r := search(t, x, v, "apple"); !r.Unsettled {
		t.Fatal("the first look was waited for although nothing was written")
	}
	d.write(t, "own.md", "apple\n")
	wrote.Store(true)
	found := make(chan Result)
	go func() { found <- search(t, x, v, "apple") }()
	select {
	case r := <-found:
		t.Errorf("%q are found before the notes were looked at", paths(r))
	case <-time.After(2 * graceAtStart):
		close(v.letGo)
		if r := <-found; r.Total != 2 || r.Unsettled {
			t.Errorf("%q of %d are found, unsettled: %v", paths(r), r.Total, r.Unsettled)
		}
	}
}
