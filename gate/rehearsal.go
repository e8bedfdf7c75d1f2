package gate

import (
	"context"
	"errors"
	"slices"

	"writ/contract"
	"writ/envelope"
	"writ/ledger"
	"writ/workspace"
)

// A write that a person must approve is rehearsed first: it is carried out as if it were approved, up to where its changes
// would begin. What is wrong with it shows there, so nobody is asked about a call that can't succeed, and what it comes to
// is known exactly: resolved places, versions before and after, bytes.

// rehearsal is what a call would do.
type rehearsal struct {
	changes  []ledger.ApprovalChange
	planned  []workspace.Planned
	required *envelope.Error // what the changes end with that need an approval; filled in when more is known
	out      any
	err      error
}

// errSound is how a rehearsed change ends that needs no approval.
var errSound = errors.New("a rehearsed change is sound")

func (g *Gate) rehearse(ctx context.Context, k *call) *rehearsal {
	r := &rehearsal{required: &envelope.Error{Code: envelope.ApprovalRequired}}
	plain := guard{k.policy}
	files := g.files.Reader(plain)
	env := g.env(k)
	everywhere := permitting{plain, func(contract.Path) bool { return true }}
	env.Files = g.files.Writer(everywhere, g.journal(), g.origin(k)).Rehearsing(func(p workspace.Planned) error {
		return r.judge(files, p)
	})
	ctx, cancel := k.attempt.within(ctx)
	defer cancel()
	r.out, r.err = g.runTool(k.tool, ctx, env, k.args)
	return r
}

// judge notes a change, and tells whether it needs an approval.
func (r *rehearsal) judge(files workspace.Reader, p workspace.Planned) error {
	change := ledger.ApprovalChange{
		Kind: p.Kind, Path: p.Path.String(), To: p.To.String(), Before: p.Before.String(), After: p.After.String(),
	}
	end := errSound
	for _, place := range []contract.Path{p.Path, p.To} {
		if place.IsTop() {
			continue
		}
		switch err := files.Judge(workspace.Write, place); {
		case envelope.CodeOf(err) == envelope.ApprovalRequired:
			change.Asks, end = true, r.required
		case err != nil:
			return err
		}
	}
	r.changes, r.planned = append(r.changes, change), append(r.planned, p)
	return end
}

// asks tells whether a change of the call needs an approval.
func (r *rehearsal) asks() bool {
	return slices.ContainsFunc(r.changes, func(c ledger.ApprovalChange) bool { return c.Asks })
}

// skipper is the answer of a batch. Skip tells of an item that it was sound and is not carried out.
type skipper interface {
	Skip(item int)
}

// refused is the answer of the call where the approval is missing, for the reason why.
func (r *rehearsal) refused(why error) (any, error) {
	cause, ok := errors.AsType[*envelope.Error](why)
	if !ok || cause.Code != envelope.ApprovalRequired && cause.Code != envelope.ApprovalDeclined {
		return nil, why
	}
	*r.required = *cause
	items, isBatch := errors.AsType[*envelope.Items](r.err)
	if !isBatch {
		return r.out, r.required
	}
	told := &envelope.Items{}
	for _, f := range items.Failed {
		if !errors.Is(f.Err, errSound) {
			told.Failed = append(told.Failed, f)
		} else if out, ok := r.out.(skipper); ok {
			out.Skip(f.Item)
		}
	}
	return r.out, told
}
