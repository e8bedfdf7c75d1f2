package workspace

import (
	"os"
	"path/filepath"
	"sync"
	"testing"

	"writ/contract"
	"writ/envelope"
)

// Of several calls that make the same directories at once, each is named by the one that made it and by no other.
func TestDirectoriesAreMadeOnce(t *testing.T) {
	root := t.TempDir()
	w := open(t, Options{Roots: []Root{{Dir: root}}, State: t.TempDir()})
	for range 20 {
		var wg sync.WaitGroup
		results := make([]Written, 8)
		p := path(t, "d/e/f")
		for i := range results {
			wg.Go(func() {
				r, err := w.Writer(anyone{}, nil, contract.Origin{}).MakeDirectory(t.Context(), p)
				if err != nil {
					t.Error(err)
				}
				results[i] = r
			})
		}
		wg.Wait()
		made := 0
		for _, r := range results {
			if (r.Changed == envelope.Yes) != (len(r.Directories) > 0) {
				t.Errorf("changed %s, but made %v", r.Changed, r.Directories)
			}
			made += len(r.Directories)
		}
		if made != 3 {
			t.Errorf("%d directories were made, want 3", made)
		}
		if err := os.RemoveAll(filepath.Join(root, "d")); err != nil {
			t.Fatal(err)
		}
	}
}
