package ledger

import (
	"context"
	"database/sql"

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
	s, err := l.open(ctx)
	if err != nil {
		return nil, err
	}
	pending, err := s.pending(ctx)
	if err != nil {
		return nil, l.fail(s, err)
	}
	return pending, nil
}

// Settle records what became of a change that was cut short. Two processes may settle the same one: the first word
// stands. A change settled as unknown may be settled again, once more is known.
func (l *Ledger) Settle(ctx context.Context, changeID string, o contract.Outcome) error {
	return l.End(ctx, changeID, o)
}

const selectPending = `
SELECT id, process, request_id, tool, caller, fingerprint, kind, path, destination, before, after, mode, directories, temp
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
	unlock, err := lockDir(ctx, s.dir)
	if err != nil {
		return err
	}
	defer unlock()
	alive := map[int64]bool{s.process.id: true}
	for i, id := range processes {
		if _, asked := alive[id]; !asked {
			if alive[id], err = isAlive(markOf(s.dir, id)); err != nil {
				return err
			}
		}
		pending[i].Alive = alive[id]
	}
	return nil
}

func scanPending(rows *sql.Rows) (p PendingIntent, process int64, err error) {
	var id int64
	var kind string
	var f changeFields
	in := &p.Intent
	if err := rows.Scan(&id, &process, &in.RequestID, &in.Tool, &in.Caller, &in.Fingerprint, &kind, &f.path, &f.to,
		&f.before, &f.after, &in.Mode, &f.directories, &in.Temp); err != nil {
		return p, 0, err
	}
	p.ID, in.Kind = nameOf(id), contract.ChangeKind(kind)
	if in.Path, in.To, err = f.paths(); err != nil {
		return p, 0, err
	}
	if in.Before, in.After, err = f.versions(); err != nil {
		return p, 0, err
	}
	in.Directories, err = unpackPaths(f.directories)
	return p, process, err
}
