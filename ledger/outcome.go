package ledger

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"writ/contract"
	"writ/envelope"
)

// Outcome returns what became of an earlier call, or an Error of code unknown-request.
//
// What is known of its changes by now counts for more than what the call could answer: an unknown write that was
// settled since is succeeded, or unavailable if nothing was changed, in which case it may be tried again. A call that
// was cut short before its answer is known by its changes alone.
func (l *Ledger) Outcome(ctx context.Context, requestID string) (contract.CallRecord, error) {
	s, err := l.opened(ctx)
	if err != nil {
		return contract.CallRecord{}, err
	}
	r, err := s.outcome(ctx, requestID)
	if err != nil {
		return r, l.fail(s, err)
	}
	return r, nil
}

func (s *store) outcome(ctx context.Context, requestID string) (contract.CallRecord, error) {
	if requestID == "" { // as in the rows that are no call
		return contract.CallRecord{}, unknownRequest(requestID)
	}
	changes, err := s.query(ctx, "request_id = ? AND kind <> 'batch' ORDER BY id", requestID)
	if err != nil {
		return contract.CallRecord{}, err
	}
	r, err := s.answered(ctx, requestID)
	switch {
	case err == nil && r.Status != envelope.Unknown:
	case err == nil && len(changes) > 0, errors.Is(err, sql.ErrNoRows) && len(changes) > 0:
		r = settled(r, changes)
	case errors.Is(err, sql.ErrNoRows):
		return r, unknownRequest(requestID)
	case err != nil:
		return r, err
	}
	r.Changes = withoutUndone(changes)
	return r, nil
}

func unknownRequest(id string) error {
	return envelope.Errorf(envelope.UnknownRequest, "There is no earlier call %s. Use the request_id of its answer.", contract.Quote(id))
}

// answered returns what the call was answered, or sql.ErrNoRows. Its code is that of the first error.
func (s *store) answered(ctx context.Context, requestID string) (contract.CallRecord, error) {
	var line []byte
	row := s.readers.QueryRowContext(ctx, "SELECT line FROM calls WHERE request_id = ? ORDER BY seq DESC LIMIT 1", requestID)
	if err := row.Scan(&line); err != nil {
		return contract.CallRecord{}, err
	}
	var a auditRow
	if err := json.Unmarshal(line, &a); err != nil {
		return contract.CallRecord{}, fmt.Errorf("audit row: %w", err)
	}
	at, err := time.Parse(stampFormat, a.Time)
	if err != nil {
		return contract.CallRecord{}, fmt.Errorf("audit row: %w", err)
	}
	r := contract.CallRecord{RequestID: requestID, Time: at, Tool: a.Tool, Status: a.Status}
	if len(a.Codes) > 0 {
		r.Code = a.Codes[0]
	}
	return r, nil
}

// settled derives the status of a call from its changes, of which there is at least one.
func settled(r contract.CallRecord, changes []contract.Change) contract.CallRecord {
	first := changes[0]
	r.RequestID, r.Tool, r.Code = first.RequestID, first.Tool, ""
	if r.Time.IsZero() {
		r.Time = first.Time
	}
	count := map[contract.Outcome]int{}
	for _, c := range changes {
		count[c.Outcome]++
	}
	switch len(changes) {
	case count[contract.OutcomeDone]:
		r.Status = envelope.Succeeded
	case count[contract.OutcomeNotDone]:
		r.Status = envelope.Unavailable
	case count[contract.OutcomeDone] + count[contract.OutcomeNotDone]:
		r.Status = envelope.Partial
	default:
		r.Status, r.Code = envelope.Unknown, envelope.OutcomeUnknown
	}
	return r
}

func withoutUndone(changes []contract.Change) []contract.Change {
	var kept []contract.Change
	for _, c := range changes {
		if c.Outcome != contract.OutcomeNotDone {
			kept = append(kept, c)
		}
	}
	return kept
}
