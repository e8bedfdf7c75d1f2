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
	if g.ledger != nil && k.tool.Effect.Writes && envelope.CodeOf(err) == envelope.PathNotFound {
		return g.alreadyGone(ctx, k, err)
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

// alreadyGone is alreadyApplied where nothing is at the place any more because this very call took it away. A move is done
// if the file lies at its destination as it was put there. A deletion leaves nothing that would show that: the answer
// stays the same, and tells of the call that is on record.
func (g *Gate) alreadyGone(ctx context.Context, k *call, err error) error {
	first, found, lookupErr := g.ledger.Applied(ctx, k.fingerprint())
	if lookupErr != nil || !found || first.Reverted {
		return err
	}
	switch first.Kind {
	case contract.ChangeMove:
		file, loadErr := g.files.Reader(guard{k.policy}).Load(ctx, first.To)
		if loadErr == nil && file.Resolved == first.To && file.Version == first.After {
			return alreadyDone(first.RequestID, first.ID)
		}
	case contract.ChangeDelete:
		cause := *envelope.Cause(err)
		cause.Message += fmt.Sprintf(" This very call deleted it before, as request %s (change %s).", first.RequestID, first.ID)
		return cause.With("request_id", first.RequestID).With("change_id", first.ID)
	}
	return err
}

func alreadyDone(requestID, changeID string) *envelope.Error {
	return &envelope.Error{
		Code: envelope.AlreadyApplied,
		Message: fmt.Sprintf("This very call was carried out before, as request %s (change %s), and what it changed is still as it left it. Nothing is left to do.",
			requestID, changeID),
		Details: map[string]any{"request_id": requestID, "change_id": changeID},
	}
}

// alreadyAppliedAll is alreadyApplied for a batch: every item met a conflict, and every change of the first one is in
// force, each at its own place.
func (g *Gate) alreadyAppliedAll(ctx context.Context, k *call, items *envelope.Items) error {
	paths := k.paths()
	if len(items.Failed) != len(paths) {
		return items
	}
	first, found, err := g.ledger.Applied(ctx, k.fingerprint())
	if err != nil || !found || first.Batch == "" {
		return items
	}
	inForce, err := g.inForce(ctx, k, first.Batch)
	if err != nil {
		return items
	}
	told := &envelope.Items{}
	for _, f := range items.Failed {
		if _, ok := errors.AsType[*workspace.Conflict](f.Err); !ok || !inForce[g.resolve(ctx, k, paths[f.Item])] {
			return items
		}
		told.Failed = append(told.Failed, envelope.ItemError{Item: f.Item, Err: alreadyDone(first.RequestID, first.Batch)})
	}
	return told
}

// inForce returns the places of a batch, none unless all of them are as it left them.
func (g *Gate) inForce(ctx context.Context, k *call, batchID string) (map[string]bool, error) {
	changes, err := g.ledger.Batch(ctx, batchID)
	if err != nil {
		return nil, err
	}
	places := map[string]bool{}
	for _, c := range changes {
		file, err := g.files.Reader(guard{k.policy}).Load(ctx, c.Path)
		if err != nil || file.Resolved != c.Path || file.Version != c.After || c.Reverted || c.Outcome != contract.OutcomeDone {
			return nil, err
		}
		places[c.Path.String()] = true
	}
	return places, nil
}

// recoder is the answer of a batch, whose items carry the codes of what stopped them.
type recoder interface {
	Recode(item int, code envelope.Code)
}

// recode gives the items of an answer the codes that their errors have by now.
func recode(out any, err error) {
	answer, ok := out.(recoder)
	items, isBatch := errors.AsType[*envelope.Items](err)
	if !ok || !isBatch {
		return
	}
	for _, f := range items.Failed {
		answer.Recode(f.Item, envelope.Cause(f.Err).Code)
	}
}
