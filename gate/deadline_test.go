package gate

import (
	"context"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"writ/contract"
	"writ/envelope"
	"writ/policy"
	"writ/tools"
)

// hold makes calls of a tool block where no deadline helps, before or after their work, until they are let go. It returns
// what tells that one is held, and what lets all go.
func hold(t *testing.T, g *Gate, name string, afterwards bool) (held <-chan struct{}, letGo func()) {
	t.Helper()
	in, free := make(chan struct{}, 100), make(chan struct{})
	g.runTool = func(tool *tools.Tool, ctx context.Context, env tools.Env, args contract.Args) (any, error) {
		block := func(when bool) {
			if when && tool.Name == name {
				in <- struct{}{}
				<-free
			}
		}
		block(!afterwards)
		out, err := tool.Run(ctx, env, args)
		block(afterwards)
		return out, err
	}
	letGo = sync.OnceFunc(func() { close(free) })
	t.Cleanup(letGo)
	return in, letGo
}

func stuckGate(t *testing.T, l policy.Limits) (g *Gate, root string, call func(tool, arguments string) envelope.Envelope) {
	t.Helper()
	now := time.Now()
	config := policy.FromFlags(nil, []string{"**"}, nil)
	config.Limits = l
	g, root = gateUnder(t, &now, config)
	return g, root, func(tool, arguments string) envelope.Envelope {
		return g.Call(t.Context(), Call{Caller: "a", Tool: tool, Arguments: []byte(arguments)})
	}
}

// eventually waits for what another goroutine does soon.
func eventually(t *testing.T, what string, is func() bool) {
	t.Helper()
	for end := time.Now().Add(10 * time.Second); !is(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal(what)
		}
	}
}

