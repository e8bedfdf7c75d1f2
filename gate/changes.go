package gate

import (
	"cmp"
	"context"
	"slices"

	"writ/contract"
	"writ/ledger"
	"writ/tools"
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

// Undo returns what it takes to undo a change. One of a place that the caller may not read is unknown to him.
func (l changeLog) Undo(ctx context.Context, changeID string) (tools.Undo, error) {
	undo, err := l.undo(ctx, changeID)
	if err != nil && undo.Change.ID == "" {
		return tools.Undo{}, err
	}
	if undo.Change.Kind != contract.ChangeBatch {
		if !l.mayRead(undo.Change) {
			return tools.Undo{}, ledger.UnknownChange(changeID)
		}
		return undo, err
	}
	parts, listErr := l.ledger.Batch(ctx, changeID)
	if listErr != nil {
		return tools.Undo{}, listErr
	}
	if len(parts) == 0 || !all(parts, l.mayRead) {
		return tools.Undo{}, ledger.UnknownChange(changeID)
	}
	for _, c := range parts {
		part, partErr := l.undo(ctx, c.ID)
		undo.Parts, err = append(undo.Parts, part), cmp.Or(err, partErr)
	}
	return undo, err
}

func (l changeLog) undo(ctx context.Context, changeID string) (tools.Undo, error) {
	change, u, err := l.ledger.Change(ctx, changeID)
	return tools.Undo{Change: change, Splices: u.Splices, Mode: u.Mode, Directories: u.Directories}, err
}

func all[T any](list []T, holds func(T) bool) bool {
	return !slices.ContainsFunc(list, func(v T) bool { return !holds(v) })
}

// Outcome returns what became of an earlier call.
func (l changeLog) Outcome(ctx context.Context, requestID string) (contract.CallRecord, error) {
	record, err := l.ledger.Outcome(ctx, requestID)
	record.Changes = slices.DeleteFunc(record.Changes, func(c contract.Change) bool { return !l.mayRead(c) })
	return record, err
}
