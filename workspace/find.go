package workspace

import (
	"context"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/text/unicode/norm"

	"writ/contract"
)

// Window is the part of a sorted answer that a caller wants: Limit items from Offset on, which counts from 0. A Limit of
// 0 is all of them.
type Window struct {
	Offset, Limit int
}

// cut returns what the window shows of n items, as bounds of a slice.
func (w Window) cut(n int) (from, to int) {
	from = min(max(w.Offset, 0), n)
	if w.Limit <= 0 || w.Limit > n-from {
		return from, n
	}
	return from, from + w.Limit
}

// Found is a file that [Reader.Find] found.
type Found struct {
	Path     contract.Path // free of links
	Size     int64
	Modified time.Time
}

// Findings are the files that a glob matches.
type Findings struct {
	Files   []Found         // those in the window, sorted by the bytes of their paths
	Paths   []contract.Path // all that match, sorted so
	Total   int             // how many those are
	Skipped Skips           // what could not be looked at; such a place may hold more
}

// Find returns the regular files below base whose path, as seen from base, the glob matches. Brackets, braces and
// backslashes also stand for themselves, so that the path of a file finds it whatever its characters mean in a glob, and
// names are also found in the other Unicode normal form. Only files in the window are looked at closer.
func (r Reader) Find(ctx context.Context, base contract.Path, glob contract.Glob, window Window) (Findings, error) {
	paths, skips, err := r.matching(ctx, base, glob)
	if err != nil {
		return Findings{}, err
	}
	from, to := window.cut(len(paths))
	f := Findings{Paths: paths, Total: len(paths), Skipped: skips}
	f.Files = r.describe(ctx, paths[from:to], &f.Skipped)
	return f, ctx.Err()
}

// matching returns the paths of all files that the glob matches, sorted.
func (r Reader) matching(ctx context.Context, base contract.Path, glob contract.Glob) ([]contract.Path, Skips, error) {
	hits := make([][]contract.Path, workers())
	w := &walking{
		onlyBelow: true,
		choose:    chooseByGlob(glob),
		visit:     func(worker int, v *Visited) { hits[worker] = append(hits[worker], v.Path()) },
	}
	skips, err := w.run(ctx, r, base)
	if err != nil {
		return nil, Skips{}, timedOutOr(err)
	}
	paths := slices.Concat(hits...)
	slices.SortFunc(paths, comparePaths)
	return paths, skips, nil
}

func comparePaths(a, b contract.Path) int { return strings.Compare(a.String(), b.String()) }

// chooseByGlob returns what chooses the names that glob matches, in either Unicode normal form. A name that holds
// brackets, braces or backslashes is chosen also where the glob has them as they stand.
func chooseByGlob(glob contract.Glob) func(dir string) chooser {
	globs := []contract.Glob{glob}
	if text := asTheyStand.Replace(glob.String()); text != glob.String() {
		globs = appendGlob(globs, text)
	}
	var composed []contract.Glob
	if !isASCII(glob.String()) {
		for _, g := range globs {
			composed = appendGlob(composed, norm.NFC.String(g.String()))
		}
	}
	if len(globs) == 1 && len(composed) == 0 {
		return func(dir string) chooser { return glob.Children(dir) }
	}
	return func(dir string) chooser {
		return anyOf{childrenOf(globs, dir), childrenOf(composed, norm.NFC.String(dir))}
	}
}

