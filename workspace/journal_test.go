package workspace

import (
	"context"
	"fmt"

	"writ/contract"
)

func (d *diary) BeginBatch(ctx context.Context, b contract.Batch) (string, []string, error) {
	var ids []string
	for _, in := range b.Intents {
		id, err := d.Begin(ctx, in)
		if err != nil {
			return "", nil, err
		}
		ids = append(ids, id)
	}
	return "batch", ids, nil
}

func (d *diary) EndBatch(ctx context.Context, _ string, outcomes map[string]contract.Outcome) error {
	for _, o := range outcomes {
		_ = d.End(ctx, "", o)
	}
	return nil
}

func (d *diary) OpenBatch(context.Context, contract.Batch) (string, error) { return "batch", nil }

func (d *diary) Recover(context.Context) error { return fmt.Errorf("nothing was interrupted") }
