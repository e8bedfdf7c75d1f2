// Package gate is the one path that every call walks, from whatever transport it comes.
//
// A call is checked against the tool's contract, against limits and the memory of failed calls, and against the policy;
// then the tool runs, its answer is sealed, and what happened is put on record. [Gate.Call] is that path from top to
// bottom. It never fails: the answer is an envelope on every path.
package gate

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"log/slog"
	"runtime/debug"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"writ/contract"
	"writ/envelope"
	"writ/ledger"
	"writ/notes"
	"writ/policy"
	"writ/tools"
	"writ/workspace"
)

// Callers are named by the policy, or by the way that they come in where nobody is asked who they are.
const (
	CallerLocal = "local" // over stdio and from the command line
	CallerHTTP  = "http"  // where the policy names no callers
)

// Call is one call as a transport received it.
type Call struct {
	Caller    string          // who calls
	Client    string          // what the client calls itself; "" where it does not say
	Tool      string          // the name of a tool that [Gate.Has]
	Arguments json.RawMessage // as written; nil where absent
	// Progress tells the caller how far a long call is; total 0 means that nobody knows. It may be nil.
	Progress func(done, total float64, message string)
	Asker    Asker  // nil: nobody can be asked by way of the client
	Reply    *Reply // what a person said to a question of an earlier call; nil: nothing
}

// Options are what a gate is made of.
type Options struct {
	Policy *policy.Policy
	Files  *workspace.Workspace
	Ledger *ledger.Ledger // nil: nothing is recorded, and no tool that writes is offered
	Tools  []*tools.Tool
	Clock  func() time.Time // nil: time.Now
	// Index is the file of the notes index, outside every root; "": notes are searched without one.
	Index string
	Log   *slog.Logger // told of faults of ours; nil: nobody is
	// KeepAlways holds every answer against its contract. Without it, those of reads that were answered are taken on
	// trust, since their shape is that of a Go type.
	KeepAlways bool
	Checks     *ProgramChecks // nil: there are none
	Programs   *Programs      // nil: there are none
	// Sandbox names what the kernel keeps this process to; nil: nothing is known of it.
	Sandbox func() string
}

// Gate carries calls through. It may be used from many goroutines.
type Gate struct {
	policy    *policy.Policy
	files     *workspace.Workspace
	ledger    *ledger.Ledger
	search    notes.Searcher
	index     *notes.Index // nil: there is none
	indexFile string
	own       ownIndexes
	wrote     atomic.Bool // some call may have changed files
	tools     map[string]*tools.Tool
	inner     map[string]*tools.Tool
	names     []string // of the tools, sorted
	throttle  *throttle
	flights   *flights
	workers   *workers
	runTool   func(*tools.Tool, context.Context, tools.Env, contract.Args) (any, error) // tests make it block
	breaker   *breaker
	unsettled *unsettled
	recovery  recovery
	clock     func() time.Time
	log       *slog.Logger
	always    bool
	sandbox   func() string
	checks    *ProgramChecks
	programs  *Programs
}

// New returns a gate of those tools that the policy can ever allow.
func New(o Options) *Gate {
	g := &Gate{
		policy: o.Policy, files: o.Files, ledger: o.Ledger, tools: map[string]*tools.Tool{}, inner: map[string]*tools.Tool{},
		clock: o.Clock, log: o.Log, always: o.KeepAlways, sandbox: o.Sandbox, checks: o.Checks, programs: o.Programs,
	}
	g.runTool = (*tools.Tool).Run
	if g.clock == nil {
		g.clock = time.Now
	}
	if g.sandbox == nil {
		g.sandbox = func() string { return "" }
	}
	if g.log == nil {
		g.log = slog.New(slog.DiscardHandler)
	}
	g.recovery.done = make(chan struct{})
	g.throttle = newThrottle(g.clock)
	g.flights = newFlights()
	g.workers = newWorkers()
	g.breaker = newBreaker(g.clock)
	g.searchBy(o.Index)
	for _, t := range o.Tools {
		if o.Ledger == nil && touches(t) || o.Programs == nil && t.Effect.Runs || !Offers(o.Policy, t) {
			continue
		}
		g.tools[t.Name] = t
		g.names = append(g.names, t.Name)
	}
	for _, t := range tools.Inner() {
		g.inner[t.Name] = t
	}
	g.unsettled = newUnsettled(g.Has("get_outcome"))
	return g
}

// Offers tells whether a tool is offered under a policy: one that writes, or makes a write ready, only where something
// may be written, and one that runs programs only where some are declared.
func Offers(p *policy.Policy, t *tools.Tool) bool {
	if t.Effect.Runs {
		return len(p.Programs()) > 0
	}
	return !touches(t) || p.CanEverWrite()
}

