//go:build !linux

package workspace

func newScanner(t tree) scanner { return &portableScanner{tree: t} }

// lstatBelow returns the facts of the entry at rel, whose directories are free of links.
func lstatBelow(t tree, rel string) (entryFacts, error) { return lstatPortably(t, rel) }
