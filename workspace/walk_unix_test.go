//go:build unix

package workspace

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"writ/contract"
)

func TestSpecialFilesAreListedAndNeverOpened(t *testing.T) {
	root := world(t, map[string]string{"a": "needle"})
	if err := syscall.Mkfifo(filepath.Join(root, "fifo"), 0o644); err != nil {
		t.Skip("no FIFO here:", err)
	}
	forms(t, func(t *testing.T, portable bool) {
		r := reader(t, root, portable, anyone{})
		l, err := r.List(t.Context(), contract.Path{}, Window{})
		if err != nil || listed(l) != "a:file:6 fifo:other" {
			t.Errorf("got %s, %v", listed(l), err)
		}
		s, err := r.Search(t.Context(), Query{Pattern: "needle"})
		if err != nil || s.Total != 1 || s.Files != 1 {
			t.Errorf("got %+v, %v", s, err)
		}
	})
}

func TestNamesThatAreNotUTF8AreCounted(t *testing.T) {
	root := world(t, map[string]string{"a": "needle"})
	if err := os.WriteFile(filepath.Join(root, "b\xff"), []byte("needle"), 0o644); err != nil {
		t.Skip("no such names here:", err)
	}
	if err := os.Mkdir(filepath.Join(root, "d\xff"), 0o755); err != nil {
		t.Fatal(err)
	}
	r := reader(t, root, false, anyone{})
	l, err := r.List(t.Context(), contract.Path{}, Window{})
	if err != nil || listed(l) != "a:file:6" || l.Skipped.Count(SkipName) != 2 {
		t.Errorf("got %s, %+v, %v", listed(l), l.Skipped, err)
	}
	w, _ := l.Skipped.Warning()
	if want := `Left out: 2 names that are not valid UTF-8 ("b\xff", "d\xff").`; w.Message != want {
		t.Errorf("got %q, want %q", w.Message, want)
	}
	f, err := r.Find(t.Context(), contract.Path{}, glob(t, "**"), Window{})
	if err != nil || foundNames(f) != "a" || f.Skipped.Count(SkipName) != 2 {
		t.Errorf("got %s, %+v, %v", foundNames(f), f.Skipped, err)
	}
}

// Of a name that no path can hold nothing is told where the guard would not let be told of one that a path can.
func TestNamesThatAreNotUTF8AreJudged(t *testing.T) {
	root := world(t, map[string]string{"docs/a.md": "x", ".gitignore": "*.key\n"})
	for _, name := range []string{"docs/.hidden-\xff", "docs/payroll-\xff.key", "docs/b-\xff.md"} {
		if err := os.WriteFile(filepath.Join(root, name), []byte("x"), 0o644); err != nil {
			t.Skip("no such names here:", err)
		}
	}
	r := reader(t, root, false, hidesDots{})
	l, err := r.List(t.Context(), path(t, "docs"), Window{})
	if err != nil || l.Skipped.Count(SkipName) != 1 {
		t.Errorf("got %+v, %v", l.Skipped, err)
	}
	if w, _ := l.Skipped.Warning(); strings.Contains(w.Message, "hidden") || strings.Contains(w.Message, "payroll") {
		t.Errorf("the warning tells %q", w.Message)
	}
	f, err := r.Find(t.Context(), contract.Path{}, glob(t, "**"), Window{})
	if err != nil || f.Skipped.Count(SkipName) != 1 {
		t.Errorf("got %+v, %v", f.Skipped, err)
	}
}

func TestLockedDirectoriesAreCounted(t *testing.T) {
	if os.Getuid() == 0 {
		t.Skip("root may read every directory")
	}
	root := world(t, map[string]string{"locked/a": "needle", "open/b": "needle", "c": "needle"})
	for _, name := range []string{"locked", "c"} {
		if err := os.Chmod(filepath.Join(root, name), 0); err != nil {
			t.Fatal(err)
		}
	}
	defer os.Chmod(filepath.Join(root, "locked"), 0o755)
	s, err := reader(t, root, false, anyone{}).Search(t.Context(), Query{Pattern: "needle"})
	if err != nil || s.Total != 1 || s.Skipped.Count(SkipPermission) != 2 {
		t.Errorf("got %+v, %v", s, err)
	}
}

// While a walk is under way somebody moves a hidden directory to the place of an open one and back.
func TestWalkNeverShowsWhatWasMovedUnderIt(t *testing.T) {
	root := world(t, map[string]string{
		"pub/a.txt": "open needle", "pub/d/b.txt": "open needle", "pub/d/c.txt": "open needle",
		"priv/SECRET.txt": "SECRET needle", "priv/d/SECRET2.txt": "SECRET needle", "elsewhere/": "",
	})
	stop := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		move := func(from, to string) { os.Rename(filepath.Join(root, from), filepath.Join(root, to)) }
		for {
			select {
			case <-stop:
				return
			default:
			}
			move("pub/d", "priv/taken")
			os.WriteFile(filepath.Join(root, "priv/taken/SECRET3.txt"), []byte("SECRET needle"), 0o644)
			os.Remove(filepath.Join(root, "priv/taken/SECRET3.txt"))
			move("priv/taken", "pub/d")
		}
	})
	r := reader(t, root, false, scope{hidden: []string{"priv"}})
	for range 300 {
		s, err := r.Search(t.Context(), Query{Pattern: "needle"})
		if err != nil {
			t.Error(err)
			break
		}
		if i := slices.IndexFunc(s.Hits, func(h Hit) bool { return strings.Contains(h.Text, "SECRET") }); i >= 0 {
			t.Errorf("hit %+v", s.Hits[i])
			break
		}
		f, err := r.Find(t.Context(), contract.Path{}, glob(t, "**"), Window{})
		if err != nil || strings.Contains(foundNames(f), "SECRET") {
			t.Error(foundNames(f), err)
			break
		}
	}
	close(stop)
	wg.Wait()
}
