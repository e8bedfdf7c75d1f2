package gate

import (
	"context"
	"errors"
	"fmt"

	"writ/envelope"
	"writ/workspace"
)

// alreadyApplied turns the conflict of a call that was sent again into one that says so: the log shows that this very
// call made the version that is on disk now.
func (g *Gate) alreadyApplied(ctx context.Context, k *call, err error) error {
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
	return &envelope.Error{
		Code: envelope.AlreadyApplied,
		Message: fmt.Sprintf("This very call was carried out before, as request %s (change %s), and the file is still as it left it. Nothing is left to do.",
			first.RequestID, first.ID),
		Details: map[string]any{"request_id": first.RequestID, "change_id": first.ID},
	}
}
