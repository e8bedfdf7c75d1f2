package gate

import "sync/atomic"

// workers run functions on goroutines of their own. A few that are done wait for the next one: their stacks have the size
// that calls need, and a new one would have to grow there, which takes a tenth of the time of a small call. One that is
// stuck holds up none.
type workers struct {
	jobs    chan func()
	waiting atomic.Int32
}

// maxWaiting is how many goroutines wait; more would only keep their stacks.
const maxWaiting = 4

func newWorkers() *workers { return &workers{jobs: make(chan func())} }

// run has f run, and returns at once.
func (w *workers) run(f func()) {
	select {
	case w.jobs <- f:
	default:
		go w.work(f)
	}
}

func (w *workers) work(f func()) {
	for {
		f()
		if w.waiting.Add(1) > maxWaiting {
			w.waiting.Add(-1)
			return
		}
		f = <-w.jobs
		w.waiting.Add(-1)
	}
}
