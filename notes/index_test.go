package notes

import (
	"context"
	"errors"
	"hash/fnv"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"testing"

	"writ/contract"
	"writ/envelope"
	"writ/workspace"
)

// watchless is the vault of a directory whose changes nobody keeps account of, so that each search walks over it.
type watchless struct{ disk }

func (v watchless) Some(_ context.Context, files []contract.Path, visit func(Candidate) error) error {
	for _, path := range files {
		name := filepath.Join(v.root, filepath.FromSlash(path.String()))
		if info, err := os.Lstat(name); err != nil || !info.Mode().IsRegular() {
			continue
		}
		if err := v.disk.visit(name, visit); err != nil {
			return err
		}
	}
	return nil
}

func (watchless) Changes() ([]contract.Path, bool) { return nil, true }
func (watchless) Close() error                     { return nil }

// stateOf names a file's state by its bytes.
func stateOf(file string) int64 {
	raw, err := os.ReadFile(file)
	if err != nil {
		return 0
	}
	h := fnv.New64a()
	h.Write(raw)
	return int64(h.Sum64() | 1)
}

// patient is NewIndex for tests of what is found: the first search waits until the index is as the disk.
func patient(o IndexOptions) *Index {
	x := NewIndex(o)
	x.grace = forever
	return x
}

// indexOf returns an index of the directory that is up to date.
func indexOf(t testing.TB, v Vault, o IndexOptions) *Index {
	t.Helper()
	o.Vault = v
	if o.File == "" {
		o.File = filepath.Join(t.TempDir(), "index", "notes.db")
	}
	if o.Log == nil {
		o.Log = slog.New(slog.NewTextHandler(faithful{t}, nil))
	}
	x := patient(o)
	t.Cleanup(func() {
		if err := x.Close(); err != nil {
			t.Error(err)
		}
	})
	if err := x.Build(context.Background(), func(Progress) {}); err != nil {
		t.Fatal(err)
	}
	return x
}

// faithful fails a test for which the database was in trouble, so that notes were scanned instead.
type faithful struct{ t testing.TB }

func (f faithful) Write(line []byte) (int, error) {
	f.t.Errorf("the index says: %s", line)
	return len(line), nil
}

// agree fails unless two results are of the same notes. Where all are shown, they must be in the same order too.
func agree(t testing.TB, query string, scanned, indexed Result) {
	t.Helper()
	if scanned.Tier != indexed.Tier || scanned.Total != indexed.Total || !maps.Equal(scanned.Repaired, indexed.Repaired) ||
		!sameSkips(scanned.Skipped, indexed.Skipped) {
		t.Errorf("%q: scan finds %d (tier %s, repaired %v, skipped %v)\nindex finds %d (tier %s, repaired %v, skipped %v)",
			query, scanned.Total, scanned.Tier, scanned.Repaired, scanned.Skipped,
			indexed.Total, indexed.Tier, indexed.Repaired, indexed.Skipped)
		return
	}
	if scanned.Total > len(scanned.Matches) {
		return
	}
	for i, m := range scanned.Matches {
		if o := indexed.Matches[i]; m.Path != o.Path || m.Snippet != o.Snippet || m.Line != o.Line || m.Version != o.Version {
			t.Errorf("%q: match %d is %v by scan and %v by index", query, i, m, o)
			return
		}
	}
}

func sameSkips(a, b map[envelope.Code]int) bool {
	return len(a) == 0 && len(b) == 0 || maps.Equal(a, b)
}

// files is a Vault as the gate makes one, over all notes of a directory.
type files struct {
	reader   workspace.Reader
	follower *workspace.Follower
}

type everything struct{}

func (everything) Allow(workspace.Access, workspace.Place) error    { return nil }
func (everything) AllowsPlain(workspace.Access, contract.Path) bool { return true }

func openFiles(t testing.TB, dir string) files {
	t.Helper()
	w, err := workspace.Open(workspace.Options{Roots: []workspace.Root{{Dir: dir}}})
	if err != nil {
		t.Fatal(err)
	}
	r := w.Reader(everything{})
	f := files{r, r.Follow()}
	t.Cleanup(func() { w.Close() })
	return f
}

func (f files) Notes(ctx context.Context, visit func(Candidate) error) (workspace.Skips, error) {
	return f.follower.Walk(ctx, func(v *workspace.Visited) { _ = f.visit(v, visit) })
}

func (f files) visit(v *workspace.Visited, visit func(Candidate) error) error {
	stamp, err := v.Stamp()
	if err != nil || filepath.Ext(v.Path().String()) != ".md" {
		return err
	}
	return visit(Candidate{Path: v.Path(), Modified: stamp.Modified, State: stamp.State, Text: func() ([]byte, error) {
		text, err := f.reader.TextOf(v)
		if err != nil {
			return nil, err
		}
		return text.Bytes(), nil
	}})
}

func (f files) Some(ctx context.Context, files []contract.Path, visit func(Candidate) error) error {
	var stopped error
	err := f.reader.Visit(ctx, files, func(v *workspace.Visited) {
		if stopped == nil {
			stopped = f.visit(v, visit)
		}
	})
	return errors.Join(stopped, err)
}

func (f files) Changes() ([]contract.Path, bool) { return f.follower.Changes() }
func (f files) Close() error                     { return f.follower.Close() }

func (f files) Load(ctx context.Context, path contract.Path) (Loaded, error) {
	file, err := f.reader.Load(ctx, path)
	if err != nil {
		return Loaded{}, err
	}
	text, err := workspace.DecodeText(file.Data, "")
	if err != nil {
		return Loaded{}, err
	}
	return Loaded{Text: text.Bytes(), Version: file.Version}, nil
}

// search fails the test unless an index, if it is one, has answered itself.
func search(b testing.TB, s Searcher, source Source, query string) Result {
	b.Helper()
	q, err := ParseQuery(query)
	if err != nil {
		b.Fatal(err)
	}
	r, err := s.Search(context.Background(), q, source)
	if err != nil {
		b.Fatal(err)
	}
	if r.Building != nil {
		b.Fatal("the index did not answer")
	}
	return r
}
