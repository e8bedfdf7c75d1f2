// Package workspace is the files: every access to a file under a root goes through it, and nothing else in the program
// touches one.
//
// A place is resolved first, links and all, and inside its root only; the guard is asked about the resolved path, and
// about each directory on the way before it is looked at; then the very object that was resolved is used. There is no
// check on one object and use of another.
//
// A [Reader] can't write. A [Writer] can, and tells its [Journal] before and after every change.
package workspace

import (
	"context"

	"writ/contract"
)

// Access is what a call wants of a place.
type Access int

// The accesses, each more than the one before.
const (
	Look  Access = iota // pass through a directory, or learn that something is there
	Read                // see content or facts
	Write               // change it
)

// Place is a resolved place as a guard judges it.
type Place struct {
	Path contract.Path // resolved and free of links
	// Ignored counts the segments of the shortest prefix of Path that an ignore file names; 0: none does.
	Ignored int
}

// Guard decides about a place. Allow returns nil, or the *envelope.Error that the caller is told. It is asked before
// the place is looked at, so that a refusal never tells whether something is there, and it must be pure.
type Guard interface {
	Allow(a Access, p Place) error
}

// Journal is told of every change.
type Journal interface {
	// Begin makes the intent durable and returns the change's id. Its error stops the change: nothing was changed yet.
	Begin(ctx context.Context, in contract.Intent) (changeID string, err error)
	// End records what became of the change that Begin named.
	End(ctx context.Context, changeID string, o contract.Outcome) error
}
