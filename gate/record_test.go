package gate

import (
	"slices"
	"testing"
	"time"

	"writ/envelope"
	"writ/ledger"
)

// The answer of a write tells that it could not be put on record; that of a read has nothing to tell.
func TestAnswerTellsThatItIsNotRecorded(t *testing.T) {
	now := time.Now()
	g, _ := testGate(t, &now)
	lost, err := ledger.Open(t.TempDir(), ledger.Options{})
	if err == nil {
		err = lost.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	g.ledger = lost
	for tool, want := range map[string]bool{"create_directory": true, "list_directory": false} {
		e := g.Call(t.Context(), Call{Caller: "a", Tool: tool, Arguments: []byte(`{"path":"d"}`)})
		told := slices.ContainsFunc(e.Warnings, func(w envelope.Warning) bool { return w.Code == envelope.NotRecorded })
		if told != want {
			t.Errorf("%s: %s", tool, e.AppendJSON(nil))
		}
	}
}
