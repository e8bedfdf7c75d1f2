package workspace

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"writ/contract"
	"writ/envelope"
)

// A batch changes several files. Its members are grouped by the file that they resolve to, so that two names of one
// file are one file, and all members of a file are made in one swap.
//
// An atomic batch is prepared as a whole before anything is different: every file is locked, read and compared, every
// edit planned, every new file durable, and the intents of all of them durable in one transaction. Then the files are
// swapped one after the other. If a swap meets another program, those before it are swapped back. What the swaps
// displaced is removed only after the last of them, and the end of the batch is durable before the call is answered.
//
// A batch that was left open, by a crash or because its end could not be recorded, was therefore never acknowledged, and
// [Workspace.SettleBatch] may end it either way: see there. Until that is done the journal begins no other change at its
// places.

// Member is one edit of a batch.
type Member struct {
	Path     contract.Path
	Observed contract.Version
	Reverts  string // the change that it undoes, "" for none
	Refused  error  // why it can't be carried out whatever the file holds; nil: it may be
}

// BatchEdit returns what to splice into a file for those of its members that can be carried out, and why the others
// can't; members are indices into the batch. It must not use the Writer.
type BatchEdit func(f *File, members []int) ([]contract.Splice, []envelope.ItemError)

// BatchWritten tells what became of a batch.
type BatchWritten struct {
	ChangeID string // of the batch, "" where nothing was begun
	Files    []BatchFile
	Refused  []envelope.ItemError // sorted by member, but an unknown outcome comes first
}

// BatchFile is a file that a batch changed, or found as it should be.
type BatchFile struct {
	Written
	Members []int
}

// ReplaceAll makes all members of a batch or none. If one is refused, so is the batch: Refused then tells of every
// member that can't be carried out, and Files is empty. The error is one that concerns the whole batch.
func (w Writer) ReplaceAll(ctx context.Context, members []Member, edit BatchEdit) (BatchWritten, error) {
	var b *batch
	err := w.onSettledGround(ctx, func() error {
		b = &batch{w: w, members: members, edit: edit}
		defer b.close()
		if err := b.open(ctx); err != nil {
			return err
		}
		return b.run(ctx)
	})
	b.sortRefused()
	return b.result, err
}

// ReplaceEach makes the members of a batch file by file: what is refused leaves the others alone.
func (w Writer) ReplaceEach(ctx context.Context, members []Member, edit BatchEdit) BatchWritten {
	w.batch = &openBatch{}
	b := &batch{w: w, members: members, edit: edit}
	if err := b.locate(ctx); err != nil {
		b.refuse(b.notRefused(b.all()), err)
		b.close()
		b.sortRefused()
		return b.result
	}
	for _, f := range b.files {
		f.at.dir.Close()
		b.replaceOne(ctx, f)
	}
	b.result.ChangeID = w.batch.id
	b.sortRefused()
	return b.result
}

// openBatch is the batch of changes that stand alone. It is begun with the first of them.
type openBatch struct{ id string }

func (o *openBatch) open(ctx context.Context, w Writer) (err error) {
	if o.id == "" {
		o.id, err = w.journal.OpenBatch(ctx, contract.Batch{Origin: w.origin, Reverts: w.reverts})
	}
	return err
}

// batchFiles is how many of the largest files an atomic batch may hold in memory, as they are all held at once.
const batchFiles = 4

// batch is a batch under way.
type batch struct {
	w       Writer
	members []Member
	edit    BatchEdit
	files   []*batchFile
	release func() // of the locks
	id      string
	result  BatchWritten
}

// batchFile is one file of a batch, with the members that are about it.
type batchFile struct {
	question *question
	at       parent
	path     contract.Path // as the first member has it
	slot     int
	members  []int
	target   *target
	splices  []contract.Splice
	change   *replacement // nil until it is prepared
	keep     bool         // what is under the temporary name stays there
}

func (b *batch) all() []int {
	list := make([]int, len(b.members))
	for i := range list {
		list[i] = i
	}
	return list
}

func (b *batch) refuse(members []int, err error) {
	for _, m := range members {
		b.result.Refused = append(b.result.Refused, envelope.ItemError{Item: m, Err: err})
	}
}

func (b *batch) forget(f *batchFile) {
	f.splices = nil
	b.result.Refused = slices.DeleteFunc(b.result.Refused, func(e envelope.ItemError) bool { return slices.Contains(f.members, e.Item) })
}

func (b *batch) isRefused(member int) bool {
	return slices.ContainsFunc(b.result.Refused, func(e envelope.ItemError) bool { return e.Item == member })
}

func (b *batch) notRefused(members []int) []int {
	return slices.DeleteFunc(slices.Clone(members), b.isRefused)
}

func (b *batch) sortRefused() {
	rank := func(e envelope.ItemError) int {
		if envelope.CodeOf(e.Err) == envelope.OutcomeUnknown {
			return 0
		}
		return 1
	}
	slices.SortStableFunc(b.result.Refused, func(x, y envelope.ItemError) int {
		return cmp.Or(cmp.Compare(rank(x), rank(y)), cmp.Compare(x.Item, y.Item))
	})
}

