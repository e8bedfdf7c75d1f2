package gate

import (
	"context"
	"sync"
	"time"

	"writ/contract"
	"writ/envelope"
	"writ/workspace"
)

// A call ends at its deadline by itself, unless the system does not come back: a file on a network drive or a FUSE mount can
// block whoever touches it for as long as it likes, and no context helps. So a call runs on a goroutine of its own, and
// when it has not ended shortly after its deadline it is answered without it. It is left behind then: it can begin no change
// any more, it counts as in flight until it comes back, and what became of a change that it had begun goes on record
// when it does.

// grace is how long after its deadline a call is waited for: most notice by themselves that it has passed.
const grace = time.Second

// attempt is the running of one call. Its mutex settles who is first: the call that begins a change, or the clock.
type attempt struct {
	time  time.Duration
	timer *time.Timer
	done  chan result

	mu     sync.Mutex
	end    time.Time // when the time of the call is up
	asking bool      // a person is asked, which takes the time that it takes
	begun  []string  // the places of changes that may have been begun
	isLeft bool      // it was answered without its result
}

type result struct {
	out any
	err error
}

func newAttempt(callTime time.Duration) *attempt {
	return &attempt{time: callTime, end: time.Now().Add(callTime), timer: time.NewTimer(callTime + grace), done: make(chan result, 1)}
}

// inTime carries the call out and returns its result, or what is known of it shortly after its deadline.
func (g *Gate) inTime(ctx context.Context, k *call) (any, error) {
	a := newAttempt(g.callTime(k))
	defer a.timer.Stop()
	own := *k // what is left behind shares nothing with what is answered
	own.attempt = a
	g.workers.run(func() {
		out, err := g.attempt(ctx, &own)
		isLeft := a.finish(result{out, err}, func(isLeft bool) { g.flights.leave(own.Caller, isLeft) })
		if isLeft {
			g.cameBack(context.WithoutCancel(ctx), &own, out, err)
		}
	})
	for {
		select {
		case r := <-a.done:
			k.places, k.approval = own.places, own.approval
			return r.out, r.err
		case <-a.timer.C:
			if a.leave(func() { g.flights.strand(k.Caller) }) {
				return nil, g.overdue(context.WithoutCancel(ctx), k, a)
			}
		}
	}
}

// finish hands the result over, unless the call was answered without it, which it tells. Before, it calls note with that.
func (a *attempt) finish(r result, note func(isLeft bool)) (isLeft bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	note(a.isLeft)
	if !a.isLeft {
		a.done <- r
	}
	return a.isLeft
}

// leave gives the call up, unless it has ended or a person is asked. If it does, it calls note before anything else can
// happen to the call.
func (a *attempt) leave(note func()) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.asking || len(a.done) > 0 {
		return false
	}
	a.isLeft = true
	note()
	return true
}

// begin tells that a change of these places is about to be begun, and is an error where it is too late for that.
func (a *attempt) begin(intents ...contract.Intent) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.isLeft {
		return tooLate()
	}
	for _, in := range intents {
		a.begun = append(a.begun, in.Path.String())
		if !in.To.IsTop() {
			a.begun = append(a.begun, in.To.String())
		}
	}
	return nil
}

// ask stops the clock while a person is asked; answered gives the call its time anew.
func (a *attempt) ask() error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.isLeft {
		return tooLate()
	}
	a.asking = true
	a.timer.Stop()
	return nil
}

func (a *attempt) answered() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.asking, a.end = false, time.Now().Add(a.time)
	a.timer.Reset(a.time + grace)
}

// within returns a context that ends when the time of the call is up.
func (a *attempt) within(ctx context.Context) (context.Context, context.CancelFunc) {
	a.mu.Lock()
	defer a.mu.Unlock()
	return context.WithDeadline(ctx, a.end)
}

func tooLate() error {
	return envelope.Errorf(envelope.TimedOut, "The system did not come back in the time of this call, which was given up. Nothing was changed.")
}

// overdue is what a caller is told of a call that is left behind.
func (g *Gate) overdue(ctx context.Context, k *call, a *attempt) error {
	g.log.Warn("a call is stuck in the system and was answered without its result", "tool", k.Tool, "request", k.id)
	if len(a.begun) == 0 {
		return tooLate()
	}
	// The links on the way are not followed here: looking could block as well.
	k.places = append(g.namesOf(ctx, k), a.begun...)
	err := envelope.Errorf(envelope.OutcomeUnknown,
		"The system did not come back in the time of this write, which had begun. Ask get_outcome what became of request %s before you write here again.", k.id)
	if k.tool.Effect.Runs {
		return err // no path is known to keep the caller from
	}
	g.unsettled.note(k, err)
	return err
}

// cameBack puts on record how a call ended that was answered without its result. A read is of no interest any more.
func (g *Gate) cameBack(ctx context.Context, k *call, out any, err error) {
	g.log.Info("a call that was stuck has come back", "tool", k.Tool, "request", k.id, "error", err)
	if len(k.attempt.begun) == 0 {
		return
	}
	if out == nil {
		out = k.tool.Blank()
	}
	e := envelope.Seal(envelope.Meta{RequestID: k.id, Writes: true}, out, err)
	g.record(ctx, k, &e)
}

// timedJournal begins only changes of calls that were not given up.
type timedJournal struct {
	workspace.Journal
	attempt *attempt
}

// Begin makes the intent durable, if it is not too late.
func (j timedJournal) Begin(ctx context.Context, in contract.Intent) (string, error) {
	if err := j.attempt.begin(in); err != nil {
		return "", err
	}
	return j.Journal.Begin(ctx, in)
}

// BeginBatch makes all intents durable, if it is not too late.
func (j timedJournal) BeginBatch(ctx context.Context, b contract.Batch) (string, []string, error) {
	if err := j.attempt.begin(b.Intents...); err != nil {
		return "", nil, err
	}
	return j.Journal.BeginBatch(ctx, b)
}

// journalOf is the journal of one call; a plain nil where there is none.
func (g *Gate) journalOf(k *call) workspace.Journal {
	if g.ledger == nil {
		return nil
	}
	return timedJournal{g.journal(), k.attempt}
}
