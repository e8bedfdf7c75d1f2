package ledger

import (
	"bytes"
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"writ/contract"
	"writ/envelope"
)

// auditRow is one line of the audit. Prev is the SHA-256 of the line before, without a newline, in hexadecimal, and
// zeros in the first; so the lines alone, as exported, prove that none was changed, moved or taken out between two
// others. The order of the fields is the order of the line.
type auditRow struct {
	Seq          int64           `json:"seq"`
	Prev         string          `json:"prev"`
	Time         string          `json:"time"`
	Event        string          `json:"event,omitempty"` // in a row that no call has written itself
	RequestID    string          `json:"request_id"`
	Caller       string          `json:"caller"`
	Client       string          `json:"client"`
	Tool         string          `json:"tool"`
	Approval     *ApprovalNote   `json:"approval,omitempty"` // of a call that a person was asked about, and of the decision
	Arguments    map[string]any  `json:"arguments"`
	Paths        []string        `json:"paths"`
	Status       envelope.Status `json:"status"`
	Codes        []envelope.Code `json:"codes"`
	Before       string          `json:"before,omitempty"`
	After        string          `json:"after,omitempty"`
	Microseconds int64           `json:"duration_us"`
}

// stampFormat has a fixed width, so that stamps sort as text.
const stampFormat = "2006-01-02T15:04:05.000000Z"

func stampOf(t time.Time) string { return t.UTC().Format(stampFormat) }

// appendRows adds rows to the end of the chain, whichever process wrote the last one.
func (s *store) appendRows(rows []auditRow) error {
	s.tidying.count(0)
	return s.together(func() error {
		var seq int64
		var prev []byte
		if err := s.readHead.QueryRow().Scan(&seq, &prev); err != nil {
			return missingHead(err)
		}
		for _, r := range rows {
			seq++
			r.Seq, r.Prev = seq, hex.EncodeToString(prev)
			line, err := json.Marshal(r)
			if err != nil {
				return fmt.Errorf("audit row: %w", err)
			}
			sum := sha256.Sum256(line)
			prev = sum[:]
			if _, err := s.insertCall.Exec(seq, r.RequestID, string(line), prev); err != nil {
				return err
			}
		}
		_, err := s.moveHead.Exec(seq, prev)
		return err
	})
}

// missingHead tells of a database without the row that a new one begins with.
func missingHead(err error) error {
	if errors.Is(err, sql.ErrNoRows) {
		return fmt.Errorf("%w: the head of the audit is missing", errRow)
	}
	return err
}

// Verdict is what a look through the whole audit found.
type Verdict struct {
	Rows int    // rows that were looked at
	Bad  int64  // number of the first row that is changed, missing or out of place; 0: none
	Why  string // what is wrong with it, as a sentence
}

// Verify looks through the audit and stops at the first row that is wrong. Whoever can write to the database could make
// the whole chain anew; against that only a copy of a line's hash kept elsewhere helps.
func (l *Ledger) Verify(ctx context.Context) (Verdict, error) {
	s, err := l.opened(ctx)
	if err != nil {
		return Verdict{}, err
	}
	v, err := s.verify(ctx)
	if err != nil {
		return v, l.fail(s, err)
	}
	return v, nil
}

// opened returns the store after what waits was written, as far as it can be: a full disk is no reason to withhold what
// is known.
func (l *Ledger) opened(ctx context.Context) (*store, error) {
	l.flushSoon()
	return l.upToDate(ctx)
}

// upToDate returns the store after what this process left for later was written, as far as it can be.
func (l *Ledger) upToDate(ctx context.Context) (*store, error) {
	s, err := l.open(ctx)
	if err == nil {
		_ = s.catchUp()
	}
	return s, err
}

func (s *store) verify(ctx context.Context) (Verdict, error) {
	tx, err := s.readers.BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
	if err != nil {
		return Verdict{}, err
	}
	defer func() { _ = tx.Rollback() }()
	var last link
	err = tx.QueryRowContext(ctx, "SELECT seq, hash FROM head").Scan(&last.seq, &last.hash)
	headless := errors.Is(err, sql.ErrNoRows)
	if err != nil && !headless {
		return Verdict{}, err
	}
	rows, err := tx.QueryContext(ctx, "SELECT seq, hash, request_id, line FROM calls ORDER BY seq")
	if err != nil {
		return Verdict{}, err
	}
	defer rows.Close()
	v, end, err := checkChain(rows)
	switch {
	case err != nil || v.Bad != 0:
	case headless:
		v.Bad, v.Why = end.seq+1, fmt.Sprintf("The note of the last row is missing, and so may be rows after row %d.", end.seq)
	default:
		v.Bad, v.Why = end.isLast(last)
	}
	return v, err
}

// link is a row of the chain as it is stored.
type link struct {
	seq       int64
	hash      []byte
	requestID string
	line      []byte
}

// checkChain stops at the first row that does not follow the one before, and returns the last that does.
func checkChain(rows *sql.Rows) (v Verdict, prev link, err error) {
	prev = link{hash: make([]byte, sha256.Size)}
	for rows.Next() {
		var l link
		if err := rows.Scan(&l.seq, &l.hash, &l.requestID, &l.line); err != nil {
			return v, prev, err
		}
		v.Rows++
		if v.Bad, v.Why = l.follows(prev); v.Bad != 0 {
			return v, prev, nil
		}
		prev = l
	}
	return v, prev, rows.Err()
}

