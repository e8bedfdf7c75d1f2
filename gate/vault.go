package gate

import (
	"context"

	"writ/contract"
	"writ/notes"
	"writ/workspace"
)

// noteVault is the notes that the policy lets be read, followed as they change: what an index is made of.
type noteVault struct {
	noteSource
	follower *workspace.Follower
}

// Notes calls visit for each note.
func (v noteVault) Notes(ctx context.Context, visit func(notes.Candidate) error) (left workspace.Skips, err error) {
	err = v.each(ctx, visit, func(ctx context.Context, see func(*workspace.Visited)) (err error) {
		left, err = v.follower.Walk(ctx, see)
		return err
	})
	return left, err
}

// Some calls visit for those of files that are notes.
func (v noteVault) Some(ctx context.Context, files []contract.Path, visit func(notes.Candidate) error) error {
	return v.each(ctx, visit, func(ctx context.Context, see func(*workspace.Visited)) error {
		return v.files.Visit(ctx, files, see)
	})
}

// Changes tells what may have changed since.
func (v noteVault) Changes() (files []contract.Path, all bool) { return v.follower.Changes() }

// Close ends the following.
func (v noteVault) Close() error { return v.follower.Close() }

// Index is the notes index; nil where notes are searched without one.
func (g *Gate) Index() *notes.Index { return g.index }

// Close ends what goes on behind the calls.
func (g *Gate) Close() error {
	if g.index == nil {
		return nil
	}
	return g.index.Close()
}
