package notes

import (
	"context"
	"math"
	"time"
)

// An index of an earlier process says what the notes were when that process ended. To learn what has changed since takes a
// look at each file, which is too long to wait for where there are many. So after a short while the first searches are
// answered from what the index says: each note that is shown was read for it, and is a match at that moment; what may be
// missing is a note that was written since, and the answer says so. That nothing has the words, and other words were taken
// for them, is no such answer: it waits. So does a process that has changed files itself: what it wrote is always found.

const (
	graceAtStart = 75 * time.Millisecond
	forever      = time.Duration(math.MaxInt64)
)

// firstLook is the first walk of a process over the notes.
type firstLook struct {
	db     *store
	done   chan struct{} // closed when it is over
	failed bool          // may be read when it is over
}

// isOver waits for the end of the look, no longer than the grace.
func (l *firstLook) isOver(ctx context.Context, grace time.Duration) bool {
	timer := time.NewTimer(grace)
	defer timer.Stop()
	select {
	case <-l.done:
		return true
	case <-timer.C:
	case <-ctx.Done():
	}
	return false
}

// lookFirst begins the first look, which takes over the turn of the caller.
func (x *Index) lookFirst() *firstLook {
	look := &firstLook{db: x.store, done: make(chan struct{})}
	x.first.Store(look)
	x.work.Go(func() {
		defer close(look.done)
		defer x.first.Store(nil)
		defer x.release()
		if err := x.catchUp(x.context); err != nil {
			look.failed = true
			x.troubled(x.context, look.db, err)
		}
	})
	return look
}

// asOfBefore is a result of a database that was not yet compared with the disk. It counts what was seen to match, since
// of other notes it is not known whether they still may be counted.
func asOfBefore(r Result) Result {
	r.Unsettled = true
	r.Total, r.Skipped = len(r.Matches), nil
	return r
}
