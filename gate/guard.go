package gate

import (
	"context"
	"errors"
	"strings"

	"writ/contract"
	"writ/envelope"
	"writ/notes"
	"writ/policy"
	"writ/workspace"
)

// guard is the policy as the workspace asks it.
type guard struct{ policy *policy.Policy }

var accesses = map[workspace.Access]policy.Access{
	workspace.Look: policy.Look, workspace.Read: policy.Read, workspace.Write: policy.Write,
}

// Allow returns nil, or what the caller is told of the refusal.
func (g guard) Allow(a workspace.Access, p workspace.Place) error {
	d := g.policy.Decide(policy.Request{Path: p.Path, Access: accesses[a], Ignored: p.Ignored})
	if d.Effect == policy.Allow {
		return nil
	}
	return g.policy.Refusal(d)
}

// explainPath adds to the refusal of an absolute path that lies in a root the form that is accepted. It looks at
// nothing on the disk.
func (g *Gate) explainPath(err error) error {
	if items, ok := errors.AsType[*envelope.Items](err); ok {
		for i, f := range items.Failed {
			items.Failed[i].Err = g.explainPath(f.Err)
		}
		return err
	}
	cause, ok := errors.AsType[*envelope.Error](err)
	if !ok || cause.Code != envelope.PathNotAllowed {
		return err
	}
	name, _ := cause.Details["path"].(string)
	if name == "" || !strings.HasPrefix(name, "/") {
		return err
	}
	relative, inside := g.files.Relative(name)
	if !inside {
		return err
	}
	told := cause.With("relative", relative.String())
	told.Message += " Here it is " + contract.Quote(relative.String()) + "."
	return told
}

// AllowsPlain spares a walk from asking about each file of a directory where the answer is the same for all.
func (g guard) AllowsPlain(a workspace.Access, dir contract.Path) bool {
	return a == workspace.Read && g.policy.ReadsPlain(dir)
}

// Suspects tells whether a file that begins so may be a private note.
func (g guard) Suspects(head []byte) bool {
	return g.policy.Visibility() == policy.Public || notes.MayBeMarked(head)
}

// AllowContent refuses the content of a note that its marks keep from callers.
func (g guard) AllowContent(p contract.Path, head []byte) error {
	if !g.policy.NotesInclude(p) || !notes.Hides(string(g.policy.Visibility()), head) {
		return nil
	}
	return envelope.Errorf(envelope.PrivateNote,
		"%s is a private note: tools neither read nor change it. Ask the user for what you need of it.", contract.Quote(p.String()))
}

// teller returns one that goes by what is at the place now.
func (g guard) teller(files workspace.Reader) teller {
	return func(ctx context.Context, p contract.Path) bool {
		if files.Judge(workspace.Read, p) != nil {
			return false
		}
		return !g.policy.NotesInclude(p) || files.JudgeContent(ctx, p) == nil
	}
}
