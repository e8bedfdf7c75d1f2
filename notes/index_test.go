package notes

import (
	"context"
	"hash/fnv"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"testing"

	"writ/contract"
	"writ/envelope"
)

// watchless is the vault of a directory whose changes nobody keeps account of, so that each search walks over it.
type watchless struct{ disk }

func (v watchless) Note(ctx context.Context, path contract.Path, visit func(Candidate) error) error {
	name := filepath.Join(v.root, filepath.FromSlash(path.String()))
	if info, err := os.Lstat(name); err != nil || !info.Mode().IsRegular() {
		return nil
	}
	return v.disk.visit(name, visit)
}

func (watchless) Changes() ([]contract.Path, bool) { return nil, true }

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
	x := NewIndex(o)
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