func touches(t *tools.Tool) bool { return t.Effect.Writes || t.Effect.Prepares }

// searchBy chooses how notes are searched.
func (g *Gate) searchBy(index string) {
	if index == "" {
		g.search = notes.Scanner{Visibility: string(g.policy.Visibility()), Limit: g.policy.Limits().PageNotes}
		return
	}
	g.indexFile, g.index = index, g.newIndex(g.policy, index)
	g.search = g.index
}

// Has tells whether there is a tool of that name for callers.
func (g *Gate) Has(tool string) bool { return g.tools[tool] != nil }

// Contracts lists what the tools promise, sorted by name.
func (g *Gate) Contracts() []*contract.Contract {
	list := make([]*contract.Contract, len(g.names))
	for i, name := range g.names {
		list[i] = g.tools[name].Contract
	}
	return list
}

// call is a Call on its way.
type call struct {
	Call
	id      string
	tool    *tools.Tool
	policy  *policy.Policy // as it holds for the caller
	started time.Time
	args    contract.Args
	print   string   // see fingerprint
	places  []string // see unsettled; nil until they matter
	attempt *attempt // what runs it

	approval *ledger.ApprovalNote // nil: no person was to be asked
}

// Call carries one call through. The tool must be one that the gate has.
func (g *Gate) Call(ctx context.Context, c Call) envelope.Envelope {
	return g.carry(ctx, c, g.tools[c.Tool])
}

// Serve is Call for what is no tool: one of [tools.Inner].
func (g *Gate) Serve(ctx context.Context, c Call) envelope.Envelope {
	return g.carry(ctx, c, g.inner[c.Tool])
}

// StateOf names the state of what is at a path, so that a change of it can be noticed. Places that the caller may not
// read, and those where nothing is, are all in the same state.
func (g *Gate) StateOf(ctx context.Context, caller string, path contract.Path) string {
	p := g.policyOf(caller)
	page, err := g.files.Reader(guard{p}).Lines(ctx, path, workspace.LineRange{Limit: 1, MaxBytes: 1})
	if err == nil {
		return page.Version.String()
	}
	if envelope.CodeOf(err) != envelope.NotText {
		return ""
	}
	return g.stampOf(ctx, p, path.String())
}

func (g *Gate) carry(ctx context.Context, c Call, t *tools.Tool) envelope.Envelope {
	now := g.clock()
	k := &call{Call: c, id: newRequestID(now), tool: t, policy: g.policyOf(c.Caller), started: now}
	g.awaitRecovery(ctx)
	out, err := g.walk(ctx, k)
	if out == nil && k.tool.Effect.Writes {
		out = k.tool.Blank() // a write says on every path which file it changed: none
	}
	e := envelope.Seal(envelope.Meta{RequestID: k.id, Writes: k.tool.Effect.Writes, Normalizations: k.args.Normalizations}, out, err)
	if err != nil {
		g.logFault(k, err)
	}
	g.redact(&e)
	e = g.keep(k, e)
	g.record(ctx, k, &e)
	return e
}

// walk takes the call through the doors, until one refuses it or the tool has answered.
func (g *Gate) walk(ctx context.Context, k *call) (out any, err error) {
	defer g.catch(ctx, k, &out, &err)
	if k.args, err = k.tool.Check(k.Arguments); err != nil {
		return nil, g.explainPath(err)
	}
	if err := g.knows(k); err != nil {
		return nil, err
	}
	if err := g.throttle.admit(k.Caller, k.policy.Limits()); err != nil {
		return nil, err
	}
	if err := g.flights.enter(k.Caller, k.policy.Limits().CallsInFlight); err != nil {
		return nil, err
	}
	return g.inTime(ctx, k)
}

// attempt is the part of the walk that touches files, and may never come back.
func (g *Gate) attempt(ctx context.Context, k *call) (out any, err error) {
	defer g.catch(ctx, k, &out, &err)
	if err := g.breaker.admit(k, g.stamp(ctx, k)); err != nil {
		return nil, err
	}
	if g.unsettled.watches(k) {
		k.places = g.placesOf(ctx, k)
	}
	if err := g.unsettled.admit(k); err != nil {
		return nil, err
	}
	out, err = g.run(ctx, k)
	ctx, cancel := k.attempt.within(ctx)
	defer cancel()
	err = g.explainPath(g.alreadyApplied(ctx, k, err))
	recode(out, err)
	g.breaker.note(k, err, g.stamp(ctx, k))
	g.noteUnsettled(ctx, k, err)
	return out, err
}

