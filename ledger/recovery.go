package ledger

import (
	"context"
	"database/sql"
	"errors"

	"writ/contract"
)

// PendingIntent is a change that was begun and has no outcome.
type PendingIntent struct {
	ID string
	// Intent is what was to be done, without the undo data: they are not needed to tell whether it was.
	Intent contract.Intent
	// Alive tells that the process that began it still runs, this one included: it will say itself what became of it.
	Alive bool
}

// Pending returns the open changes, oldest first. Those that are not alive were cut short; whoever finds them compares
// the disk with the intent and calls [Ledger.Settle].
func (l *Ledger) Pending(ctx context.Context) ([]PendingIntent, error) {
	s, err := l.upToDate(ctx)
	if err != nil {
		return nil, err
	}
	pending, err := s.pending(ctx)
	if err != nil {
		return nil, l.fail(s, err)
	}
	return pending, nil
}

const selectOpenAt = `SELECT DISTINCT process FROM changes INDEXED BY changes_open
WHERE outcome IS NULL AND process <> ?1 AND (path IN (?2, nullif(?3, '')) OR destination IN (?2, nullif(?3, '')))`

// interrupted tells whether a change at one of the places was begun by a process that ended before it could say what
// became of it, or belongs to a batch whose end could not be recorded.
func (s *store) interrupted(ctx context.Context, path, to contract.Path) (bool, error) {
	if open, err := s.inOpenBatch(ctx, path, to); open || err != nil {
		return open, err
	}
	processes, err := s.openAt(ctx, path, to)
	if err != nil || len(processes) == 0 {
		return false, err
	}
	unlock, err := lockDir(ctx, s.dir)
	if err != nil {
		return false, err
	}
	defer unlock()
	for _, id := range processes {
		if alive, err := isAlive(markOf(s.dir, id)); !alive || err != nil {
			return !alive, err
		}
	}
	return false, nil
}

func (s *store) inOpenBatch(ctx context.Context, path, to contract.Path) (open bool, err error) {
	const question = "SELECT EXISTS (" + atOpenBatch + " AND path IN (?1, nullif(?2, '')))"
	err = s.readers.QueryRowContext(ctx, question, path.String(), to.String()).Scan(&open)
	return open, err
}

func (s *store) openAt(ctx context.Context, path, to contract.Path) ([]int64, error) {
	rows, err := s.readers.QueryContext(ctx, selectOpenAt, s.process.id, path.String(), to.String())
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var processes []int64
	for rows.Next() {
		var id int64
		if err := rows.Scan(&id); err != nil {
			return nil, err
		}
		processes = append(processes, id)
	}
	return processes, rows.Err()
}

// Settle records what became of a change that was cut short. Two processes may settle the same one: the first word
// stands. A change settled as unknown may be settled again, once more is known.
func (l *Ledger) Settle(ctx context.Context, changeID string, o contract.Outcome) error {
	id, err := parseName(changeID)
	if err != nil {
		return err
	}
	s, err := l.open(context.WithoutCancel(ctx))
	if err != nil {
		return err
	}
	err = s.together(func() error {
		known, err := s.settleByLog(id, o)
		if err != nil {
			return err
		}
		return s.settleRow(id, known)
	})
	if err != nil {
		return l.fail(s, err)
	}
	return nil
}

// selectFollower returns what a change was to do and what the next change at its path found there. What a creation found
// is known only if it was made.
const selectFollower = `
SELECT a.before, a.after, b.before FROM changes a, changes b
WHERE a.id = ?1 AND a.kind IN ('edit', 'create', 'delete') AND a.before <> a.after
	AND b.id > ?1 AND b.path = a.path
	AND (b.kind IN ('edit', 'delete', 'move') OR b.kind = 'create' AND b.outcome = 'succeeded')
ORDER BY b.id LIMIT 1`

// settleByLog returns what became of a change by what the next change at its place found, or o where that says nothing.
// While a process lives, others may go on with a file that it has changed before it has said so, and the disk alone no
// longer tells. The caller is in a transaction.
func (s *store) settleByLog(id int64, o contract.Outcome) (contract.Outcome, error) {
	var before, after, found string
	err := s.conn.QueryRowContext(context.Background(), selectFollower, id).Scan(&before, &after, &found)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return o, nil
	case err != nil:
		return o, err
	case found == after:
		return contract.OutcomeDone, nil
	case found == before:
		return contract.OutcomeNotDone, nil
	}
	return o, nil
}

const selectPending = `
SELECT id, process, request_id, tool, caller, fingerprint, kind, path, destination, before, after, mode, directories, temp, batch
FROM changes WHERE outcome IS NULL ORDER BY id`

func (s *store) pending(ctx context.Context) ([]PendingIntent, error) {
	rows, err := s.readers.QueryContext(ctx, selectPending)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var pending []PendingIntent
	var processes []int64
	for rows.Next() {
		p, process, err := scanPending(rows)
		if err != nil {
			return nil, err
		}
		pending, processes = append(pending, p), append(processes, process)
	}
	if err := rows.Err(); err != nil || len(pending) == 0 {
		return nil, err
	}
	return pending, s.markAlive(ctx, pending, processes)
}

func (s *store) markAlive(ctx context.Context, pending []PendingIntent, processes []int64) error {
	alive, err := s.alive(ctx, processes)
	if err != nil {
		return err
	}
	for i, id := range processes {
		pending[i].Alive = alive[id]
	}
	return nil
}

// alive tells which of the processes still run.
func (s *store) alive(ctx context.Context, processes []int64) (map[int64]bool, error) {
	unlock, err := lockDir(ctx, s.dir)
	if err != nil {
		return nil, err
	}
	defer unlock()
	alive := map[int64]bool{s.process.id: true} // its own mark is locked by itself, and must not be tried
	for _, id := range processes {
		if _, asked := alive[id]; asked {
			continue
		}
		if alive[id], err = isAlive(markOf(s.dir, id)); err != nil {
			return nil, err
		}
	}
	return alive, nil
}

func scanPending(rows *sql.Rows) (p PendingIntent, process int64, err error) {
	var id int64
	var kind string
	var batch sql.NullInt64
	var f changeFields
	in := &p.Intent
	if err := rows.Scan(&id, &process, &in.RequestID, &in.Tool, &in.Caller, &in.Fingerprint, &kind, &f.path, &f.to,
		&f.before, &f.after, &in.Mode, &f.directories, &in.Temp, &batch); err != nil {
		return p, 0, err
	}
	p.ID, in.Kind, in.Batch = nameOf(id), contract.ChangeKind(kind), nameOrNone(batch)
	if in.Path, in.To, err = f.paths(); err != nil {
		return p, 0, err
	}
	if in.Before, in.After, err = f.versions(); err != nil {
		return p, 0, err
	}
	in.Directories, err = unpackPaths(f.directories)
	return p, process, err
}
