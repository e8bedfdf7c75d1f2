package notes

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode/utf8"

	"writ/contract"
	"writ/envelope"
	"writ/workspace"
)

// disk is a Source over the Markdown files of a directory.
type disk struct{ root string }

func (d disk) Notes(ctx context.Context, visit func(Candidate) error) (workspace.Skips, error) {
	paths := make(chan string)
	var wg sync.WaitGroup
	errs := make([]error, 3)
	for i := range errs {
		wg.Go(func() {
			for p := range paths {
				if errs[i] == nil {
					errs[i] = d.visit(p, visit)
				}
			}
		})
	}
	err := filepath.WalkDir(d.root, func(p string, e fs.DirEntry, err error) error {
		if err == nil && e.Type().IsRegular() && strings.HasSuffix(p, ".md") {
			paths <- p
		}
		return err
	})
	close(paths)
	wg.Wait()
	return workspace.Skips{}, errors.Join(append(errs, err)...)
}

func (d disk) visit(p string, visit func(Candidate) error) error {
	rel, err := filepath.Rel(d.root, p)
	if err != nil {
		return err
	}
	path, err := contract.ParsePath(filepath.ToSlash(rel))
	if err != nil {
		return err
	}
	info, err := os.Stat(p)
	if err != nil {
		return err
	}
	return visit(Candidate{Path: path, Modified: info.ModTime(), State: stateOf(p), Text: func() ([]byte, error) {
		loaded, err := d.Load(context.Background(), path)
		return loaded.Text, err
	}})
}

func (d disk) Load(_ context.Context, path contract.Path) (Loaded, error) {
	raw, err := os.ReadFile(filepath.Join(d.root, path.String()))
	if errors.Is(err, fs.ErrNotExist) {
		return Loaded{}, envelope.Errorf(envelope.PathNotFound, "There is no such note.")
	}
	if err != nil {
		return Loaded{}, err
	}
	if !utf8.Valid(raw) {
		return Loaded{}, envelope.Errorf(envelope.NotText, "The file is no text.")
	}
	return Loaded{Text: []byte(strings.TrimPrefix(string(raw), "\ufeff")), Version: contract.VersionOf(raw)}, nil
}

// vault writes files into a new directory. All have the same modification time, so that it decides nothing.
func vault(t testing.TB, files map[string]string) disk {
	t.Helper()
	d := disk{t.TempDir()}
	for name, content := range files {
		d.write(t, name, content)
	}
	return d
}

func (d disk) write(t testing.TB, name, content string) {
	t.Helper()
	p := filepath.Join(d.root, name)
	if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(p, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
	d.date(t, name, time.Unix(1_700_000_000, 0))
}

func (d disk) date(t testing.TB, name string, when time.Time) {
	t.Helper()
	if err := os.Chtimes(filepath.Join(d.root, name), when, when); err != nil {
		t.Fatal(err)
	}
}

// search scans, and sees to it that an index finds the same.
func (d disk) search(t testing.TB, query string) Result {
	t.Helper()
	r := d.searchWith(t, Scanner{}, query)
	agree(t, query, r, d.searchWith(t, indexOf(t, watchless{d}, IndexOptions{}), query))
	return r
}

func (d disk) searchWith(t testing.TB, s Searcher, query string) Result {
	t.Helper()
	return d.searchIn(t, s, d, query)
}

func (disk) searchIn(t testing.TB, s Searcher, source Source, query string) Result {
	t.Helper()
	q, err := ParseQuery(query)
	if err != nil {
		t.Fatalf("ParseQuery(%q): %v", query, err)
	}
	r, err := s.Search(context.Background(), q, source)
	if err != nil {
		t.Fatalf("Search(%q): %v", query, err)
	}
	return r
}

func paths(r Result) []string {
	found := []string{}
	for _, m := range r.Matches {
		found = append(found, m.Path.String())
	}
	return found
}
