package workspace

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"writ/contract"
	"writ/envelope"
)

func reader(t testing.TB, root string, portable bool, g Guard) Reader {
	t.Helper()
	return open(t, Options{Roots: []Root{{Dir: root}}, portable: portable}).Reader(g)
}

// at is a path; "" is the top.
func at(t testing.TB, name string) contract.Path {
	if name == "" {
		return contract.Path{}
	}
	return path(t, name)
}

func foundNames(f Findings) string {
	names := make([]string, len(f.Files))
	for i, file := range f.Files {
		names[i] = file.Path.String()
	}
	return strings.Join(names, " ")
}

func TestFindFiles(t *testing.T) {
	files := map[string]string{
		"a.md":                            "a",
		"b.txt":                           "b",
		"docs/c.md":                       "c",
		"docs/deep/er/d.md":               "d",
		"docs/e [draft].md":               "e",
		"docs/link.md":                    "->c.md",
		"docs/loop":                       "->..",
		"docs/out":                        "->../../outside",
		"docs/gone":                       "->nowhere",
		"in":                              "->docs/deep",
		"priv/p.md":                       "p",
		"priv-not/q.md":                   "q",
		"caf\u00e9/composed.md":           "1",
		"cafe\u0301s/decomposed.md":       "2",
		"docs/\u00e9t\u00e9.md":           "3",
		".gitignore":                      "*.log\nbuild/\n!keep.log\n",
		"x.log":                           "x",
		"keep.log":                        "x",
		"build/f.md":                      "x",
		"sub/.gitignore":                  "/local\n!*.log\n",
		"sub/local":                       "x",
		"sub/deep/local":                  "x",
		"sub/y.log":                       "x",
		"docs/.writ-0123456789abcdef.tmp": "ours",
		"tabs/a\tb":                       "x",
		"[a]/b.md":                        "x",
		"many/1/2/3/4/5/6/7/8/9.tiny":     "x",
	}
	for _, c := range []struct{ name, base, glob, want string }{
		{"at the top and below", "", "**/d.md", "docs/deep/er/d.md"},
		{"at the top alone", "", "*.md", "a.md"},
		{"any depth includes the top, and ignored or hidden places are left out", "", "**/[a-d].md", "a.md docs/c.md docs/deep/er/d.md [a]/b.md"},
		{"relative to the base", "docs", "*.md", "docs/c.md docs/e [draft].md docs/\u00e9t\u00e9.md"},
		{"a base that is a link has the real paths", "in", "**/*.md", "docs/deep/er/d.md"},
		{"a directory and all in it", "", "docs/deep/**", "docs/deep/er/d.md"},
		{"an exact path", "", "docs/c.md", "docs/c.md"},
		{"a link is no file of its own", "", "docs/link.md", ""},
		{"nothing", "", "**/*.nothing", ""},
		{"names with brackets, as they stand", "", "docs/e [draft].md", "docs/e [draft].md"},
		{"brackets that stand for themselves beside stars", "", "**/e [draft]*", "docs/e [draft].md"},
		{"brackets in a directory's name, as they stand", "", "[a]/b.md", "[a]/b.md"},
		{"alternatives across slashes", "", "{docs/c,a}.md", "a.md docs/c.md"},
		{"decomposed pattern, composed name", "", "cafe\u0301/*.md", "caf\u00e9/composed.md"},
		{"composed pattern, decomposed name", "", "caf\u00e9s/*.md", "cafe\u0301s/decomposed.md"},
		{"decomposed pattern for a name", "", "**/e\u0301t*.md", "docs/\u00e9t\u00e9.md"},
		{"what an ignore file names again", "", "**/*.log", "keep.log sub/y.log"},
		{"an anchored rule of a nested ignore file", "", "**/local", "sub/deep/local"},
		{"our own temporary files are not there", "", "**/.writ*", ""},
		{"our own temporary files are not there by their exact name", "", "docs/.writ-0123456789abcdef.tmp", ""},
		{"deep", "many", "**/*.tiny", "many/1/2/3/4/5/6/7/8/9.tiny"},
		{"a hidden place, by its exact name", "", "priv/*", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			forms(t, func(t *testing.T, portable bool) {
				r := reader(t, world(t, files), portable, scope{hidden: []string{"priv"}})
				f, err := r.Find(t.Context(), at(t, c.base), glob(t, c.glob), Window{})
				if err != nil {
					t.Fatal(err)
				}
				want := strings.ReplaceAll(c.want, " [draft]", "_[draft]")
				sorted := strings.Fields(want)
				slices.Sort(sorted)
				got := strings.ReplaceAll(foundNames(f), " [draft]", "_[draft]")
				if got != strings.Join(sorted, " ") || f.Total != len(sorted) {
					t.Errorf("got %d: %q, want %q", f.Total, got, sorted)
				}
			})
		})
	}
}

