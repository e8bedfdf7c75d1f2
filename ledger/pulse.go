package ledger

import "context"

// Pulse names the state of the log in three parts, so that whoever shows one of them can tell when to look again. Each
// is another one as soon as what it stands for differs, by whatever process.
type Pulse struct {
	Approvals [5]int64 // how many there are, wait and are used, and when the last was asked for and decided
	Changes   [2]int64 // the last one, and how many are open
	Calls     int64    // the number of the audit's last row
}

// Pending is how many questions wait for a person.
func (p Pulse) Pending() int { return int(p.Approvals[1]) }

// Pulse returns the state of the log at this moment. It is cheap enough to be asked for every second.
func (l *Ledger) Pulse(ctx context.Context) (Pulse, error) {
	s, err := l.open(ctx)
	if err != nil {
		return Pulse{}, err
	}
	var p Pulse
	a, c := &p.Approvals, &p.Changes
	err = s.readers.QueryRowContext(ctx, `
SELECT count(*), count(*) FILTER (WHERE state = 'pending' AND expires > ?), count(*) FILTER (WHERE state = 'used'),
	ifnull(max(asked), 0), ifnull(max(decided), 0),
	(SELECT ifnull(max(id), 0) FROM changes), (SELECT count(*) FROM changes WHERE outcome IS NULL), (SELECT ifnull(max(seq), 0) FROM calls)
FROM approvals`, l.clock().UnixMicro()).Scan(&a[0], &a[1], &a[2], &a[3], &a[4], &c[0], &c[1], &p.Calls)
	if err != nil {
		return Pulse{}, l.fail(s, err)
	}
	return p, nil
}
