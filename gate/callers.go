package gate

import (
	"writ/envelope"
	"writ/policy"
)

// policyOf returns the policy as it holds for a caller. Of one that it does not name it is the whole, which is of no use
// to him: [Gate.knows] refuses his calls.
func (g *Gate) policyOf(caller string) *policy.Policy {
	if p, ok := g.policy.For(caller); ok && caller != CallerLocal {
		return p
	}
	return g.policy
}

// knows returns the refusal of a call by nobody whom the policy names. Transports ask who comes; this is for the day when
// one of them does not.
func (g *Gate) knows(k *call) error {
	if _, ok := g.policy.For(k.Caller); ok || k.Caller == CallerLocal {
		return nil
	}
	return envelope.Errorf(envelope.CallerNotAllowed, "The policy names the callers that may come in, and you are none of them. A person can add you to them.")
}

// Offers tells whether there is a tool of that name for the caller.
func (g *Gate) Offers(caller, tool string) bool {
	t := g.tools[tool]
	return t != nil && Offers(g.policyOf(caller), t)
}

func (g *Gate) namesFor(p *policy.Policy) []string {
	names := []string{}
	for _, name := range g.names {
		if Offers(p, g.tools[name]) {
			names = append(names, name)
		}
	}
	return names
}