// locate finds the place of every member, and groups them by file. Its error is that of the context.
func (b *batch) locate(ctx context.Context) error {
	byPath := map[contract.Path]*batchFile{}
	refused := map[contract.Path]error{}
	byFile := map[string]*batchFile{}
	for i, m := range b.members {
		if err := ctx.Err(); err != nil {
			return timedOut(err)
		}
		if m.Refused != nil {
			b.refuse([]int{i}, m.Refused)
			continue
		}
		if byPath[m.Path] == nil && refused[m.Path] == nil {
			f, err := b.locateOne(ctx, m.Path, byFile)
			byPath[m.Path], refused[m.Path] = f, err
		}
		if err := refused[m.Path]; err != nil {
			b.refuse([]int{i}, err)
			continue
		}
		f := byPath[m.Path]
		f.members = append(f.members, i)
	}
	return nil
}

// locateOne returns the file that p stands for, which may be one that another path led to.
func (b *batch) locateOne(ctx context.Context, p contract.Path, byFile map[string]*batchFile) (*batchFile, error) {
	q, err := b.w.w.question(b.w.guard, p, Write)
	if err != nil {
		return nil, err
	}
	f := &batchFile{question: q, path: p}
	err = settle(ctx, q.root.tree, q, func() (err error) {
		f.at, err = behindLinks(ctx, q)
		return err
	})
	if err != nil {
		return nil, err
	}
	id, err := f.at.dir.identity()
	if err == nil {
		f.slot, err = b.w.w.locks.slotOf(f.at.dir, f.at.leaf)
	}
	if err != nil {
		f.at.dir.Close()
		return nil, fault(err, q.quoted())
	}
	if same := byFile[id+"/"+f.at.leaf]; same != nil {
		f.at.dir.Close()
		return same, nil
	}
	byFile[id+"/"+f.at.leaf] = f
	b.files = append(b.files, f)
	return f, nil
}

// open locks and reads every file and plans every edit. It returns errMoved where all must begin again.
func (b *batch) open(ctx context.Context) error {
	if err := b.locate(ctx); err != nil {
		return err
	}
	slots := make([]int, len(b.files))
	for i, f := range b.files {
		slots[i] = f.slot
	}
	release, err := b.w.w.locks.acquireAll(ctx, slots)
	if err != nil {
		return err
	}
	b.release = release
	room := batchFiles * b.w.w.options.FileBytes
	for _, f := range b.files {
		f.target, err = b.w.hold(ctx, f.question, f.at)
		if err == nil {
			room -= int64(len(f.target.data))
		}
		switch {
		case room < 0:
			return envelope.Errorf(envelope.TooLarge, "The files of this batch are too large together. Make several batches of it, or send atomic: false.")
		case errors.Is(err, errMoved):
			return err
		case err != nil:
			b.refuse(f.members, err)
		default:
			b.plan(f)
		}
	}
	return nil
}

// plan works out what to splice into a file.
func (b *batch) plan(f *batchFile) {
	t := f.target
	if err := t.checkWritable(); err != nil {
		b.refuse(f.members, err)
		return
	}
	var sound []int
	for _, m := range f.members {
		if err := t.check(b.members[m].Observed); err != nil {
			b.refuse([]int{m}, err)
			continue
		}
		sound = append(sound, m)
	}
	if len(sound) == 0 {
		return
	}
	splices, refused := b.edit(t.file(f.path), sound)
	f.splices, b.result.Refused = splices, append(b.result.Refused, refused...)
}

// run makes the batch, unless a member was refused.
func (b *batch) run(ctx context.Context) error {
	if len(b.result.Refused) > 0 {
		return nil
	}
	for _, f := range b.files {
		r := &replacement{w: b.w, target: f.target, temp: tempName()}
		f.change = r
		if err := r.prepare(f.path, f.splices); err != nil {
			b.refuse(f.members, err)
		}
	}
	if len(b.result.Refused) > 0 {
		return nil
	}
	changes := slices.DeleteFunc(slices.Clone(b.files), func(f *batchFile) bool { return f.change.isEmpty() })
	if b.w.rehearses() && len(changes) > 0 {
		b.rehearse(ctx, changes)
		return nil
	}
	if len(changes) > 0 {
		if err := b.begin(ctx, changes); err != nil {
			return err
		}
		if err := b.carryOut(ctx, changes); err != nil || len(b.result.Refused) > 0 {
			return err
		}
	}
	for _, f := range b.files {
		b.result.Files = append(b.result.Files, BatchFile{f.change.result, f.members})
	}
	return nil
}

// begin makes all intents durable. What becomes of the changes is then told for all of them together.
func (b *batch) begin(ctx context.Context, changes []*batchFile) error {
	if err := ctx.Err(); err != nil {
		return timedOut(err)
	}
	for _, f := range changes {
		f.change.change = &change{ctx: context.WithoutCancel(ctx)}
	}
	if b.w.journal == nil {
		return nil
	}
	all := contract.Batch{Origin: b.w.origin, Reverts: b.w.reverts}
	for _, f := range changes {
		in := f.change.intent()
		in.Origin, in.Reverts = b.w.origin, b.members[f.members[0]].Reverts
		all.Intents = append(all.Intents, in)
	}
	id, ids, err := b.w.journal.BeginBatch(ctx, all)
	if err != nil {
		return err
	}
	b.id = id
	for i, f := range changes {
		f.change.change.id = ids[i]
	}
	return nil
}

