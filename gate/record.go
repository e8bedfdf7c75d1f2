package gate

import (
	"context"

	"writ/contract"
	"writ/envelope"
	"writ/ledger"
)

// record puts the call on record before it is answered. That a record can't be kept does not undo what was done; it
// goes to the log, and the answer of a write says so.
func (g *Gate) record(ctx context.Context, k *call, e *envelope.Envelope) {
	if g.ledger == nil {
		return
	}
	entry := ledger.CallEntry{
		Time: k.started, RequestID: k.id, Caller: k.Caller, Client: k.Client, Tool: k.Tool, Arguments: k.args.Values(),
		Status: e.Status, Duration: g.clock().Sub(k.started), Writes: k.tool.Effect.Writes, Approval: k.approval,
	}
	for _, p := range e.Errors {
		entry.Codes = append(entry.Codes, p.Code)
	}
	if t, ok := e.Body.(traced); ok {
		entry.Paths, entry.Before, entry.After = t.Trace()
	}
	if len(entry.Paths) == 0 {
		for _, name := range g.namesOf(ctx, k) {
			if p, err := contract.ParsePath(name); err == nil {
				entry.Paths = append(entry.Paths, p)
			}
		}
	}
	if err := g.ledger.Record(context.WithoutCancel(ctx), entry); err != nil {
		g.log.Error("a call could not be put on record", "tool", k.Tool, "request", k.id, "error", err)
		if entry.Writes {
			e.Warnings = append(e.Warnings, notRecorded())
		}
	}
}

func notRecorded() envelope.Warning {
	return envelope.Warning{
		Code:    envelope.NotRecorded,
		Message: "This call could not be put on record, so get_outcome does not know its answer. What this answer says was done is done.",
	}
}

// traced is an answer that can tell which files it was about.
type traced interface {
	Trace() (paths []contract.Path, before, after contract.Version)
}
