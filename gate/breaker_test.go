package gate

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
	"time"

	"writ/contract"
	"writ/envelope"
	"writ/ledger"
	"writ/policy"
	"writ/tools"
	"writ/workspace"
)

// testGate is a gate over one directory where all may be written, with a clock that stands still.
func testGate(t *testing.T, now *time.Time) (*Gate, string) {
	t.Helper()
	return gateUnder(t, now, policy.FromFlags(nil, []string{"**"}, nil))
}

// gateUnder returns a gate of all tools under these rules, which goes by the clock now, and its root.
func gateUnder(t *testing.T, now *time.Time, config policy.Config) (*Gate, string) {
	t.Helper()
	base := t.TempDir()
	root, state := filepath.Join(base, "root"), filepath.Join(base, "state")
	if err := os.Mkdir(root, 0o755); err != nil {
		t.Fatal(err)
	}
	rules, err := policy.Compile(config)
	if err != nil {
		t.Fatal(err)
	}
	clock := func() time.Time { return *now }
	files, err := workspace.Open(workspace.Options{Roots: []workspace.Root{{Dir: root}}, State: state})
	if err != nil {
		t.Fatal(err)
	}
	book, err := ledger.Open(state, ledger.Options{Clock: clock})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := book.Close(); err != nil {
			t.Error(err)
		}
		if err := files.Close(); err != nil {
			t.Error(err)
		}
	})
	g := New(Options{Policy: rules, Files: files, Ledger: book, Tools: tools.All(), KeepAlways: true, Clock: clock})
	return g, root
}

func codeOf(e envelope.Envelope) envelope.Code {
	if len(e.Errors) == 0 {
		return ""
	}
	return e.Errors[0].Code
}

func TestBreaker(t *testing.T) {
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	g, root := testGate(t, &now)
	file := filepath.Join(root, "a.md")
	write := func(text string) contract.Version {
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return contract.VersionOf([]byte(text))
	}
	version := write("one\n")
	edit := func(caller, old string) envelope.Envelope {
		arguments, err := json.Marshal(map[string]string{"path": "a.md", "old_text": old, "new_text": "x", "observed_version": version.String()})
		if err != nil {
			t.Fatal(err)
		}
		return g.Call(context.Background(), Call{Caller: caller, Tool: "replace_text", Arguments: arguments})
	}
	for i := range maxFailedWrites {
		if got := codeOf(edit("a", "absent")); got != envelope.TextNotFound {
			t.Fatalf("failure %d: %s", i, got)
		}
	}
	stopped := edit("a", "absent")
	if codeOf(stopped) != envelope.RetryStopped || stopped.Next != envelope.Stop || stopped.Changed != envelope.No {
		t.Fatalf("after %d equal failures: %+v", maxFailedWrites, stopped)
	}
	if got := codeOf(edit("b", "absent")); got != envelope.TextNotFound {
		t.Errorf("another caller: %s", got)
	}
	if got := codeOf(edit("a", "lacking")); got != envelope.TextNotFound {
		t.Errorf("other arguments: %s", got)
	}
	now = now.Add(CoolDown + time.Second)
	if got := codeOf(edit("a", "absent")); got != envelope.TextNotFound {
		t.Errorf("after the cool-down: %s", got)
	}
	for range maxFailedWrites {
		edit("a", "absent")
	}
	if got := codeOf(edit("a", "absent")); got != envelope.RetryStopped {
		t.Fatalf("stopped once more: %s", got)
	}
	version = write("one, absent no more\n")
	if e := edit("a", "absent"); e.Status != envelope.Succeeded {
		t.Errorf("with the version of the changed file: %+v", e)
	}
}

// What waiting or a person mends does not count against the caller.
func TestBreakerLeavesWaitingAlone(t *testing.T) {
	for _, code := range []envelope.Code{envelope.Busy, envelope.RateLimited, envelope.ApprovalRequired, envelope.OutcomeUnknown, envelope.RetryStopped, envelope.AlreadyApplied} {
		if worthCounting(envelope.Errorf(code, "m")) {
			t.Errorf("%s counts", code)
		}
	}
	for _, code := range []envelope.Code{envelope.TextNotFound, envelope.PathNotFound, envelope.OutsideScope, envelope.Required} {
		if !worthCounting(envelope.Errorf(code, "m")) {
			t.Errorf("%s does not count", code)
		}
	}
}

// A write says which file it changed, none, also where it was stopped before its tool began.
func TestRefusedWritesNameNoFile(t *testing.T) {
	now := time.Now()
	g, _ := testGate(t, &now)
	e := g.Call(context.Background(), Call{Tool: "replace_text", Arguments: []byte(`{}`)})
	var told map[string]any
	if err := json.Unmarshal(e.AppendJSON(nil), &told); err != nil {
		t.Fatal(err)
	}
	if file, there := told["changed_file"]; e.Status != envelope.Invalid || !there || file != nil {
		t.Errorf("status %s, changed_file %v, there %v", e.Status, file, there)
	}
}
