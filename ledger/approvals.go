package ledger

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"writ/contract"
	"writ/envelope"
)

// An approval begins as a question: this caller wants to make these changes by this call. It is kept here, so that a
// person can answer it at another place, later, and in another process than the one that asked. Only the methods of this
// file answer it, and no tool reaches them.
//
// Whoever decides first decides, but that a no takes back a yes which is not used yet: each step is one statement that
// looks at the state that it leaves. A yes is good for one carrying out of the very call that was asked about, or for
// changes of these files for a while; a no holds for a while for whatever call comes to the same changes or more.

// ApprovalState is how far an approval is.
type ApprovalState string

// The states.
const (
	ApprovalPending  ApprovalState = "pending"  // nobody has answered
	ApprovalApproved ApprovalState = "approved" // good for one call
	ApprovalStanding ApprovalState = "standing" // good for such changes of these files until it expires
	ApprovalDeclined ApprovalState = "declined" // the same changes are refused until it expires
	ApprovalUsed     ApprovalState = "used"     // the call was carried out, or is at it
	ApprovalExpired  ApprovalState = "expired"  // its time is over
)

// How long a state lasts.
const (
	PendingTime  = 24 * time.Hour
	ApprovedTime = time.Hour
	DeclinedTime = 10 * time.Minute
	keepTime     = 30 * 24 * time.Hour // of what is over, for those who look back
)

// MaxStanding is how long a person can approve changes for at most.
const MaxStanding = 24 * time.Hour

// maxPending is how many questions of one caller may be open at a time.
const maxPending = 64

// maxUnanswered is how many questions of one caller a person may have said no or nothing to within [DeclinedTime] before
// no more are put to him.
const maxUnanswered = 8

// ApprovalChange is one change that an approval is about.
type ApprovalChange struct {
	Kind   contract.ChangeKind `json:"kind"`
	Path   string              `json:"path"` // resolved
	To     string              `json:"to,omitempty"`
	Before string              `json:"before,omitempty"`
	After  string              `json:"after,omitempty"`
	Asks   bool                `json:"asks"` // it needs the approval; others of the call are shown beside it
}

// Approval is a question to a person, and the answer.
type Approval struct {
	ID        string // apr_ and 16 random characters
	Caller    string
	Client    string // what the client that asked calls itself
	Tool      string
	RequestID string // of the call that asked first
	Changes   []ApprovalChange
	Diff      string // for a person: secrets and hidden characters are taken out of it
	State     ApprovalState
	Asked     time.Time
	Expires   time.Time
	Questions int // how often it was put to a person by way of the client
	Decided   time.Time
	Decider   string // who
	Way       string // how he was reached

	// Fingerprint is that of the call. With caller and changes it makes the binding, which is all that a yes is good for.
	Fingerprint string
}

// Decision is a person's answer.
type Decision struct {
	Approve bool
	For     time.Duration // of a yes: such changes of these files, for so long; 0: this call once
	By      string        // who decides
	Way     string        // how he was reached, such as "writ approvals"
}

// ApprovalNote is what the audit says of an approval.
type ApprovalNote struct {
	ID    string        `json:"id"`
	State ApprovalState `json:"state"`
	By    string        `json:"by,omitempty"`
	Way   string        `json:"way,omitempty"`
}

// Note returns what the audit says of the approval.
func (a Approval) Note() *ApprovalNote {
	return &ApprovalNote{ID: a.ID, State: a.State, By: a.Decider, Way: a.Way}
}

// Binding names what a yes is good for: this call by this caller, with just these changes.
func (a Approval) Binding() string { return digestOfAll(a.Caller, a.Tool, a.Fingerprint, a.Changes) }

// comesTo tells whether the call makes all the changes for which the other one needed an approval: what was refused once
// is not made as a part of more either.
func (a Approval) comesTo(other Approval) bool {
	for _, c := range other.Changes {
		if c.Asks && !slices.Contains(a.Changes, c) {
			return false
		}
	}
	return true
}

func digestOfAll(parts ...any) string {
	h := sha256.New()
	if err := json.NewEncoder(h).Encode(parts); err != nil {
		panic(err) // it is text
	}
	return hex.EncodeToString(h.Sum(nil))
}

