package ledger

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"writ/contract"
	"writ/envelope"
)

func batchOf(t testing.TB, paths ...string) contract.Batch {
	b := contract.Batch{Origin: contract.Origin{RequestID: "req_b", Tool: "apply_edits", Fingerprint: shaOf("b")}}
	for _, p := range paths {
		in := edit(t, p, "1", "2")
		in.Origin = b.Origin
		b.Intents = append(b.Intents, in)
	}
	return b
}

func TestBatchBeginsAndEndsAsOne(t *testing.T) {
	l := openNew(t)
	head, ids, err := l.BeginBatch(t.Context(), batchOf(t, "a", "b"))
	if err != nil || len(ids) != 2 {
		t.Fatalf("%s %v, %v", head, ids, err)
	}
	pending, err := l.Pending(t.Context())
	if err != nil || len(pending) != 3 || pending[0].Intent.Kind != contract.ChangeBatch || pending[2].Intent.Batch != head {
		t.Fatalf("pending %+v, %v", pending, err)
	}
	if open, err := l.IsOpen(t.Context(), head); !open || err != nil {
		t.Errorf("open: %v, %v", open, err)
	}
	outcomes := map[string]contract.Outcome{ids[0]: contract.OutcomeDone, ids[1]: contract.OutcomeDone}
	if err := l.EndBatch(t.Context(), head, outcomes); err != nil {
		t.Fatal(err)
	}
	if open, err := l.IsOpen(t.Context(), head); open || err != nil {
		t.Errorf("open after the end: %v, %v", open, err)
	}
	changes, total, err := l.Changes(t.Context(), Filter{})
	if err != nil || total != 2 || changes[0].Batch != head || changes[0].ID != ids[1] {
		t.Errorf("changes %+v of %d, %v", changes, total, err)
	}
	parts, err := l.Batch(t.Context(), head)
	if err != nil || len(parts) != 2 || parts[0].ID != ids[0] {
		t.Errorf("parts %+v, %v", parts, err)
	}
	outcome, err := l.Outcome(t.Context(), "req_b")
	if err != nil || outcome.Status != envelope.Succeeded || len(outcome.Changes) != 2 {
		t.Errorf("outcome %+v, %v", outcome, err)
	}
	applied, found, err := l.Applied(t.Context(), shaOf("b"))
	if err != nil || !found || applied.Batch != head {
		t.Errorf("applied %+v, %v, %v", applied, found, err)
	}
}

func TestOutcomeOfAHalfKnownBatch(t *testing.T) {
	for name, c := range map[string]struct{ first, second, head contract.Outcome }{
		"all done":     {contract.OutcomeDone, contract.OutcomeDone, contract.OutcomeDone},
		"none done":    {contract.OutcomeNotDone, contract.OutcomeNotDone, contract.OutcomeNotDone},
		"one unknown":  {contract.OutcomeNotDone, contract.OutcomeUnknown, contract.OutcomeUnknown},
		"some of each": {contract.OutcomeDone, contract.OutcomeNotDone, contract.OutcomeUnknown},
	} {
		t.Run(name, func(t *testing.T) {
			got := outcomeOfAll(map[string]contract.Outcome{"a": c.first, "b": c.second})
			if got != c.head {
				t.Errorf("the batch is %s, want %s", got, c.head)
			}
		})
	}
}

func TestBatchNotDoneIsNoChange(t *testing.T) {
	l := openNew(t)
	head, ids, err := l.BeginBatch(t.Context(), batchOf(t, "a"))
	if err != nil {
		t.Fatal(err)
	}
	if err := l.EndBatch(t.Context(), head, map[string]contract.Outcome{ids[0]: contract.OutcomeNotDone}); err != nil {
		t.Fatal(err)
	}
	_, _, err = l.Change(t.Context(), head)
	wantCode(t, err, envelope.UnknownChange)
}

func TestChangesThatStandAloneInABatch(t *testing.T) {
	l := openNew(t)
	head, err := l.OpenBatch(t.Context(), batchOf(t))
	if err != nil {
		t.Fatal(err)
	}
	in := edit(t, "a", "1", "2")
	in.Batch = head
	id := done(t, l, in)
	if pending, err := l.Pending(t.Context()); err != nil || len(pending) > 0 {
		t.Errorf("pending %+v, %v", pending, err)
	}
	if parts, err := l.Batch(t.Context(), head); err != nil || len(parts) != 1 || parts[0].ID != id {
		t.Errorf("parts %+v, %v", parts, err)
	}
}

func TestRevertOfABatchRevertsEachPart(t *testing.T) {
	l := openNew(t)
	head, ids, err := l.BeginBatch(t.Context(), batchOf(t, "a", "b"))
	if err != nil {
		t.Fatal(err)
	}
	end := func(head string, ids []string) {
		if err := l.EndBatch(t.Context(), head, map[string]contract.Outcome{ids[0]: contract.OutcomeDone, ids[1]: contract.OutcomeDone}); err != nil {
			t.Fatal(err)
		}
	}
	end(head, ids)
	undo := batchOf(t, "a", "b")
	undo.Reverts, undo.Intents[0].Reverts, undo.Intents[1].Reverts = head, ids[0], ids[1]
	undoHead, undoIDs, err := l.BeginBatch(t.Context(), undo)
	if err != nil {
		t.Fatal(err)
	}
	end(undoHead, undoIDs)
	for id, by := range map[string]string{head: undoHead, ids[0]: undoIDs[0], ids[1]: undoIDs[1]} {
		if c, _, err := l.Change(t.Context(), id); err != nil || !c.Reverted || c.RevertedBy != by {
			t.Errorf("%s is reverted: %v by %s (%v), want %s", id, c.Reverted, c.RevertedBy, err, by)
		}
	}
}

