package ledger

import (
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"testing"

	"writ/contract"
)

func TestWritesThatWaitAreCommittedTogether(t *testing.T) {
	l := openNew(t)
	s, err := l.open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	failure := errors.New("this one fails")
	s.write.Lock() // all come to wait behind this
	var all sync.WaitGroup
	results := make([]error, 9)
	for i := range results {
		all.Go(func() {
			results[i] = s.together(func() error {
				if i == 4 {
					return failure
				}
				_, err := s.conn.ExecContext(t.Context(), "INSERT INTO calls VALUES(?, '', '', x'')", 100+i)
				return err
			})
		})
	}
	for s.queue.length() < len(results) {
		runtime.Gosched()
	}
	s.write.Unlock()
	all.Wait()
	for i, err := range results {
		if i == 4 && err != failure || i != 4 && err != nil {
			t.Errorf("write %d: %v", i, err)
		}
	}
	var rows int
	if err := s.readers.QueryRowContext(t.Context(), "SELECT count(*) FROM calls").Scan(&rows); err != nil || rows != len(results)-1 {
		t.Errorf("%d rows, error %v; want all but that of the one that fails", rows, err)
	}
}

// length is how many writes wait.
func (q *queue) length() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.waiting)
}

func TestAnEndLeftForLaterIsSeenByEveryQuestion(t *testing.T) {
	l := openNew(t)
	id := done(t, l, edit(t, "a", "1", "2"))
	if open, err := l.IsOpen(t.Context(), id); err != nil || open {
		t.Errorf("open %v, error %v", open, err)
	}
	id = done(t, l, edit(t, "a", "2", "3"))
	if pending, err := l.Pending(t.Context()); err != nil || len(pending) != 0 {
		t.Errorf("pending %v, error %v", pending, err)
	}
	if c, _, err := l.Change(t.Context(), id); err != nil || c.Outcome != contract.OutcomeDone {
		t.Errorf("outcome %q, error %v", c.Outcome, err)
	}
}

func TestAnEndLeftForLaterIsWrittenBeforeTheLedgerCloses(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "state")
	l := openAt(t, dir, Options{})
	id := done(t, l, edit(t, "a", "1", "2"))
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	l = openAt(t, dir, Options{})
	if c, _, err := l.Change(t.Context(), id); err != nil || c.Outcome != contract.OutcomeDone {
		t.Errorf("outcome %q, error %v", c.Outcome, err)
	}
}

// A process may end after another has gone on with a file that it had changed, and before its outcome was written.
func TestTheNextChangeTellsWhatBecameOfOneThatWasCutShort(t *testing.T) {
	for _, next := range []struct {
		found string // what the next change found at the place
		want  contract.Outcome
	}{
		{"2", contract.OutcomeDone},
		{"1", contract.OutcomeNotDone},
		{"something else", contract.OutcomeUnknown},
	} {
		t.Run(fmt.Sprintf("found %s", next.found), func(t *testing.T) {
			l := openNew(t)
			cut := begin(t, l, edit(t, "a", "1", "2"))
			done(t, l, edit(t, "b", "2", "3"))
			done(t, l, edit(t, "a", next.found, "4"))
			if err := l.Settle(t.Context(), cut, contract.OutcomeUnknown); err != nil {
				t.Fatal(err)
			}
			var outcome string
			s, err := l.open(t.Context())
			if err == nil {
				row := s.readers.QueryRowContext(t.Context(), "SELECT outcome FROM changes WHERE kind = 'edit' ORDER BY id LIMIT 1")
				err = row.Scan(&outcome)
			}
			if err != nil || contract.Outcome(outcome) != next.want {
				t.Errorf("outcome %q, error %v; want %q", outcome, err, next.want)
			}
		})
	}
}

// What is undone may lose its directory next, and then the disk does not tell what became of it.
func TestTheEndOfAnUndoingDoesNotWait(t *testing.T) {
	l := openNew(t)
	create := edit(t, "a", "", "1")
	create.Kind, create.Before = contract.ChangeCreate, contract.Version{}
	made := done(t, l, create)
	undo := edit(t, "a", "1", "")
	undo.Kind, undo.After, undo.Reverts = contract.ChangeDelete, contract.Version{}, made
	id := begin(t, l, undo)
	s, err := l.open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	flushes := 0
	s.wal.flush = func(f *os.File) error {
		flushes++
		return flushData(f)
	}
	if err := l.End(t.Context(), id, contract.OutcomeDone); err != nil {
		t.Fatal(err)
	}
	var outcome sql.NullString
	if err := s.readers.QueryRowContext(t.Context(), "SELECT outcome FROM changes WHERE request_id = 'req_a' AND kind = 'delete'").Scan(&outcome); err != nil || outcome.String != "succeeded" {
		t.Errorf("the outcome on record is %v, %v", outcome, err)
	}
	if flushes != 1 {
		t.Errorf("%d flushes, want 1", flushes)
	}
}
