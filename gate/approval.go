package gate

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"writ/contract"
	"writ/envelope"
	"writ/ledger"
	"writ/workspace"
)

// A write in the ask zone goes on only after a person's yes. The call is rehearsed, and what it comes to becomes a question
// in the ledger. If the client can put questions to its user, it is asked to, and the call goes on or ends by the answer;
// otherwise the call ends as approval-required, a person answers by the command line, and the same call then goes on.
//
// A yes is good for this call of this caller with just the changes that were shown. When it goes on, everything is checked
// anew, and each change is compared with those that were approved before it begins.

// Asker puts a question to the person at the other end of a call.
type Asker interface {
	// Ask returns what the person said. It waits for that, or returns [ErrAnswersLater] where the protocol has the client
	// call again with the answer. Any other error means that nobody was asked, or that it can't be known.
	Ask(ctx context.Context, q Question) (Answer, error)
}

// ErrAnswersLater tells that the answer comes with a call of its own, in [Call.Reply].
var ErrAnswersLater = errors.New("the answer comes with another call")

// Answer is what a person said to a question.
type Answer int

// The answers. Only the one is a yes.
const (
	Dismissed Answer = iota // nothing: the question was closed, or never answered
	Approved
	Declined
)

// Reply is an answer that came with a call of its own.
type Reply struct {
	State  string // that of the question, as it was given to the client; see [Question]
	Answer Answer
}

const (
	// questionTime is how long a person may think while the call waits. The question stays open longer than that.
	questionTime = 5 * time.Minute
	// maxQuestions is how often the same question is put to a person who does not answer it.
	maxQuestions = 3
)

// run carries out the tool, after a person's yes where it needs one.
func (g *Gate) run(ctx context.Context, k *call) (any, error) {
	if k.tool.Effect.Runs {
		return g.runProgram(ctx, k)
	}
	if !g.comesToAsking(ctx, k) {
		out, err := g.carryOut(ctx, k, nil)
		if !g.canAsk(k) || !isRequired(err) {
			return out, err
		}
	}
	r := g.rehearse(ctx, k)
	if len(r.changes) == 0 {
		return r.out, r.err
	}
	if !r.asks() {
		return g.carryOut(ctx, k, nil)
	}
	grant, err := g.obtain(ctx, k, r)
	if err != nil {
		return r.refused(err)
	}
	out, err := g.carryOut(ctx, k, grant)
	g.settleGrant(ctx, grant, err)
	return out, err
}

// canAsk tells whether a person could approve what the call wants.
func (g *Gate) canAsk(k *call) bool {
	return k.tool.Effect.Writes && g.ledger != nil && k.policy.CanEverAsk()
}

// comesToAsking tells whether the places that the call names are such as a person must be asked about.
func (g *Gate) comesToAsking(ctx context.Context, k *call) bool {
	if !g.canAsk(k) {
		return false
	}
	places := k.places
	if places == nil {
		places = g.placesOf(ctx, k)
	}
	files := g.files.Reader(guard{k.policy})
	return slices.ContainsFunc(places, func(name string) bool {
		p, err := contract.ParsePath(name)
		return err == nil && isRequired(files.Judge(workspace.Write, p))
	})
}

// isRequired tells whether a call that changed nothing was stopped for want of an approval.
func isRequired(err error) bool {
	if items, ok := errors.AsType[*envelope.Items](err); ok {
		return items.Done == 0 && slices.ContainsFunc(items.Failed, func(f envelope.ItemError) bool { return isRequired(f.Err) })
	}
	return envelope.CodeOf(err) == envelope.ApprovalRequired
}

func (g *Gate) carryOut(ctx context.Context, k *call, grant *grant) (any, error) {
	ctx, cancel := k.attempt.within(ctx)
	defer cancel()
	if k.tool.Effect.Writes {
		g.wrote.Store(true)
	}
	env := g.env(k)
	if grant != nil {
		guard, journal := g.granted(k, grant)
		env.Files, env.Programs = g.files.Writer(guard, journal, g.origin(k)), runs{g, k, grant}
	}
	return g.runTool(k.tool, ctx, env, k.args)
}

