package gate

import (
	"path/filepath"
	"strings"
	"testing"

	"writ/envelope"
	"writ/ledger"
	"writ/policy"
	"writ/tools"
	"writ/workspace"
)

// A caller whom the policy does not name is refused, whatever the transport believed; what is run at this machine's own
// command line is the operator's.
func TestCallersThatThePolicyDoesNotName(t *testing.T) {
	base := t.TempDir()
	c := policy.FromFlags(nil, []string{"**"}, nil)
	c.Callers = []policy.Caller{{Name: "ci", Token: policy.TokenPrefix + strings.Repeat("0", 64)}}
	rules, err := policy.Compile(c)
	if err != nil {
		t.Fatal(err)
	}
	state := filepath.Join(base, "state")
	files, err := workspace.Open(workspace.Options{Roots: []workspace.Root{{Dir: t.TempDir()}}, State: state})
	if err != nil {
		t.Fatal(err)
	}
	defer files.Close()
	book, err := ledger.Open(state, ledger.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer book.Close()
	g := New(Options{Policy: rules, Files: files, Ledger: book, Tools: tools.All(), KeepAlways: true})
	for caller, status := range map[string]envelope.Status{
		"ci": envelope.Succeeded, CallerLocal: envelope.Succeeded, CallerHTTP: envelope.Denied, "CI": envelope.Denied, "": envelope.Denied,
	} {
		e := g.Call(t.Context(), Call{Caller: caller, Tool: "create_file", Arguments: []byte(`{"path":"` + caller + `x","content":""}`)})
		if e.Status != status || status == envelope.Denied && (e.Errors[0].Code != envelope.CallerNotAllowed || e.Changed != envelope.No) {
			t.Errorf("%q: %s %v", caller, e.Status, e.Errors)
		}
	}
}
