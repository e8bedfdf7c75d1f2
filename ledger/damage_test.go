package ledger

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"writ/contract"
	"writ/envelope"
)

// written returns a state directory with some changes in it, closed, and the undo data of one in an image.
func written(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "state")
	l := openAt(t, dir, Options{})
	for i := range 60 {
		done(t, l, edit(t, fmt.Sprint("file ", i), strings.Repeat("x", 1000), "y"))
	}
	done(t, l, edit(t, "big", strings.Repeat("x", inlineLimit+1), "y"))
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	return dir
}

func rewrite(t *testing.T, name string, change func([]byte) []byte) []byte {
	t.Helper()
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	data = change(data)
	if err := os.WriteFile(name, data, 0o600); err != nil {
		t.Fatal(err)
	}
	return data
}

func TestDamagedDatabaseIsSetAsideWhole(t *testing.T) {
	for _, c := range []struct {
		name   string
		damage func([]byte) []byte
	}{
		{"not a database", func([]byte) []byte { return []byte(strings.Repeat("not a database\n", 1000)) }},
		{"cut in half", func(b []byte) []byte { return b[:len(b)/2] }},
		{"the first page overwritten", func(b []byte) []byte { copy(b[100:], bytes.Repeat([]byte{0xa5}, 3000)); return b }},
		{"every page but the first overwritten", func(b []byte) []byte { copy(b[4096:], bytes.Repeat([]byte{0xa5}, len(b))); return b }},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := written(t)
			damaged := rewrite(t, filepath.Join(dir, databaseName), c.damage)
			var log bytes.Buffer
			l := openAt(t, dir, Options{Logger: slog.New(slog.NewTextHandler(&log, nil))})
			in := edit(t, "a", "1", "2")
			id, err := l.Begin(t.Context(), in)
			if err != nil { // what is only found on the way is told, and mended at the next use
				wantCode(t, err, envelope.IO)
				id = begin(t, l, in)
			}
			if got, _, err := l.Changes(t.Context(), Filter{}); err != nil || len(got) != 1 || got[0].ID != id {
				t.Fatalf("changes %v, error %v", idsOf(got), err)
			}
			wantAside(t, dir, damaged)
			if !strings.Contains(log.String(), "level=ERROR") {
				t.Error("nothing was logged")
			}
			if lines := linesOf(t, l, RowFilter{}); len(lines) != 1 || !strings.Contains(lines[0], `"event":"the change log was damaged and set aside as damaged-`) {
				t.Errorf("audit begins with %q", lines)
			}
			if v, err := l.Verify(t.Context()); err != nil || v.Bad != 0 {
				t.Errorf("audit %+v, error %v", v, err)
			}
		})
	}
}

// wantAside wants the damaged bytes and the image in a directory of their own.
func wantAside(t *testing.T, dir string, damaged []byte) {
	t.Helper()
	aside, err := filepath.Glob(filepath.Join(dir, "damaged-*"))
	if err != nil || len(aside) != 1 {
		t.Fatalf("set aside: %v, error %v", aside, err)
	}
	kept, err := os.ReadFile(filepath.Join(aside[0], databaseName))
	if err != nil || !bytes.Equal(kept, damaged) {
		t.Errorf("%d of %d damaged bytes kept, error %v", len(kept), len(damaged), err)
	}
	images, err := filepath.Glob(filepath.Join(aside[0], imagesDir, "*"))
	if err != nil || len(images) != 1 {
		t.Errorf("images %v, error %v", images, err)
	}
}

