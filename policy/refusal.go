package policy

import (
	"fmt"

	"writ/contract"
	"writ/envelope"
)

// Refusal returns what the caller is told of a decision to ask or to deny, nil for one to allow.
//
// It names the zones and never the place: a resolved path would tell where a link leads. The text of a code is always
// the same, so hidden, ignored and unlisted places can't be told apart, nor those that exist from those that don't.
func (p *Policy) Refusal(d Decision) *envelope.Error {
	e, ok := p.refusals[d.Code]
	if !ok || d.Effect == Allow {
		return nil
	}
	return &e
}

func (p *Policy) newRefusals() map[envelope.Code]envelope.Error {
	reads, writes := globs(p.zones.Read), p.writesOpen()
	messages := map[envelope.Code]string{
		envelope.OutsideScope: "This path is in no zone of the policy: reads are open " + reads + ", " + writes +
			", hidden and ignored names only where a glob names them. " +
			"A person can open more with --read or --write or in the policy file.",
		envelope.OutsideWriteScope: "This path may be read but not changed: " + writes + ". " +
			"A person can open more with --write or in the policy file.",
		envelope.ProtectedName: "This path is protected, since other programs do what such a file says, and a change of it needs a person's approval: " + writes + ". " +
			"A person can let it be asked for with --ask, or spell the name out under --write or in the policy file.",
		envelope.ApprovalRequired: "A change of this path needs a person's approval: " + writes + ". " +
			"Send the call again once a person has approved it.",
	}
	refusals := make(map[envelope.Code]envelope.Error, len(messages))
	for code, message := range messages {
		refusals[code] = envelope.Error{Code: code, Message: message, Details: map[string]any{
			"read": p.zones.Read, "write": p.zones.Write, "ask": p.zones.Ask,
		}}
	}
	return refusals
}

// writesOpen says where writes are open, as a part of a sentence.
func (p *Policy) writesOpen() string {
	write, ask := globs(p.zones.Write), globs(p.zones.Ask)
	switch {
	case len(p.zones.Ask) == 0:
		return "writes are open " + write
	case len(p.zones.Write) == 0:
		return "writes are open " + ask + " with a person's approval"
	default:
		return "writes are open " + write + " and, with a person's approval, " + ask
	}
}

// globs says where the patterns are open, as a part of a sentence.
func globs(patterns []string) string {
	const most = 10
	if len(patterns) == 0 {
		return "nowhere"
	}
	if more := len(patterns) - most; more > 0 {
		return "in " + list(append(quote(patterns[:most]), fmt.Sprintf("%d more", more)))
	}
	return "in " + list(quote(patterns))
}

func quote(names []string) []string {
	quoted := make([]string, len(names))
	for i, name := range names {
		quoted[i] = contract.Quote(name)
	}
	return quoted
}
