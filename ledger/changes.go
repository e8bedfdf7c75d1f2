package ledger

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"writ/contract"
)

// insertChange takes its number from the clock, or the one after the newest change's where the clock's is not higher. It
// inserts nothing if another process has a change open at one of the places, unless ?20 says that this is in order, or if
// an atomic batch has, whoever's it is: see atOpenBatch.
const insertChange = `
INSERT INTO changes(id, process, began, request_id, tool, caller, fingerprint, kind, path, destination, before, after,
	mode, directories, temp, batch, reverts, total, image, undo)
SELECT max(?1, ifnull((SELECT max(id) FROM changes), 0) + 1), ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15,
	?16, ?17, ?18 + ifnull((SELECT total FROM changes ORDER BY id DESC LIMIT 1), 0), ?19, ?21
WHERE ?20 OR NOT EXISTS (
	SELECT 1 FROM changes INDEXED BY changes_open WHERE outcome IS NULL AND process <> ?2
	AND (path IN (?9, nullif(?10, '')) OR destination IN (?9, nullif(?10, ''))))
AND NOT EXISTS (` + atOpenBatch + ` AND changes.batch IS NOT ?16 AND path IN (?9, nullif(?10, '')))`

// atOpenBatch chooses the changes of atomic batches that are open, as their heads tell. Whoever begins a change holds the
// lock of its place, and whoever makes a batch holds those of all its places until its end is on record. So a batch that
// is met here is no longer being made: its end could not be recorded, and until that is settled no other change may be
// made on top of it. Only where a directory was moved in the meantime may it still be made; settling then waits for it.
const atOpenBatch = `SELECT 1 FROM changes INDEXED BY changes_open WHERE outcome IS NULL
	AND (SELECT h.outcome IS NULL FROM changes h WHERE h.id = changes.batch)`

// settleChange leaves an outcome that is known alone: the first word on a change is the last.
const settleChange = `UPDATE changes SET outcome = ? WHERE id = ? AND (outcome IS NULL OR outcome = 'unknown') RETURNING reverts`

// Begin makes the intent durable and returns the change's name. An error means that the change must not be made:
// [contract.ErrInterrupted] if a change at the same place was cut short and must be settled first. Once the intent is
// being written, the end of ctx no longer stops it.
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
	if e := endingOf(in); e != endPrompt {
		s.queue.expect(id, e)
	}
	return id, nil
}

// endingOf says how soon the end of a change must be on record. That of a file's bytes may wait, since the disk tells of it
// (see [store.settleByLog]). What undoes a change may take away directories next, and then the disk tells nothing.
func endingOf(in contract.Intent) ending {
	switch undoes := in.Reverts != ""; {
	case in.Kind == contract.ChangeEdit, in.Kind == contract.ChangeCreate, in.Kind == contract.ChangeDelete && !undoes:
		return endLater
	case undoes:
		return endDurable
	}
	return endPrompt
}

func (s *store) insert(now time.Time, in contract.Intent, row packed) (id int64, err error) {
	err = s.promise(func() error {
		id, err = s.insertRow(now, in, row)
		return err
	})
	return id, err
}

// insertRow adds the row of a change; the caller is in a transaction.
func (s *store) insertRow(now time.Time, in contract.Intent, row packed) (int64, error) {
	directories, err := packPaths(in.Directories)
	if err != nil {
		return 0, err
	}
	batch, err := parseNameOrNull(in.Batch)
	if err != nil {
		return 0, err
	}
	reverts, err := parseNameOrNull(in.Reverts)
	if err != nil {
		return 0, err
	}
	values := []any{proposeID(now), s.process.id, now.UnixMicro(), in.RequestID, in.Tool, in.Caller, in.Fingerprint,
		string(in.Kind), in.Path.String(), in.To.String(), in.Before.String(), in.After.String(), int64(in.Mode), directories,
		in.Temp, batch, reverts, row.size + int64(len(in.Attributes)), nullIfEmpty(row.image), in.Kind == contract.ChangeBatch, row.splices}
	id, err := insertWith(s.insertChange, values)
	if err != nil || id != 0 {
		return id, cmp.Or(err, s.keepAttributes(id, in.Attributes))
	}
	if interrupted, err := s.interrupted(context.Background(), in.Path, in.To); interrupted || err != nil {
		return 0, cmp.Or(err, contract.ErrInterrupted)
	}
	values[evenIfOthers] = true // they are alive
	if id, err = insertWith(s.insertChange, values); id == 0 && err == nil {
		err = contract.ErrInterrupted // by a batch that began just now
	}
	return id, cmp.Or(err, s.keepAttributes(id, in.Attributes))
}