// asTheyStand takes their meaning from all characters of a glob but the stars and question marks, which match
// themselves too.
var asTheyStand = strings.NewReplacer(`\`, `\\`, "[", `\[`, "]", `\]`, "{", `\{`, "}", `\}`)

// appendGlob leaves out a text that is no glob.
func appendGlob(globs []contract.Glob, text string) []contract.Glob {
	g, err := contract.ParseGlob(text)
	if err != nil {
		return globs
	}
	return append(globs, g)
}

func childrenOf(globs []contract.Glob, dir string) []contract.Children {
	children := make([]contract.Children, len(globs))
	for i, g := range globs {
		children[i] = g.Children(dir)
	}
	return children
}

// anyOf chooses names that one of the globs matches, as they are written or as they are composed.
type anyOf struct{ written, composed []contract.Children }

func (a anyOf) Match(name string) bool {
	return matchesAny(a.written, name) || len(a.composed) > 0 && matchesAny(a.composed, norm.NFC.String(name))
}

func matchesAny(all []contract.Children, name string) bool {
	return slices.ContainsFunc(all, func(c contract.Children) bool { return c.Match(name) })
}

func (a anyOf) Below() bool {
	return slices.ContainsFunc(a.written, contract.Children.Below) || slices.ContainsFunc(a.composed, contract.Children.Below)
}

// seen is a place that was looked at.
type seen struct {
	entryFacts
	path contract.Path // resolved
	link string        // the text of the link that the caller's path is, "" if it is none
}

// look resolves p and tells what is there.
func (r Reader) look(ctx context.Context, p contract.Path, a Access) (seen, error) {
	q, err := r.w.question(r.guard, p, a)
	if err != nil {
		return seen{}, err
	}
	at, err := q.root.tree.locate(ctx, q)
	if err != nil {
		return seen{}, err
	}
	defer at.node.close()
	path, err := q.path(at.resolved)
	return seen{entryFacts: factsOf(at.node.info()), path: path, link: at.link}, err
}

// describe looks at the files of a page, directory by directory. One that is gone by now is left out.
func (r Reader) describe(ctx context.Context, paths []contract.Path, skips *Skips) []Found {
	found := make([]Found, len(paths))
	parts := chunks(len(paths), 64)
	partSkips := make([]Skips, len(parts))
	var wg sync.WaitGroup
	for i, part := range parts {
		wg.Go(func() { r.describePart(ctx, paths[part[0]:part[1]], found[part[0]:part[1]], &partSkips[i]) })
	}
	wg.Wait()
	for _, s := range partSkips {
		skips.merge(s)
	}
	return slices.DeleteFunc(found, func(f Found) bool { return f.Path.IsTop() })
}

// chunks divides n items among the workers, at least least for each.
func chunks(n, least int) [][2]int {
	count := max(1, min(workers(), n/least))
	parts := make([][2]int, count)
	for i := range parts {
		parts[i] = [2]int{n * i / count, n * (i + 1) / count}
	}
	return parts
}

func (r Reader) describePart(ctx context.Context, paths []contract.Path, found []Found, skips *Skips) {
	for from := 0; from < len(paths) && ctx.Err() == nil; {
		dir := paths[from].Dir()
		to := from + 1
		for to < len(paths) && paths[to].Dir() == dir {
			to++
		}
		r.describeIn(dir, paths[from:to], found[from:to], skips)
		from = to
	}
}

// describeIn fills in what is known of files of one directory. The guard has let them be read.
func (r Reader) describeIn(dir contract.Path, paths []contract.Path, found []Found, skips *Skips) {
	refuse := func(err error) {
		if reason, ok := reasonOf(err); ok {
			for _, p := range paths {
				skips.Add(reason, p.String())
			}
		}
		clear(found)
	}
	q, err := r.w.question(r.guard, dir, Look)
	if err != nil {
		refuse(err)
		return
	}
	s := newScanner(q.root.tree)
	defer s.close()
	if err := s.hold(q.rel); err != nil {
		refuse(err)
		return
	}
	for i, p := range paths {
		f, err := s.stat(p.Base())
		if err == nil && !f.mode.IsRegular() {
			err = errMoved
		}
		if err == nil {
			found[i] = Found{Path: p, Size: f.size, Modified: f.modified()}
		} else if reason, ok := reasonOf(err); ok {
			skips.Add(reason, p.String())
		}
	}
	if !s.isHere() {
		refuse(errMoved)
	}
}

// timedOutOr turns the end of a context into what the caller is told.
func timedOutOr(err error) error {
	if err == context.DeadlineExceeded || err == context.Canceled {
		return timedOut(err)
	}
	return err
}
