package ledger

import (
	"encoding/json"
	"path/filepath"
	"testing"

	"writ/contract"
	"writ/envelope"
)

// A call that ended with its process after its change was made has an audit row all the same, once.
func TestLostCallsAreRecorded(t *testing.T) {
	state := filepath.Join(t.TempDir(), "state")
	first := openAt(t, state, Options{})
	in := edit(t, "a.md", "1", "2")
	in.RequestID = "req_lost"
	done(t, first, in)
	if err := first.RecordLost(t.Context()); err != nil { // its process lives: the row may be on its way
		t.Fatal(err)
	}
	if got := rowsOf(t, first); len(got) != 0 {
		t.Fatalf("rows while the process lives: %v", got)
	}
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	second := openAt(t, state, Options{})
	for range 2 {
		if err := second.RecordLost(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	got := rowsOf(t, second)
	if len(got) != 1 || got[0].RequestID != "req_lost" || got[0].Status != envelope.Succeeded || got[0].Event != lostEvent || len(got[0].Paths) != 1 {
		t.Errorf("rows are %+v", got)
	}
	if v, err := second.Verify(t.Context()); err != nil || v.Bad != 0 || v.Rows != 1 {
		t.Errorf("the audit is %+v, %v", v, err)
	}
}

// A batch that ended with its process before its first change is no call that changed something.
func TestBatchCutShortBeforeItsFirstChangeIsNoLostCall(t *testing.T) {
	state := filepath.Join(t.TempDir(), "state")
	first := openAt(t, state, Options{})
	if _, err := first.OpenBatch(t.Context(), contract.Batch{Origin: contract.Origin{RequestID: "req_none", Tool: "apply_edits"}}); err != nil {
		t.Fatal(err)
	}
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	second := openAt(t, state, Options{})
	if err := second.RecordLost(t.Context()); err != nil {
		t.Error(err)
	}
	if got := rowsOf(t, second); len(got) != 0 {
		t.Errorf("rows are %+v", got)
	}
}

func rowsOf(t *testing.T, l *Ledger) []auditRow {
	t.Helper()
	var list []auditRow
	err := l.Rows(t.Context(), RowFilter{}, func(line json.RawMessage) error {
		var r auditRow
		if err := json.Unmarshal(line, &r); err != nil {
			return err
		}
		list = append(list, r)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return list
}