func (s *store) keepAttributes(id int64, packed []byte) error {
	if len(packed) == 0 || id == 0 {
		return nil
	}
	_, err := s.conn.ExecContext(context.Background(), "INSERT INTO attributes VALUES(?, ?)", id, packed)
	return err
}

// evenIfOthers is the index of ?20 among the values of insertChange.
const evenIfOthers = 19

// insertWith returns the number of the new row, 0 if there is none.
func insertWith(insert *sql.Stmt, values []any) (int64, error) {
	result, err := insert.Exec(values...)
	if err != nil {
		return 0, err
	}
	if n, err := result.RowsAffected(); n == 0 || err != nil {
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

// healWAL empties the write-ahead log into the database after a flush of it failed. The caller holds s.write.
func (s *store) healWAL() {
	if !s.wal.failed.Load() {
		return
	}
	var busy, frames, moved int
	s.wal.unhealed = s.conn.QueryRowContext(context.Background(), "PRAGMA wal_checkpoint(TRUNCATE)").Scan(&busy, &frames, &moved)
	if s.wal.unhealed == nil && busy == 0 {
		s.wal.failed.Store(false) // the log is empty: no hole is left in it
	}
}

// End records what became of a change. It outlives the end of ctx, since the change is made by now. A change that has an
// outcome keeps it.
//
// That of a file's bytes is mostly written with the next row, which is that of its call, and before any question is
// answered. It can be lost with the process until then; what became of the change is told by the disk, or by the next
// change there: see [store.settleByLog] and [endingOf].
func (l *Ledger) End(ctx context.Context, changeID string, o contract.Outcome) error {
	id, err := parseName(changeID)
	if err != nil {
		return err
	}
	s, err := l.open(context.WithoutCancel(ctx))
	if err != nil {
		return err
	}
	e := s.queue.ending(id)
	if e == endLater && o == contract.OutcomeDone {
		s.later(func() error { return s.settleRow(id, o) })
		return nil
	}
	err = s.settle(id, o)
	if err == nil && e == endDurable {
		err = s.wal.wait()
	}
	if err != nil {
		return l.fail(s, err)
	}
	return nil
}

func (s *store) settle(id int64, o contract.Outcome) error {
	return s.together(func() error { return s.settleRow(id, o) })
}

// settleRow records an outcome. That a change which undoes another is done, and that the other is undone, is one step.
// The caller is in a transaction.
func (s *store) settleRow(id int64, o contract.Outcome) error {
	switch o {
	case contract.OutcomeDone, contract.OutcomeNotDone, contract.OutcomeUnknown:
	default:
		return fmt.Errorf("%q is no outcome", o)
	}
	var reverts sql.NullInt64
	err := s.settleChange.QueryRow(string(o), id).Scan(&reverts)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return s.mustBeThere(id)
	case err != nil || o != contract.OutcomeDone || !reverts.Valid:
		return err
	}
	return s.markReverted(reverts.Int64)
}

func (s *store) mustBeThere(id int64) error {
	var there int
	err := s.conn.QueryRowContext(context.Background(), "SELECT count(*) FROM changes WHERE id = ?", id).Scan(&there)
	if err == nil && there == 0 {
		err = unknownChange(nameOf(id))
	}
	return err
}

// markReverted records that a change is undone. If it had itself undone another, that one is in force again, and so on.
// The caller is in a transaction.
func (s *store) markReverted(undone int64) error {
	ctx := context.Background()
	next := sql.NullInt64{Int64: undone, Valid: true}
	for reverted := true; next.Valid; reverted = !reverted {
		id := next.Int64
		if _, err := s.conn.ExecContext(ctx, "UPDATE changes SET reverted = ? WHERE id = ?", reverted, id); err != nil {
			return err
		}
		// A change undoes an older one, so the walk ends.
		row := s.conn.QueryRowContext(ctx, "SELECT max(reverts) FROM changes WHERE id = ? AND reverts < id", id)
		if err := row.Scan(&next); err != nil {
			return err
		}
	}
	return nil
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
		return nil, fmt.Errorf("%w: directories: %v", errRow, err)
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

// parseNameOrNull returns the number behind a change's name, NULL for no name.
func parseNameOrNull(name string) (sql.NullInt64, error) {
	if name == "" {
		return sql.NullInt64{}, nil
	}
	id, err := parseName(name)
	return sql.NullInt64{Int64: id, Valid: err == nil}, err
}

// nameOrNone is the inverse of parseNameOrNull.
func nameOrNone(id sql.NullInt64) string {
	if !id.Valid {
		return ""
	}
	return nameOf(id.Int64)
}

func nullIfEmpty(s string) sql.NullString { return sql.NullString{String: s, Valid: s != ""} }
