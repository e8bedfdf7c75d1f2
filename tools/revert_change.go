package tools

import (
	"context"
	"errors"
	"fmt"

	"writ/contract"
	"writ/envelope"
	"writ/workspace"
)

var revertChange = writes(contract.Contract{
	Name:  "revert_change",
	Title: "Undo a change",
	Doc: "Undo one change by the change_id that a write or list_changes returned; the change_id of an apply_edits undoes all of it. " +
		"Bytes, mode and existence are as before. Only if the file still is as the change left it: what was changed since is never undone (conflict, changed-since). " +
		"A revert is a change too, and can be reverted.",
	Effect: contract.Effect{Destroys: true},
	Codes: []envelope.Code{
		envelope.UnknownChange, envelope.Expired, envelope.AlreadyApplied, envelope.ChangedSince, envelope.OutsideRoot,
		envelope.OutsideScope, envelope.OutsideWriteScope, envelope.ApprovalRequired, envelope.ApprovalDeclined, envelope.ProtectedName, envelope.PrivateNote, envelope.ChangedDuringCall,
		envelope.ReadOnlyFile, envelope.TooLarge, envelope.LinkLoop, envelope.Permission, envelope.DiskFull,
		envelope.OutcomeUnknown,
	},
}, runRevertChange)

type revertChangeIn struct {
	ChangeID string `json:"change_id" min:"1" max:"64" doc:"change to undo"`
}

type revertChangeOut struct {
	written
	Items []editItem `json:"items,omitempty" doc:"of a batch: each file"`
}

func runRevertChange(ctx context.Context, w Writer, in revertChangeIn) (revertChangeOut, error) {
	var out revertChangeOut
	undo, err := w.Log.Undo(ctx, in.ChangeID)
	if undo.Change.Reverted {
		return out, alreadyReverted(undo.Change)
	}
	if err != nil {
		return out, err
	}
	r := reverting{Undo: undo, out: &out, w: w, files: w.Files.Reverting(undo.Change.ID)}
	if undo.Change.Kind == contract.ChangeBatch {
		return out, r.batch(ctx)
	}
	result, err := r.change(ctx)
	if err != nil {
		return out, r.explain(ctx, err)
	}
	out.record(result)
	out.check(ctx, w.Checks, result)
	return out, nil
}

// Recode gives an item the code of what stopped it, where more is known of that than the tool knew.
func (o *revertChangeOut) Recode(item int, code envelope.Code) {
	o.Items[item].Status, o.Items[item].Code = code.Status(), code
}

// Skip tells of an item that it was sound and is not carried out.
func (o *revertChangeOut) Skip(item int) { o.Items[item].skip() }

func alreadyReverted(c contract.Change) error {
	return &envelope.Error{
		Code:    envelope.AlreadyApplied,
		Message: fmt.Sprintf("The change %s was undone already, by the change %s. Nothing is left to do; reverting that one brings it back.", c.ID, c.RevertedBy),
		Details: map[string]any{"change_id": c.RevertedBy},
	}
}

// reverting is the undoing of one change.
type reverting struct {
	Undo
	out   *revertChangeOut
	w     Writer
	files workspace.Writer
}

// change undoes what is no batch. Each way checks that things still are as the change left them.
func (r reverting) change(ctx context.Context) (workspace.Written, error) {
	c := r.Change
	switch c.Kind {
	case contract.ChangeEdit:
		return r.files.Replace(ctx, c.Path, c.After, r.unedit)
	case contract.ChangeCreate:
		done, err := r.files.Delete(ctx, c.Path, c.After)
		return r.tidied(ctx, done, err)
	case contract.ChangeMove:
		done, err := r.files.Move(ctx, c.To, c.Path, c.After)
		return r.tidied(ctx, done, err)
	case contract.ChangeDelete:
		data, err := r.earlier(nil)
		if err != nil {
			return workspace.Written{}, err
		}
		r.out.showChange(r.w.Reader.Files, c.Path, nil, data)
		return r.files.Restore(ctx, c.Path, data, r.Former)
	case contract.ChangeMkdir:
		return r.files.RemoveDirectories(ctx, r.Directories)
	case contract.ChangeRmdir:
		return r.remakeDirectory(ctx)
	}
	return workspace.Written{}, fmt.Errorf("there is no way to undo a %s", c.Kind)
}

