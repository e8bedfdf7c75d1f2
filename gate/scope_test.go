package gate

import (
	"encoding/json"
	"reflect"
	"testing"
	"time"

	"writ/contract"
	"writ/envelope"
	"writ/tools"
)

// A caller is told what is stopped for it at the moment, and nobody else is.
func TestScopeTellsWhatIsStopped(t *testing.T) {
	now := time.Now()
	g, _ := testGate(t, &now)
	scope := func(caller string) (s tools.Scope) {
		t.Helper()
		e := g.Call(t.Context(), Call{Caller: caller, Tool: "get_scope"})
		if err := json.Unmarshal(e.AppendJSON(nil), &s); e.Status != envelope.OK || err != nil {
			t.Fatalf("%s, %v", e.AppendJSON(nil), err)
		}
		return s
	}
	for range maxFailedWrites {
		g.Call(t.Context(), Call{Caller: "a", Tool: "create_file", Arguments: []byte(`{"path":"no/../x.md","content":"c"}`)})
		g.Call(t.Context(), Call{Caller: "a", Tool: "delete_file", Arguments: []byte(`{"path":"x.md","observed_version":"` + contract.VersionOf(nil).String() + `"}`)})
	}
	write := callOf(t, g, Call{Caller: "a", Tool: "create_file", Arguments: []byte(`{"path":"y.md","content":"c"}`)})
	g.unsettled.note(write, envelope.Errorf(envelope.OutcomeUnknown, "m"))

	now = now.Add(CoolDown / 2)
	s := scope("a")
	if want := []tools.Unsettled{{Path: "y.md", RequestID: "req_1"}}; !reflect.DeepEqual(s.Unsettled, want) {
		t.Errorf("unsettled are %+v, want %+v", s.Unsettled, want)
	}
	var names []string
	for _, c := range s.Stopped {
		names = append(names, c.Tool+" "+c.FirstCode)
		if c.RetryAfterMillis != (CoolDown / 2).Milliseconds() {
			t.Errorf("%s is said to be stopped for %d ms", c.Tool, c.RetryAfterMillis)
		}
	}
	if want := []string{"create_file path-not-allowed", "delete_file not-found"}; !reflect.DeepEqual(names, want) {
		t.Errorf("stopped are %q, want %q", names, want)
	}
	if s := scope("b"); s.Unsettled != nil || s.Stopped != nil {
		t.Errorf("another caller is told %+v", s)
	}
	now = now.Add(CoolDown)
	if s := scope("a"); s.Stopped != nil {
		t.Errorf("after the cool-down stopped are %+v", s.Stopped)
	}
}
