package gate

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"writ/contract"
)

// A power cut can bring back the name of a file whose removal was not yet durable, while the outcome of the change is.
func TestSweepAfterAPowerCut(t *testing.T) {
	now := time.Now()
	g, root := testGate(t, &now)
	temps := map[contract.Outcome]string{
		contract.OutcomeDone: ".writ-0000000000000001.tmp", contract.OutcomeNotDone: ".writ-0000000000000002.tmp",
		contract.OutcomeUnknown: ".writ-0000000000000003.tmp",
	}
	for outcome, temp := range temps {
		p, err := contract.ParsePath("a.md")
		if err == nil {
			err = os.WriteFile(filepath.Join(root, temp), []byte("old"), 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
		id, err := g.ledger.Begin(t.Context(), contract.Intent{
			Kind: contract.ChangeEdit, Path: p, Before: contract.VersionOf([]byte("old")), After: contract.VersionOf([]byte("new")), Temp: temp,
		})
		if err == nil {
			err = g.ledger.End(t.Context(), id, outcome)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := g.sweep(t.Context()); err != nil {
		t.Error(err)
	}
	for outcome, temp := range temps {
		_, err := os.Lstat(filepath.Join(root, temp))
		if stays := outcome == contract.OutcomeUnknown; (err == nil) != stays {
			t.Errorf("%s: is there %v, want %v", outcome, err == nil, stays)
		}
	}
}