// unedit returns the splices that bring the earlier bytes back. A link that stands in the file's place now is not
// followed.
func (r reverting) unedit(f *workspace.File) ([]contract.Splice, error) {
	if f.Resolved != r.Change.Path {
		return nil, r.since(nil)
	}
	before, err := r.earlier(f.Data)
	if err != nil {
		return nil, err
	}
	r.out.showChange(r.w.Reader.Files, r.Change.Path, f.Data, before)
	return r.Splices, nil
}

// tidied removes the directories that the change had made, as far as they are empty now.
func (r reverting) tidied(ctx context.Context, done workspace.Written, err error) (workspace.Written, error) {
	if err == nil {
		r.files.RemoveEmpty(ctx, r.Directories)
	}
	return done, err
}

func (r reverting) remakeDirectory(ctx context.Context) (workspace.Written, error) {
	done, err := r.files.MakeDirectory(ctx, r.Change.Path)
	if err == nil && done.Changed == envelope.No {
		err = r.since(nil)
	}
	return done, err
}

// showChange puts the diff of two contents into the answer, if they are text.
func (o *written) showChange(files workspace.Reader, p contract.Path, before, after []byte) {
	old, err1 := files.Decode(before, p)
	fresh, err2 := files.Decode(after, p)
	if err1 == nil && err2 == nil {
		o.show(writeDiffLines, func(maxLines int) string { return files.Diff(p, old.String(), fresh.String(), maxLines) })
	}
}

// explain turns what was met into the conflict that it is: the place is not as the change left it.
func (r reverting) explain(ctx context.Context, err error) error {
	r.out.Diff, r.out.Untrusted = nil, false // what was planned was not made
	if !differs(err) {
		return err
	}
	r.out.conflict(ctx, r.w.Reader.Files, collision{path: r.Change.Path, observed: r.Change.After, err: err})
	if conflict, ok := errors.AsType[*workspace.Conflict](err); ok {
		r.out.CurrentVersion = conflict.Current
	}
	return r.withLater(ctx, r.since(err))
}

// differs tells whether an error says that the place is in another state, whatever that is.
func differs(err error) bool {
	switch envelope.CodeOf(err) {
	case envelope.VersionChanged, envelope.AlreadyExists, envelope.PathNotFound, envelope.IsDirectory,
		envelope.NotADirectory, envelope.NotARegularFile, envelope.NotEmpty, envelope.ChangedSince:
		return true
	}
	return false
}

// since is the conflict of a change that is not undone because of err.
func (r reverting) since(err error) error {
	place := r.Change.Path
	if r.Change.Kind == contract.ChangeMove && envelope.CodeOf(err) != envelope.AlreadyExists {
		place = r.Change.To // else something else is where the file came from
	}
	told := envelope.Errorf(envelope.ChangedSince,
		"%s is not as this change left it: somebody changed it since, and that is not undone. Read it, and edit it if need be.", contract.Quote(place.String()))
	if conflict, ok := errors.AsType[*workspace.Conflict](err); ok {
		return &workspace.Conflict{Cause: told, Current: conflict.Current, CurrentData: conflict.CurrentData, Place: conflict.Place}
	}
	return told
}

// withLater adds the changes of ours that came after and are in the way: undone first, newest first, they are not.
func (r reverting) withLater(ctx context.Context, err error) error {
	later := r.later(ctx)
	conflict, ok := errors.AsType[*workspace.Conflict](err)
	cause, _ := errors.AsType[*envelope.Error](err)
	if len(later) == 0 {
		return err
	}
	told := cause.With("later_changes", later)
	told.Message = fmt.Sprintf("%s It was changed through this server too: reverting %s first may help.", told.Message, later[0])
	if ok {
		return &workspace.Conflict{Cause: told, Current: conflict.Current, CurrentData: conflict.CurrentData, Place: conflict.Place}
	}
	return told
}