// OpenApproval returns the approval that the call of a has already, in whatever state but used and expired, or else keeps
// a as a question and returns it. It is an Error of code rate-limited where the caller has too many open.
func (l *Ledger) OpenApproval(ctx context.Context, a Approval) (Approval, error) {
	s, err := l.open(ctx)
	if err != nil {
		return a, err
	}
	now := l.clock()
	err = s.approvalStep(func() error {
		found, err := s.liveApproval(ctx, a, now)
		if !errors.Is(err, sql.ErrNoRows) {
			a = found
			return err
		}
		a.ID, a.State = approvalName(), ApprovalPending
		a.Asked, a.Expires = now, now.Add(PendingTime)
		return s.insertApproval(ctx, a)
	})
	if err != nil {
		return a, l.fail(s, err)
	}
	return a, nil
}

// approvalStep runs f in a transaction on the writing connection.
func (s *store) approvalStep(f func() error) error {
	s.write.Lock()
	defer s.write.Unlock()
	s.tidying.count(0)
	return s.inTransaction(f)
}

const approvalColumns = "id, caller, client, tool, request_id, changes, diff, state, asked, expires, questions, decided, decider, way"

// liveApproval returns a refusal that holds for the call of a, or else the approval that was asked for it.
func (s *store) liveApproval(ctx context.Context, a Approval, now time.Time) (Approval, error) {
	declined, err := queryApprovals(ctx, s.conn, now, "WHERE caller = ? AND state = 'declined' AND expires > ?", a.Caller, now.UnixMicro())
	if err != nil {
		return a, err
	}
	for _, d := range declined {
		if a.comesTo(d) {
			return d, nil
		}
	}
	found, err := scanApproval(s.conn.QueryRowContext(ctx, "SELECT "+approvalColumns+` FROM approvals
WHERE caller = ? AND binding = ? AND state IN ('pending', 'approved') AND expires > ?
ORDER BY asked DESC LIMIT 1`, a.Caller, a.Binding(), now.UnixMicro()), now)
	found.Fingerprint = a.Fingerprint
	return found, err
}

func (s *store) insertApproval(ctx context.Context, a Approval) error {
	if _, err := s.conn.ExecContext(ctx, "DELETE FROM approvals WHERE expires < ?", a.Asked.Add(-keepTime).UnixMicro()); err != nil {
		return err
	}
	var open int
	err := s.conn.QueryRowContext(ctx, "SELECT count(*) FROM approvals WHERE caller = ? AND state = 'pending' AND expires > ?",
		a.Caller, a.Asked.UnixMicro()).Scan(&open)
	if err != nil {
		return err
	}
	if open >= maxPending {
		return envelope.Errorf(envelope.RateLimited,
			"%d changes wait for a person's approval already, and no more are asked for. A person must settle some with `writ approvals`.", open).
			With("retry_after_ms", time.Minute.Milliseconds())
	}
	changes, err := json.Marshal(a.Changes)
	if err != nil {
		return fmt.Errorf("approval: %w", err)
	}
	_, err = s.conn.ExecContext(ctx, "INSERT INTO approvals(binding, "+approvalColumns+") VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 0, 0, '', '')",
		a.Binding(), a.ID, a.Caller, a.Client, a.Tool, a.RequestID, string(changes), a.Diff, a.State, a.Asked.UnixMicro(), a.Expires.UnixMicro())
	return err
}

func scanApproval(row interface{ Scan(...any) error }, now time.Time) (Approval, error) {
	var a Approval
	var changes string
	var asked, expires, decided int64
	err := row.Scan(&a.ID, &a.Caller, &a.Client, &a.Tool, &a.RequestID, &changes, &a.Diff, &a.State, &asked, &expires, &a.Questions, &decided, &a.Decider, &a.Way)
	if err != nil {
		return a, err
	}
	a.Asked, a.Expires = time.UnixMicro(asked), time.UnixMicro(expires)
	if decided != 0 {
		a.Decided = time.UnixMicro(decided)
	}
	if a.State != ApprovalUsed && !now.Before(a.Expires) {
		a.State = ApprovalExpired
	}
	if err := json.Unmarshal([]byte(changes), &a.Changes); err != nil {
		return a, fmt.Errorf("approval %s: %w", a.ID, err)
	}
	return a, nil
}

