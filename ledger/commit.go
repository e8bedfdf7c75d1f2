package ledger

import (
	"cmp"
	"errors"
	"slices"
	"sync"
	"time"
)

// Writes that wait for each other's end are committed together: whoever gets the writing connection carries out all that
// wait by then, in the order in which they came, in one transaction. A commit costs as much as a few rows, so sixteen
// writers at once pay it once instead of sixteen times. If one of them fails, each is carried out in a transaction of its
// own, so that a failure is nobody else's.

// task is a write that waits for its turn. It may be carried out more than once, and what it did before was rolled back.
type task struct {
	do       func() error
	promises bool // it must be durable in the end
	done     bool
	err      error
}

// errNotCarriedOut is the end of a write that went down with another one.
var errNotCarriedOut = errors.New("the write was given up")

// queue is the writes that wait.
type queue struct {
	mu      sync.Mutex
	waiting []*task
	timer   *time.Timer      // runs while a write waits that nobody waits for
	endings map[int64]ending // of changes under way; endPrompt is left out
}

func (q *queue) add(t *task) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.waiting = append(q.waiting, t)
}

// addForLater adds a write that the next one takes along, or carry if there is none for a while.
func (q *queue) addForLater(t *task, carry func()) {
	q.add(t)
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.timer == nil {
		q.timer = time.AfterFunc(flushAfter, carry)
	}
}

func (q *queue) take() []*task {
	q.mu.Lock()
	defer q.mu.Unlock()
	tasks := q.waiting
	q.waiting = nil
	if q.timer != nil {
		q.timer.Stop()
		q.timer = nil
	}
	return tasks
}

// ending says how soon the end of a change must be on record.
type ending int

const (
	endPrompt  ending = iota // when End returns
	endLater                 // with the next row
	endDurable               // when End returns, and a power cut can't take it back
)

// expect tells how the end of a change is to be recorded.
func (q *queue) expect(id int64, e ending) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.endings == nil {
		q.endings = map[int64]ending{}
	}
	q.endings[id] = e
}

// ending returns how the end of a change, which has come, is to be recorded.
func (q *queue) ending(id int64) ending {
	q.mu.Lock()
	defer q.mu.Unlock()
	e := q.endings[id]
	delete(q.endings, id)
	return e
}

func (q *queue) isEmpty() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.waiting) == 0
}

// together carries out a write, and returns when it is committed. It may share a transaction with others.
func (s *store) together(do func() error) error {
	return s.await(&task{do: do})
}

// promise is together for what must be durable in the end. It is refused while a part of the log may be missing.
func (s *store) promise(do func() error) error {
	return s.await(&task{promises: true, do: func() error {
		if s.wal.failed.Load() {
			return cmp.Or(s.wal.unhealed, errNotFlushed)
		}
		return do()
	}})
}

func (s *store) await(t *task) error {
	s.queue.add(t)
	s.write.Lock()
	defer s.write.Unlock()
	if !t.done {
		_ = s.carryOut(s.queue.take()) // each task has its own error
	}
	return t.err
}

// later leaves a write to the next one. Until then it is not seen by questions, which therefore come after catchUp.
func (s *store) later(do func() error) {
	s.queue.addForLater(&task{do: do}, func() { _ = s.catchUp() })
}

// catchUp carries out what was left for later.
func (s *store) catchUp() error {
	if s.queue.isEmpty() {
		return nil
	}
	s.write.Lock()
	defer s.write.Unlock()
	return s.carryOut(s.queue.take())
}

// carryOut carries out writes in one transaction, or each in its own. The caller holds s.write.
func (s *store) carryOut(tasks []*task) error {
	for _, t := range tasks {
		t.done, t.err = true, errNotCarriedOut // should one of them panic
	}
	if slices.ContainsFunc(tasks, func(t *task) bool { return t.promises }) {
		s.healWAL()
	}
	err := s.inTransaction(func() error {
		for _, t := range tasks {
			if err := t.do(); err != nil {
				return err
			}
		}
		return nil
	})
	for _, t := range tasks {
		t.err = err
	}
	if err == nil || len(tasks) == 1 {
		return err
	}
	var errs []error
	for _, t := range tasks {
		t.err = s.inTransaction(t.do)
		errs = append(errs, t.err)
	}
	return errors.Join(errs...)
}
