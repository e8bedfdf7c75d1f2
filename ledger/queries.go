package ledger

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"writ/contract"
	"writ/envelope"
)

// Filter chooses among the changes.
type Filter struct {
	Path   contract.Path // those of this path or below it, moves from and to it included; the zero Path: all
	Offset int           // how many to leave out, from the newest
	Limit  int           // how many to return at most; 0: all
}

const changeColumns = `id, request_id, began, tool, kind, path, destination, before, after, ifnull(outcome, 'unknown'), reverted, caller, batch,
	(SELECT max(r.id) FROM changes r WHERE r.reverts = changes.id AND r.outcome = 'succeeded')`

// Changes returns changes, newest first, and how many the filter matches in all. What is known not to have been done is
// no change and is left out.
func (l *Ledger) Changes(ctx context.Context, f Filter) (changes []contract.Change, total int, err error) {
	s, err := l.upToDate(ctx)
	if err != nil {
		return nil, 0, err
	}
	changes, total, err = s.changes(ctx, f)
	if err != nil {
		return nil, 0, l.fail(s, err)
	}
	return changes, total, nil
}

func (s *store) changes(ctx context.Context, f Filter) ([]contract.Change, int, error) {
	where, args := f.condition()
	tx, err := s.readers.BeginTx(ctx, &sql.TxOptions{ReadOnly: true}) // count and page of the same moment
	if err != nil {
		return nil, 0, err
	}
	defer func() { _ = tx.Rollback() }()
	var total int
	if err := tx.QueryRowContext(ctx, "SELECT count(*) FROM changes WHERE "+where, args...).Scan(&total); err != nil {
		return nil, 0, err
	}
	limit := f.Limit
	if limit == 0 {
		limit = -1
	}
	args = append(args, limit, f.Offset)
	rows, err := tx.QueryContext(ctx, "SELECT "+changeColumns+" FROM changes WHERE "+where+" ORDER BY id DESC LIMIT ? OFFSET ?", args...)
	if err != nil {
		return nil, 0, err
	}
	changes, err := scanChanges(rows)
	return changes, total, err
}

// condition holds no text of the filter; that goes into the arguments.
func (f Filter) condition() (where string, args []any) {
	where = "outcome IS NOT 'not-done' AND kind <> 'batch'" // the changes of a batch stand for it
	if f.Path.IsTop() {
		return where, nil
	}
	path := f.Path.String()
	below, end := path+"/", path+"0" // '0' is the byte after '/'
	where += " AND (path = ? OR path >= ? AND path < ? OR destination = ? OR destination >= ? AND destination < ?)"
	return where, []any{path, below, end, path, below, end}
}

// Batch returns the changes that the change batchID stands for, in the order in which they were begun. Those that are
// known not to have been made are left out.
func (l *Ledger) Batch(ctx context.Context, batchID string) ([]contract.Change, error) {
	id, err := parseName(batchID)
	if err != nil {
		return nil, err
	}
	s, err := l.upToDate(ctx)
	if err != nil {
		return nil, err
	}
	changes, err := s.query(ctx, "batch = ? AND outcome IS NOT 'not-done' ORDER BY id", id)
	if err != nil {
		return nil, l.fail(s, err)
	}
	return changes, nil
}

// Parts returns the change and, of a batch, all that it stands for, in the order in which they were begun and without
// their undo data.
func (l *Ledger) Parts(ctx context.Context, changeID string) ([]contract.Change, error) {
	id, err := parseName(changeID)
	if err != nil {
		return nil, err
	}
	s, err := l.upToDate(ctx)
	if err != nil {
		return nil, err
	}
	changes, err := s.query(ctx, "(id = ?1 OR batch = ?1) AND outcome IS NOT 'not-done' ORDER BY id", id)
	if err != nil {
		return nil, l.fail(s, err)
	}
	return changes, nil
}

// Places are the places of changes.
type Places struct{ Path, To contract.Path }

// Places returns the places of all changes that the filter chooses, each pair once. Its bounds do not matter.
func (l *Ledger) Places(ctx context.Context, f Filter) ([]Places, error) {
	s, err := l.upToDate(ctx)
	if err != nil {
		return nil, err
	}
	places, err := s.places(ctx, f)
	if err != nil {
		return nil, l.fail(s, err)
	}
	return places, nil
}

