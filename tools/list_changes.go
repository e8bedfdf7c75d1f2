package tools

import (
	"context"
	"time"

	"writ/contract"
	"writ/envelope"
	"writ/workspace"
)

// ChangeLog is the memory of what was done.
type ChangeLog interface {
	// Changes returns the changes at path or below it, newest first, and how many there are in all.
	Changes(ctx context.Context, path contract.Path, offset, limit int) ([]contract.Change, int, error)
	// Undo returns what it takes to undo a change. Its errors are of code unknown-change, or of code expired with the
	// change itself.
	Undo(ctx context.Context, changeID string) (Undo, error)
	// Outcome returns what became of an earlier call, or an error of code unknown-request.
	Outcome(ctx context.Context, requestID string) (contract.CallRecord, error)
}

// Undo is what it takes to undo a change.
type Undo struct {
	Change contract.Change
	// Splices turn the bytes after the change into those before it.
	Splices []contract.Splice
	// Former is what the file was beside its bytes before the change.
	Former workspace.Former
	// Directories are those that the change made or took away, outermost first.
	Directories []contract.Path
	// Parts are the changes of a batch, which has nothing else.
	Parts []Undo
}

// earlier returns the bytes before the change, out of those after it, or an Error of code expired if what is kept does not
// lead there: a record that was damaged must not end up in a file.
func (u Undo) earlier(after []byte) ([]byte, error) {
	if workspace.SplicesFit(after, u.Splices) {
		before := workspace.ApplySplices(after, u.Splices)
		if contract.VersionOf(before) == u.Change.Before {
			return before, nil
		}
	}
	return nil, envelope.Errorf(envelope.Expired,
		"The change %s can't be undone: the bytes that were kept from before it are damaged. Write the old text yourself if you know it.", u.Change.ID)
}

var listChanges = reads(contract.Contract{
	Name:  "list_changes",
	Title: "List what was changed",
	Doc: "List the changes that were made through this server, newest first, at a path or below it: what, when, by which call, the versions before and after, " +
		"and whether it was reverted. revert_change takes the change_id, or batch for all changes of one apply_edits.",
	Codes: []envelope.Code{envelope.PathNotAllowed},
}, runListChanges)

type listChangesIn struct {
	Path   contract.Path `json:"path,omitzero" doc:"file or directory; everything if absent"`
	Offset int           `json:"offset,omitempty" min:"0" doc:"changes to skip"`
}

type listedChange struct {
	ChangeID  string           `json:"change_id"`
	RequestID string           `json:"request_id"`
	Time      time.Time        `json:"time"`
	Tool      string           `json:"tool"`
	Path      contract.Path    `json:"path"`
	To        contract.Path    `json:"to,omitzero" doc:"of a move: the new path"`
	Before    contract.Version `json:"before,omitzero"`
	After     contract.Version `json:"after,omitzero"`
	Outcome   contract.Outcome `json:"outcome" enum:"succeeded,unknown"`
	Reverted  bool             `json:"reverted"`
	Batch     string           `json:"batch,omitempty" doc:"change_id of the whole batch that it belongs to"`
}

type listChangesOut struct {
	envelope.Notes
	Changes   []listedChange `json:"changes"`
	Total     int            `json:"total"`
	Truncated *truncated     `json:"truncated,omitempty"`
}

func runListChanges(ctx context.Context, r Reader, in listChangesIn) (listChangesOut, error) {
	p := page{offset: in.Offset, limit: r.Limits.Matches}
	changes, total, err := r.Log.Changes(ctx, in.Path, p.offset, p.limit)
	if err != nil {
		return listChangesOut{}, err
	}
	out := listChangesOut{Changes: make([]listedChange, 0, len(changes)), Total: total}
	for _, c := range changes {
		out.Changes = append(out.Changes, listed(c))
	}
	out.Truncated = p.rest(&out.Notes, len(out.Changes), total, "changes")
	if in.Offset == 0 && out.Truncated != nil {
		out.keepAll(ctx, r, in.Path)
	}
	return out, nil
}

// keepAll keeps all changes as an artifact.
func (o *listChangesOut) keepAll(ctx context.Context, r Reader, path contract.Path) {
	changes, _, err := r.Log.Changes(ctx, path, 0, keptEntries)
	if err != nil {
		return
	}
	all := make([]listedChange, len(changes))
	for i, c := range changes {
		all[i] = listed(c)
	}
	keepList(ctx, r, &o.Notes, o.Truncated, keptList[listedChange]{entries: all, about: func(c listedChange) contract.Path { return c.Path }})
}

func listed(c contract.Change) listedChange {
	return listedChange{
		c.ID, c.RequestID, c.Time.UTC().Truncate(time.Second), c.Tool, c.Path, c.To, c.Before, c.After, c.Outcome, c.Reverted, c.Batch,
	}
}
