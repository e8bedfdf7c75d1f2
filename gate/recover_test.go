package gate

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"writ/contract"
	"writ/envelope"
	"writ/ledger"
)

// leftOpen begins a batch that makes files new which were old, and makes its swaps; its end is not recorded.
func leftOpen(t *testing.T, g *Gate, root string, names ...string) (batchID string) {
	t.Helper()
	b := contract.Batch{Origin: contract.Origin{RequestID: "req_left", Tool: "apply_edits", Caller: "somebody"}}
	for _, name := range names {
		p, err := contract.ParsePath(name)
		if err == nil {
			err = os.WriteFile(filepath.Join(root, name), []byte("new"), 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
		b.Intents = append(b.Intents, contract.Intent{
			Origin: b.Origin, Kind: contract.ChangeEdit, Path: p, Before: contract.VersionOf([]byte("old")), After: contract.VersionOf([]byte("new")),
			Undo: []contract.Splice{{Length: 3, New: []byte("old")}}, Temp: ".writ-0000000000000001.tmp",
		})
	}
	batchID, _, err := g.ledger.BeginBatch(t.Context(), b)
	if err != nil {
		t.Fatal(err)
	}
	return batchID
}

func edit(t *testing.T, g *Gate, path, old, now string) envelope.Envelope {
	t.Helper()
	arguments, err := json.Marshal(map[string]string{
		"path": path, "old_text": old, "new_text": now, "observed_version": contract.VersionOf([]byte(old)).String(),
	})
	if err != nil {
		t.Fatal(err)
	}
	return g.Call(t.Context(), Call{Caller: "a", Tool: "replace_text", Arguments: arguments})
}

// A batch whose end could not be recorded is settled before the next change comes on top of it, though its process
// lives; so a later start finds nothing that it could take back.
func TestUnendedBatchIsSettledBeforeTheNextChange(t *testing.T) {
	now := time.Now()
	g, root := testGate(t, &now)
	id := leftOpen(t, g, root, "a.md", "b.md")
	if e := edit(t, g, "a.md", "new", "newer"); e.Status != envelope.Succeeded {
		t.Errorf("the next change: %s", e.AppendJSON(nil))
	}
	if open, err := g.ledger.IsOpen(t.Context(), id); open || err != nil {
		t.Errorf("open %v, %v", open, err)
	}
	if err := g.Recover(t.Context()); err != nil {
		t.Error(err)
	}
	for name, want := range map[string]string{"a.md": "newer", "b.md": "new"} {
		if data, err := os.ReadFile(filepath.Join(root, name)); err != nil || string(data) != want {
			t.Errorf("%s holds %q, %v", name, data, err)
		}
	}
}

// A root that is away for a while, as a drive can be, makes no outcome unknown for good.
func TestRecoverWaitsForTheRoot(t *testing.T) {
	now := time.Now()
	g, root := testGate(t, &now)
	ended, err := ledger.Open(filepath.Join(filepath.Dir(root), "state"), ledger.Options{})
	if err != nil {
		t.Fatal(err)
	}
	place, err := contract.ParsePath("a.md")
	if err == nil {
		err = os.WriteFile(filepath.Join(root, "a.md"), []byte("new"), 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
	id, err := ended.Begin(t.Context(), contract.Intent{
		Kind: contract.ChangeEdit, Path: place, Before: contract.VersionOf([]byte("old")), After: contract.VersionOf([]byte("new")),
		Undo: []contract.Splice{{Length: 3, New: []byte("old")}}, Temp: ".writ-0000000000000001.tmp",
	})
	if err == nil {
		err = ended.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ from, to string }{{root, root + ".away"}, {root + ".away", root}} {
		if err := os.Rename(c.from, c.to); err != nil {
			t.Skip(err)
		}
		away := c.from == root
		err := g.Recover(t.Context())
		if open, openErr := g.ledger.IsOpen(t.Context(), id); (err != nil) != away || open != away || openErr != nil {
			t.Errorf("away %v: recovered %v; open %v, %v", away, err, open, openErr)
		}
	}
}

// What can't be settled may be at places that the caller knows nothing of.
func TestCallerIsNotToldWhyRecoveryFails(t *testing.T) {
	now := time.Now()
	g, _ := testGate(t, &now)
	if err := g.ledger.Close(); err != nil {
		t.Fatal(err)
	}
	cause := g.Recover(t.Context())
	err := g.journal().Recover(t.Context())
	if cause == nil || envelope.CodeOf(err) != envelope.Busy || strings.Contains(err.Error(), cause.Error()) {
		t.Errorf("the caller is told %v of %v", err, cause)
	}
}
