package ledger

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"time"

	"writ/contract"
)

// insertChange takes its number from the clock, or the one after the newest change's where the clock's is not higher.
const insertChange = `
INSERT INTO changes(id, process, began, request_id, tool, caller, fingerprint, kind, path, destination, before, after,
	mode, directories, temp, total, image, undo)
VALUES(max(?, ifnull((SELECT max(id) FROM changes), 0) + 1), ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?,
	? + ifnull((SELECT total FROM changes ORDER BY id DESC LIMIT 1), 0), ?, ?)`

// settleChange leaves an outcome that is known alone: the first word on a change is the last.
const settleChange = `UPDATE changes SET outcome = ? WHERE id = ? AND (outcome IS NULL OR outcome = 'unknown')`

// Begin makes the intent durable and returns the change's name. An error means that the change must not be made. Once
// the intent is being written, the end of ctx no longer stops it.
func (l *Ledger) Begin(ctx context.Context, in contract.Intent) (changeID string, err error) {
	if err := ctx.Err(); err != nil {
		return "", err
	}
	s, err := l.open(ctx)
	if err != nil {
		return "", err
	}
	id, err := s.beginChange(l.clock(), in)
	if err != nil {
		return "", l.fail(s, err)
	}
	return nameOf(id), nil
}

func (s *store) beginChange(now time.Time, in contract.Intent) (int64, error) {
	row, outside := pack(in.Undo)
	if outside != nil {
		row.image = sumOf(outside)
		if err := s.images.place(row.image, outside); err != nil {
			return 0, err
		}
	}
	id, err := s.insert(now, in, row)
	if err != nil {
		return 0, err
	}
	err = s.confirmImage(row.image, outside)
	if err == nil {
		err = s.wal.wait()
	}
	if err != nil {
		// The caller makes no change then. If this fails too, the next start finds nothing changed.
		_ = s.settle(id, contract.OutcomeNotDone)
		return 0, err
	}
	s.tidying.count(row.size)
	return id, nil
}

func (s *store) insert(now time.Time, in contract.Intent, row packed) (int64, error) {
	directories, err := packPaths(in.Directories)
	if err != nil {
		return 0, err
	}
	s.write.Lock()
	defer s.write.Unlock()
	if err := s.healWAL(); err != nil {
		return 0, err
	}
	result, err := s.insertChange.Exec(proposeID(now), s.process.id, now.UnixMicro(), in.RequestID, in.Tool, in.Caller,
		in.Fingerprint, string(in.Kind), in.Path.String(), in.To.String(), in.Before.String(), in.After.String(),
		int64(in.Mode), directories, in.Temp, row.size, nullIfEmpty(row.image), row.splices)
	if err != nil {
		return 0, err
	}
	return result.LastInsertId()
}

// confirmImage sees to it that the image of a committed row is there; see [images].
func (s *store) confirmImage(sum string, parts [][]byte) error {
	if sum == "" || s.images.has(sum) {
		return nil
	}
	return s.images.place(sum, parts)
}

// healWAL empties the write-ahead log into the database after a flush of it failed; without that nothing more may be
// promised. The caller holds s.write.
func (s *store) healWAL() error {
	if !s.wal.failed.Load() {
		return nil
	}
	var busy, frames, moved int
	if err := s.conn.QueryRowContext(context.Background(), "PRAGMA wal_checkpoint(TRUNCATE)").Scan(&busy, &frames, &moved); err != nil {
		return err
	}
	if busy != 0 {
		return errNotFlushed
	}
	s.wal.failed.Store(false) // the log is empty: no hole is left in it
	return nil
}

// End records what became of a change. It outlives the end of ctx, since the change is made by now, and the end of the
// process; see the package comment for a power cut. A change that has an outcome keeps it.
func (l *Ledger) End(ctx context.Context, changeID string, o contract.Outcome) error {
	id, err := parseName(changeID)
	if err != nil {
		return err
	}
	s, err := l.open(context.WithoutCancel(ctx))
	if err != nil {
		return err
	}
	if err := s.settle(id, o); err != nil {
		return l.fail(s, err)
	}
	return nil
}

func (s *store) settle(id int64, o contract.Outcome) error {
	switch o {
	case contract.OutcomeDone, contract.OutcomeNotDone, contract.OutcomeUnknown:
	default:
		return fmt.Errorf("%q is no outcome", o)
	}
	s.write.Lock()
	defer s.write.Unlock()
	result, err := s.settleChange.Exec(string(o), id)
	if err != nil {
		return err
	}
	if n, err := result.RowsAffected(); n > 0 || err != nil {
		return err
	}
	var there int
	err = s.conn.QueryRowContext(context.Background(), "SELECT count(*) FROM changes WHERE id = ?", id).Scan(&there)
	if err == nil && there == 0 {
		err = unknownChange(nameOf(id))
	}
	return err
}

// packPaths returns the paths as a JSON list, nil for none. A path is valid UTF-8, so the list holds its exact bytes.
func packPaths(paths []contract.Path) ([]byte, error) {
	if len(paths) == 0 {
		return nil, nil
	}
	names := make([]string, len(paths))
	for i, p := range paths {
		names[i] = p.String()
	}
	return json.Marshal(names)
}

func unpackPaths(list []byte) ([]contract.Path, error) {
	if len(list) == 0 {
		return nil, nil
	}
	var names []string
	if err := json.Unmarshal(list, &names); err != nil {
		return nil, err
	}
	paths := make([]contract.Path, len(names))
	for i, name := range names {
		p, err := parsePathOrTop(name)
		if err != nil {
			return nil, err
		}
		paths[i] = p
	}
	return paths, nil
}

func nullIfEmpty(s string) sql.NullString { return sql.NullString{String: s, Valid: s != ""} }
