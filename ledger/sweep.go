package ledger

import (
	"context"

	"writ/contract"
)

const selectSettled = `
SELECT id, process, request_id, tool, caller, fingerprint, kind, path, destination, before, after, mode, directories, temp, batch
FROM changes WHERE outcome IN ('succeeded', 'not-done') AND temp <> '' ORDER BY id DESC LIMIT ?`

// Settled returns the newest changes whose outcome is known and that used a temporary file. It may still be there after
// a power cut, which can undo the last things that were done to a directory.
func (l *Ledger) Settled(ctx context.Context, most int) ([]contract.Intent, error) {
	s, err := l.upToDate(ctx)
	if err != nil {
		return nil, err
	}
	rows, err := s.readers.QueryContext(ctx, selectSettled, most)
	if err != nil {
		return nil, l.fail(s, err)
	}
	defer rows.Close()
	var settled []contract.Intent
	for rows.Next() {
		p, _, err := scanPending(rows)
		if err != nil {
			return nil, err
		}
		settled = append(settled, p.Intent)
	}
	return settled, rows.Err()
}
