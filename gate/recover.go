package gate

import (
	"context"
	"errors"
	"fmt"
)

// Recover finds out what became of the changes whose processes ended in their midst, and puts it on record. What can't
// be told stays unknown, and nothing of it is removed.
func (g *Gate) Recover(ctx context.Context) error {
	pending, err := g.ledger.Pending(ctx)
	if err != nil {
		return fmt.Errorf("recover: %w", err)
	}
	var errs []error
	for _, p := range pending {
		if p.Alive {
			continue
		}
		outcome, err := g.files.Settle(ctx, p.Intent)
		if err != nil {
			g.log.Warn("a change that was cut short can't be judged", "change", p.ID, "error", err)
		}
		errs = append(errs, g.ledger.Settle(ctx, p.ID, outcome))
	}
	return errors.Join(errs...)
}