// catch is deferred where a fault of ours shall end the call and nothing else.
func (g *Gate) catch(ctx context.Context, k *call, out *any, err *error) {
	if p := recover(); p != nil {
		g.log.Error("a call panicked", "tool", k.Tool, "request", k.id, "panic", p, "stack", string(debug.Stack()))
		*out, *err = nil, g.panicked(k)
		g.noteUnsettled(ctx, k, *err)
	}
}

// panicked is what a caller is told of a fault of ours. Whether a write had begun is not known here.
func (g *Gate) panicked(k *call) error {
	if k.tool.Effect.Writes {
		return envelope.Errorf(envelope.OutcomeUnknown, "The server failed in the midst of this write. Ask get_outcome what became of request %s before you write here again.", k.id)
	}
	return &envelope.Error{Code: envelope.Internal, Message: "The server failed in a way that it should not have. Nothing was changed; the server's log has the reason."}
}

// env is what the tool may use for this call.
func (g *Gate) env(k *call) tools.Env {
	guard := guard{k.policy}
	files := g.files.Writer(guard, g.journalOf(k), g.origin(k))
	found := noteFinder{g.searchFor(k.policy), noteSource{k.policy, files.Reader, k.Progress}}
	mayTell := guard.teller(files.Reader)
	return tools.Env{
		Files: files, Limits: limits(k.policy.Limits()), Scope: func() tools.Scope { return g.scope(k.Caller) },
		Notes: found, Log: changeLog{g.ledger, mayTell},
		Artifacts: artifacts{g.ledger, files.Reader, found, mayTell, k.Caller, g.policy.Redact(), g.Has("read_artifact"), g.log},
		Checks:    checker{files.Reader, g.checks, time.Now().Add(allChecksTime)},
		Programs:  runs{g, k, nil},
	}
}

// origin says of a change which call it belongs to.
func (g *Gate) origin(k *call) contract.Origin {
	o := contract.Origin{RequestID: k.id, Tool: k.Tool, Caller: k.Caller}
	if k.tool.Effect.Writes {
		o.Fingerprint = k.fingerprint()
	}
	return o
}

// journal is the ledger as the workspace knows it; a plain nil where there is none.
func (g *Gate) journal() workspace.Journal {
	if g.ledger == nil {
		return nil
	}
	return journal{g.ledger, g}
}

// keep returns e, or in the place of an answer that breaks its contract one that says so.
func (g *Gate) keep(k *call, e envelope.Envelope) envelope.Envelope {
	if !g.always && e.Status == envelope.OK {
		return e
	}
	err := k.tool.Keep(e.AppendJSON(nil))
	if err == nil {
		return e
	}
	g.log.Error("an answer broke its contract", "tool", k.Tool, "request", k.id, "error", err)
	broken := &envelope.Error{
		Code: envelope.Internal, Stage: envelope.StageEnvelope, Changed: e.Changed,
		Message: "The answer broke the tool's contract, which is a fault of the server. The field changed tells whether the disk is different.",
	}
	if e.Changed == envelope.MaybeChanged {
		broken.Code = envelope.OutcomeUnknown
	}
	return envelope.Seal(envelope.Meta{RequestID: e.RequestID, Writes: k.tool.Effect.Writes}, nil, broken)
}

// logFault puts into the log what an operator should know of, with what the caller is not told.
func (g *Gate) logFault(k *call, err error) {
	if items, ok := errors.AsType[*envelope.Items](err); ok {
		for _, f := range items.Failed {
			g.logFault(k, f.Err)
		}
		return
	}
	cause := envelope.Cause(err)
	switch cause.Code {
	case envelope.Internal, envelope.IO, envelope.DiskFull, envelope.OutcomeUnknown:
		g.log.Warn("a call failed", "tool", k.Tool, "request", k.id, "code", string(cause.Code), "error", err)
	}
}

// newRequestID returns an id that no call had before, in this process or another. Ids sort by the time of their calls,
// which keeps the record's index small.
func newRequestID(now time.Time) string {
	millis := strconv.FormatInt(now.UnixMilli(), 32)
	return "req_" + millis + strings.ToLower(rand.Text()[:12])
}

// limits are the policy's, as tools know them.
func limits(l policy.Limits) tools.Limits {
	return tools.Limits{
		ResultBytes: l.ResultBytes, FileBytes: l.FileBytes, ArtifactBytes: int(l.ArtifactBytes / 8),
		Lines: l.PageLines, Entries: l.PageEntries, Matches: l.PageMatches, Notes: l.PageNotes,
	}
}
