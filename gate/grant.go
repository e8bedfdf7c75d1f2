package gate

import (
	"context"

	"writ/contract"
	"writ/envelope"
	"writ/ledger"
	"writ/policy"
	"writ/workspace"
)

// permitting is a guard that also allows writes for which a person must be asked, at the places that permits names.
// Everything else it decides as the guard does.
type permitting struct {
	guard
	permits func(contract.Path) bool
}

// Allow returns nil, or what the caller is told of the refusal.
func (p permitting) Allow(a workspace.Access, place workspace.Place) error {
	err := p.guard.Allow(a, place)
	if a == workspace.Write && envelope.CodeOf(err) == envelope.ApprovalRequired && p.permits(place.Path) {
		return nil
	}
	return err
}

// grant is what a person has approved: just these changes, each with the versions before and after.
type grant struct {
	id      string
	changes []ledger.ApprovalChange
	once    bool // it is used up by the call
}

func (g *grant) permits(p contract.Path) bool {
	for _, c := range g.changes {
		if c.Asks && (c.Path == p.String() || c.To == p.String()) {
			return true
		}
	}
	return false
}

// check returns an error unless the change is one of those that were approved. It is the last look before anything is
// different: what the call was when it was rehearsed does not count.
func (g *grant) check(in contract.Intent) error {
	for _, c := range g.changes {
		if c.Kind == in.Kind && c.Path == in.Path.String() && c.To == in.To.String() && c.Before == in.Before.String() && c.After == in.After.String() {
			return nil
		}
	}
	return envelope.Errorf(envelope.ChangedDuringCall,
		"What this call would change now is not what was approved, because something changed meanwhile. Look at it again, then call again.")
}

// approvedJournal begins only changes that were approved.
type approvedJournal struct {
	workspace.Journal
	grant *grant
}

// Begin makes the intent durable, if it was approved.
func (j approvedJournal) Begin(ctx context.Context, in contract.Intent) (string, error) {
	if err := j.grant.check(in); err != nil {
		return "", err
	}
	return j.Journal.Begin(ctx, in)
}

// BeginBatch makes all intents durable, if all were approved.
func (j approvedJournal) BeginBatch(ctx context.Context, b contract.Batch) (string, []string, error) {
	for _, in := range b.Intents {
		if err := j.grant.check(in); err != nil {
			return "", nil, err
		}
	}
	return j.Journal.BeginBatch(ctx, b)
}

// granted returns the guard and the journal for a call with this grant; nil stands for none.
func (g *Gate) granted(k *call, grant *grant) (workspace.Guard, workspace.Journal) {
	plain := guard{k.policy}
	if grant == nil {
		return plain, g.journalOf(k)
	}
	return permitting{plain, grant.permits}, approvedJournal{g.journalOf(k), grant}
}

// standingGrant returns the grant of a standing approval that covers every change of the call which needs one; nil where
// there is none. It covers changes of the kind that was approved, and edits of a file whose creation was.
func (g *Gate) standingGrant(ctx context.Context, k *call, r *rehearsal) (*grant, error) {
	list, err := g.ledger.Approvals(ctx, ledger.ApprovalFilter{State: ledger.ApprovalStanding, Caller: k.Caller})
	if err != nil || len(list) == 0 {
		return nil, err
	}
	for _, c := range r.changes {
		if !c.Asks {
			continue
		}
		by := covering(list, c)
		if by == nil {
			return nil, nil
		}
		k.approval = by.Note()
	}
	return &grant{changes: r.changes}, nil
}

func covering(list []ledger.Approval, c ledger.ApprovalChange) *ledger.Approval {
	for i, a := range list {
		for _, approved := range a.Changes {
			sameKind := approved.Kind == c.Kind || approved.Kind == contract.ChangeCreate && c.Kind == contract.ChangeEdit
			if approved.Asks && sameKind && approved.Path == c.Path && approved.To == c.To {
				return &list[i]
			}
		}
	}
	return nil
}

// needsApproval is the refusal of a write at places where a person must be asked, with the zones that are open.
func (g *Gate) needsApproval() *envelope.Error {
	return g.policy.Refusal(policy.Decision{Effect: policy.Ask, Code: envelope.ApprovalRequired})
}
