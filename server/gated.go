package server

import (
	"context"

	"writ/contract"
	"writ/envelope"
	"writ/gate"
)

// OfGate makes a [Gate] of the program's gate.
func OfGate(g *gate.Gate) Gate { return gated{g} }

type gated struct{ *gate.Gate }

// Call carries one call through.
func (g gated) Call(ctx context.Context, c Call) envelope.Envelope {
	return g.Gate.Call(ctx, gate.Call(c))
}

// Has tells whether there is a tool of that name for the caller.
func (g gated) Has(caller, tool string) bool { return g.Offers(caller, tool) }

// Serve carries out what is no tool.
func (g gated) Serve(ctx context.Context, c Call) envelope.Envelope {
	return g.Gate.Serve(ctx, gate.Call(c))
}

// Definitions lists the tools as their contracts describe them.
func (g gated) Definitions() []Definition {
	contracts := g.Contracts()
	definitions := make([]Definition, len(contracts))
	for i, c := range contracts {
		definitions[i] = DefinitionOf(c)
	}
	return definitions
}

// DefinitionOf is the definition of a tool with that contract. A read can always be repeated.
func DefinitionOf(c *contract.Contract) Definition {
	return Definition{
		Name: c.Name, Title: c.Title, Description: c.Doc,
		InputSchema:  c.InputSchema(),
		OutputSchema: c.OutputSchema(),
		ReadOnly:     !c.Effect.Writes,
		Destructive:  c.Effect.Destroys,
		Idempotent:   c.Effect.Idempotent || !c.Effect.Writes,
	}
}