func TestFindTellsSizeAndTime(t *testing.T) {
	root := world(t, map[string]string{"a.md": "12345"})
	f, err := reader(t, root, false, anyone{}).Find(t.Context(), contract.Path{}, glob(t, "**"), Window{})
	if err != nil || len(f.Files) != 1 {
		t.Fatal(f, err)
	}
	info, err := os.Stat(filepath.Join(root, "a.md"))
	if err != nil {
		t.Fatal(err)
	}
	if f.Files[0].Size != 5 || !f.Files[0].Modified.Equal(info.ModTime()) {
		t.Errorf("got %+v, want 5 bytes and %v", f.Files[0], info.ModTime())
	}
}

func TestFindRefusals(t *testing.T) {
	r := reader(t, world(t, map[string]string{"a.md": "a", "priv/p": "p", "out": "->../outside"}), false, scope{hidden: []string{"priv"}})
	for _, c := range []struct {
		base string
		code envelope.Code
	}{
		{"nowhere", envelope.PathNotFound},
		{"a.md", envelope.NotADirectory},
		{"priv", envelope.OutsideScope},
		{"priv/none", envelope.OutsideScope},
		{"out", envelope.OutsideRoot},
	} {
		_, err := r.Find(t.Context(), at(t, c.base), glob(t, "**"), Window{})
		if envelope.CodeOf(err) != c.code {
			t.Errorf("%s: got %v, want code %s", c.base, err, c.code)
		}
	}
}

