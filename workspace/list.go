package workspace

import (
	"context"
	"io/fs"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"writ/contract"
	"writ/envelope"
)

// Entry is one name in a directory.
type Entry struct {
	Name     string
	Kind     Kind
	Size     int64 // of a file, in bytes; else 0
	Modified time.Time
	// LinkTarget is the text of a link that stays inside its root and points to where the caller may look, or to
	// nothing.
	LinkTarget string
}

// Listing is what a caller may see of a directory.
type Listing struct {
	Entries []Entry       // those in the window, sorted by the bytes of their names
	Names   []string      // all that the caller may see, sorted so
	Total   int           // how many those are
	Path    contract.Path // the directory, links followed
	Skipped Skips
}

// listAttempts is how often a directory is read that is moved while it is read.
const listAttempts = 8

// List returns the entries of the directory p that the guard lets be seen: of files those that it lets be read, of
// directories those that may be looked into. Only entries in the window are looked at closer. With several roots the top
// lists them.
func (r Reader) List(ctx context.Context, p contract.Path, window Window) (Listing, error) {
	if p.IsTop() && r.hasMounts() {
		return r.listMounts(window), nil
	}
	at, err := r.look(ctx, p, Look)
	if err != nil {
		return Listing{}, err
	}
	if !at.mode.IsDir() {
		return Listing{}, notADirectory(contract.Quote(p.String()))
	}
	for range listAttempts {
		l, err := r.listAt(ctx, at.path, window)
		if err == nil || err != errMoved && envelope.CodeOf(err) != envelope.ChangedDuringCall {
			return l, timedOutOr(err)
		}
	}
	return Listing{}, changedDuringCall(contract.Quote(p.String()))
}

func (r Reader) listMounts(window Window) Listing {
	var all []Entry
	for _, d := range r.mounts() {
		e := Entry{Name: d.root.name, Kind: KindDirectory}
		if f, err := lstatBelow(d.root.tree, "."); err == nil {
			e.Modified = f.modified()
		}
		all = append(all, e)
	}
	slices.SortFunc(all, func(a, b Entry) int { return strings.Compare(a.Name, b.Name) })
	from, to := window.cut(len(all))
	l := Listing{Entries: all[from:to], Total: len(all)}
	for _, e := range all {
		l.Names = append(l.Names, e.Name)
	}
	return l
}

// listAt lists the directory p, whose path is resolved and which the guard lets be looked into.
func (r Reader) listAt(ctx context.Context, p contract.Path, window Window) (Listing, error) {
	v, entries, err := r.scan(ctx, p)
	if err != nil {
		return Listing{}, err
	}
	defer v.scan.close()
	entries = slices.DeleteFunc(entries, func(e dirEntry) bool { return ctx.Err() != nil || !v.maySee(e) })
	if err := ctx.Err(); err != nil {
		return Listing{}, err
	}
	slices.SortFunc(entries, func(a, b dirEntry) int { return strings.Compare(a.name, b.name) })
	from, to := window.cut(len(entries))
	l := Listing{Path: p, Total: len(entries), Skipped: v.skips, Names: make([]string, len(entries))}
	for i, e := range entries {
		l.Names[i] = e.name
	}
	l.Entries = r.entries(ctx, v, entries[from:to])
	if !v.scan.isHere() {
		return Listing{}, errMoved
	}
	return l, ctx.Err()
}

// scan reads the directory p, whose path is resolved and which the guard lets be looked into. The caller closes the
// visit's scanner.
func (r Reader) scan(ctx context.Context, p contract.Path) (*dirVisit, []dirEntry, error) {
	q, err := r.w.question(r.guard, p, Look)
	if err != nil {
		return nil, nil, err
	}
	d, err := q.root.directoryAt(q.rel)
	if err != nil {
		return nil, nil, err
	}
	s := newScanner(q.root.tree)
	entries, err := s.enter(q.rel)
	if err == nil && !s.isHere() {
		err = errMoved
	}
	if err != nil {
		s.close()
		return nil, nil, fault(err, q.quoted())
	}
	v := &dirVisit{w: &walking{ctx: ctx, guard: r.guard}, scan: s, dir: &d, seen: true, here: true}
	v.prepare(entries)
	return v, entries, nil
}

// maySee tells whether the caller may learn of the entry.
func (v *dirVisit) maySee(e dirEntry) bool {
	switch e.kind {
	case fs.ModeDir:
		return v.speakable(e.name, asDirectory) && v.allows(Look, e.name, asDirectory)
	case fs.ModeSymlink:
		return v.speakable(e.name, asFile) && (v.allows(Look, e.name, asFile) || v.allows(Look, e.name, asDirectory))
	default:
		return v.mayRead(e.name)
	}
}

// entries looks closer at the entries of a page. One that is gone by now is left out.
func (r Reader) entries(ctx context.Context, v *dirVisit, page []dirEntry) []Entry {
	all := make([]Entry, len(page))
	var wg sync.WaitGroup
	for _, part := range chunks(len(page), 128) {
		wg.Go(func() {
			for i := part[0]; i < part[1] && ctx.Err() == nil; i++ {
				all[i] = r.entry(ctx, v, page[i])
			}
		})
	}
	wg.Wait()
	return slices.DeleteFunc(all, func(e Entry) bool { return e.Name == "" })
}

func (r Reader) entry(ctx context.Context, v *dirVisit, listed dirEntry) Entry {
	f, err := v.scan.stat(listed.name)
	if err != nil || f.mode.Type() != listed.kind && listed.kind != fs.ModeIrregular {
		return Entry{}
	}
	e := Entry{Name: listed.name, Kind: kindOf(f.mode), Modified: f.modified()}
	switch e.Kind {
	case KindFile:
		e.Size = f.size
	case KindLink:
		e.LinkTarget = r.shownTarget(ctx, v, listed.name)
	}
	return e
}

// shownTarget returns the text of the link name, or "" where the caller is not to know where it leads.
func (r Reader) shownTarget(ctx context.Context, v *dirVisit, name string) string {
	text, err := v.scan.readlink(name)
	if err != nil || !utf8.ValidString(text) || leaves(text) {
		return ""
	}
	at, err := r.look(ctx, v.dir.path.Join(name), Look)
	if envelope.CodeOf(err) == envelope.PathNotFound {
		return text
	}
	if err != nil || at.link != text {
		return ""
	}
	if at.mode.IsRegular() {
		if _, err := r.look(ctx, v.dir.path.Join(name), Read); err != nil {
			return ""
		}
	}
	return text
}
