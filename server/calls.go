package server

import (
	"context"
	"errors"
	"sync"
	"time"
)

const (
	// maxRunning is how many calls run at once for one connection or listener; the others wait.
	maxRunning = 64
	// maxOpen is how many calls may run and wait together; further ones are refused.
	maxOpen = 1024
)

// calls are the tool calls of one connection or listener that are not answered yet.
type calls struct {
	ctx    context.Context // ends when the calls must stop
	cancel context.CancelFunc
	slots  chan struct{}

	mu     sync.Mutex
	named  map[string]*call
	open   int
	closed bool
	idle   chan struct{} // closed when closed and none is open
}

// call is one of them.
type call struct {
	ctx       context.Context
	cancel    context.CancelFunc
	of        *calls
	name      string
	unlink    func() bool // from the end of all calls; nil where that is the parent
	slot      bool
	cancelled bool // by the client
}

func newCalls(ctx context.Context) *calls {
	c := &calls{slots: make(chan struct{}, maxRunning), named: map[string]*call{}, idle: make(chan struct{})}
	c.ctx, c.cancel = context.WithCancel(context.WithoutCancel(ctx))
	return c
}

var (
	errTooMany = errors.New("Too many calls are open; send further ones when these are answered")
	errSameID  = errors.New("A request of this id is still open; this one was not carried out. Each request needs an id of its own")
)

// begin opens a call by the name under which the client can cancel it; "" for none. It fails when the server is ending,
// has too many, or has one of that name. Values of ctx and its end hold for the call; it ends with the others at the
// latest.
func (c *calls) begin(ctx context.Context, name string) (*call, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.closed || c.open == maxOpen:
		return nil, errTooMany
	case c.named[name] != nil:
		return nil, errSameID
	}
	c.open++
	run := &call{of: c, name: name}
	run.ctx, run.cancel = context.WithCancel(ctx)
	if ctx != c.ctx {
		run.unlink = context.AfterFunc(c.ctx, run.cancel)
	}
	if name != "" {
		c.named[name] = run
	}
	return run, nil
}

// wait waits for one of the slots; it is false where the call is cancelled first.
func (r *call) wait() bool {
	select {
	case r.of.slots <- struct{}{}:
		r.slot = true
	case <-r.ctx.Done():
	}
	return r.ctx.Err() == nil
}

// freeSlot lets the next call run. The answer may still have to be sent, to a client that takes its time.
func (r *call) freeSlot() {
	if r.slot {
		r.slot = false
		<-r.of.slots
	}
}

// cancelNamed cancels the call of that name, if it is open. It will not be answered, so its name is free.
func (c *calls) cancelNamed(name string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if run := c.named[name]; run != nil {
		run.cancelled = true
		run.cancel()
		delete(c.named, name)
	}
}

// settle ends the time in which the client can cancel, and tells whether it still wants an answer.
func (r *call) settle() bool {
	r.of.mu.Lock()
	defer r.of.mu.Unlock()
	if r.of.named[r.name] == r {
		delete(r.of.named, r.name)
	}
	return !r.cancelled
}

// done closes the call once its answer is sent.
func (r *call) done() {
	r.settle()
	r.freeSlot()
	if r.unlink != nil {
		r.unlink()
	}
	r.cancel()
	r.of.mu.Lock()
	defer r.of.mu.Unlock()
	r.of.open--
	r.of.signal()
}

func (c *calls) signal() {
	if c.closed && c.open == 0 {
		close(c.idle)
	}
}

// count tells how many calls run or wait.
func (c *calls) count() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.open
}

func (c *calls) isClosed() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.closed
}

// drain takes no more calls and lets the open ones finish; after grace it cancels them. It waits at most patience
// longer: a call that does not even then end is left behind.
func (c *calls) drain(grace, patience time.Duration) {
	c.mu.Lock()
	if !c.closed {
		c.closed = true
		c.signal()
	}
	c.mu.Unlock()
	defer c.cancel()
	if c.waitIdle(grace) {
		return
	}
	c.cancel()
	c.waitIdle(patience)
}

func (c *calls) waitIdle(most time.Duration) bool {
	timer := time.NewTimer(most)
	defer timer.Stop()
	select {
	case <-c.idle:
		return true
	case <-timer.C:
		return false
	}
}
