package ledger

import (
	"testing"
	"time"
)

// The pulse of each part is another one after what happens to it, and stays as it is otherwise.
func TestPulse(t *testing.T) {
	now := time.UnixMicro(1_800_000_000_000_000)
	l := bookAt(t, t.TempDir(), &now)
	pulse := func() Pulse {
		t.Helper()
		p, err := l.Pulse(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	at := pulse()
	if at != pulse() || at.Pending() != 0 {
		t.Errorf("at first %+v", at)
	}
	asked := openApproval(t, l, question("f", "2"))
	if p := pulse(); p.Pending() != 1 || p.Approvals == at.Approvals || p.Calls != at.Calls || p.Changes != at.Changes {
		t.Errorf("a question: %+v after %+v", p, at)
	}
	steps := []struct {
		name string
		do   func() error
	}{
		{"a yes", func() error { _, err := l.Decide(t.Context(), asked.ID, Decision{Approve: true}); return err }},
		{"its use", func() error { _, err := l.UseApproval(t.Context(), asked.ID); return err }},
	}
	for _, step := range steps {
		before := pulse()
		if err := step.do(); err != nil {
			t.Fatal(err)
		}
		if p := pulse(); p.Approvals == before.Approvals || p.Pending() != 0 {
			t.Errorf("%s: %+v after %+v", step.name, p, before)
		}
	}
	openApproval(t, l, question("g", "3"))
	now = now.Add(PendingTime)
	if p := pulse(); p.Pending() != 0 {
		t.Errorf("a question whose time is over waits: %+v", p)
	}
}
