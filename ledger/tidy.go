package ledger

import (
	"context"
	"database/sql"
	"errors"
	"sync/atomic"
	"time"
)

const (
	tidyEvery  = 128             // commits between two rounds
	tidyAfter  = 2 * time.Second // until the first round, to keep out of a start's way
	largeUndo  = 1 << 20         // undo bytes of one change that call for a round at once
	expireStep = 512 << 10       // undo bytes that are dropped at a time, so that no change waits for long
)

// tidying is the background work on an open store: the write-ahead log is moved into the database, undo data beyond the
// budget are dropped, and what a process that was cut short may have left is looked through.
type tidying struct {
	suspect bool // a process ended without closing the database
	commits atomic.Int64
	wake    chan struct{}
	cancel  context.CancelFunc
	done    chan struct{}
}

// count is told of each commit, and of the undo bytes that it brought.
func (t *tidying) count(undo int64) {
	if t.commits.Add(1)%tidyEvery != 0 && undo < largeUndo {
		return
	}
	select {
	case t.wake <- struct{}{}:
	default: // a round is due already
	}
}

func (t *tidying) stop() {
	t.cancel()
	<-t.done
}

// startTidying runs round now and then until the store is closed.
func (s *store) startTidying(round func(ctx context.Context, s *store, first bool)) {
	ctx, cancel := context.WithCancel(context.Background())
	s.tidying.wake, s.tidying.cancel, s.tidying.done = make(chan struct{}, 1), cancel, make(chan struct{})
	go func() {
		defer close(s.tidying.done)
		start := time.NewTimer(tidyAfter)
		defer start.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-start.C:
				round(ctx, s, true)
			case <-s.tidying.wake:
				round(ctx, s, false)
			}
		}
	}()
}

func (l *Ledger) tidy(ctx context.Context, s *store, first bool) {
	err := errors.Join(s.catchUp(), s.checkpoint(ctx))
	if err == nil {
		err = s.expire(ctx, l.clock(), l.budget)
	}
	if err == nil && first {
		err = s.examine(ctx, l.clock())
	}
	if err == nil || ctx.Err() != nil || isBusy(err) {
		return
	}
	l.log.Error("tidying the ledger failed", "error", l.fail(s, err))
}

// checkpoint moves the write-ahead log into the database, as far as nobody is in its way, and waits for nobody.
func (s *store) checkpoint(ctx context.Context) error {
	_, err := s.readers.ExecContext(ctx, "PRAGMA wal_checkpoint(PASSIVE)")
	return err
}

// examine looks for what processes that were cut short have left.
func (s *store) examine(ctx context.Context, now time.Time) error {
	if s.tidying.suspect {
		if err := quickCheck(ctx, s.readers); err != nil {
			return err
		}
	}
	sums, err := s.images.list(now)
	if err != nil {
		return err
	}
	for _, sum := range sums {
		if ctx.Err() != nil {
			return nil
		}
		if err := s.removeUnnamed(ctx, sum); err != nil {
			return err
		}
	}
	return nil
}

func (s *store) removeUnnamed(ctx context.Context, sum string) error {
	if named, err := isNamed(ctx, s.readers, sum); named || err != nil {
		return err
	}
	s.write.Lock()
	defer s.write.Unlock()
	return s.inTransaction(func() error { return s.removeImage(sum) })
}

// removeImage removes the image unless a row names it. The caller is in a transaction.
func (s *store) removeImage(sum string) error {
	named, err := isNamed(context.Background(), s.conn, sum)
	if named || err != nil {
		return err
	}
	return s.images.remove(sum)
}

func isNamed(ctx context.Context, q querier, sum string) (named bool, err error) {
	err = q.QueryRowContext(ctx, "SELECT EXISTS(SELECT 1 FROM changes WHERE image = ?)", sum).Scan(&named)
	return named, err
}

// expire drops undo data beyond the budget, oldest first and a little at a time.
func (s *store) expire(ctx context.Context, now time.Time, b Budget) error {
	for ctx.Err() == nil {
		e, err := s.expirable(ctx, now, b)
		if err != nil || e.through == 0 {
			return err
		}
		if err := s.drop(e); err != nil {
			return err
		}
	}
	return nil
}

// expirable is a stretch of changes whose undo data are to be dropped: the rows after from up to through.
type expirable struct {
	from, through int64
	images        []string
}

// selectKept lists the changes that still have their undo data, oldest first, but for the newest. An open change is not
// passed: its undo data may be needed, and so those after it wait.
const selectKept = `
SELECT id, began, total, ifnull(image, ''), outcome IS NULL, through,
	ifnull((SELECT total FROM changes WHERE id = through), 0),
	(SELECT total FROM changes ORDER BY id DESC LIMIT 1)
FROM changes, kept
WHERE id > through AND id < (SELECT max(id) FROM changes)
ORDER BY id LIMIT 64`

func (s *store) expirable(ctx context.Context, now time.Time, b Budget) (expirable, error) {
	rows, err := s.readers.QueryContext(ctx, selectKept)
	if err != nil {
		return expirable{}, err
	}
	defer rows.Close()
	return chooseExpirable(rows, now, b)
}

func chooseExpirable(rows *sql.Rows, now time.Time, b Budget) (e expirable, err error) {
	dropped := int64(0) // undo bytes that this step drops
	for rows.Next() {
		var id, began, total, before, newest int64
		var image string
		var open bool
		if err := rows.Scan(&id, &began, &total, &image, &open, &e.from, &before, &newest); err != nil {
			return e, err
		}
		tooMany := newest-before-dropped > b.Bytes
		tooOld := now.Sub(time.UnixMicro(began)) > b.Age
		if open || !tooMany && !tooOld || dropped > expireStep {
			break
		}
		e.through, dropped = id, total-before
		if image != "" {
			e.images = append(e.images, image)
		}
	}
	return e, rows.Err()
}

func (s *store) drop(e expirable) error {
	s.write.Lock()
	defer s.write.Unlock()
	ctx := context.Background()
	return s.inTransaction(func() error {
		_, err := s.conn.ExecContext(ctx, "UPDATE changes SET undo = NULL, image = NULL WHERE id > ? AND id <= ?", e.from, e.through)
		if err != nil {
			return err
		}
		if _, err := s.conn.ExecContext(ctx, "DELETE FROM attributes WHERE change > ? AND change <= ?", e.from, e.through); err != nil {
			return err
		}
		if _, err := s.conn.ExecContext(ctx, "UPDATE kept SET through = max(through, ?)", e.through); err != nil {
			return err
		}
		var errs []error
		for _, sum := range e.images {
			errs = append(errs, s.removeImage(sum))
		}
		return errors.Join(errs...)
	})
}
