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

// Changes returns the changes at path or below it, newest first, and how many there are in all. The ledger pages them
// itself, unless some are of places that the caller may not read.
func (l changeLog) Changes(ctx context.Context, path contract.Path, offset, limit int) ([]contract.Change, int, error) {
	if l.ledger == nil {
		return nil, 0, nil
	}
	places, err := l.ledger.Places(ctx, ledger.Filter{Path: path})
	if err != nil {
		return nil, 0, err
	}
	if all(places, l.mayReadPlaces) {
		page, total, err := l.ledger.Changes(ctx, ledger.Filter{Path: path, Offset: offset, Limit: limit})
		if err != nil || all(page, l.mayRead) { // one may have come just now
			return page, total, err
		}
	}
	every, _, err := l.ledger.Changes(ctx, ledger.Filter{Path: path})
	if err != nil {
		return nil, 0, err
	}
	visible := slices.DeleteFunc(every, func(c contract.Change) bool { return !l.mayRead(c) })
	from := min(offset, len(visible))
	return visible[from:min(from+limit, len(visible))], len(visible), nil
}

func (l changeLog) mayRead(c contract.Change) bool {
	return l.mayReadPlaces(ledger.Places{Path: c.Path, To: c.To})
}

func (l changeLog) mayReadPlaces(p ledger.Places) bool {
	return l.files.Judge(workspace.Read, p.Path) == nil && (p.To.IsTop() || l.files.Judge(workspace.Read, p.To) == nil)
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
	return tools.Undo{Change: change, Splices: u.Splices, Former: workspace.Former{Mode: u.Mode, Attributes: u.Attributes}, Directories: u.Directories}, err
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
