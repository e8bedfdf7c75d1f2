package main

import (
	"context"
	"encoding/json"

	"writ/contract"
	"writ/envelope"
	"writ/gate"
	"writ/server"
)

// serverGate is the gate as the server knows it.
type serverGate struct{ gate *gate.Gate }

func (g serverGate) Call(ctx context.Context, c server.Call) envelope.Envelope {
	return g.gate.Call(ctx, gate.Call(c))
}

func (g serverGate) Has(tool string) bool { return g.gate.Has(tool) }

func (g serverGate) Definitions() []server.Definition {
	var list []server.Definition
	for _, c := range g.gate.Contracts() {
		list = append(list, definitionOf(c))
	}
	return list
}

func definitionOf(c *contract.Contract) server.Definition {
	return server.Definition{
		Name: c.Name, Title: c.Title, Description: c.Doc,
		InputSchema: json.RawMessage(c.InputSchema()), OutputSchema: json.RawMessage(c.OutputSchema()),
		ReadOnly: !c.Effect.Writes, Destructive: c.Effect.Destroys, Idempotent: c.Effect.Idempotent || !c.Effect.Writes,
	}
}
