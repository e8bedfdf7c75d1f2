package workspace

import (
	"errors"
	"io/fs"
	"os"
	"slices"
	"testing"

	"github.com/spf13/afero"
)

func TestFS(t *testing.T) {
	forms(t, func(t *testing.T, portable bool) {
		root := world(t, map[string]string{"docs/a.md": "text", "docs/b.md": "b", "priv/p": "PRIVATE", "out": "->../outside"})
		w := open(t, Options{Roots: []Root{{Dir: root}}, portable: portable})
		files := w.Reader(scope{hidden: []string{"priv"}}).FS()
		var seen []string
		err := afero.Walk(files, ".", func(name string, info fs.FileInfo, err error) error {
			if err != nil && name != "out" {
				return err
			}
			seen = append(seen, name)
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		for _, want := range []string{".", "docs", "docs/a.md", "docs/b.md"} {
			if !slices.Contains(seen, want) {
				t.Errorf("the walk saw %v", seen)
			}
		}
		if slices.ContainsFunc(seen, func(s string) bool { return len(s) >= 4 && s[:4] == "priv" }) {
			t.Errorf("the walk saw %v", seen)
		}
		if data, err := afero.ReadFile(files, "docs/a.md"); err != nil || string(data) != "text" {
			t.Errorf("got %q, %v", data, err)
		}
		if _, err := files.Open("none"); !errors.Is(err, fs.ErrNotExist) {
			t.Error(err)
		}
		for _, name := range []string{"priv/p", "out/secret.txt", "../outside/secret.txt"} {
			if _, err := files.Open(name); !errors.Is(err, fs.ErrPermission) {
				t.Errorf("%s: %v", name, err)
			}
		}
		f, err := files.Open("docs/a.md")
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		if _, err := f.Write([]byte("x")); err == nil {
			t.Error("a file was written")
		}
		if _, err := files.Create("new"); err == nil {
			t.Error("a file was made")
		}
		if err := files.Remove("docs/a.md"); err == nil {
			t.Error("a file was removed")
		}
		if _, err := os.Stat(root + "/docs/a.md"); err != nil {
			t.Error(err)
		}
	})
}
