package workspace

import (
	"context"
	"slices"

	"writ/contract"
)

// Planned is a change as a rehearsal found it: all is known of it, and nothing is different.
type Planned struct {
	contract.Intent
	Old, New []byte // the bytes before and after; nil where there are none, and for files of more than 4 MiB
}

// Rehearsing returns a Writer that does all that a change takes up to the point where its intent would be made durable.
// There it tells judge of the change, which ends with the error that judge returns; it must not be nil. Nothing is ever
// different because of such a Writer.
func (w Writer) Rehearsing(judge func(Planned) error) Writer {
	w.judge = judge
	return w
}

// rehearses tells whether the Writer changes nothing.
func (w Writer) rehearses() bool { return w.judge != nil }

// rehearse ends a rehearsed change in the place of begin.
func (w Writer) rehearse(ctx context.Context, in contract.Intent, before, after pieces) error {
	if err := ctx.Err(); err != nil {
		return timedOut(err)
	}
	in.Origin, in.Reverts = w.origin, w.reverts
	return w.judge(Planned{Intent: in, Old: before.shown(), New: after.shown()})
}

// maxShown is the size of the largest content that is handed on to be shown.
const maxShown = 4 << 20

func (p pieces) shown() []byte {
	if p == nil || p.size() > maxShown {
		return nil
	}
	return slices.Concat(p...)
}

// rehearse ends the members of a rehearsed batch, each file's by what judge says of it.
func (b *batch) rehearse(ctx context.Context, changes []*batchFile) {
	for _, f := range changes {
		b.refuse(f.members, f.change.rehearse(ctx))
	}
}

func (r *replacement) rehearse(ctx context.Context) error {
	return r.w.rehearse(ctx, r.intent(), pieces{r.target.data}, r.content)
}
