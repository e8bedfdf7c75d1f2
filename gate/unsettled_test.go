package gate

import (
	"os"
	"path/filepath"
	"reflect"
	"testing"
	"time"

	"writ/envelope"
	"writ/ledger"
)

// callOf is a call on its way, as far as the tool.
func callOf(t *testing.T, g *Gate, c Call) *call {
	t.Helper()
	k := &call{Call: c, id: "req_1", tool: g.tools[c.Tool], policy: g.policyOf(c.Caller)}
	var err error
	if k.args, err = k.tool.Check(c.Arguments); err != nil {
		t.Fatal(err)
	}
	k.places = g.placesOf(t.Context(), k)
	return k
}

// A write that ended unknown keeps its caller from the path until the outcome was read, and nobody else.
func TestUnsettled(t *testing.T) {
	now := time.Now()
	g, _ := testGate(t, &now)
	made := func(caller, tool, arguments string) *call {
		return callOf(t, g, Call{Caller: caller, Tool: tool, Arguments: []byte(arguments)})
	}
	u := newUnsettled(true)
	write := made("a", "create_file", `{"path":"x.md","content":"c"}`)
	u.note(write, envelope.Errorf(envelope.OutcomeUnknown, "m"))

	refused := u.admit(made("a", "create_file", `{"path":"x.md","content":"d"}`))
	cause := envelope.Cause(refused)
	if cause.Code != envelope.RetryStopped || cause.Next != envelope.CheckOutcome || !reflect.DeepEqual(cause.Details, map[string]any{"request_id": "req_1"}) {
		t.Errorf("a second write: %v", refused)
	}
	if err := u.admit(made("a", "read_file", `{"path":"x.md"}`)); err != nil {
		t.Errorf("a read: %v", err)
	}
	if err := u.admit(made("b", "create_file", `{"path":"x.md","content":"d"}`)); err != nil {
		t.Errorf("another caller: %v", err)
	}
	if err := u.admit(made("a", "create_file", `{"path":"y.md","content":"d"}`)); err != nil {
		t.Errorf("another path: %v", err)
	}
	u.note(made("a", "get_outcome", `{"request_id":"req_1"}`), nil)
	if err := u.admit(write); err != nil {
		t.Errorf("after its outcome was read: %v", err)
	}

	bare := newUnsettled(false)
	bare.note(write, envelope.Errorf(envelope.OutcomeUnknown, "m"))
	if cause := envelope.Cause(bare.admit(write)); cause.Next != envelope.Reread {
		t.Errorf("without get_outcome the next move is %s", cause.Next)
	}
	bare.note(made("a", "read_file", `{"path":"x.md"}`), nil)
	if err := bare.admit(write); err != nil {
		t.Errorf("without get_outcome, after the file was read: %v", err)
	}
}

// A link to a place is no way round, nor is undoing a change of it.
func TestUnsettledByOtherNames(t *testing.T) {
	now := time.Now()
	g, root := testGate(t, &now)
	call := func(tool, arguments string) envelope.Envelope {
		return g.Call(t.Context(), Call{Caller: "a", Tool: tool, Arguments: []byte(arguments)})
	}
	made := call("create_file", `{"path":"d/x.md","content":"c"}`)
	changes, _, err := g.ledger.Changes(t.Context(), ledger.Filter{})
	if err != nil || len(changes) != 1 {
		t.Fatalf("%s, %v", made.AppendJSON(nil), err)
	}
	for link, target := range map[string]string{"file.md": "d/x.md", "dir": "d"} {
		if err := os.Symlink(target, filepath.Join(root, link)); err != nil {
			t.Skip(err)
		}
	}
	revert := `{"change_id":"` + changes[0].ID + `"}`
	calls := []struct{ name, tool, arguments string }{
		{"the path", "create_file", `{"path":"d/x.md","content":"d"}`},
		{"a link", "overwrite_file", `{"path":"file.md","content":"d","observed_version":"` + changes[0].After.String() + `"}`},
		{"a link on the way", "create_file", `{"path":"dir/x.md","content":"d"}`},
		{"an item of a batch", "apply_edits", `{"edits":[{"path":"file.md","old_text":"c","new_text":"d","observed_version":"` + changes[0].After.String() + `"}]}`},
		{"undoing its change", "revert_change", revert},
	}
	for _, wrote := range calls {
		g.unsettled.note(callOf(t, g, Call{Caller: "a", Tool: wrote.tool, Arguments: []byte(wrote.arguments)}), envelope.Errorf(envelope.OutcomeUnknown, "m"))
		for _, c := range calls {
			if e := call(c.tool, c.arguments); codeOf(e) != envelope.RetryStopped {
				t.Errorf("after %s was written, %s: %s", wrote.name, c.name, e.AppendJSON(nil))
			}
		}
		g.unsettled.forget("req_1")
	}
}

// A fault of ours in the midst of a write leaves its outcome unknown too.
func TestPanicLeavesThePlaceUnsettled(t *testing.T) {
	now := time.Now()
	g, _ := testGate(t, &now)
	faulty := false
	book, err := ledger.Open(t.TempDir(), ledger.Options{Clock: func() time.Time {
		if faulty {
			panic("a fault of ours")
		}
		return now
	}})
	if err == nil {
		err = book.Ready(t.Context())
	}
	if err != nil {
		t.Fatal(err)
	}
	defer book.Close()
	g.ledger = book
	write := func() envelope.Envelope {
		return g.Call(t.Context(), Call{Caller: "a", Tool: "create_file", Arguments: []byte(`{"path":"x.md","content":"c"}`)})
	}
	faulty = true
	if e := write(); codeOf(e) != envelope.OutcomeUnknown {
		t.Errorf("the first call: %s", e.AppendJSON(nil))
	}
	faulty = false
	if e := write(); codeOf(e) != envelope.RetryStopped {
		t.Errorf("the second call: %s", e.AppendJSON(nil))
	}
}