// ApprovalFilter chooses among approvals.
type ApprovalFilter struct {
	State  ApprovalState // "": all
	Caller string        // "": all
	Limit  int           // how many to return at most; 0: all
}

// Approvals lists approvals, those asked for last first.
func (l *Ledger) Approvals(ctx context.Context, f ApprovalFilter) ([]Approval, error) {
	s, err := l.open(ctx)
	if err != nil {
		return nil, err
	}
	list, err := s.approvals(ctx, f, l.clock())
	if err != nil {
		return nil, l.fail(s, err)
	}
	return list, nil
}

func (s *store) approvals(ctx context.Context, f ApprovalFilter, now time.Time) ([]Approval, error) {
	return queryApprovals(ctx, s.readers, now, `WHERE (?1 = '' OR state = ?1 AND (state = 'used' OR expires > ?2) OR ?1 = 'expired' AND state <> 'used' AND expires <= ?2) AND (?3 = '' OR caller = ?3)
ORDER BY asked DESC, id LIMIT ?4`, f.State, now.UnixMicro(), f.Caller, limitOf(f.Limit))
}

// queryApprovals returns the approvals of a query's end.
func queryApprovals(ctx context.Context, from interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}, now time.Time, where string, args ...any) ([]Approval, error) {
	rows, err := from.QueryContext(ctx, "SELECT "+approvalColumns+" FROM approvals "+where, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var list []Approval
	for rows.Next() {
		a, err := scanApproval(rows, now)
		if err != nil {
			return nil, err
		}
		list = append(list, a)
	}
	return list, rows.Err()
}

// limitOf is the LIMIT of a statement; 0 stands for none.
func limitOf(n int) int {
	if n == 0 {
		return -1
	}
	return n
}

// Approval returns the approval of that name, or an Error of code unknown-request.
func (l *Ledger) Approval(ctx context.Context, id string) (Approval, error) {
	s, err := l.open(ctx)
	if err != nil {
		return Approval{}, err
	}
	a, err := scanApproval(s.readers.QueryRowContext(ctx, "SELECT "+approvalColumns+" FROM approvals WHERE id = ?", id), l.clock())
	if errors.Is(err, sql.ErrNoRows) {
		return a, envelope.Errorf(envelope.UnknownRequest, "There is no approval %s.", contract.Quote(id))
	}
	if err != nil {
		return a, l.fail(s, err)
	}
	return a, nil
}

// ErrDecided tells that an approval was no longer open. The approval beside it says what became of it.
var ErrDecided = errors.New("the approval is not open any more")

// Decide answers an open question and puts the decision on record. A no also takes back a yes that is not used yet. Where
// somebody has answered it before, or its time is over, it returns what became of it and [ErrDecided].
func (l *Ledger) Decide(ctx context.Context, id string, d Decision) (Approval, error) {
	s, err := l.open(ctx)
	if err != nil {
		return Approval{}, err
	}
	now := l.clock()
	state, lasts := ApprovalDeclined, DeclinedTime
	switch {
	case d.Approve && d.For > 0:
		state, lasts = ApprovalStanding, min(d.For, MaxStanding)
	case d.Approve:
		state, lasts = ApprovalApproved, ApprovedTime
	}
	decided, err := s.moveApproval(ctx, `UPDATE approvals SET state = ?1, expires = ?2, decided = ?3, decider = ?4, way = ?5
WHERE id = ?6 AND (state = 'pending' OR ?1 = 'declined' AND state IN ('approved', 'standing')) AND expires > ?7`, state, now.Add(lasts).UnixMicro(), now.UnixMicro(), d.By, d.Way, id, now.UnixMicro())
	if err != nil {
		return Approval{}, l.fail(s, err)
	}
	a, err := l.Approval(ctx, id)
	if err == nil && !decided {
		err = ErrDecided
	}
	if err != nil {
		return a, err
	}
	if err := s.appendApprovalEvent(now, a); err != nil {
		return a, l.fail(s, err)
	}
	return a, nil
}

// UseApproval takes an approval that is good for one call, for the call that is about to be carried out. It is false
// where another call has taken it, or its time is over.
func (l *Ledger) UseApproval(ctx context.Context, id string) (bool, error) {
	return l.stepApproval(ctx, "UPDATE approvals SET state = 'used' WHERE id = ? AND state = 'approved' AND expires > ?", id, l.clock().UnixMicro())
}

// ReturnApproval gives back an approval whose call has changed nothing.
func (l *Ledger) ReturnApproval(ctx context.Context, id string) error {
	_, err := l.stepApproval(ctx, "UPDATE approvals SET state = 'approved' WHERE id = ? AND state = 'used'", id)
	return err
}

// CountQuestion notes that an open question is about to be put to a person by way of the client. It is false where that
// was done most times already, where the question is not open, and where the person has said no or nothing to so many
// others of the caller that further ones would only wear him down: those are left for him to look up.
func (l *Ledger) CountQuestion(ctx context.Context, id string, most int) (bool, error) {
	now := l.clock()
	return l.stepApproval(ctx, `UPDATE approvals SET questions = questions + 1
WHERE id = ?1 AND state = 'pending' AND expires > ?2 AND questions < ?3 AND (
	SELECT count(*) FROM approvals other
	WHERE other.caller = approvals.caller AND other.id <> ?1 AND other.expires > ?2
	AND (other.state = 'declined' OR other.state = 'pending' AND other.questions > 0 AND other.asked > ?4)
) < ?5`, id, now.UnixMicro(), most, now.Add(-DeclinedTime).UnixMicro(), maxUnanswered)
}

func (l *Ledger) stepApproval(ctx context.Context, statement string, args ...any) (bool, error) {
	s, err := l.open(ctx)
	if err != nil {
		return false, err
	}
	moved, err := s.moveApproval(ctx, statement, args...)
	if err != nil {
		return false, l.fail(s, err)
	}
	return moved, nil
}

// moveApproval carries out a statement and tells whether it found what it was to change.
func (s *store) moveApproval(ctx context.Context, statement string, args ...any) (moved bool, err error) {
	err = s.approvalStep(func() error {
		result, err := s.conn.ExecContext(ctx, statement, args...)
		if err != nil {
			return err
		}
		n, err := result.RowsAffected()
		moved = n > 0
		return err
	})
	return moved, err
}

func (s *store) appendApprovalEvent(now time.Time, a Approval) error {
	row := auditRow{
		Time: stampOf(now), Event: "approval " + string(a.State), Caller: a.Caller, Client: a.Client, Tool: a.Tool,
		Approval: a.Note(), Arguments: map[string]any{}, Paths: []string{}, Codes: []envelope.Code{},
	}
	for _, c := range a.Changes {
		row.Paths = append(row.Paths, c.Path)
		if c.To != "" {
			row.Paths = append(row.Paths, c.To)
		}
	}
	return s.appendRows([]auditRow{row})
}

// ApprovalKey returns the key of this state directory by which a question is known again that a client brings back.
func (l *Ledger) ApprovalKey(ctx context.Context) ([]byte, error) {
	s, err := l.open(ctx)
	if err != nil {
		return nil, err
	}
	var key []byte
	err = s.readers.QueryRowContext(ctx, "SELECT key FROM approval_key").Scan(&key)
	if err == nil {
		return key, nil
	}
	if !errors.Is(err, sql.ErrNoRows) {
		return nil, l.fail(s, err)
	}
	fresh := make([]byte, sha256.Size)
	rand.Read(fresh)
	err = s.approvalStep(func() error {
		if _, err := s.conn.ExecContext(ctx, "INSERT OR IGNORE INTO approval_key VALUES(1, ?)", fresh); err != nil {
			return err
		}
		return s.conn.QueryRowContext(ctx, "SELECT key FROM approval_key").Scan(&key)
	})
	if err != nil {
		return nil, l.fail(s, err)
	}
	return key, nil
}

// approvalName returns a name that can't be guessed.
func approvalName() string { return "apr_" + strings.ToLower(rand.Text()[:16]) }