func TestDamageThatOnlyACheckFindsIsFoundAfterACrash(t *testing.T) {
	dir := written(t)
	rewrite(t, filepath.Join(dir, databaseName), func(b []byte) []byte {
		copy(b[len(b)-2*4096:], bytes.Repeat([]byte{0xa5}, 4096))
		return b
	})
	// A mark that nobody holds is what a process that was killed leaves.
	if err := os.WriteFile(markOf(dir, 7), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	l := openAt(t, dir, Options{})
	s, err := l.open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if !s.tidying.suspect {
		t.Fatal("the crash went unnoticed")
	}
	l.tidy(t.Context(), s, true)
	begin(t, l, edit(t, "a", "1", "2"))
	if aside, _ := filepath.Glob(filepath.Join(dir, "damaged-*")); len(aside) != 1 {
		t.Errorf("set aside: %v", aside)
	}
}

func TestDamagedDatabaseStaysWhileOthersUseIt(t *testing.T) {
	dir := written(t)
	other := openAt(t, dir, Options{})
	if err := other.Ready(t.Context()); err != nil {
		t.Fatal(err)
	}
	p, err := register(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer p.leave()
	_, err = replaceDamaged(opening{dir: dir, log: slog.New(slog.DiscardHandler), process: p}, errDamaged)
	wantCode(t, err, envelope.IO)
	if _, err := os.Stat(filepath.Join(dir, databaseName)); err != nil {
		t.Error(err)
	}
}

func TestDatabaseOfOthersIsRefused(t *testing.T) {
	for name, statement := range map[string]string{
		"a newer writ":    "PRAGMA user_version=99",
		"another program": "PRAGMA application_id=1",
	} {
		dir := written(t)
		db, err := openPool(filepath.Join(dir, databaseName))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := db.Exec(statement); err != nil {
			t.Fatal(err)
		}
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
		l := openAt(t, dir, Options{})
		_, err = l.Begin(t.Context(), edit(t, "a", "1", "2"))
		wantCode(t, err, envelope.IO)
		if e, _ := errors.AsType[*envelope.Error](err); !strings.Contains(e.Message, "--state") || strings.Contains(e.Message, dir) {
			t.Errorf("%s: message %q", name, e.Message)
		}
		if marks, _ := filepath.Glob(filepath.Join(dir, processesDir, "*")); len(marks) != 0 {
			t.Errorf("%s: marks left %v", name, marks)
		}
	}
}

func TestFailedFlushStopsChangesUntilItIsMended(t *testing.T) {
	l := openNew(t)
	s, err := l.open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	s.wal.flush = func(*os.File) error { return &os.PathError{Op: "sync", Path: s.wal.file.Name(), Err: os.ErrInvalid} }
	_, err = l.Begin(t.Context(), edit(t, "a", "1", "2"))
	wantCode(t, err, envelope.IO)
	if err := s.wal.wait(); !errors.Is(err, errNotFlushed) {
		t.Errorf("a wait after the failure: %v", err)
	}
	s.wal.flush = flushData
	id := begin(t, l, edit(t, "b", "1", "2"))
	got, _, err := l.Changes(t.Context(), Filter{})
	if err != nil || len(got) != 1 || got[0].ID != id {
		t.Errorf("changes %v, error %v; want %s alone", idsOf(got), err, id)
	}
}

func TestImageTakenAwayBeforeTheCommitIsPlacedAgain(t *testing.T) {
	l := openNew(t)
	s, err := l.open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	parts := [][]byte{[]byte("undo data")}
	sum := sumOf(parts)
	if err := s.images.place(sum, parts); err != nil {
		t.Fatal(err)
	}
	if err := s.removeUnnamed(t.Context(), sum); err != nil {
		t.Fatal(err)
	}
	if s.images.has(sum) {
		t.Fatal("an image that no row names was kept")
	}
	if err := s.confirmImage(sum, parts); err != nil {
		t.Fatal(err)
	}
	if got, err := s.images.read(sum); err != nil || string(got) != "undo data" {
		t.Errorf("image %q, error %v", got, err)
	}
}

func TestCauseNamesNoPathAndNoGo(t *testing.T) {
	l := openNew(t)
	if err := os.WriteFile(filepath.Join(l.dir, processesDir), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := l.Begin(t.Context(), contract.Intent{})
	e, isCause := errors.AsType[*envelope.Error](err)
	if !isCause || e.Code != envelope.IO || strings.Contains(e.Message, l.dir) || e.Err == nil {
		t.Errorf("error %v", err)
	}
}

// TestDamagedRowIsTold changes single rows to what this program never writes. That is no fault of ours, nor a reason to set
// a database aside that is good but for them.
func TestDamagedRowIsTold(t *testing.T) {
	for _, damage := range []string{
		"UPDATE changes SET after = 'x'", "UPDATE changes SET before = upper(before)", "UPDATE changes SET path = '../x'",
	} {
		l := openNew(t)
		done(t, l, edit(t, "a", "1", "2"))
		if _, _, err := l.Changes(t.Context(), Filter{}); err != nil { // which also writes what waits
			t.Fatal(err)
		}
		tamper(t, l, damage)
		_, _, err := l.Changes(t.Context(), Filter{})
		wantCode(t, err, envelope.IO)
		if aside, _ := filepath.Glob(filepath.Join(l.dir, "damaged-*")); len(aside) != 0 {
			t.Errorf("%s: set aside as %v", damage, aside)
		}
	}
	l := openNew(t)
	if err := l.Ready(t.Context()); err != nil {
		t.Fatal(err)
	}
	tamper(t, l, "DELETE FROM head")
	err := l.Record(t.Context(), CallEntry{RequestID: "r", Tool: "read_file", Writes: true})
	wantCode(t, err, envelope.IO)
}
