package gate

import (
	"context"

	"writ/envelope"
)

// Undo undoes a change for a person who asked for it by a program of ours: way names that one, such as "writ undo". In an
// ask zone that is the approval too. It is a call like any other, for what the person wants can fail as well; the gate must
// have revert_change.
func (g *Gate) Undo(ctx context.Context, way, changeID string) envelope.Envelope {
	arguments := append(envelope.AppendString([]byte(`{"change_id":`), changeID), '}')
	return g.Call(ctx, Call{Caller: CallerLocal, Client: way, Tool: toolUndo, Arguments: arguments, Asker: ownWord{}})
}

// CanUndo tells whether [Gate.Undo] can be called: not where the policy lets nothing be written.
func (g *Gate) CanUndo() bool { return g.Has(toolUndo) }

// toolUndo is the tool that undoes a change.
const toolUndo = "revert_change"

// ownWord answers for a person who asks for something himself: that is the yes.
type ownWord struct{}

// Ask returns the yes.
func (ownWord) Ask(context.Context, Question) (Answer, error) { return Approved, nil }
