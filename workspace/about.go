package workspace

import (
	"path/filepath"
	"strings"

	"writ/contract"
	"writ/envelope"
)

// Judge asks the guard about a place that was resolved already: nil, or the error that the access would meet. Nothing
// but ignore files is looked at.
func (r Reader) Judge(a Access, resolved contract.Path) error {
	q, err := r.w.question(r.guard, resolved, a)
	if err != nil {
		return err
	}
	return q.ask(a, q.rel, asFile)
}

// Rights is [Reader.Judge] for reading and for writing.
func (r Reader) Rights(resolved contract.Path) (read, write error) {
	q, err := r.w.question(r.guard, resolved, Read)
	if err != nil {
		return err, err
	}
	return q.ask(Read, q.rel, asFile), q.ask(Write, q.rel, asFile)
}

// Ignored counts the segments of the shortest prefix of p that an ignore file names; 0: none does.
func (w *Workspace) Ignored(p contract.Path) int {
	var seen seer
	if _, err := (Reader{w: w, guard: &seen}).w.question(&seen, p, Read); err != nil {
		return 0
	}
	_ = Reader{w: w, guard: &seen}.Judge(Read, p) // it denies nothing: only what it is told is of interest
	return seen.ignored
}

// seer is a guard that allows all and remembers what it was told.
type seer struct{ ignored int }

func (s *seer) Allow(_ Access, p Place) error {
	s.ignored = p.Ignored
	return nil
}

// Mounts lists the names of the roots; "." for the only root, whose paths begin with no name.
func (r Reader) Mounts() []string { return r.w.Mounts() }

// Mounts is [Reader.Mounts].
func (w *Workspace) Mounts() []string {
	names := make([]string, len(w.roots))
	for i, r := range w.roots {
		names[i] = r.name
		if r.name == "" {
			names[i] = "."
		}
	}
	return names
}

// Relative returns the form in which this workspace takes a place that is named by an absolute path of this machine. It
// does not look at the place, so it tells nothing of what is there.
func (w *Workspace) Relative(absolute string) (contract.Path, bool) {
	clean := filepath.Clean(absolute)
	for _, r := range w.options.Roots {
		for _, directory := range spellingsOf(r.Dir) {
			rest, inside := strings.CutPrefix(clean, strings.TrimSuffix(directory, string(filepath.Separator))+string(filepath.Separator))
			if !inside {
				continue
			}
			name := filepath.ToSlash(rest)
			if r.Name != "" {
				name = r.Name + "/" + name
			}
			if p, err := contract.ParsePath(name); err == nil {
				return p, true
			}
		}
	}
	return contract.Path{}, false
}

// Absolute returns where on this machine a place is, links on the way to its root followed; false where its root is none.
// What it is for must see to it itself that the place is what it was taken for.
func (w *Workspace) Absolute(p contract.Path) (string, bool) {
	for _, r := range w.options.Roots {
		rest := p.String()
		if r.Name != "" {
			mount, below := p.Mount()
			if mount != r.Name {
				continue
			}
			rest = below.String()
		}
		spellings := spellingsOf(r.Dir)
		return filepath.Join(spellings[len(spellings)-1], filepath.FromSlash(rest)), true
	}
	return "", false
}

// spellingsOf returns the absolute paths by which a root's directory is known: as it was given, and free of links.
func spellingsOf(directory string) []string {
	var list []string
	if full, err := filepath.Abs(directory); err == nil {
		list = append(list, full)
	}
	if real, err := filepath.EvalSymlinks(directory); err == nil {
		if full, err := filepath.Abs(real); err == nil {
			list = append(list, full)
		}
	}
	return list
}

// NewConflict is the conflict of a file whose bytes are not those that the caller observed.
func NewConflict(f *File) *Conflict {
	return &Conflict{
		Cause: envelope.Errorf(envelope.VersionChanged, "%s was changed since it was read. Read it again and redo the edit.",
			contract.Quote(f.Path.String())),
		Current: f.Version, CurrentData: f.Data, Place: f.Resolved,
	}
}

// Health tells for each root, in the order of Mounts, whether it is still where it was: nil, or what is wrong.
func (w *Workspace) Health() []error {
	found := make([]error, len(w.roots))
	for i, r := range w.roots {
		found[i] = r.tree.health()
	}
	return found
}