// carryOut makes the changes whose intents are durable, or takes them back.
func (b *batch) carryOut(ctx context.Context, changes []*batchFile) error {
	for _, f := range changes {
		if err := f.change.ready(ctx); err != nil {
			b.refuse(f.members, err)
			b.discard(changes)
			return b.end(ctx, changes)
		}
	}
	for i, f := range changes {
		var err error
		f.keep = true // should it panic
		if f.keep, err = f.change.swap(); err != nil {
			b.refuse(f.members, err)
			b.takeBack(ctx, changes[:i])
			b.discard(changes)
			return b.end(ctx, changes)
		}
	}
	b.discard(changes)
	if err := b.end(ctx, changes); err != nil {
		return err
	}
	for _, f := range changes {
		f.change.conclude()
	}
	b.result.ChangeID = b.id
	return nil
}

// takeBack swaps back what was swapped, the last first.
func (b *batch) takeBack(ctx context.Context, swapped []*batchFile) {
	for _, f := range slices.Backward(swapped) {
		var err error
		f.keep = true
		if f.keep, err = f.change.takeBack(ctx); err != nil {
			b.refuse(f.members, err)
		}
	}
}

// takeBack undoes a swap. An error tells that it can't be told whether it did.
func (r *replacement) takeBack(ctx context.Context) (keep bool, err error) {
	if r.staged.named {
		keep, err = r.putBack()
	} else {
		r.staged.discard() // a file that is open for writing can't be watched
		err = r.w.w.unwrite(context.WithoutCancel(ctx), r.target.question, r.target.at, r.intent())
		if err != nil {
			err = r.change.unknownOutcome(r.target.quoted(), "it was changed and could not be changed back.", err)
		}
	}
	if envelope.CodeOf(err) == envelope.OutcomeUnknown {
		return keep, err
	}
	return keep, nil
}

// discard closes the new files and removes what is left under temporary names.
func (b *batch) discard(changes []*batchFile) {
	for _, f := range changes {
		f.discard()
	}
}

func (f *batchFile) discard() {
	switch {
	case f.change == nil || f.change.staged == nil:
	case f.keep:
		f.change.staged.close()
	default:
		f.change.staged.discard()
	}
}

// end tells the journal what became of the changes: all are done, unless members were refused.
func (b *batch) end(ctx context.Context, changes []*batchFile) error {
	if b.w.journal == nil {
		return nil
	}
	outcomes := map[string]contract.Outcome{}
	for _, f := range changes {
		switch {
		case b.isUnknown(f):
			outcomes[f.change.change.id] = contract.OutcomeUnknown
		case len(b.result.Refused) > 0:
			outcomes[f.change.change.id] = contract.OutcomeNotDone
		default:
			outcomes[f.change.change.id] = contract.OutcomeDone
		}
	}
	err := b.record(ctx, outcomes)
	if err == nil || len(b.result.Refused) > 0 {
		return nil // what was taken back is found so by whoever settles it
	}
	return &envelope.Error{
		Code:    envelope.OutcomeUnknown,
		Message: "The batch was made, but that could not be put on record. Read the files again before anything else.",
		Details: map[string]any{"change_id": b.id},
		Err:     err,
	}
}

// recordings is how often the end of a batch is told, since one that stays open keeps every other change from its places
// until it is settled.
const recordings = 3

func (b *batch) record(ctx context.Context, outcomes map[string]contract.Outcome) (err error) {
	for range recordings {
		if err = b.w.journal.EndBatch(context.WithoutCancel(ctx), b.id, outcomes); err == nil {
			return nil
		}
	}
	return err
}

func (b *batch) isUnknown(f *batchFile) bool {
	return slices.ContainsFunc(b.result.Refused, func(e envelope.ItemError) bool {
		return slices.Contains(f.members, e.Item) && envelope.CodeOf(e.Err) == envelope.OutcomeUnknown
	})
}

// close gives everything free.
func (b *batch) close() {
	for _, f := range b.files {
		f.discard()
		if f.target != nil {
			f.target.drop()
		}
		f.at.dir.Close()
	}
	if b.release != nil {
		b.release()
	}
}

// replaceOne makes the members of one file that can be carried out, in one swap.
func (b *batch) replaceOne(ctx context.Context, f *batchFile) {
	written, err := b.w.rewrite(ctx, f.path, func(t *target) ([]contract.Splice, error) {
		b.forget(f) // what a try before has found
		f.target = t
		b.plan(f)
		return f.splices, nil
	})
	switch left := b.notRefused(f.members); {
	case err != nil:
		b.refuse(left, err)
	case len(left) > 0:
		b.result.Files = append(b.result.Files, BatchFile{written, left})
	}
}
