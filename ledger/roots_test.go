package ledger

import (
	"path/filepath"
	"testing"

	"writ/envelope"
)

// A state directory belongs to the roots that it was first used with.
func TestStateOfOtherRoots(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "state")
	for _, c := range []struct {
		name, roots string
		want        envelope.Code
	}{
		{"the first that do not say", "", ""},
		{"the first that say", "a", ""},
		{"the same", "a", ""},
		{"others", "b", envelope.IO},
		{"who do not say", "", ""},
		{"others after those", "b", envelope.IO},
	} {
		l, err := Open(dir, Options{Roots: c.roots})
		if err != nil {
			t.Fatal(err)
		}
		if err := l.Ready(t.Context()); envelope.CodeOf(err) != c.want || (err == nil) != (c.want == "") {
			t.Errorf("%s: %v", c.name, err)
		}
		if _, err := l.Pending(t.Context()); (err == nil) != (c.want == "") {
			t.Errorf("%s, what is pending: %v", c.name, err)
		}
		if err := l.Close(); err != nil {
			t.Error(err)
		}
	}
}

func TestStateFromBeforeRootsWereKept(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "state")
	l := openAt(t, dir, Options{})
	s, err := l.open(t.Context())
	if err == nil {
		_, err = s.conn.ExecContext(t.Context(), "DROP TABLE served")
	}
	if err != nil {
		t.Fatal(err)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	if err := openAt(t, dir, Options{Roots: "a"}).Ready(t.Context()); err != nil {
		t.Error(err)
	}
}