func TestLargeUndoDataOfABatch(t *testing.T) {
	l := openNew(t)
	b := batchOf(t, "a")
	in := edit(t, "big", strings.Repeat("0123456789abcdef", 40_000), "")
	b.Intents = append(b.Intents, in)
	_, ids, err := l.BeginBatch(t.Context(), b)
	if err != nil {
		t.Fatal(err)
	}
	if _, u, err := l.Change(t.Context(), ids[1]); err != nil || len(u.Splices[0].New) != 640_000 {
		t.Errorf("%d splices, %v", len(u.Splices), err)
	}
}

// A place with a change of an ended process takes no other until that is settled. A live one will say itself what became
// of its change.
func TestInterruptedChangeStopsTheNext(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "state")
	l, sister := openAt(t, dir, Options{}), openAt(t, dir, Options{})
	move := edit(t, "hers", "1", "1")
	move.Kind, move.To = contract.ChangeMove, pathOf(t, "there")
	id := begin(t, sister, move)
	there := edit(t, "elsewhere", "1", "1")
	there.Kind, there.To = contract.ChangeMove, pathOf(t, "there")
	all := map[string]contract.Intent{"the source": edit(t, "hers", "1", "2"), "the destination": edit(t, "there", "1", "2"), "both destinations": there}
	for name, in := range all {
		if _, err := l.Begin(t.Context(), in); err != nil {
			t.Errorf("%s of a live process: %v", name, err)
		}
	}
	if err := sister.Close(); err != nil {
		t.Fatal(err)
	}
	begin(t, l, edit(t, "elsewhere else", "1", "2"))
	begin(t, l, edit(t, "elsewhere else", "1", "2"))
	for name, in := range all {
		if _, err := l.Begin(t.Context(), in); !errors.Is(err, contract.ErrInterrupted) {
			t.Errorf("%s of an ended process: %v", name, err)
		}
	}
	if _, _, err := l.BeginBatch(t.Context(), batchOf(t, "a", "hers")); !errors.Is(err, contract.ErrInterrupted) {
		t.Errorf("a batch: %v", err)
	}
	if pending, err := l.Pending(t.Context()); err != nil || len(pending) != 6 {
		t.Errorf("%d changes are open, %v", len(pending), err)
	}
	if err := l.Settle(t.Context(), id, contract.OutcomeNotDone); err != nil {
		t.Fatal(err)
	}
	for name, in := range all {
		if _, err := l.Begin(t.Context(), in); err != nil {
			t.Errorf("%s of a settled change: %v", name, err)
		}
	}
}

// A batch that is found open at a place whose lock is held could not record its end. Until that is settled no change is
// made on top of it, whoever's it is and though its process lives.
func TestUnendedBatchStopsTheNext(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "state")
	l, sister := openAt(t, dir, Options{}), openAt(t, dir, Options{})
	id, ids, err := l.BeginBatch(t.Context(), batchOf(t, "a", "b"))
	if err != nil {
		t.Fatal(err)
	}
	move := edit(t, "c", "1", "1")
	move.Kind, move.To = contract.ChangeMove, pathOf(t, "b")
	for name, book := range map[string]*Ledger{"the same process": l, "another process": sister} {
		for place, in := range map[string]contract.Intent{"a place": edit(t, "a", "2", "3"), "a destination": move} {
			if _, err := book.Begin(t.Context(), in); !errors.Is(err, contract.ErrInterrupted) {
				t.Errorf("%s at %s: %v", name, place, err)
			}
		}
		if _, _, err := book.BeginBatch(t.Context(), batchOf(t, "c", "a")); !errors.Is(err, contract.ErrInterrupted) {
			t.Errorf("%s, a batch: %v", name, err)
		}
		begin(t, book, edit(t, "elsewhere", "1", "2"))
	}
	if err := l.EndBatch(t.Context(), id, map[string]contract.Outcome{ids[0]: contract.OutcomeDone, ids[1]: contract.OutcomeDone}); err != nil {
		t.Fatal(err)
	}
	begin(t, l, edit(t, "a", "2", "3"))
	begin(t, sister, move)
}

func TestChangesThatStandAloneStopNoOther(t *testing.T) {
	l := openAt(t, filepath.Join(t.TempDir(), "state"), Options{})
	id, err := l.OpenBatch(t.Context(), contract.Batch{})
	if err != nil {
		t.Fatal(err)
	}
	one := edit(t, "a", "1", "2")
	one.Batch = id
	begin(t, l, one)
	begin(t, l, edit(t, "a", "2", "3"))
}
