package workspace

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"writ/contract"
	"writ/envelope"
)

func listed(l Listing) string {
	var b strings.Builder
	for _, e := range l.Entries {
		fmt.Fprintf(&b, "%s:%s", e.Name, e.Kind)
		if e.Kind == KindFile {
			fmt.Fprintf(&b, ":%d", e.Size)
		}
		if e.LinkTarget != "" {
			fmt.Fprintf(&b, "->%s", e.LinkTarget)
		}
		b.WriteByte(' ')
	}
	return strings.TrimSpace(b.String())
}

func TestList(t *testing.T) {
	files := map[string]string{
		"b.txt":                      "four",
		"B.txt":                      "four!",
		"d/":                         "",
		"priv/secret":                "x",
		"in":                         "->b.txt",
		"in-dir":                     "->d",
		"gone":                       "->nowhere",
		"out":                        "->../outside",
		"absolute":                   "->/etc/passwd",
		"back":                       "->../root/b.txt",
		"to-priv":                    "->priv/secret",
		"to-priv-gone":               "->priv/none",
		"to-ignored":                 "->x.log",
		"round":                      "->round",
		"x.log":                      "ignored",
		".gitignore":                 "*.log\n",
		".writ-0123456789abcdef.tmp": "ours",
		"hidden-link":                "->b.txt",
		"sub/up":                     "->../b.txt",
		"sub/sub/up-chain":           "->../up",
	}
	forms(t, func(t *testing.T, portable bool) {
		r := reader(t, world(t, files), portable, scope{hidden: []string{"priv", "hidden-link"}})
		for dir, want := range map[string]string{
			"": ".gitignore:file:6 B.txt:file:5 absolute:link b.txt:file:4 back:link d:directory gone:link->nowhere in:link->b.txt " +
				"in-dir:link->d out:link round:link sub:directory to-ignored:link to-priv:link to-priv-gone:link",
			"d":       "",
			"in-dir":  "",
			"sub":     "sub:directory up:link->../b.txt",
			"sub/sub": "up-chain:link->../up",
		} {
			l, err := r.List(t.Context(), at(t, dir), Window{})
			if err != nil {
				t.Fatal(dir, err)
			}
			if got := listed(l); got != want || l.Total != len(strings.Fields(want)) {
				t.Errorf("%q:\n got %d %s\nwant %s", dir, l.Total, got, want)
			}
		}
	})
}

func TestListRefusals(t *testing.T) {
	r := reader(t, world(t, map[string]string{"a": "a", "priv/p": "p", "out": "->../outside"}), false, scope{hidden: []string{"priv"}})
	for dir, code := range map[string]envelope.Code{
		"a": envelope.NotADirectory, "none": envelope.PathNotFound, "priv": envelope.OutsideScope, "out": envelope.OutsideRoot,
	} {
		_, err := r.List(t.Context(), at(t, dir), Window{})
		if envelope.CodeOf(err) != code {
			t.Errorf("%s: got %v, want code %s", dir, err, code)
		}
	}
}

func TestListPages(t *testing.T) {
	root := t.TempDir()
	for i := range 1100 {
		if err := os.WriteFile(filepath.Join(root, fmt.Sprintf("f%04d", i)), []byte("xyz"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	r := reader(t, root, false, anyone{})
	next := 0
	for offset := 0; ; offset += 300 {
		l, err := r.List(t.Context(), contract.Path{}, Window{Offset: offset, Limit: 300})
		if err != nil || l.Total != 1100 {
			t.Fatal(l.Total, err)
		}
		if len(l.Entries) == 0 {
			break
		}
		for _, e := range l.Entries {
			if e.Name != fmt.Sprintf("f%04d", next) || e.Size != 3 || e.Kind != KindFile || e.Modified.IsZero() {
				t.Fatalf("entry %d is %+v", next, e)
			}
			next++
		}
	}
	if next != 1100 {
		t.Errorf("%d entries on all pages", next)
	}
}

// A file in an ignored directory that the guard allows all the same is shown with what is ignored.
func TestIgnoredCountsFromTheRoot(t *testing.T) {
	root := world(t, map[string]string{".gitignore": "dist/\n", "dist/a/b.txt": "needle"})
	counts := map[string]int{}
	g := guardFunc(func(_ Access, p Place) error {
		counts[p.Path.String()] = p.Ignored
		return nil
	})
	w := open(t, Options{Roots: []Root{{Name: "m", Dir: root}}})
	if _, err := w.Reader(g).Search(t.Context(), Query{Pattern: "x", Base: path(t, "m/dist/a")}); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Reader(g).List(t.Context(), path(t, "m/dist"), Window{}); err != nil {
		t.Fatal(err)
	}
	for p, want := range map[string]int{"m": 0, "m/dist": 2, "m/dist/a": 2, "m/dist/a/b.txt": 2} {
		if got, asked := counts[p]; got != want || !asked && p != "m" {
			t.Errorf("%s: %d segments are ignored, want %d", p, got, want)
		}
	}
}

type guardFunc func(Access, Place) error

func (f guardFunc) Allow(a Access, p Place) error { return f(a, p) }

// A rule file that can't be read keeps everything out: what it would have named must not come in because of it.
func TestUnreadableIgnoreFileIgnoresAll(t *testing.T) {
	root := world(t, map[string]string{"a/.gitignore": strings.Repeat("# filler\n", 1<<17), "a/secret": "needle", "b/c": "needle"})
	forms(t, func(t *testing.T, portable bool) {
		r := reader(t, root, portable, hidesDots{})
		if _, err := r.Load(t.Context(), path(t, "a/secret")); envelope.CodeOf(err) != envelope.OutsideScope {
			t.Errorf("load: %v", err)
		}
		s, err := r.Search(t.Context(), Query{Pattern: "needle"})
		if err != nil || s.Total != 1 || s.Hits[0].Path.String() != "b/c" {
			t.Errorf("search: %+v, %v", s.Hits, err)
		}
	})
}
