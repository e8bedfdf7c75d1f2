package gate

import (
	"context"
	"slices"

	"writ/contract"
	"writ/ledger"
	"writ/workspace"
)

// changeLog is the ledger as tools see it: only what happened at places that the caller may read.
type changeLog struct {
	ledger *ledger.Ledger
	files  workspace.Reader
}

// Changes returns the changes at path or below it, newest first, and how many there are in all.
func (l changeLog) Changes(ctx context.Context, path contract.Path, offset, limit int) ([]contract.Change, int, error) {
	all, _, err := l.ledger.Changes(ctx, ledger.Filter{Path: path})
	if err != nil {
		return nil, 0, err
	}
	var visible []contract.Change
	for _, c := range all {
		if l.mayRead(c) {
			visible = append(visible, c)
		}
	}
	from := min(offset, len(visible))
	return visible[from:min(from+limit, len(visible))], len(visible), nil
}

func (l changeLog) mayRead(c contract.Change) bool {
	return l.files.Judge(workspace.Read, c.Path) == nil && (c.To.IsTop() || l.files.Judge(workspace.Read, c.To) == nil)
}

// Undo returns a change, and as an intent what it takes to undo it.
func (l changeLog) Undo(ctx context.Context, changeID string) (contract.Change, contract.Intent, error) {
	change, undo, err := l.ledger.Change(ctx, changeID)
	return change, contract.Intent{Undo: undo.Splices, Mode: undo.Mode, Directories: undo.Directories}, err
}

// MarkReverted records that the change by has undone changeID.
func (l changeLog) MarkReverted(ctx context.Context, changeID, by string) error {
	return l.ledger.MarkReverted(ctx, changeID, by)
}

// Outcome returns what became of an earlier call.
func (l changeLog) Outcome(ctx context.Context, requestID string) (contract.CallRecord, error) {
	record, err := l.ledger.Outcome(ctx, requestID)
	record.Changes = slices.DeleteFunc(record.Changes, func(c contract.Change) bool { return !l.mayRead(c) })
	return record, err
}
