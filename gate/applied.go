package gate

import (
	"context"
	"errors"
	"fmt"

	"writ/contract"
	"writ/envelope"
	"writ/workspace"
)

// alreadyApplied turns the conflict of a call that was sent again into one that says so: the log shows that this very
// call made the version that is on disk now.
func (g *Gate) alreadyApplied(ctx context.Context, k *call, err error) error {
	if items, ok := errors.AsType[*envelope.Items](err); ok && g.ledger != nil && k.tool.Effect.Writes {
		return g.alreadyAppliedAll(ctx, k, items)
	}
	conflict, ok := errors.AsType[*workspace.Conflict](err)
	if !ok || g.ledger == nil || conflict.Current.IsZero() {
		return err
	}
	first, found, lookupErr := g.ledger.Applied(ctx, k.fingerprint())
	if lookupErr != nil {
		g.log.Warn("the change log could not be asked for an earlier call", "request", k.id, "error", lookupErr)
		return err
	}
	if !found || first.After != conflict.Current || first.Reverted {
		return err
	}
	return alreadyDone(first.RequestID, first.ID)
}

func alreadyDone(requestID, changeID string) *envelope.Error {
	return &envelope.Error{
		Code: envelope.AlreadyApplied,
		Message: fmt.Sprintf("This very call was carried out before, as request %s (change %s), and what it changed is still as it left it. Nothing is left to do.",
			requestID, changeID),
		Details: map[string]any{"request_id": requestID, "change_id": changeID},
	}
}

// alreadyAppliedAll is alreadyApplied for a batch: every item met a conflict, and every file is as the batch left it.
func (g *Gate) alreadyAppliedAll(ctx context.Context, k *call, items *envelope.Items) error {
	first, found, err := g.ledger.Applied(ctx, k.fingerprint())
	if err != nil || !found || first.Batch == "" || items.Done > 0 {
		return items
	}
	changes, err := g.ledger.Batch(ctx, first.Batch)
	if err != nil {
		return items
	}
	made := map[contract.Version]bool{}
	for _, c := range changes {
		made[c.After] = !c.Reverted
	}
	told := &envelope.Items{}
	for _, f := range items.Failed {
		conflict, ok := errors.AsType[*workspace.Conflict](f.Err)
		if !ok || !made[conflict.Current] {
			return items
		}
		told.Failed = append(told.Failed, envelope.ItemError{Item: f.Item, Err: alreadyDone(first.RequestID, first.Batch)})
	}
	return told
}
