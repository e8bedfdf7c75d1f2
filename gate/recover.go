package gate

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"writ/contract"
	"writ/envelope"
	"writ/ledger"
	"writ/workspace"
)

// Recover finds out what became of the changes whose processes ended in their midst, brings them to an end and puts it
// on record. What can't be told stays unknown, and nothing of it is removed. What another program is in the way of at
// the moment stays open, to be settled later.
//
// It may run at any time and in several processes: the place of each change is locked while it is judged. A call that
// comes to a file with such a change waits for this, so that no change is made on top of half of another.
//
// An atomic batch is judged under the locks that whoever makes it holds until its end is on record, so it does not
// matter whether its process lives: one whose end could not be recorded is settled while the process goes on.
func (g *Gate) Recover(ctx context.Context) error {
	pending, err := g.ledger.Pending(ctx)
	if err != nil {
		return fmt.Errorf("recover: %w", err)
	}
	batches := map[string][]ledger.PendingIntent{}
	for _, p := range pending {
		if p.Intent.Kind == contract.ChangeBatch {
			batches[p.ID] = nil
		}
	}
	var errs []error
	for _, p := range pending {
		members, isBatch := batches[p.Intent.Batch]
		switch {
		case p.Intent.Kind == contract.ChangeBatch:
		case isBatch:
			batches[p.Intent.Batch] = append(members, p)
		case !p.Alive:
			errs = append(errs, g.settle(ctx, p))
		}
	}
	for id, members := range batches {
		errs = append(errs, g.settleBatch(ctx, id, members))
	}
	return errors.Join(append(errs, g.ledger.RecordLost(ctx))...)
}

// swept is how many of the newest changes are looked after: more than are made in the seconds that a power cut can undo.
const swept = 1000

// sweep removes temporary files that a power cut has brought back after their changes had an end.
func (g *Gate) sweep(ctx context.Context) error {
	settled, err := g.ledger.Settled(ctx, swept)
	if err != nil {
		return fmt.Errorf("sweep: %w", err)
	}
	var errs []error
	for _, in := range settled {
		if ctx.Err() != nil {
			break
		}
		errs = append(errs, g.files.Sweep(ctx, in))
	}
	return errors.Join(errs...)
}

// RecoverNowAndThen sweeps and recovers once, and then again from time to time, until the context ends: another process
// may end in the midst of a change while this one runs.
func (g *Gate) RecoverNowAndThen(ctx context.Context) {
	const pause = time.Minute
	tick := time.NewTicker(pause)
	defer tick.Stop()
	g.recovery.first(func() { g.recover(ctx) })
	if err := g.sweep(ctx); err != nil && ctx.Err() == nil {
		g.log.Warn("temporary files could not all be removed", "error", err)
	}
	for {
		select {
		case <-tick.C:
			g.recover(ctx)
		case <-ctx.Done():
			return
		}
	}
}

func (g *Gate) recover(ctx context.Context) {
	if err := g.Recover(ctx); err != nil && ctx.Err() == nil {
		g.log.Warn("changes that were cut short could not all be settled", "error", err)
	}
}

// recovery is the first recovery of a process. Calls wait for it, reads too: else they could see half of a batch.
type recovery struct {
	once sync.Once
	done chan struct{}
}

// recoveryWait bounds how long a call waits; another program may be in the way of a change for as long as it likes.
const recoveryWait = 5 * time.Second

// first carries out the first recovery, unless somebody has begun it.
func (r *recovery) first(recover func()) {
	r.once.Do(func() {
		defer close(r.done)
		recover()
	})
}

// await returns when the first recovery is over, or has taken too long.
func (g *Gate) awaitRecovery(ctx context.Context) {
	select {
	case <-g.recovery.done:
		return
	default:
	}
	if g.ledger == nil {
		return
	}
	go g.recovery.first(func() { g.recover(context.WithoutCancel(ctx)) })
	patience := time.NewTimer(recoveryWait)
	defer patience.Stop()
	select {
	case <-g.recovery.done:
	case <-patience.C:
	case <-ctx.Done():
	}
}

func (g *Gate) settle(ctx context.Context, p ledger.PendingIntent) error {
	outcome, err := g.files.Settle(ctx, p.Intent)
	if passes(ctx, err) {
		return err
	}
	if err != nil {
		g.log.Warn("a change that was cut short can't be judged", "change", p.ID, "error", err)
	}
	return g.ledger.Settle(ctx, p.ID, outcome)
}

// settleBatch settles the changes of one batch together.
func (g *Gate) settleBatch(ctx context.Context, id string, members []ledger.PendingIntent) error {
	intents := make([]contract.Intent, len(members))
	for i, p := range members {
		_, undo, err := g.ledger.Change(ctx, p.ID)
		switch envelope.CodeOf(err) {
		case envelope.Expired: // without undo data it can't be taken back
		case envelope.UnknownChange: // it ended meanwhile, and the batch with it
		default:
			if err != nil {
				return fmt.Errorf("settle batch %s: %w", id, err)
			}
		}
		intents[i] = p.Intent
		intents[i].Undo = undo.Splices
	}
	return g.files.SettleBatch(ctx, intents, &unended{g, ctx, id, members})
}

// unended is a batch that was left open.
type unended struct {
	gate    *Gate
	ctx     context.Context
	id      string
	members []ledger.PendingIntent
}

func (u *unended) IsOpen() (bool, error) { return u.gate.ledger.IsOpen(u.ctx, u.id) }

func (u *unended) End(outcomes []contract.Outcome) error {
	byChange := map[string]contract.Outcome{}
	for i, o := range outcomes {
		byChange[u.members[i].ID] = o
		if o == contract.OutcomeUnknown {
			u.gate.log.Warn("what became of a change of a batch that was cut short can't be told", "batch", u.id, "change", u.members[i].ID)
		}
	}
	return u.gate.ledger.EndBatch(u.ctx, u.id, byChange)
}

// passes tells whether an error may be gone at the next try.
func passes(ctx context.Context, err error) bool {
	if err == nil {
		return false
	}
	switch code := envelope.CodeOf(err); code {
	case "", envelope.IO, envelope.DiskFull:
		return true
	default:
		return ctx.Err() != nil || code.Status() == envelope.Unavailable
	}
}

// journal is the ledger as the workspace tells it of changes.
type journal struct {
	*ledger.Ledger
	gate *Gate
}

var _ workspace.Journal = journal{}

// Recover settles what was cut short. Why something can't be is for the log: it may be about places that the caller
// knows nothing of.
func (j journal) Recover(ctx context.Context) error {
	err := j.gate.Recover(ctx)
	if err == nil {
		return nil
	}
	j.gate.log.Warn("changes that were cut short could not all be settled", "error", err)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return envelope.Errorf(envelope.Busy, "An earlier change was cut short and can't be settled at the moment. Nothing was changed. Try again.")
}
