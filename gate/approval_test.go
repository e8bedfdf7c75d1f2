package gate

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"writ/contract"
	"writ/envelope"
	"writ/ledger"
	"writ/policy"
)

// askingGate is a gate with a file a.md in the ask zone.
func askingGate(t *testing.T, now *time.Time) (g *Gate, file string) {
	t.Helper()
	g, root := gateUnder(t, now, policy.FromFlags(nil, nil, []string{"**"}))
	file = filepath.Join(root, "a.md")
	if err := os.WriteFile(file, []byte("one\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	return g, file
}

// answersLater is a client that is asked and has not answered yet.
type answersLater struct{ asked *Question }

func (a *answersLater) Ask(_ context.Context, q Question) (Answer, error) {
	a.asked = &q
	return Dismissed, ErrAnswersLater
}

// A question that is too old is no question, and a yes that nobody has used in time is none.
func TestApprovalsExpire(t *testing.T) {
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	g, file := askingGate(t, &now)
	call := func(reply *Reply) (envelope.Code, *Question) {
		t.Helper()
		a := &answersLater{}
		e := g.Call(t.Context(), Call{Caller: CallerLocal, Tool: "replace_text", Asker: a, Reply: reply, Arguments: json.RawMessage(
			fmt.Sprintf(`{"path":"a.md","old_text":"one","new_text":"two","observed_version":%q}`, contract.VersionOf([]byte("one\n"))))})
		return codeOf(e), a.asked
	}
	_, first := call(nil)
	now = now.Add(ledger.PendingTime)
	code, second := call(&Reply{State: first.State, Answer: Approved})
	if code != envelope.ApprovalRequired || second == nil || second.Approval == first.Approval {
		t.Errorf("a yes to a question that is a day old: %s, asked %v", code, second)
	}
	if _, err := g.ledger.Decide(t.Context(), second.Approval, ledger.Decision{Approve: true, By: "somebody"}); err != nil {
		t.Fatal(err)
	}
	now = now.Add(ledger.ApprovedTime)
	code, third := call(&Reply{State: second.State, Answer: Approved})
	if code != envelope.ApprovalRequired || third == nil || third.Approval == second.Approval {
		t.Errorf("a yes of an hour ago: %s, asked %v", code, third)
	}
	if data, err := os.ReadFile(file); string(data) != "one\n" || err != nil {
		t.Errorf("the file holds %q, %v", data, err)
	}
	if code, _ = call(&Reply{State: third.State, Answer: Approved}); code != "" {
		t.Errorf("a yes in time: %s", code)
	}
}

// Whoever answers by the command line while a client asks is heard; the client's own answer comes too late.
func TestFirstAnswerHolds(t *testing.T) {
	now := time.Now()
	g, file := askingGate(t, &now)
	for name, c := range map[string]struct {
		first  bool
		second Answer
		want   string
	}{
		"no, then yes": {false, Approved, "one\n"},
		"yes, then no": {true, Dismissed, "two of yes, then no\n"},
	} {
		t.Run(name, func(t *testing.T) {
			if err := os.WriteFile(file, []byte("one\n"), 0o644); err != nil {
				t.Fatal(err)
			}
			g.Call(t.Context(), Call{Caller: CallerLocal, Tool: "replace_text", Asker: asking(func(q Question) Answer {
				if _, err := g.ledger.Decide(t.Context(), q.Approval, ledger.Decision{Approve: c.first, By: "somebody"}); err != nil {
					t.Error(err)
				}
				return c.second
			}), Arguments: json.RawMessage(fmt.Sprintf(`{"path":"a.md","old_text":"one","new_text":"two of %s","observed_version":%q}`, name, contract.VersionOf([]byte("one\n"))))})
			if data, err := os.ReadFile(file); string(data) != c.want || err != nil {
				t.Errorf("the file holds %q, %v", data, err)
			}
		})
	}
}

type asking func(Question) Answer

func (a asking) Ask(_ context.Context, q Question) (Answer, error) { return a(q), nil }
