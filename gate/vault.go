package gate

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"sync"

	"writ/contract"
	"writ/notes"
	"writ/policy"
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

// IndexName is the name of the file in which the index of the notes is kept that a policy shows.
func IndexName(p *policy.Policy) string {
	return fmt.Sprintf("notes-v%d-%s.db", notes.IndexVersion, p.Fingerprint())
}

func (g *Gate) newIndex(p *policy.Policy, file string) *notes.Index {
	files := g.files.Reader(guard{p})
	vault := noteVault{noteSource{p, files, nil}, files.Follow()}
	return notes.NewIndex(notes.IndexOptions{
		File: file, Vault: vault, Visibility: string(p.Visibility()), Limit: p.Limits().PageNotes, Wrote: g.wrote.Load, Log: g.log,
	})
}

// ownIndexes are the indexes of callers who may read less than the policy shows, by the fingerprints of their policies.
type ownIndexes struct {
	sync.Mutex
	of map[string]*notes.Index
}

// searchFor returns how the notes are searched that the policy of a caller shows. What an index tells, such as how many
// notes match, it tells without looking at them again; so those who may read different notes have different ones.
func (g *Gate) searchFor(p *policy.Policy) notes.Searcher {
	name := p.Fingerprint()
	if g.index == nil || name == g.policy.Fingerprint() {
		return g.search
	}
	g.own.Lock()
	defer g.own.Unlock()
	if g.own.of == nil {
		g.own.of = map[string]*notes.Index{}
	}
	if g.own.of[name] == nil {
		g.own.of[name] = g.newIndex(p, filepath.Join(filepath.Dir(g.indexFile), IndexName(p)))
	}
	return g.own.of[name]
}

// Close ends what goes on behind the calls.
func (g *Gate) Close() error {
	if g.index == nil {
		return nil
	}
	err := g.index.Close()
	g.own.Lock()
	defer g.own.Unlock()
	for _, index := range g.own.of {
		err = errors.Join(err, index.Close())
	}
	return err
}
