package gate

import (
	"context"
	"errors"
	"fmt"
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
// comes to a file with an open change of an ended process waits for this, so that no change is made on top of half of
// another.
func (g *Gate) Recover(ctx context.Context) error {
	pending, err := g.ledger.Pending(ctx)
	if err != nil {
		return fmt.Errorf("recover: %w", err)
	}
	batches := map[string][]ledger.PendingIntent{}
	for _, p := range pending {
		if p.Intent.Kind == contract.ChangeBatch && !p.Alive {
			batches[p.ID] = nil
		}
	}
	var errs []error
	for _, p := range pending {
		members, isBatch := batches[p.Intent.Batch]
		switch {
		case p.Alive, p.Intent.Kind == contract.ChangeBatch:
		case isBatch:
			batches[p.Intent.Batch] = append(members, p)
		default:
			errs = append(errs, g.settle(ctx, p))
		}
	}
	for id, members := range batches {
		errs = append(errs, g.settleBatch(ctx, id, members))
	}
	return errors.Join(errs...)
}

// RecoverNowAndThen recovers once, and then again from time to time, until the context ends: another process may end in
// the midst of a change while this one runs.
func (g *Gate) RecoverNowAndThen(ctx context.Context) {
	const pause = time.Minute
	tick := time.NewTicker(pause)
	defer tick.Stop()
	for {
		if err := g.Recover(ctx); err != nil && ctx.Err() == nil {
			g.log.Warn("changes that were cut short could not all be settled", "error", err)
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
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
	outcomes := map[string]contract.Outcome{}
	var lost error // undo data, without which nothing can be taken back
	for i, p := range members {
		intents[i], outcomes[p.ID] = p.Intent, contract.OutcomeUnknown
		_, undo, err := g.ledger.Change(ctx, p.ID)
		intents[i].Undo, lost = undo.Splices, errors.Join(lost, err)
	}
	if lost == nil {
		settled, err := g.files.SettleBatch(ctx, intents, func() (bool, error) { return g.ledger.IsOpen(ctx, id) })
		if passes(ctx, err) || err == nil && settled == nil {
			return err
		}
		for i, o := range settled {
			outcomes[members[i].ID] = o
		}
		lost = err
	}
	if lost != nil {
		g.log.Warn("a batch that was cut short can't be settled", "change", id, "error", lost)
	}
	return g.ledger.EndBatch(ctx, id, outcomes)
}

// passes tells whether an error may be gone at the next try.
func passes(ctx context.Context, err error) bool {
	return ctx.Err() != nil || envelope.CodeOf(err).Status() == envelope.Unavailable
}

// journal is the ledger as the workspace tells it of changes.
type journal struct {
	*ledger.Ledger
	gate *Gate
}

var _ workspace.Journal = journal{}

// Recover settles what ended processes left.
func (j journal) Recover(ctx context.Context) error { return j.gate.Recover(ctx) }
