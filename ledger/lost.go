package ledger

import (
	"context"

	"writ/contract"
	"writ/envelope"
)

// A process can end between a change and the audit row of its call. The change tells of the call all the same, so the
// row is added later, by whoever recovers: every call that changed something has one.

// lostEvent says in the row why it stands later than its call.
const lostEvent = "the process ended before it could put this call on record; it is known by its changes"

// lookedBack is how many of the newest changes are looked at for calls without a row.
const lookedBack = 1000

// RecordLost adds the audit rows of calls that ended with their processes after a change was settled. Two processes may do
// so at once; then there are two rows, which say the same.
func (l *Ledger) RecordLost(ctx context.Context) error {
	s, err := l.opened(ctx)
	if err != nil {
		return err
	}
	if err := l.recordLost(ctx, s); err != nil {
		return l.fail(s, err)
	}
	return nil
}

func (l *Ledger) recordLost(ctx context.Context, s *store) error {
	ids, err := s.lost(ctx)
	if err != nil {
		return err
	}
	for _, id := range ids {
		record, err := s.outcome(ctx, id)
		if err != nil {
			return err
		}
		changes, err := s.query(ctx, "request_id = ? AND kind <> 'batch' ORDER BY id", id)
		if err != nil {
			return err
		}
		if err := s.appendRows([]auditRow{l.lostRow(id, record, changes)}); err != nil {
			return err
		}
		l.shipSoon()
	}
	return nil
}

func (l *Ledger) lostRow(id string, record contract.CallRecord, changes []contract.Change) auditRow {
	row := auditRow{
		Time: stampOf(l.clock()), Event: lostEvent, RequestID: id, Caller: changes[0].Caller, Tool: record.Tool,
		Arguments: map[string]any{}, Paths: []string{}, Status: record.Status, Codes: []envelope.Code{},
	}
	for _, c := range changes {
		row.Paths = append(row.Paths, c.Path.String())
	}
	if len(changes) == 1 {
		row.Before, row.After = changes[0].Before.String(), changes[0].After.String()
	}
	return row
}

// selectLost passes over the heads of batches: a batch of changes that stand alone has one before it has changed anything.
const selectLost = `
SELECT DISTINCT request_id, process FROM changes
WHERE id > coalesce((SELECT id FROM changes ORDER BY id DESC LIMIT 1 OFFSET ?), 0) AND request_id <> '' AND kind <> 'batch'
	AND NOT EXISTS (SELECT 1 FROM calls WHERE calls.request_id = changes.request_id)
	AND NOT EXISTS (SELECT 1 FROM changes AS other WHERE other.request_id = changes.request_id AND other.outcome IS NULL)
ORDER BY id`

// lost returns the ids of calls of ended processes whose changes all have an outcome, and that have no row.
func (s *store) lost(ctx context.Context) ([]string, error) {
	rows, err := s.readers.QueryContext(ctx, selectLost, lookedBack)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var ids []string
	var processes []int64
	for rows.Next() {
		var id string
		var process int64
		if err := rows.Scan(&id, &process); err != nil {
			return nil, err
		}
		ids, processes = append(ids, id), append(processes, process)
	}
	if err := rows.Err(); err != nil || len(ids) == 0 {
		return nil, err
	}
	alive, err := s.alive(ctx, processes)
	if err != nil {
		return nil, err
	}
	var ended []string
	for i, id := range ids {
		if !alive[processes[i]] {
			ended = append(ended, id)
		}
	}
	return ended, nil
}
