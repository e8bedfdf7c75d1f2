package workspace

import (
	"context"
	"io/fs"
	"strings"
	"testing"
	"time"

	"writ/contract"
	"writ/envelope"
)

// foldingNode is a directory of a volume that takes README for readme. The system that tests run on has none.
type foldingNode map[string]any // names as listed; a foldingNode, or the text of a file, "->" before that of a link

func (n foldingNode) child(name string) (node, string, error) {
	for listed, what := range n {
		if strings.EqualFold(listed, name) {
			if sub, ok := what.(foldingNode); ok {
				return sub, listed, nil
			}
			return foldingLeaf(what.(string)), listed, nil
		}
	}
	return nil, "", fs.ErrNotExist
}

func (n foldingNode) info() fs.FileInfo       { return fsInfo{kind: KindDirectory} }
func (n foldingNode) target() (string, error) { return "", fs.ErrInvalid }
func (n foldingNode) close()                  {}

type foldingLeaf string

func (l foldingLeaf) child(string) (node, string, error) { return nil, "", fs.ErrInvalid }
func (l foldingLeaf) target() (string, error)            { return strings.TrimPrefix(string(l), "->"), nil }
func (l foldingLeaf) close()                             {}

func (l foldingLeaf) info() fs.FileInfo {
	if strings.HasPrefix(string(l), "->") {
		return fsInfo{kind: KindLink, modified: time.Time{}}
	}
	return fsInfo{kind: KindFile}
}

func TestGuardIsAskedAboutTheListedName(t *testing.T) {
	top := foldingNode{
		"Docs": foldingNode{"README.md": "text"}, ".git": foldingNode{"config": "secret"}, "Secret.md": "secret", "link": "->.GIT/config",
	}
	for _, c := range []struct {
		path, resolved string
		code           envelope.Code
	}{
		{"docs/readme.MD", "Docs/README.md", ""}, {"Docs/README.md", "Docs/README.md", ""},
		{".GIT/config", "", envelope.OutsideScope}, {"secret.md", "", envelope.OutsideScope}, {"link", "", envelope.OutsideScope},
		{"DOCS/none", "", ""},
	} {
		q := &question{
			guard: scope{hidden: []string{".git", "Secret.md"}}, root: &root{}, spelled: path(t, c.path), rel: c.path, want: Read,
		}
		e, err := newWalk(q, top).run(context.Background())
		if envelope.CodeOf(err) != c.code {
			t.Errorf("%s: got %v, want %q", c.path, err, c.code)
		}
		if c.resolved != "" && e.resolved != c.resolved {
			t.Errorf("%s: resolved to %q", c.path, e.resolved)
		}
	}
}

func (t *portableTree) pretendToFold() { t.folds = true }

// On a volume that does not fold, to walk as if it did must change nothing.
func TestFoldingWalk(t *testing.T) {
	forms(t, func(t *testing.T, portable bool) {
		b := newBench(t, portable, map[string]string{"d/Name": "text", "d/größe~1": "ü", "l": "->d/Name"})
		b.w.roots[0].tree.(interface{ pretendToFold() }).pretendToFold()
		for _, name := range []string{"d/Name", "d/größe~1", "l"} {
			if _, err := b.Load(context.Background(), path(t, name)); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
		_, err := b.Load(context.Background(), path(t, "d/name"))
		wantErr(t, err, envelope.PathNotFound)
		v := contract.VersionOf([]byte("text"))
		if _, err := b.Move(context.Background(), path(t, "d/Name"), path(t, "d/name"), v); err != nil {
			t.Error(err)
		}
		if _, err := b.Delete(context.Background(), path(t, "d/name"), v); err != nil {
			t.Error(err)
		}
	})
}

func TestListedName(t *testing.T) {
	forms(t, func(t *testing.T, portable bool) {
		b := newBench(t, portable, map[string]string{"d/README.md": "x", "d/other": "y"})
		q, err := b.w.question(anyone{}, path(t, "d"), Read)
		if err != nil {
			t.Fatal(err)
		}
		for name, want := range map[string]string{"readme.md": "README.md", "README.md": "README.md", "README~1": "README.md", "ŘEADME": "README.md"} {
			d, _, err := q.root.tree.openDir(context.Background(), q)
			if err != nil {
				t.Fatal(err)
			}
			fact, err := d.stat("README.md")
			if err != nil {
				t.Fatal(err)
			}
			if got, err := listedName(d, name, fact); err != nil || got != want {
				t.Errorf("%s: got %q, %v", name, got, err)
			}
			d.Close()
		}
	})
}

func TestFoldsNames(t *testing.T) {
	d := t.TempDir()
	plant(t, d, map[string]string{"name": "x"})
	if foldsNames(d) != foldsNames(t.TempDir()) {
		t.Error("an empty directory is judged in another way than one with a file")
	}
}
