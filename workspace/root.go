package workspace

import (
	"errors"
	"fmt"
	"strings"

	"writ/contract"
	"writ/envelope"
)

// root is an open root.
type root struct {
	name string // its mount; "" where the only root is the top itself
	tree tree
	// ignores are the root's ignore files; nil stands for a root whose files do not count.
	ignores *ignores
}

// path returns the place rel of the root as callers name it.
func (r *root) path(rel string) (contract.Path, error) {
	switch {
	case r.name == "" && rel == "":
		return contract.Path{}, nil
	case r.name == "":
		return contract.ParsePath(rel)
	case rel == "":
		return contract.ParsePath(r.name)
	}
	return contract.ParsePath(r.name + "/" + rel)
}

// confirmDir tells whether the directory of a place is where it was resolved.
func (r *root) confirmDir(at *parent) bool { return r.tree.confirm(at.dir.handle(), at.directory) }

// checkNames returns an error unless each root has a mount name of its own, or the only root has none.
func checkNames(roots []Root) error {
	if len(roots) == 0 {
		return errors.New("open workspace: there is no root")
	}
	if len(roots) == 1 && roots[0].Name == "" {
		return nil
	}
	seen := make(map[string]bool, len(roots))
	for _, r := range roots {
		if _, err := contract.ParsePath(r.Name); err != nil || strings.Contains(r.Name, "/") {
			return fmt.Errorf("open workspace: %q can't be the name of a root: it must be one name, as in a path", r.Name)
		}
		if seen[r.Name] {
			return fmt.Errorf("open workspace: two roots have the name %q", r.Name)
		}
		seen[r.Name] = true
	}
	return nil
}

// question returns the question that a call asks about p. A path that names no root is answered by the guard, and if
// that has nothing against it, with not-found.
func (w *Workspace) question(g Guard, p contract.Path, want Access) (*question, error) {
	if len(w.roots) == 1 && w.roots[0].name == "" {
		return &question{guard: g, root: w.roots[0], spelled: p, rel: p.String(), want: want}, nil
	}
	mount, rest := p.Mount()
	for _, r := range w.roots {
		if r.name == mount {
			return &question{guard: g, root: r, spelled: p, rel: rest.String(), want: want}, nil
		}
	}
	if err := g.Allow(want, Place{Path: p}); err != nil {
		return nil, err
	}
	if p.IsTop() {
		return nil, envelope.Errorf(envelope.IsDirectory, "The top holds the roots: %s.", w.mounts())
	}
	return nil, envelope.Errorf(envelope.PathNotFound, "%s does not exist: a path begins with the name of a root, which is one of %s.",
		contract.Quote(p.String()), w.mounts())
}

func (w *Workspace) mounts() string {
	names := make([]string, len(w.roots))
	for i, r := range w.roots {
		names[i] = contract.Quote(r.name)
	}
	return strings.Join(names, ", ")
}