// A read that the system does not come back from is answered all the same, and counts until it comes back.
func TestStuckRead(t *testing.T) {
	g, root, call := stuckGate(t, policy.Limits{CallTime: 10 * time.Millisecond, CallsInFlight: 1})
	if err := os.WriteFile(filepath.Join(root, "a.md"), []byte("text"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, letGo := hold(t, g, "read_file", false)
	if e := call("read_file", `{"path":"a.md"}`); codeOf(e) != envelope.TimedOut || !e.RetrySafe {
		t.Errorf("a stuck read: %s", e.AppendJSON(nil))
	}
	e := call("get_scope", `{}`)
	if codeOf(e) != envelope.Busy || e.Errors[0].Details["retry_after_ms"] != retryAfterMillis {
		t.Errorf("while as many are stuck as may be in flight: %s", e.AppendJSON(nil))
	}
	if e := g.Call(t.Context(), Call{Caller: "b", Tool: "get_scope"}); e.Status != envelope.OK {
		t.Errorf("another caller: %s", e.AppendJSON(nil))
	}
	if n := g.scope("a").Stuck; n != 1 || g.scope("b").Stuck != 0 {
		t.Errorf("%d calls of the caller are said to be stuck", n)
	}
	letGo()
	eventually(t, "the call does not come back", func() bool { return g.flights.stuck("a") == 0 })
	if e := call("get_scope", `{}`); e.Status != envelope.OK {
		t.Errorf("after it came back: %s", e.AppendJSON(nil))
	}
}

// A write that was given up before it had begun a change begins none afterwards, whatever it was told.
func TestStuckWriteThatHadNotBegun(t *testing.T) {
	for name, arguments := range map[string]string{
		"create_file": `{"path":"new.md","content":"text"}`,
		"apply_edits": `{"atomic":true,"edits":[{"path":"a.md","old_text":"old","new_text":"new","observed_version":"` + contract.VersionOf([]byte("old")).String() + `"}]}`,
	} {
		g, root, call := stuckGate(t, policy.Limits{CallTime: 10 * time.Millisecond})
		if err := os.WriteFile(filepath.Join(root, "a.md"), []byte("old"), 0o600); err != nil {
			t.Fatal(err)
		}
		_, letGo := hold(t, g, name, false)
		if e := call(name, arguments); codeOf(e) != envelope.TimedOut || e.Changed != envelope.No {
			t.Errorf("%s: %s", name, e.AppendJSON(nil))
		}
		letGo()
		eventually(t, "the call does not come back", func() bool { return g.flights.stuck("a") == 0 })
		if text, err := os.ReadFile(filepath.Join(root, "a.md")); string(text) != "old" || err != nil {
			t.Errorf("%s changed the file: %q, %v", name, text, err)
		}
		if _, err := os.Lstat(filepath.Join(root, "new.md")); err == nil {
			t.Errorf("%s made a file after it was said that nothing was changed", name)
		}
	}
}

// A write that had begun is unknown until it comes back; its place stays shut until its outcome was asked for.
func TestStuckWriteThatHadBegun(t *testing.T) {
	g, _, call := stuckGate(t, policy.Limits{CallTime: 100 * time.Millisecond})
	_, letGo := hold(t, g, "create_file", true)
	stuck := call("create_file", `{"path":"new.md","content":"text"}`)
	if codeOf(stuck) != envelope.OutcomeUnknown || stuck.Changed != envelope.MaybeChanged {
		t.Fatalf("a stuck write: %s", stuck.AppendJSON(nil))
	}
	letGo()
	eventually(t, "the call does not come back", func() bool { return g.flights.stuck("a") == 0 })
	overwrite := `{"path":"new.md","content":"more","observed_version":"` + contract.VersionOf([]byte("text")).String() + `"}`
	if e := call("overwrite_file", overwrite); codeOf(e) != envelope.RetryStopped || e.Errors[0].Details["request_id"] != stuck.RequestID {
		t.Errorf("before its outcome was asked for: %s", e.AppendJSON(nil))
	}
	if r, err := g.ledger.Outcome(t.Context(), stuck.RequestID); err != nil || r.Status != envelope.Succeeded || len(r.Changes) != 1 {
		t.Errorf("on record is %+v, %v", r, err)
	}
	if e := call("get_outcome", `{"request_id":"`+stuck.RequestID+`"}`); e.Status != envelope.OK {
		t.Errorf("its outcome: %s", e.AppendJSON(nil))
	}
	if e := call("overwrite_file", overwrite); e.Status != envelope.Succeeded {
		t.Errorf("after its outcome was asked for: %s", e.AppendJSON(nil))
	}
}

// A call that waits for a person leaves its place to others, and may wait for longer than a call may take.
func TestWaitingForAPersonIsNoTimeOfTheCall(t *testing.T) {
	now := time.Now()
	config := policy.FromFlags(nil, nil, []string{"**"})
	config.Limits = policy.Limits{CallTime: 200 * time.Millisecond, CallsInFlight: 1}
	g, root := gateUnder(t, &now, config)
	asker := asking(func(Question) Answer {
		if e := g.Call(t.Context(), Call{Caller: "a", Tool: "get_scope"}); e.Status != envelope.OK {
			t.Errorf("a call meanwhile: %s", e.AppendJSON(nil))
		}
		time.Sleep(grace + 400*time.Millisecond)
		return Approved
	})
	e := g.Call(t.Context(), Call{Caller: "a", Tool: "create_file", Arguments: []byte(`{"path":"new.md","content":"text"}`), Asker: asker})
	if e.Status != envelope.Succeeded {
		t.Errorf("after the yes: %s", e.AppendJSON(nil))
	}
	if text, err := os.ReadFile(filepath.Join(root, "new.md")); string(text) != "text" || err != nil {
		t.Errorf("the file is %q, %v", text, err)
	}
	if n := g.flights.of("a").running; n != 0 {
		t.Errorf("%d calls are in flight after the last", n)
	}
}

// One call too many at once is told to come back; the next after it is let in.
func TestCallsInFlight(t *testing.T) {
	g, _, call := stuckGate(t, policy.Limits{CallsInFlight: 2})
	held, letGo := hold(t, g, "list_directory", false)
	ended := make(chan envelope.Envelope, 2)
	for range 2 {
		go func() { ended <- call("list_directory", `{}`) }()
	}
	<-held
	<-held
	e := call("get_scope", `{}`)
	if codeOf(e) != envelope.RateLimited || e.Status != envelope.Unavailable || e.Errors[0].Details["retry_after_ms"] != retryAfterMillis {
		t.Errorf("the third at once: %s", e.AppendJSON(nil))
	}
	letGo()
	for range 2 {
		if e := <-ended; e.Status != envelope.OK {
			t.Errorf("one of the two: %s", e.AppendJSON(nil))
		}
	}
	if e := call("get_scope", `{}`); e.Status != envelope.OK {
		t.Errorf("after them: %s", e.AppendJSON(nil))
	}
}
