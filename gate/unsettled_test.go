package gate

import (
	"reflect"
	"testing"
	"time"

	"writ/envelope"
)

// A write that ended unknown keeps its caller from the path until the outcome was read, and nobody else.
func TestUnsettled(t *testing.T) {
	now := time.Now()
	g, _ := testGate(t, &now)
	made := func(caller, tool, arguments string) *call {
		k := &call{Call: Call{Caller: caller, Tool: tool}, id: "req_1", tool: g.tools[tool]}
		var err error
		if k.args, err = k.tool.Check([]byte(arguments)); err != nil {
			t.Fatal(err)
		}
		return k
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