func (s *store) places(ctx context.Context, f Filter) ([]Places, error) {
	where, args := f.condition()
	rows, err := s.readers.QueryContext(ctx, "SELECT DISTINCT path, destination FROM changes WHERE "+where, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var places []Places
	for rows.Next() {
		var f changeFields
		if err := rows.Scan(&f.path, &f.to); err != nil {
			return nil, err
		}
		path, to, err := f.paths()
		if err != nil {
			return nil, err
		}
		places = append(places, Places{path, to})
	}
	return places, rows.Err()
}

// Applied returns the newest change that the call of this fingerprint made and that was done; of a batch that is one of
// its changes.
func (l *Ledger) Applied(ctx context.Context, fingerprint string) (contract.Change, bool, error) {
	s, err := l.upToDate(ctx)
	if err != nil {
		return contract.Change{}, false, err
	}
	found, err := s.query(ctx, "fingerprint = ? AND outcome = 'succeeded' ORDER BY id DESC LIMIT 1", fingerprint)
	if err != nil {
		return contract.Change{}, false, l.fail(s, err)
	}
	if len(found) == 0 {
		return contract.Change{}, false, nil
	}
	return found[0], true, nil
}

// Change returns one change and what it takes to undo it, or an Error of code unknown-change, or of code expired if the
// undo data are no longer kept; the change itself is returned then too.
func (l *Ledger) Change(ctx context.Context, changeID string) (contract.Change, Undo, error) {
	id, err := parseName(changeID)
	if err != nil {
		return contract.Change{}, Undo{}, err
	}
	s, err := l.upToDate(ctx)
	if err != nil {
		return contract.Change{}, Undo{}, err
	}
	c, u, err := s.change(ctx, id)
	if err != nil {
		return c, Undo{}, l.fail(s, err)
	}
	return c, u, nil
}

func (s *store) change(ctx context.Context, id int64) (contract.Change, Undo, error) {
	found, err := s.query(ctx, "id = ? AND outcome IS NOT 'not-done'", id)
	if err != nil {
		return contract.Change{}, Undo{}, err
	}
	if len(found) == 0 {
		return contract.Change{}, Undo{}, unknownChange(nameOf(id))
	}
	u, err := s.undo(ctx, id)
	return found[0], u, err
}

func (s *store) undo(ctx context.Context, id int64) (Undo, error) {
	var mode uint32
	var directories, list, attributes []byte
	var image string
	row := s.readers.QueryRowContext(ctx, "SELECT mode, directories, ifnull(image, ''), undo, (SELECT packed FROM attributes WHERE change = id) FROM changes WHERE id = ?", id)
	if err := row.Scan(&mode, &directories, &image, &list, &attributes); err != nil {
		return Undo{}, err
	}
	if list == nil {
		return Undo{}, expired(nameOf(id))
	}
	u := Undo{Mode: fs.FileMode(mode), Attributes: attributes}
	var err error
	if u.Directories, err = unpackPaths(directories); err != nil {
		return Undo{}, err
	}
	u.Splices, err = s.splices(list, image)
	if errors.Is(err, os.ErrNotExist) || errors.Is(err, errUndoDamaged) {
		s.log.Error("undo data are lost", "change", nameOf(id), "error", err)
		return Undo{}, expired(nameOf(id))
	}
	return u, err
}

func (s *store) splices(list []byte, image string) ([]contract.Splice, error) {
	if image == "" {
		return unpack(list, nil)
	}
	outside, err := s.images.read(image)
	if err != nil {
		return nil, err
	}
	return unpack(list, outside)
}

func expired(name string) error {
	return envelope.Errorf(envelope.Expired, "The change %s can't be undone any more: the bytes from before it are no longer kept. Write the old text yourself if you know it.", name)
}

func (s *store) query(ctx context.Context, where string, args ...any) ([]contract.Change, error) {
	rows, err := s.readers.QueryContext(ctx, "SELECT "+changeColumns+" FROM changes WHERE "+where, args...)
	if err != nil {
		return nil, err
	}
	return scanChanges(rows)
}

// scanChanges also closes the rows.
func scanChanges(rows *sql.Rows) ([]contract.Change, error) {
	defer rows.Close()
	var changes []contract.Change
	for rows.Next() {
		c, err := scanChange(rows)
		if err != nil {
			return nil, err
		}
		changes = append(changes, c)
	}
	return changes, rows.Err()
}

func scanChange(rows *sql.Rows) (contract.Change, error) {
	var c contract.Change
	var id, began int64
	var kind, outcome string
	var batch, revertedBy sql.NullInt64
	var f changeFields
	err := rows.Scan(&id, &c.RequestID, &began, &c.Tool, &kind, &f.path, &f.to, &f.before, &f.after, &outcome, &c.Reverted,
		&c.Caller, &batch, &revertedBy)
	if err != nil {
		return c, err
	}
	c.ID, c.Time = nameOf(id), time.UnixMicro(began).UTC()
	c.Batch, c.RevertedBy = nameOrNone(batch), nameOrNone(revertedBy)
	c.Kind, c.Outcome = contract.ChangeKind(kind), contract.Outcome(outcome)
	if c.Path, c.To, err = f.paths(); err != nil {
		return c, err
	}
	c.Before, c.After, err = f.versions()
	return c, err
}

// changeFields are the columns whose text must be parsed again.
type changeFields struct {
	path, to, before, after string
	directories             []byte
}

func (f changeFields) paths() (path, to contract.Path, err error) {
	if path, err = parsePathOrTop(f.path); err != nil {
		return path, to, err
	}
	to, err = parsePathOrTop(f.to)
	return path, to, err
}

func parsePathOrTop(s string) (contract.Path, error) {
	if s == "" {
		return contract.Path{}, nil
	}
	p, err := contract.ParsePath(s)
	if err != nil {
		return p, fmt.Errorf("%w: path: %v", errRow, err) // the cause is not the caller's
	}
	return p, nil
}

func (f changeFields) versions() (before, after contract.Version, err error) {
	if before, err = parseVersionOrZero(f.before); err != nil {
		return before, after, err
	}
	after, err = parseVersionOrZero(f.after)
	return before, after, err
}

func parseVersionOrZero(s string) (contract.Version, error) {
	if s == "" {
		return contract.Version{}, nil
	}
	v, err := contract.ParseVersion(s)
	if err != nil {
		return v, fmt.Errorf("%w: version: %v", errRow, err)
	}
	return v, nil
}
