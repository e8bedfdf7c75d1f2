package gate

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"writ/contract"
	"writ/envelope"
	"writ/ledger"
	"writ/policy"
	"writ/programs"
	"writ/tools"
	"writ/workspace"
)

// A program is run in two steps: what the call asks for is judged, and a person is asked where that needs it; then it is
// judged anew and run. Between the judging of a file and its opening by the program somebody else may change what is
// there: the program's walls are what holds then.

// overhead is what a run may take beside the program's own time: its end may have to be forced.
const overhead = 10 * time.Second

// callTime is the wall time of a call.
func (g *Gate) callTime(k *call) time.Duration {
	own := k.policy.Limits().CallTime
	if !k.tool.Effect.Runs {
		return own
	}
	i, err := k.policy.Program(k.args.Text("program"))
	if err != nil {
		return own
	}
	return g.programs.declared[i].Time + overhead
}

// plannedRun is a run as it was judged.
type plannedRun struct {
	*declared
	args []string
	asks bool // a person must approve it
}

// change is the run as an approval tells of it: the program, and its arguments as they are handed over.
func (p plannedRun) change() ledger.ApprovalChange {
	told := "without arguments"
	if len(p.args) > 0 {
		quoted := make([]string, len(p.args))
		for i, arg := range p.args {
			quoted[i] = contract.Quote(arg)
		}
		told = "with " + strings.Join(quoted, " ")
	}
	return ledger.ApprovalChange{Kind: contract.ChangeRun, Path: p.Name, To: told, Asks: true}
}

// runProgram carries out a call that runs a program, after a person's yes where it needs one.
func (g *Gate) runProgram(ctx context.Context, k *call) (any, error) {
	plan, err := g.judgedRun(ctx, k)
	if err != nil {
		return nil, err
	}
	if !plan.asks {
		return g.carryOut(ctx, k, nil)
	}
	granted, err := g.obtain(ctx, k, &rehearsal{changes: []ledger.ApprovalChange{plan.change()}})
	if err != nil {
		return nil, err
	}
	out, err := g.carryOut(ctx, k, granted)
	g.settleGrant(ctx, granted, err)
	return out, err
}

func (g *Gate) judgedRun(ctx context.Context, k *call) (plannedRun, error) {
	ctx, cancel := k.attempt.within(ctx)
	defer cancel()
	var args []string
	listed, _ := k.args.Values()["args"].([]any)
	for _, arg := range listed {
		text, _ := arg.(string)
		args = append(args, text)
	}
	return g.planRun(ctx, k.policy, k.args.Text("program"), args)
}

// planRun judges by a caller's policy what a call asks for.
func (g *Gate) planRun(ctx context.Context, rules *policy.Policy, name string, args []string) (plannedRun, error) {
	i, err := rules.Program(name)
	if err != nil {
		return plannedRun{}, err
	}
	p := plannedRun{declared: g.programs.declared[i]}
	p.asks = p.Ask
	if p.fault != nil {
		return p, notRunNow("It could not be found when the server started, or lies where callers could change it.")
	}
	fitting, err := p.Fit(args)
	if err != nil {
		return p, err
	}
	if now, err := p.findPlace(ctx, g.files); err != nil || now != p.place {
		return p, notRunNow("Its directory is not the one any more that it was when the server started.")
	}
	judge := argumentJudge{g.files.Reader(guard{rules}), &p}
	for _, a := range fitting {
		text, err := judge.text(ctx, a)
		if err != nil {
			return p, err
		}
		p.args = append(p.args, text)
	}
	return p, nil
}

// notRunNow is the refusal of a program that is declared and can't be run.
func notRunNow(why string) error {
	return envelope.Errorf(envelope.ProgramNotAllowed, "This program is declared, but is not run. %s A person must look at it: `writ doctor` tells more.", why)
}

// runs runs programs for one call.
type runs struct {
	gate  *Gate
	call  *call
	grant *grant // nil: no person has approved anything
}

// Run runs a program that the policy declares.
func (r runs) Run(ctx context.Context, name string, args []string) (tools.Ran, error) {
	g := r.gate
	p, err := g.planRun(ctx, r.call.policy, name, args)
	if err != nil {
		return tools.Ran{}, err
	}
	if p.asks && (r.grant == nil || !slices.Contains(r.grant.changes, p.change())) {
		return tools.Ran{}, g.needsApproval()
	}
	select {
	case g.programs.places <- struct{}{}:
		defer func() { <-g.programs.places }()
	default:
		return tools.Ran{}, envelope.Errorf(envelope.Busy, "%d programs run already. Wait until one has ended.", mostPrograms).With("retry_after_ms", retryAfterMillis)
	}
	changed := envelope.MaybeChanged
	if !p.Writes && programs.KeepsReadOnly() {
		changed = envelope.No
	} else if err := r.call.attempt.begin(contract.Intent{}); err != nil { // it is too late for a change
		return tools.Ran{}, err
	}
	out, err := g.programs.runner.Run(ctx, p.program, programs.Run{
		Args: p.args, Place: p.dir, Writes: p.Writes, Reads: p.Reads, Env: p.env,
		Time: p.Time, Memory: uint64(p.Memory), Output: int(p.Output),
	})
	if err != nil {
		return tools.Ran{}, notStarted(ctx, err)
	}
	return g.tell(p, out, changed)
}