// obtain returns what the call may do by a person's word, or the error that it ends with.
func (g *Gate) obtain(ctx context.Context, k *call, r *rehearsal) (*grant, error) {
	if standing, err := g.standingGrant(ctx, k, r); standing != nil || err != nil {
		return standing, err
	}
	a, err := g.ledger.OpenApproval(ctx, ledger.Approval{
		Caller: k.Caller, Client: k.Client, Tool: k.Tool, RequestID: k.id, Fingerprint: k.fingerprint(),
		Changes: r.changes, Diff: g.diffOf(k, r),
	})
	if err != nil {
		return nil, err
	}
	if a.State == ledger.ApprovalPending {
		a, err = g.put(ctx, k, a)
	}
	k.approval = a.Note()
	if err != nil {
		return nil, err
	}
	return g.take(ctx, k, a)
}

// take returns the grant of an approval that was given and not used yet.
func (g *Gate) take(ctx context.Context, k *call, a ledger.Approval) (*grant, error) {
	switch a.State {
	case ledger.ApprovalStanding:
		return &grant{id: a.ID, changes: a.Changes}, nil
	case ledger.ApprovalApproved:
		used, err := g.ledger.UseApproval(ctx, a.ID)
		if err != nil {
			return nil, err
		}
		if used {
			k.approval.State = ledger.ApprovalUsed
			return &grant{id: a.ID, changes: a.Changes, once: true}, nil
		}
	case ledger.ApprovalDeclined:
		return nil, declined(a)
	}
	return nil, g.required(a)
}

// settleGrant gives an approval back that is good for one call, if that has changed nothing.
func (g *Gate) settleGrant(ctx context.Context, grant *grant, err error) {
	items, isBatch := errors.AsType[*envelope.Items](err)
	if !grant.once || err == nil || isUnknown(err) || isBatch && items.Done > 0 {
		return
	}
	if err := g.ledger.ReturnApproval(context.WithoutCancel(ctx), grant.id); err != nil {
		g.log.Warn("an approval that was not used could not be given back", "approval", grant.id, "error", err)
	}
}

// put has the question answered by way of the client, if that can be. It returns the approval as it is then.
func (g *Gate) put(ctx context.Context, k *call, a ledger.Approval) (ledger.Approval, error) {
	if k.Reply == nil && k.Asker == nil {
		return a, nil
	}
	state, err := g.stateOf(ctx, a)
	if err != nil {
		return a, err
	}
	var answer Answer
	if k.Reply != nil && sameState(k.Reply.State, state) {
		answer = k.Reply.Answer
	} else if answer, err = g.question(ctx, k, Question{Approval: a.ID, Message: questionText(k, a), State: state}); err != nil {
		return a, err
	}
	if answer == Dismissed {
		return g.ledger.Approval(context.WithoutCancel(ctx), a.ID) // somebody may have answered by another way meanwhile
	}
	decided, err := g.ledger.Decide(context.WithoutCancel(ctx), a.ID, ledger.Decision{
		Approve: answer == Approved, By: k.Client, Way: "asked by the client",
	})
	if errors.Is(err, ledger.ErrDecided) {
		err = nil // somebody was faster, and what he said holds
	}
	return decided, err
}

// question asks the person, and waits; where there is no answer, the call ends as if nobody had been asked.
func (g *Gate) question(ctx context.Context, k *call, q Question) (Answer, error) {
	if k.Asker == nil {
		return Dismissed, nil
	}
	if may, err := g.ledger.CountQuestion(ctx, q.Approval, maxQuestions); !may || err != nil {
		return Dismissed, err
	}
	if err := k.attempt.ask(); err != nil {
		return Dismissed, err
	}
	g.flights.pause(k.Caller)
	defer k.attempt.answered()
	defer g.flights.resume(k.Caller)
	waiting, cancel := context.WithTimeout(ctx, questionTime)
	defer cancel()
	answer, err := k.Asker.Ask(waiting, q)
	if err == nil {
		return answer, ctx.Err() // a yes that came after the call was cancelled is none
	}
	if !errors.Is(err, ErrAnswersLater) && waiting.Err() == nil {
		g.log.Warn("a question could not be put to a person", "request", k.id, "approval", q.Approval, "error", err)
	}
	return Dismissed, ctx.Err()
}

// required is the refusal of a call whose question nobody has answered yet.
func (g *Gate) required(a ledger.Approval) error {
	told := g.needsApproval().With("approval_id", a.ID)
	told.Message = fmt.Sprintf("A person must approve this change first. Ask the user to look at it with `writ approvals show %s` and to approve it with `writ approvals approve %s`; then send this very call again.", a.ID, a.ID)
	return told
}

func declined(a ledger.Approval) error {
	return envelope.Errorf(envelope.ApprovalDeclined,
		"A person declined this change, so it is not made, by whatever call. Ask the user what they want instead.").With("approval_id", a.ID)
}
