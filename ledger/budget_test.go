package ledger

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"writ/contract"
	"writ/envelope"
)

// tidied runs one round of tidying with the budget.
func tidied(t *testing.T, l *Ledger) {
	t.Helper()
	s, err := l.upToDate(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := s.expire(t.Context(), l.clock(), l.budget); err != nil {
		t.Fatal(err)
	}
	if err := s.examine(t.Context(), l.clock()); err != nil {
		t.Fatal(err)
	}
}

func wantExpired(t *testing.T, l *Ledger, id string, want bool) {
	t.Helper()
	_, _, err := l.Change(t.Context(), id)
	if got := envelope.CodeOf(err) == envelope.Expired; got != want {
		t.Errorf("%s expired: %v, error %v; want %v", id, got, err, want)
	}
}

func TestTidyingEmptiesTheWriteAheadLog(t *testing.T) {
	l := openNew(t)
	for range 20 {
		done(t, l, edit(t, "a", "1", "2"))
	}
	s, err := l.open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	l.tidy(t.Context(), s, false)
	var busy, frames, moved int
	if err := s.conn.QueryRowContext(t.Context(), "PRAGMA wal_checkpoint(NOOP)").Scan(&busy, &frames, &moved); err != nil {
		t.Fatal(err)
	}
	if frames == 0 || moved != frames {
		t.Errorf("%d of %d frames are in the database", moved, frames)
	}
}

func TestOldestUndoDataGoFirst(t *testing.T) {
	l := openAt(t, filepath.Join(t.TempDir(), "state"), Options{Budget: Budget{Bytes: 50_000}})
	var ids []string
	for range 100 {
		ids = append(ids, done(t, l, edit(t, "a", strings.Repeat("x", 1000), "y")))
	}
	tidied(t, l)
	for i, id := range ids {
		wantExpired(t, l, id, i < 51) // a little less than fifty of a little more than 1,000 bytes fit
	}
	if all, _, err := l.Changes(t.Context(), Filter{}); err != nil || len(all) != 100 {
		t.Errorf("%d changes listed, error %v; want all 100", len(all), err)
	}
}

func TestUndoDataGrowOld(t *testing.T) {
	now := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	l := openAt(t, filepath.Join(t.TempDir(), "state"), Options{
		Clock: func() time.Time { return now }, Budget: Budget{Age: 24 * time.Hour},
	})
	old := done(t, l, edit(t, "a", "1", "2"))
	now = now.Add(23 * time.Hour)
	young := done(t, l, edit(t, "a", "1", "2"))
	newest := done(t, l, edit(t, "a", "1", "2"))
	tidied(t, l)
	wantExpired(t, l, old, false)
	now = now.Add(2 * time.Hour)
	tidied(t, l)
	wantExpired(t, l, old, true)
	wantExpired(t, l, young, false)
	now = now.Add(1000 * time.Hour)
	tidied(t, l)
	wantExpired(t, l, young, true)
	wantExpired(t, l, newest, false)
}

func TestAttributesGoWithTheUndoDataThatTheyCountAs(t *testing.T) {
	l := openAt(t, filepath.Join(t.TempDir(), "state"), Options{Budget: Budget{Bytes: 5000}})
	deletion := func() contract.Intent {
		in := edit(t, "a", "1", "")
		in.Kind, in.After, in.Attributes = contract.ChangeDelete, contract.Version{}, []byte(strings.Repeat("x", 2000))
		return in
	}
	var ids []string
	for range 4 {
		ids = append(ids, done(t, l, deletion()))
	}
	tidied(t, l)
	for i, id := range ids {
		wantExpired(t, l, id, i < 2)
	}
	if _, u, err := l.Change(t.Context(), ids[3]); err != nil || len(u.Attributes) != 2000 {
		t.Errorf("%d bytes of attributes, %v", len(u.Attributes), err)
	}
	var rows int
	s, err := l.open(t.Context())
	if err == nil {
		err = s.readers.QueryRowContext(t.Context(), "SELECT count(*) FROM attributes").Scan(&rows)
	}
	if err != nil || rows != 2 {
		t.Errorf("%d rows of attributes are kept, %v; want 2", rows, err)
	}
}

func TestImagesGoWithTheLastRowThatNamesThem(t *testing.T) {
	l := openAt(t, filepath.Join(t.TempDir(), "state"), Options{Budget: Budget{Bytes: 800_000}})
	shared, other := strings.Repeat("x", 300_000), strings.Repeat("y", 300_000)
	done(t, l, edit(t, "a", shared, ""))
	done(t, l, edit(t, "a", other, ""))
	done(t, l, edit(t, "a", shared, ""))
	last := done(t, l, edit(t, "a", shared, ""))
	stray := filepath.Join(l.dir, imagesDir, shaOf("stray"))
	leftover := filepath.Join(l.dir, imagesDir, tempPrefix+"1")
	for _, name := range []string{stray, leftover} {
		if err := os.WriteFile(name, []byte("stray"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	long := time.Now().Add(-2 * time.Hour)
	if err := os.Chtimes(leftover, long, long); err != nil {
		t.Fatal(err)
	}
	tidied(t, l)
	images, err := filepath.Glob(filepath.Join(l.dir, imagesDir, "*"))
	if err != nil || len(images) != 1 || filepath.Base(images[0]) != shaOf(shared) {
		t.Errorf("images %v, error %v; want the one that is still named", images, err)
	}
	wantExpired(t, l, last, false)
}

func TestOpenChangeKeepsItsUndoData(t *testing.T) {
	l := openAt(t, filepath.Join(t.TempDir(), "state"), Options{Budget: Budget{Bytes: 1}})
	first := done(t, l, edit(t, "a", "1", "2"))
	open := begin(t, l, edit(t, "a", "1", "2"))
	after := done(t, l, edit(t, "a", "1", "2"))
	done(t, l, edit(t, "a", "1", "2"))
	tidied(t, l)
	wantExpired(t, l, first, true)
	wantExpired(t, l, open, false)
	wantExpired(t, l, after, false)
	if err := l.End(t.Context(), open, contract.OutcomeDone); err != nil {
		t.Fatal(err)
	}
	tidied(t, l)
	wantExpired(t, l, open, true)
	wantExpired(t, l, after, true)
}
