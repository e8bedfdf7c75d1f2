package ledger

import (
	"strings"
	"testing"
)

// Against whoever can write to the database, a copy of its lines helps.
func TestACopyTellsWhatTheChainDoesNot(t *testing.T) {
	l := openNew(t)
	recordSome(t, l, 6)
	lines := strings.Join(linesOf(t, l, RowFilter{}), "\n") + "\n"
	s, err := l.open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	copies := func(text, why string, bad int64) {
		t.Helper()
		v, err := l.VerifyCopy(t.Context(), strings.NewReader(text))
		if err != nil || v.Bad != bad || v.Why != why {
			t.Errorf("%+v, %v; want row %d and %q", v, err, bad, why)
		}
	}
	copies(lines, "", 0)
	copies(lines+`{"seq":7,"pr`, "", 0)
	copies("", "", 0)
	copies("not a line\n", "The copy holds something else than lines of the audit.", -1)
	copies(strings.Replace(lines, `"r3"`, `"r9"`, 1), "Row 4 is another one in the copy than in the audit.", 4)

	// The last rows go, and the head with them.
	_, err = s.conn.ExecContext(t.Context(), "DELETE FROM calls WHERE seq > 4; UPDATE head SET seq = 4, hash = (SELECT hash FROM calls WHERE seq = 4)")
	if err != nil {
		t.Fatal(err)
	}
	if v, err := l.Verify(t.Context()); err != nil || v.Bad != 0 {
		t.Errorf("the chain alone: %+v, %v", v, err)
	}
	copies(lines, "Row 5 of the copy is missing from the audit.", 5)
}