// notStarted is the error of a run that did not begin.
func notStarted(ctx context.Context, err error) error {
	switch {
	case errors.Is(err, programs.ErrReplaced):
		return notRunNow("Its file is another one than when the server started.")
	case ctx.Err() != nil:
		return ctx.Err()
	}
	return &envelope.Error{Code: envelope.IO, Message: "The program could not be started. Nothing was changed; the server's log has the reason.", Err: err}
}

// tell is what a caller is told of a run.
func (g *Gate) tell(p plannedRun, out programs.Outcome, changed envelope.Changed) (tools.Ran, error) {
	ran := tools.Ran{Ended: out.Stopped == programs.NotStopped, ExitCode: out.ExitCode, Signal: out.Signal, Changed: changed}
	ran.Output, ran.Left = g.shown(out)
	var why string
	code := envelope.TimedOut
	switch out.Stopped {
	case programs.NotStopped:
		return ran, nil
	case programs.OutOfTime:
		why = fmt.Sprintf("The program took longer than %v and was ended.", p.Time)
	case programs.TooMuchOutput:
		code, why = envelope.TooLarge, "The program wrote far more than is kept and was ended."
	default:
		why = "The call was cancelled, and the program was ended."
	}
	ran.Signal = ""
	if changed == envelope.No {
		return ran, envelope.Errorf(code, "%s It could change nothing; output holds how it began.", why)
	}
	return ran, &envelope.Error{
		Code: envelope.OutcomeUnknown, Next: envelope.Reread,
		Message: why + " What it had changed by then stays so: look at the files before you run it again.",
	}
}

// shown is the output of a program without secrets, and how many bytes of it were not kept. What is not UTF-8 in it is
// replaced, and a line that was not kept to its end is left out, since half a secret would not be known for one.
func (g *Gate) shown(out programs.Outcome) (text string, left int) {
	kept := out.Output
	if out.Total > int64(len(kept)) {
		if end := bytes.LastIndexByte(kept, '\n'); end >= 0 {
			kept = kept[:end+1]
		}
	}
	text, left = strings.ToValidUTF8(string(kept), "\ufffd"), int(out.Total)-len(kept)
	if g.policy.Redact() {
		text = workspace.Redact(Secrets{}, text)
	}
	return text, left
}

// argumentJudge judges the arguments of one run.
type argumentJudge struct {
	files workspace.Reader
	run   *plannedRun
}

// text returns an argument as it is handed over.
func (j argumentJudge) text(ctx context.Context, a policy.Argument) (string, error) {
	switch a.Kind {
	case policy.NamesFile:
		rest, err := j.place(ctx, a.Path)
		return a.Text + rest, err
	case policy.IsWord:
		at := j.run.place.Join(a.Text)
		if _, err := j.files.Stat(ctx, at); err != nil && envelope.CodeOf(err) != envelope.PathNotFound {
			return "", err
		}
	}
	return a.Text, nil
}

// place returns the form in which the program is told of a place, links followed, that the caller may read and, where the
// program writes, change.
func (j argumentJudge) place(ctx context.Context, named contract.Path) (string, error) {
	info, err := j.files.Stat(ctx, named)
	if err != nil {
		return "", err
	}
	switch info.Kind {
	case workspace.KindFile:
		if err := j.files.JudgeContent(ctx, info.Resolved); err != nil {
			return "", err
		}
	case workspace.KindDirectory:
	default:
		return "", envelope.Errorf(envelope.NotARegularFile, "%s is neither a file nor a directory.", contract.Quote(named.String()))
	}
	rest, inside := below(j.run.place, info.Resolved)
	if !inside {
		return "", envelope.Errorf(envelope.ProgramNotAllowed, "%s lies outside the directory that %s works in.", contract.Quote(named.String()), j.run.Name)
	}
	if !j.run.Writes {
		return rest, nil
	}
	if err = j.files.Judge(workspace.Write, info.Resolved); isRequired(err) {
		j.run.asks, err = true, nil
	}
	return rest, err
}
