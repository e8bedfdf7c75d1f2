package ledger

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"sync"
	"time"

	"writ/contract"
	"writ/envelope"
)

// CallEntry is one call as the audit keeps it.
type CallEntry struct {
	Time      time.Time // when the call arrived
	RequestID string    // where these sort by time, their index is cheap to keep
	Caller    string
	Client    string // the program that the caller uses, as it names itself
	Tool      string
	// Arguments are the decoded arguments. Of texts, lists and objects only length and SHA-256 are kept. They must not be
	// changed after the call of Record.
	Arguments map[string]any
	Paths     []contract.Path // that were changed, resolved; of a call that changed nothing, as it named them
	Status    envelope.Status
	Codes     []envelope.Code
	Before    contract.Version
	After     contract.Version
	Duration  time.Duration
	Approval  *ApprovalNote // nil: no person was to be asked
	// Writes tells that the tool may change the disk: the row is written before Record returns.
	Writes bool
}

const (
	flushAfter  = 100 * time.Millisecond // how long the row of a read may wait
	flushStep   = 256                    // rows in one transaction, so that no change waits for long
	mostWaiting = 8192                   // rows of reads that wait at most; a caller beyond them waits itself
)

// auditBuffer holds the rows of reads until they are written.
type auditBuffer struct {
	flushing sync.Mutex // held while rows are taken out and written, so that their order stays
	mu       sync.Mutex // guards the rest
	waiting  []CallEntry
	timer    *time.Timer
	lost     int
}

// Record adds the call to the audit. The row of a call that writes is in the operating system's hands when Record
// returns: no end of this process can lose it. The next flush, which every change makes, takes it to the disk. The row
// of a read is written within a tenth of a second and when the ledger is closed.
func (l *Ledger) Record(ctx context.Context, e CallEntry) error {
	if !e.Writes {
		if l.audit.add(e, l.flushSoon) > mostWaiting {
			return l.flush(ctx, flushStep)
		}
		return nil
	}
	s, err := l.open(context.WithoutCancel(ctx))
	if err != nil {
		return err
	}
	if err := s.appendCalls([]CallEntry{e}); err != nil {
		return l.fail(s, err)
	}
	l.shipSoon()
	return nil
}

// add returns how many rows wait, and starts flush after a while if this is the first.
func (b *auditBuffer) add(e CallEntry, flush func()) int {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.waiting = append(b.waiting, e)
	if b.timer == nil {
		b.timer = time.AfterFunc(flushAfter, flush)
	}
	return len(b.waiting)
}

// take removes the oldest rows, most at most.
func (b *auditBuffer) take(most int) (entries []CallEntry, lost int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	n := min(len(b.waiting), most)
	entries, lost = b.waiting[:n:n], b.lost
	b.waiting, b.lost = b.waiting[n:], 0
	if len(b.waiting) > 0 {
		return entries, lost
	}
	b.waiting = nil
	if b.timer != nil {
		b.timer.Stop()
		b.timer = nil
	}
	return entries, lost
}

// putBack returns rows that could not be written. What does not fit is counted, and the count becomes a row later.
func (b *auditBuffer) putBack(entries []CallEntry, lost int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.waiting = append(entries, b.waiting...)
	b.lost += lost
	if over := len(b.waiting) - mostWaiting; over > 0 {
		b.waiting = append([]CallEntry(nil), b.waiting[over:]...)
		b.lost += over
	}
}

func (l *Ledger) flushSoon() {
	if err := l.flush(context.Background(), math.MaxInt); err != nil && !errors.Is(err, errClosed) {
		l.log.Error("audit rows of reads could not be written; they are tried again with the next", "error", err)
	}
}

// flush writes the oldest rows that wait, most at most.
func (l *Ledger) flush(ctx context.Context, most int) error {
	l.audit.flushing.Lock()
	defer l.audit.flushing.Unlock()
	entries, lost := l.audit.take(most)
	if len(entries) == 0 && lost == 0 {
		return nil
	}
	s, err := l.open(ctx)
	if err != nil {
		l.audit.putBack(entries, lost)
		return err
	}
	if lost > 0 {
		if err := s.appendEvent(l.clock(), fmt.Sprintf("%d audit rows of reads could not be written", lost)); err != nil {
			l.audit.putBack(entries, lost)
			return l.fail(s, err)
		}
	}
	for len(entries) > 0 {
		n := min(len(entries), flushStep)
		if err := s.appendCalls(entries[:n]); err != nil {
			l.audit.putBack(entries, 0)
			return l.fail(s, err)
		}
		entries = entries[n:]
	}
	l.shipSoon()
	return nil
}

func (s *store) appendCalls(entries []CallEntry) error {
	rows := make([]auditRow, len(entries))
	for i, e := range entries {
		rows[i] = e.row()
	}
	return s.appendRows(rows)
}

// appendEvent adds a row about the audit itself.
func (s *store) appendEvent(now time.Time, event string) error {
	return s.appendRows([]auditRow{{Time: stampOf(now), Event: event, Arguments: map[string]any{}, Paths: []string{}, Codes: []envelope.Code{}}})
}

func (e CallEntry) row() auditRow {
	r := auditRow{
		Time: stampOf(e.Time), RequestID: e.RequestID, Caller: e.Caller, Client: e.Client, Tool: e.Tool,
		Approval: e.Approval, Arguments: digestAll(e.Arguments), Paths: make([]string, len(e.Paths)),
		Status: e.Status, Codes: e.Codes, Before: e.Before.String(), After: e.After.String(),
		Microseconds: e.Duration.Microseconds(),
	}
	for i, p := range e.Paths {
		r.Paths[i] = p.String()
	}
	if r.Codes == nil {
		r.Codes = []envelope.Code{}
	}
	return r
}

// digest stands for a text, list or object in the audit.
type digest struct {
	Length int    `json:"length"` // bytes; of a list or object those of its compact JSON
	SHA256 string `json:"sha256"`
}

func digestAll(arguments map[string]any) map[string]any {
	digests := maps.Clone(arguments)
	for name, value := range digests {
		digests[name] = digestOf(value)
	}
	if digests == nil {
		digests = map[string]any{}
	}
	return digests
}

// digestOf returns numbers, booleans and null as they are.
func digestOf(value any) any {
	switch v := value.(type) {
	case nil, bool, json.Number, float64, int, int64:
		return v
	case string:
		return digestBytes([]byte(v))
	}
	data, err := json.Marshal(value)
	if err != nil {
		return digest{} // no decoded argument is of such a type
	}
	return digestBytes(data)
}

func digestBytes(data []byte) digest {
	sum := sha256.Sum256(data)
	return digest{Length: len(data), SHA256: hex.EncodeToString(sum[:])}
}
