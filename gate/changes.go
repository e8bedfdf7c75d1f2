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
	ledger  *ledger.Ledger
	mayTell teller
}

// teller tells whether the caller may be told of what was done to the file at a resolved place.
type teller func(context.Context, contract.Path) bool

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
	mayRead := l.asker(ctx)
	if all(places, mayRead.places) {
		page, total, err := l.ledger.Changes(ctx, ledger.Filter{Path: path, Offset: offset, Limit: limit})
		if err != nil || all(page, mayRead.change) { // one may have come just now
			return page, total, err
		}
	}
	every, _, err := l.ledger.Changes(ctx, ledger.Filter{Path: path})
	if err != nil {
		return nil, 0, err
	}
	visible := slices.DeleteFunc(every, func(c contract.Change) bool { return !mayRead.change(c) })
	from := min(offset, len(visible))
	return visible[from:min(from+limit, len(visible))], len(visible), nil
}

// asker tells of a place whether the caller may be told of it.
type asker func(contract.Path) bool

// asker returns one that looks at each place once.
func (l changeLog) asker(ctx context.Context) asker {
	known := map[contract.Path]bool{}
	return func(p contract.Path) bool {
		may, found := known[p]
		if !found {
			may = l.mayTell(ctx, p)
			known[p] = may
		}
		return may
	}
}

func (may asker) change(c contract.Change) bool {
	return may.places(ledger.Places{Path: c.Path, To: c.To})
}

func (may asker) places(p ledger.Places) bool { return may(p.Path) && (p.To.IsTop() || may(p.To)) }

// Undo returns what it takes to undo a change. One of a place that the caller may not read is unknown to him.
func (l changeLog) Undo(ctx context.Context, changeID string) (tools.Undo, error) {
	undo, err := l.undo(ctx, changeID)
	if err != nil && undo.Change.ID == "" {
		return tools.Undo{}, err
	}
	mayRead := l.asker(ctx)
	if undo.Change.Kind != contract.ChangeBatch {
		if !mayRead.change(undo.Change) {
			return tools.Undo{}, ledger.UnknownChange(changeID)
		}
		return undo, err
	}
	parts, listErr := l.ledger.Batch(ctx, changeID)
	if listErr != nil {
		return tools.Undo{}, listErr
	}
	if len(parts) == 0 || !all(parts, mayRead.change) {
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
	mayRead := l.asker(ctx)
	record.Changes = slices.DeleteFunc(record.Changes, func(c contract.Change) bool { return !mayRead.change(c) })
	return record, err
}
