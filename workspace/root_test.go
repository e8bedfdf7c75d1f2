package workspace

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"

	"writ/contract"
)

// forms runs a test against each form of resolution that this system has.
func forms(t *testing.T, test func(t *testing.T, portable bool)) {
	t.Run("native", func(t *testing.T) { test(t, false) })
	t.Run("portable", func(t *testing.T) { test(t, true) })
}

// anyone is a guard that has nothing against anything.
type anyone struct{}

func (anyone) Allow(Access, Place) error { return nil }

func path(t testing.TB, name string) contract.Path {
	t.Helper()
	p, err := contract.ParsePath(name)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// plant makes files below dir; a name that ends in / is a directory, and a content that starts with -> a link.
func plant(t testing.TB, dir string, files map[string]string) {
	t.Helper()
	for name, content := range files {
		at := filepath.Join(dir, filepath.FromSlash(name))
		err := os.MkdirAll(filepath.Dir(at), 0o755)
		switch {
		case name[len(name)-1] == '/':
			err = errors.Join(err, os.MkdirAll(at, 0o755))
		case len(content) > 2 && content[:2] == "->":
			err = errors.Join(err, os.Symlink(content[2:], at))
		default:
			err = errors.Join(err, os.WriteFile(at, []byte(content), 0o644))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

func open(t testing.TB, o Options) *Workspace {
	t.Helper()
	w, err := Open(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { w.Close() })
	return w
}

func TestOpenFileFollowsLinksInside(t *testing.T) {
	forms(t, func(t *testing.T, portable bool) {
		top := t.TempDir()
		plant(t, top, map[string]string{"docs/a.md": "one", "l": "->docs", "docs/up": "->../docs/a.md"})
		w := open(t, Options{Roots: []Root{{Dir: top}}, portable: portable})
		for _, name := range []string{"docs/a.md", "l/a.md", "l/up", "docs/up"} {
			q, err := w.question(anyone{}, path(t, name), Read)
			if err != nil {
				t.Fatal(err)
			}
			f, resolved, err := q.root.tree.openFile(context.Background(), q)
			if err != nil {
				t.Fatal(name, err)
			}
			b, _ := io.ReadAll(f)
			f.Close()
			if string(b) != "one" || resolved != "docs/a.md" {
				t.Errorf("%s: got %q at %s", name, b, resolved)
			}
		}
	})
}