// isLast returns what is wrong if the chain ends with l and should end with last, or 0.
func (l link) isLast(last link) (bad int64, why string) {
	switch {
	case l.seq < last.seq:
		return l.seq + 1, fmt.Sprintf("Rows %d to %d, the last ones, are missing.", l.seq+1, last.seq)
	case l.seq > last.seq:
		return last.seq + 1, fmt.Sprintf("Row %d was added by something else than writ.", last.seq+1)
	case !bytes.Equal(l.hash, last.hash):
		return l.seq, fmt.Sprintf("Row %d, the last one, is not the row that was written.", l.seq)
	}
	return 0, ""
}

// follows returns what is wrong with the row l after the row prev, or 0.
func (l link) follows(prev link) (bad int64, why string) {
	if l.seq != prev.seq+1 {
		return prev.seq + 1, fmt.Sprintf("Rows are missing between %d and %d.", prev.seq, l.seq)
	}
	if sum := sha256.Sum256(l.line); !bytes.Equal(sum[:], l.hash) {
		return l.seq, fmt.Sprintf("Row %d was changed.", l.seq)
	}
	var r auditRow
	if err := json.Unmarshal(l.line, &r); err != nil {
		return l.seq, fmt.Sprintf("Row %d is not JSON.", l.seq)
	}
	if r.Prev != hex.EncodeToString(prev.hash) {
		return l.seq, fmt.Sprintf("Row %d does not follow row %d: one of them was changed after it was written.", l.seq, prev.seq)
	}
	if r.Seq != l.seq || r.RequestID != l.requestID {
		return l.seq, fmt.Sprintf("Row %d was moved or its request changed.", l.seq)
	}
	return 0, ""
}

// RowFilter chooses among the audit's rows; the zero value of each field chooses all.
type RowFilter struct {
	Since     time.Time
	Tool      string
	RequestID string
	Caller    string
	Status    envelope.Status
	Path      contract.Path // calls that name or changed this path, or one below it
}

// Rows calls f with each audit row, oldest first: one line of JSON without a newline, in the very bytes that the next
// row's hash stands for. An error of f ends the walk and is returned.
func (l *Ledger) Rows(ctx context.Context, filter RowFilter, f func(row json.RawMessage) error) error {
	s, err := l.opened(ctx)
	if err != nil {
		return err
	}
	var stopped error
	err = s.eachRow(ctx, filter, func(row json.RawMessage) error {
		stopped = f(row)
		return stopped
	})
	if err == nil || stopped != nil {
		return stopped // as it is: it is no failure of the ledger
	}
	return l.fail(s, err)
}

// rowsWhere is what a [RowFilter] comes to; its arguments are those of filter.arguments.
const rowsWhere = `
SELECT line FROM calls
WHERE (?1 = '' OR request_id = ?1) AND (?2 = '' OR line ->> 'tool' = ?2) AND (?3 = '' OR line ->> 'time' >= ?3)
	AND (?4 = '' OR line ->> 'caller' = ?4) AND (?5 = '' OR line ->> 'status' = ?5)
	AND (?6 = '' OR EXISTS (SELECT 1 FROM json_each(line, '$.paths') WHERE value = ?6 OR value >= ?6 || '/' AND value < ?6 || '0'))`

const (
	selectRows     = rowsWhere + " ORDER BY seq"
	selectLastRows = rowsWhere + " AND (?7 = 0 OR seq < ?7) ORDER BY seq DESC LIMIT ?8"
)

func (filter RowFilter) arguments() []any {
	since := ""
	if !filter.Since.IsZero() {
		since = stampOf(filter.Since)
	}
	return []any{filter.RequestID, filter.Tool, since, filter.Caller, string(filter.Status), filter.Path.String()}
}

// LastRows returns the newest audit rows of those that the filter chooses, newest first, most at most. before is the
// number of a row: only those before it count; 0: all do.
func (l *Ledger) LastRows(ctx context.Context, filter RowFilter, before int64, most int) ([]json.RawMessage, error) {
	s, err := l.opened(ctx)
	if err != nil {
		return nil, err
	}
	var list []json.RawMessage
	err = s.rowsOf(ctx, func(row json.RawMessage) error {
		list = append(list, row)
		return nil
	}, selectLastRows, append(filter.arguments(), before, most)...)
	if err != nil {
		return nil, l.fail(s, err)
	}
	return list, nil
}

func (s *store) eachRow(ctx context.Context, filter RowFilter, f func(row json.RawMessage) error) error {
	return s.rowsOf(ctx, f, selectRows, filter.arguments()...)
}

func (s *store) rowsOf(ctx context.Context, f func(row json.RawMessage) error, query string, args ...any) error {
	rows, err := s.readers.QueryContext(ctx, query, args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var line []byte
		if err := rows.Scan(&line); err != nil {
			return err
		}
		if err := f(line); err != nil {
			return err
		}
	}
	return rows.Err()
}
