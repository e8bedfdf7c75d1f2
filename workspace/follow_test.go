package workspace

import (
	"context"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"testing"
	"time"
)

func TestFollowerTellsWhatChanged(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("only Linux keeps account of changes")
	}
	old := func(t *testing.T, dir string) {
		for _, name := range []string{"a.md", "sub/b.md", ".git/config"} {
			writeAt(t, dir, name, "old")
		}
	}
	cases := []struct {
		name string
		do   func(t *testing.T, dir string)
		want []string
		all  bool
	}{
		{name: "nothing", do: func(*testing.T, string) {}},
		{name: "a file written", do: func(t *testing.T, dir string) { writeAt(t, dir, "sub/b.md", "new") }, want: []string{"sub/b.md"}},
		{name: "a file made", do: func(t *testing.T, dir string) { writeAt(t, dir, "c.md", "new") }, want: []string{"c.md"}},
		{name: "a file removed", do: func(t *testing.T, dir string) { os.Remove(filepath.Join(dir, "a.md")) }, want: []string{"a.md"}},
		{name: "a file renamed over another", do: func(t *testing.T, dir string) {
			os.Rename(filepath.Join(dir, "a.md"), filepath.Join(dir, "sub/b.md"))
		}, want: []string{"a.md", "sub/b.md"}},
		{name: "a file made unreadable", do: func(t *testing.T, dir string) { os.Chmod(filepath.Join(dir, "a.md"), 0) }, want: []string{"a.md"}},
		{name: "a file of a hidden directory", do: func(t *testing.T, dir string) { writeAt(t, dir, ".git/config", "new") }},
		{name: "a temporary file of ours", do: func(t *testing.T, dir string) { writeAt(t, dir, ".writ-0123456789abcdef.tmp", "new") }},
		{name: "a directory made with a file in it", do: func(t *testing.T, dir string) { writeAt(t, dir, "new/d.md", "new") }, all: true},
		{name: "a directory renamed", do: func(t *testing.T, dir string) {
			os.Rename(filepath.Join(dir, "sub"), filepath.Join(dir, "other"))
		}, all: true},
		{name: "an ignore file", do: func(t *testing.T, dir string) { writeAt(t, dir, ".gitignore", "sub/") }, all: true},
		{name: "more changes than the kernel keeps", do: func(t *testing.T, dir string) {
			for range 20_000 { // two names in turn, so that no event is like the one before
				os.Chmod(filepath.Join(dir, "a.md"), 0o600)
				os.Chmod(filepath.Join(dir, "sub/b.md"), 0o600)
			}
		}, all: true},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			old(t, dir)
			f := reader(t, dir, false, hidesDots{}).Follow()
			defer f.Close()
			if _, all := f.Changes(); !all {
				t.Fatal("what changed is known before the first walk")
			}
			follow(t, f)
			c.do(t, dir)
			got, all := f.Changes()
			var names []string
			for _, p := range got {
				names = append(names, p.String())
			}
			if !slices.Equal(names, c.want) || all != c.all {
				t.Errorf("changed: %q, all %v; want %q, all %v", names, all, c.want, c.all)
			}
			if all {
				follow(t, f)
			}
			if got, all := f.Changes(); len(got) > 0 || all && c.name != "more changes than the kernel keeps" {
				t.Errorf("told again: %v, all %v", got, all)
			}
		})
	}
}

// What happens in a directory that was moved is told by its new path.
func TestFollowerKnowsMovedDirectories(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("only Linux keeps account of changes")
	}
	dir := t.TempDir()
	writeAt(t, dir, "sub/b.md", "old")
	f := reader(t, dir, false, hidesDots{}).Follow()
	defer f.Close()
	follow(t, f)
	if err := os.Rename(filepath.Join(dir, "sub"), filepath.Join(dir, "other")); err != nil {
		t.Fatal(err)
	}
	if _, all := f.Changes(); !all {
		t.Fatal("the move was not seen")
	}
	follow(t, f)
	f.Changes()
	writeAt(t, dir, "other/b.md", "new")
	if got, all := f.Changes(); all || len(got) != 1 || got[0].String() != "other/b.md" {
		t.Errorf("changed: %v, all %v", got, all)
	}
}

func TestStampOfAFreshFileIsNotTrusted(t *testing.T) {
	s := stamp{dev: 1, ino: 2, size: 3, mtime: 4, ctime: time.Now().UnixNano()}
	if s.state(time.Now()) != 0 {
		t.Error("a file changed just now has a state")
	}
	later := time.Now().Add(time.Second)
	first := s.state(later)
	s.mtime++
	if second := s.state(later); first == 0 || second == first {
		t.Errorf("states %d and %d of two times", first, second)
	}
}

func follow(t *testing.T, f *Follower) {
	t.Helper()
	var mu sync.Mutex
	if _, err := f.Walk(context.Background(), func(*Visited) { mu.Lock(); defer mu.Unlock() }); err != nil {
		t.Fatal(err)
	}
}

func writeAt(t *testing.T, dir, name, content string) {
	t.Helper()
	plant(t, dir, map[string]string{name: content})
}
