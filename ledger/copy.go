package ledger

import (
	"bufio"
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// VerifyCopy compares lines of the audit that were carried elsewhere with the audit, and stops at the first that it does
// not hold as they have it. A chain that was made anew, or cut short at its end, shows thereby. Half a line at the end
// of the copy is passed over: it is what a crash leaves.
func (l *Ledger) VerifyCopy(ctx context.Context, lines io.Reader) (Verdict, error) {
	s, err := l.opened(ctx)
	if err != nil {
		return Verdict{}, err
	}
	var v Verdict
	for r := bufio.NewReader(lines); v.Bad == 0; {
		line, err := r.ReadBytes('\n')
		if err == io.EOF {
			break
		}
		if err != nil {
			return v, err
		}
		v.Rows++
		if v.Bad, v.Why, err = s.compare(ctx, bytes.TrimSuffix(line, []byte("\n"))); err != nil {
			return v, l.fail(s, err)
		}
	}
	return v, nil
}

// compare returns what is wrong with the audit by a line of a copy, or 0.
func (s *store) compare(ctx context.Context, line []byte) (bad int64, why string, err error) {
	var r auditRow
	if json.Unmarshal(line, &r) != nil || r.Seq < 1 {
		return -1, "The copy holds something else than lines of the audit.", nil
	}
	var held []byte
	err = s.readers.QueryRowContext(ctx, "SELECT line FROM calls WHERE seq = ?", r.Seq).Scan(&held)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return r.Seq, fmt.Sprintf("Row %d of the copy is missing from the audit.", r.Seq), nil
	case err != nil:
		return 0, "", err
	case !bytes.Equal(held, line):
		return r.Seq, fmt.Sprintf("Row %d is another one in the copy than in the audit.", r.Seq), nil
	}
	return 0, "", nil
}