func bigTree(t testing.TB, files int) string {
	t.Helper()
	root := t.TempDir()
	for i := range files {
		dir := filepath.Join(root, fmt.Sprintf("d%02d", i%37), fmt.Sprintf("e%d", i%5))
		if i < 37*5 {
			if err := os.MkdirAll(dir, 0o755); err != nil {
				t.Fatal(err)
			}
		}
		text := fmt.Sprintf("first\nneedle %d\nlast needle\n", i)
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("f%04d.txt", i)), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

func TestPagesDoNotOverlapAndOrderIsStable(t *testing.T) {
	const files = 3000
	r := reader(t, bigTree(t, files), false, anyone{})
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	alone, err := r.Find(t.Context(), contract.Path{}, glob(t, "**"), Window{})
	if err != nil || alone.Total != files {
		t.Fatal(alone.Total, err)
	}
	runtime.GOMAXPROCS(4)
	var pages []Found
	for offset := 0; ; offset += 700 {
		f, err := r.Find(t.Context(), contract.Path{}, glob(t, "**"), Window{Offset: offset, Limit: 700})
		if err != nil || f.Total != files {
			t.Fatal(f.Total, err)
		}
		if len(f.Files) == 0 {
			break
		}
		pages = append(pages, f.Files...)
	}
	if !slices.EqualFunc(alone.Files, pages, func(a, b Found) bool { return a == b }) {
		t.Error("the pages of four workers are not the whole of one")
	}
	if !slices.IsSortedFunc(pages, func(a, b Found) int { return comparePaths(a.Path, b.Path) }) {
		t.Error("not sorted")
	}
}

func TestWalkEndsWithItsContext(t *testing.T) {
	r := reader(t, bigTree(t, 400), false, anyone{})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := r.Find(ctx, contract.Path{}, glob(t, "**"), Window{}); err == nil {
		t.Error("a walk in a context that has ended found something")
	}
	ctx, cancel = context.WithCancel(t.Context())
	defer cancel()
	visits := make(chan struct{}, 400)
	_, err := r.Walk(ctx, contract.Path{}, func(*Visited) {
		cancel()
		visits <- struct{}{}
	})
	if err == nil || len(visits) == 400 {
		t.Errorf("the walk went on to its end: %d visits, %v", len(visits), err)
	}
}

func TestWalkOfAFileVisitsItAlone(t *testing.T) {
	forms(t, func(t *testing.T, portable bool) {
		r := reader(t, world(t, map[string]string{"d/a": "a", "d/b": "b", "l": "->d/b"}), portable, anyone{})
		for _, base := range []string{"d/b", "l"} {
			var seen []string
			if _, err := r.Walk(t.Context(), path(t, base), func(v *Visited) { seen = append(seen, v.Path().String()) }); err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(seen, []string{"d/b"}) {
				t.Errorf("%s: visited %q", base, seen)
			}
		}
	})
}

// The guard is asked about a directory before it is opened, and never about what a hidden one holds.
func TestWalkAsksFirst(t *testing.T) {
	var asked []string
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	r := reader(t, world(t, map[string]string{"priv/p": "p", "docs/a": "a"}), false, scope{hidden: []string{"priv"}, asked: &asked})
	if _, err := r.Find(t.Context(), contract.Path{}, glob(t, "**"), Window{}); err != nil {
		t.Fatal(err)
	}
	if !slices.Contains(asked, "priv") || !slices.Contains(asked, "docs/a") || slices.Contains(asked, "priv/p") {
		t.Errorf("asked about %q", asked)
	}
}

func TestMounts(t *testing.T) {
	one := world(t, map[string]string{"a.md": "needle", ".gitignore": "ignored\n", "ignored/x.md": "needle"})
	two := world(t, map[string]string{"b.md": "needle", "d/c.md": "x"})
	w := open(t, Options{Roots: []Root{{Name: "one", Dir: one}, {Name: "two", Dir: two}, {Name: "priv", Dir: two}}})
	r := w.Reader(scope{hidden: []string{"priv"}})
	for glob_, want := range map[string]string{"**/*.md": "one/a.md two/b.md two/d/c.md", "*/*.md": "one/a.md two/b.md", "two/**": "two/b.md two/d/c.md"} {
		f, err := r.Find(t.Context(), contract.Path{}, glob(t, glob_), Window{})
		if err != nil || foundNames(f) != want {
			t.Errorf("%s: got %q, %v, want %q", glob_, foundNames(f), err, want)
		}
	}
	f, err := r.Find(t.Context(), path(t, "two"), glob(t, "**/*.md"), Window{})
	if err != nil || foundNames(f) != "two/b.md two/d/c.md" {
		t.Errorf("below one root: got %q, %v", foundNames(f), err)
	}
	l, err := r.List(t.Context(), contract.Path{}, Window{})
	if err != nil || len(l.Entries) != 2 || l.Entries[0].Name != "one" || l.Entries[1].Kind != KindDirectory || l.Entries[0].Modified.IsZero() {
		t.Errorf("top: got %+v, %v", l, err)
	}
	s, err := r.Search(t.Context(), Query{Pattern: "needle"})
	if err != nil || s.Total != 2 || s.Hits[1].Path.String() != "two/b.md" {
		t.Errorf("search: got %+v, %v", s, err)
	}
}

func TestSkips(t *testing.T) {
	var s Skips
	if _, ok := s.Warning(); ok || s.Total() != 0 {
		t.Error("nothing skipped is a warning")
	}
	for _, path := range []string{"d.bin", "b.bin", "c.bin", "a.bin"} {
		s.Add(SkipBinary, path)
	}
	var other Skips
	other.Add(SkipPermission, "locked")
	other.Add(SkipBinary, "0.bin")
	s.merge(other)
	w, ok := s.Warning()
	want := `Left out: 5 binary files ("0.bin", "a.bin", "b.bin", …), 1 entry without permission from the operating system ("locked").`
	if !ok || w.Message != want || w.Code != envelope.Skipped {
		t.Errorf("got %q, want %q", w.Message, want)
	}
	if s.Count(SkipBinary) != 5 || s.Count(SkipMount) != 0 || s.Total() != 6 {
		t.Errorf("counts are %d, %d, %d", s.Count(SkipBinary), s.Count(SkipMount), s.Total())
	}
}

// hidesDots answers for whole directories, but for names that begin with a dot.
type hidesDots struct{}

func (hidesDots) Allow(_ Access, p Place) error {
	if p.Ignored > 0 || p.Path.Base() != "" && p.Path.Base()[0] == '.' || p.Path.Base() == "no way" {
		return envelope.Errorf(envelope.OutsideScope, "hidden")
	}
	return nil
}

func (hidesDots) AllowsPlain(Access, contract.Path) bool { return true }

// A guard that answers for a whole directory is still asked about hidden, ignored and odd names.
func TestGuardOfDirectories(t *testing.T) {
	root := world(t, map[string]string{
		"a.md": "a", ".env": "x", "x.log": "x", ".gitignore": "*.log\nout/\n", "no way": "x", "caf\u00e9": "x", "out/b.md": "x", ".git/c": "x",
	})
	f, err := reader(t, root, false, hidesDots{}).Find(t.Context(), contract.Path{}, glob(t, "**"), Window{})
	if err != nil || foundNames(f) != "a.md caf\u00e9" {
		t.Errorf("got %q, %v", foundNames(f), err)
	}
}

// Visit comes to those of many files that are there under their own paths, and to nothing else.
func TestVisitComesToTheFilesThatAreThere(t *testing.T) {
	dir := world(t, map[string]string{"a.md": "a", "b.md": "b", "sub/c.md": "c", "sub/d.md": "d", ".git/e.md": "e"})
	if err := os.Symlink("sub", filepath.Join(dir, "link")); err != nil {
		t.Skip(err)
	}
	if err := os.Symlink("a.md", filepath.Join(dir, "l.md")); err != nil {
		t.Fatal(err)
	}
	for _, portable := range []bool{false, true} {
		var asked []contract.Path
		for _, name := range []string{"sub/c.md", "a.md", "gone.md", "gone/x.md", "link/d.md", "l.md", ".git/e.md", "sub", "a.md/x.md", "sub/d.md"} {
			asked = append(asked, at(t, name))
		}
		var met []string
		r := reader(t, dir, portable, hidesDots{})
		err := r.Visit(t.Context(), asked, func(v *Visited) {
			text, err := r.TextOf(v)
			if err != nil {
				t.Error(err)
				return
			}
			met = append(met, v.Path().String()+" "+string(text.Bytes()))
		})
		slices.Sort(met)
		if want := []string{"a.md a", "sub/c.md c", "sub/d.md d"}; err != nil || !slices.Equal(met, want) {
			t.Errorf("visited %q: %v, want %q", met, err, want)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := reader(t, dir, false, hidesDots{}).Visit(ctx, []contract.Path{at(t, "a.md")}, func(*Visited) { t.Error("visited after the end") }); !errors.Is(err, context.Canceled) {
		t.Errorf("a visit whose time is over returns %v", err)
	}
}
