package notes

import (
	"context"
	"time"
)

// A word of a note that is gone is found no more at once. It leaves the file when the parts that held it are merged,
// which costs seconds of work where there are many notes, so that waits for a quiet moment: soon after a note is removed
// or hidden, and after many have changed.

const (
	tidyDelay = time.Minute
	// tidyDue is how many changed notes make it worthwhile; one that is removed or hidden counts as so many.
	tidyDue = 1000
)

// tidyLater tidies in a while, unless that is about to happen.
func (x *Index) tidyLater() {
	if !x.tidying.CompareAndSwap(false, true) {
		return
	}
	x.work.Go(func() {
		defer x.tidying.Store(false)
		select {
		case <-x.context.Done():
		case <-time.After(tidyDelay):
			x.tidyUp(x.context)
		}
	})
}

// tidyUp removes from the file what no note says any more.
func (x *Index) tidyUp(ctx context.Context) {
	if !x.take(ctx) {
		return
	}
	db := x.store
	x.release()
	if db == nil {
		return
	}
	if err := db.tidy(ctx); err != nil {
		x.trouble(ctx, db, err)
	}
}

func (s *store) tidy(ctx context.Context) error {
	if err := s.mergeParts(ctx); err != nil {
		return err
	}
	if err := s.pruneWords(ctx); err != nil {
		return err
	}
	if err := s.transaction(ctx, func(w *writer) error {
		_, err := w.conn.ExecContext(ctx, "UPDATE totals SET removed = 0")
		return err
	}); err != nil {
		return err
	}
	return s.shrink(ctx)
}

// mergeParts makes the parts one, step by step, so that others need not wait.
func (s *store) mergeParts(ctx context.Context) error {
	const pages = 1000
	for first := true; ; first = false {
		before, err := s.writes(ctx)
		if err != nil {
			return err
		}
		step := pages
		if first {
			step = -pages // all parts are to be one
		}
		if err := s.merging(ctx, "merge", step); err != nil {
			return err
		}
		after, err := s.writes(ctx)
		if err != nil {
			return err
		}
		if after-before < 2 {
			return s.shrink(ctx)
		}
	}
}

// shrink gives back what the merged parts took, and empties the write-ahead log into the file.
func (s *store) shrink(ctx context.Context) error {
	s.writing.Lock()
	defer s.writing.Unlock()
	_, err := s.writer.conn.ExecContext(ctx, "PRAGMA incremental_vacuum; PRAGMA wal_checkpoint(TRUNCATE)")
	return err
}

// writes counts what the connection has written: fewer than two in a step say that there is nothing left to merge.
func (s *store) writes(ctx context.Context) (n int, err error) {
	s.writing.Lock()
	defer s.writing.Unlock()
	err = s.writer.conn.QueryRowContext(ctx, "SELECT total_changes()").Scan(&n)
	return n, err
}

// merging sets how the database merges the parts that transactions leave, or has it merge.
func (s *store) merging(ctx context.Context, setting string, value int) error {
	s.writing.Lock()
	defer s.writing.Unlock()
	_, err := s.writer.conn.ExecContext(ctx, "INSERT INTO text(text, rank) VALUES(?, ?)", setting, value)
	return err
}

// mergeLate has the parts merged in the end, at once, which is cheaper than by and by. They can be no more than 2,000.
func (s *store) mergeLate(ctx context.Context) error {
	s.merges.Store(false)
	if err := s.merging(ctx, "automerge", 0); err != nil {
		return err
	}
	return s.merging(ctx, "crisismerge", 500)
}

// mergeSoon has the parts merged as they come, so that they stay few.
func (s *store) mergeSoon(ctx context.Context) error {
	if err := s.merging(ctx, "automerge", 4); err != nil {
		return err
	}
	if err := s.merging(ctx, "crisismerge", 16); err != nil {
		return err
	}
	s.merges.Store(true)
	return nil
}