// mostLater bounds the list of later changes.
const mostLater = 5

// later lists the later changes of the place that are in force, newest first.
func (r reverting) later(ctx context.Context) []string {
	var later []string
	for _, place := range []contract.Path{r.Change.Path, r.Change.To} {
		if place.IsTop() {
			continue
		}
		changes, _, err := r.w.Log.Changes(ctx, place, 0, 4*mostLater)
		if err != nil {
			return nil
		}
		for _, c := range changes {
			if c.ID > r.Change.ID && !c.Reverted && c.Tool != "revert_change" && len(later) < mostLater {
				later = append(later, c.ID)
			}
		}
	}
	return later
}

// batch undoes what is in force of a batch, all of it or nothing.
func (r reverting) batch(ctx context.Context) error {
	var parts []Undo
	for _, p := range r.Parts {
		if !p.Change.Reverted {
			parts = append(parts, p)
		}
	}
	if len(parts) == 0 {
		return alreadyReverted(r.Parts[0].Change)
	}
	members := make([]workspace.Member, len(parts))
	shown := make([]*revertChangeOut, len(parts))
	for i, p := range parts {
		members[i] = workspace.Member{Path: p.Change.Path, Observed: p.Change.After, Reverts: p.Change.ID}
	}
	done, err := r.files.ReplaceAll(ctx, members, func(f *workspace.File, list []int) ([]contract.Splice, []envelope.ItemError) {
		i := list[0]
		shown[i] = &revertChangeOut{}
		part := reverting{Undo: parts[i], out: shown[i], w: r.w}
		splices, err := part.unedit(f)
		if len(list) > 1 {
			err = part.since(nil) // two places of then are one file now
		}
		if err != nil {
			return nil, refusals(list, err)
		}
		return splices, nil
	})
	if err != nil {
		return err
	}
	return r.conclude(ctx, parts, done, shown)
}

// showItem puts the diff of one file of a batch into the answer.
func (r reverting) showItem(ctx context.Context, i int, one *revertChangeOut) {
	if one == nil || one.Diff == nil {
		return
	}
	item := &r.out.Items[i]
	item.Diff = *one.Diff
	one.shown.place = r.Parts[i].Change.Path
	one.keepDiff(ctx, r.w.Reader)
	item.Truncated = one.Truncated
	r.out.Warnings = append(r.out.Warnings, one.Warnings...)
}

func refusals(members []int, err error) []envelope.ItemError {
	list := make([]envelope.ItemError, len(members))
	for i, m := range members {
		list[i] = envelope.ItemError{Item: m, Err: err}
	}
	return list
}

func (r reverting) conclude(ctx context.Context, parts []Undo, done workspace.BatchWritten, shown []*revertChangeOut) error {
	for i := range done.Refused {
		e := &done.Refused[i]
		if differs(e.Err) {
			part := reverting{Undo: parts[e.Item], w: r.w}
			e.Err = part.withLater(ctx, part.since(e.Err))
		}
	}
	names := make([]string, len(parts))
	for i, p := range parts {
		names[i] = p.Change.Path.String()
	}
	r.out.Items = itemsOf(names, done)
	if len(done.Refused) > 0 {
		return &envelope.Items{Failed: done.Refused}
	}
	for i := range r.out.Items {
		r.showItem(ctx, i, shown[i])
	}
	r.out.Untrusted = true
	r.out.record(done.Files[0].Written)
	checkFiles(ctx, r.w.Checks, r.out.Items, done)
	for _, f := range done.Files[1:] {
		r.out.Warnings = append(r.out.Warnings, f.Warnings...)
	}
	r.out.ChangeID = done.ChangeID
	if len(parts) > 1 {
		r.out.Version = contract.Version{} // each item has its own
	}
	return nil
}
