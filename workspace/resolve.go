package workspace

import (
	"context"
	"errors"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"writ/contract"
	"writ/envelope"
)

// Resolution has one rule: a name is asked about before it is looked at, and what was looked at is what is used.
//
// A path is walked name by name. Before a name is looked up, the guard is asked whether the caller may learn that it is
// there; links are followed as text, so that each name they bring is asked about in turn; at the end the guard is asked
// about the resolved path with the access that the call is for. Every object on the way is held open, the last one is
// opened as itself, and one look at the end (see confirm) shows that it is at the path the guard allowed. Where the
// tree moved meanwhile, the walk begins again.

const (
	// maxLinks is how many links one resolution follows; the same as Linux.
	maxLinks = 40
	// maxAttempts bounds the walks of one resolution in a tree that keeps moving.
	maxAttempts = 64
	// maxPending bounds the names that links may pile up.
	maxPending = 4096
)

// errMoved tells that the tree changed while it was looked at; the resolution begins again.
var errMoved = errors.New("the tree changed during the call")

// errElsewhere tells that an entry is on another file system than its root.
var errElsewhere = errors.New("another file system is mounted there")

// tree is one root as its operating system lets it be held. Paths are relative to the root, "" being the root itself;
// a resolved path is free of links.
type tree interface {
	// openFile opens the regular file that q names, to read. It never blocks on a FIFO or a device.
	openFile(ctx context.Context, q *question) (f *os.File, resolved string, err error)
	// load reads the whole regular file that q names, which may have at most most bytes.
	load(ctx context.Context, q *question, most int64) (data []byte, fact fs.FileInfo, resolved string, err error)
	// openDir opens the directory that q names; its entries can be read.
	openDir(ctx context.Context, q *question) (d dir, resolved string, err error)
	// parent opens the directory that holds the entry q names. The entry itself is not followed, and need not be
	// there; directories on the way need not be there either and are then named in missing, outermost first. The
	// handle may not be fit for reading entries.
	parent(ctx context.Context, q *question) (p parent, err error)
	// locate tells what q names, links followed; the object is held until it is closed, but is not open for reading.
	locate(ctx context.Context, q *question) (found, error)
	// confirm tells whether the open object is at the path resolved at this instant.
	confirm(f *os.File, resolved string) bool
	// foldsNames tells whether the file system takes several spellings for one name.
	foldsNames() bool
	// health returns nil, or an error that tells that the root is no longer where it was.
	health() error
	close() error
}

// dir is an open directory. Its methods take the name of one entry, never follow a link and never cross a mount.
type dir interface {
	// handle reads the directory's entries; nothing else may be done with it. Its DirEntry.Info must not be used: it
	// looks at a path, not at this directory. See stat.
	handle() *os.File
	// open opens a regular file to read. Anything else is fs.ErrInvalid, and was not read from.
	open(name string) (*os.File, error)
	openDir(name string) (dir, error)
	stat(name string) (fs.FileInfo, error)
	readlink(name string) (string, error)
	Close() error
}

// parent is the place of an entry: the open directory that it is or would be in, and its name there.
type parent struct {
	dir      editDir
	leaf     string
	resolved string   // the entry's path
	missing  []string // directories between dir and the entry that are not there

	directory string // the path of dir
}

// form is what an entry is taken for where ignore rules make a difference between files and directories.
type form int

const (
	asFile form = iota
	asDirectory
)

// question is one path as a call asks for it, with what it takes to put a place to the guard.
type question struct {
	guard   Guard
	root    *root
	spelled contract.Path // as the caller wrote it, mount and all
	rel     string        // spelled below the root
	want    Access

	ignored *ignoreView // what the ignore files say during this resolution; nil until they are asked
}

// ask puts the place at rel to the guard.
func (q *question) ask(a Access, rel string, as form) error {
	place, err := q.path(rel)
	if err != nil {
		return err
	}
	return q.guard.Allow(a, Place{Path: place, Ignored: q.ignoredSegments(rel, as)})
}

// askBoth puts a place to the guard whose kind isn't known yet, once for each kind it can have.
func (q *question) askBoth(a Access, rel string) (file, directory error) {
	place, err := q.path(rel)
	if err != nil {
		return err, err
	}
	n := q.ignoredSegments(rel, asFile)
	file = q.guard.Allow(a, Place{Path: place, Ignored: n})
	if m := q.ignoredSegments(rel, asDirectory); m != n {
		return file, q.guard.Allow(a, Place{Path: place, Ignored: m})
	}
	return file, file
}

// askWhole puts the place at rel to the guard in either form, with the access that the call is for.
func (q *question) askWhole(rel string) error {
	file, directory := q.askBoth(q.want, rel)
	if file != nil {
		return file
	}
	return directory
}

// ignoredSegments is Place.Ignored of rel; it counts the mount too.
func (q *question) ignoredSegments(rel string, as form) int {
	if q.root.ignores == nil || rel == "" {
		return 0
	}
	if q.ignored == nil {
		q.ignored = q.root.ignores.view()
	}
	n := q.ignored.ignored(rel, as)
	if n > 0 && q.root.name != "" {
		n++
	}
	return n
}

// named returns the resolved place rel in quotes, as callers name it.
func (q *question) named(rel string) string {
	if p, err := q.path(rel); err == nil {
		return contract.Quote(p.String())
	}
	return q.quoted()
}

// quoted returns what the caller wrote, in quotes.
func (q *question) quoted() string {
	if q.spelled.IsTop() {
		return "The root"
	}
	return contract.Quote(q.spelled.String())
}

// path returns rel as callers name it. A prefix of what the caller wrote costs nothing.
func (q *question) path(rel string) (contract.Path, error) {
	if strings.HasPrefix(q.rel, rel) && (rel == "" || len(rel) == len(q.rel) || q.rel[len(rel)] == '/') {
		p := q.spelled
		for n := len(p.String()) - len(q.rel) + len(rel); len(p.String()) > n; {
			p = p.Dir()
		}
		return p, nil
	}
	return q.root.path(rel)
}

// found is the object that a resolution ended at.
type found struct {
	node     node
	resolved string
	// link is the text of the link that the caller's path is, "" where it is none.
	link string
}

// node is an object that a walk holds: not opened, only kept from being taken for another.
type node interface {
	// child holds the entry name of a directory, without following it. listed is the name under which the directory
	// lists the entry; it differs from name where the file system takes several spellings for one.
	child(name string) (n node, listed string, err error)
	info() fs.FileInfo
	// target returns the text of a link.
	target() (string, error)
	close()
}

// walk resolves a question name by name.
type walk struct {
	q    *question
	root node
	leaf string // the last name where it is not to be looked at, else ""

	rest     []string // names still to be walked
	fromLink int      // how many of rest, counted from its start, come from links
	links    int

	nodes []node   // directories that the walk came through below the root, all held
	names []string // their names

	link string // see found.link
}

// end is where a walk ended.
type end struct {
	found
	// missing holds the last names of resolved, from the first that is not there; node is then the directory that
	// holds the last that is.
	missing []string
	// dangling tells that a link led to the missing names.
	dangling bool
}

func newWalk(q *question, root node) *walk {
	w := &walk{q: q, root: root}
	if q.rel != "" {
		w.rest = strings.Split(q.rel, "/")
	}
	return w
}

// newParentWalk makes a walk that ends before the last name.
func newParentWalk(q *question, root node) *walk {
	w := newWalk(q, root)
	last := len(w.rest) - 1
	w.rest, w.leaf = w.rest[:last:last], w.rest[last]
	return w
}

// run walks to the end. The caller closes the node that it returns.
func (w *walk) run(ctx context.Context) (end, error) {
	defer w.release()
	for len(w.rest) > 0 {
		if err := ctx.Err(); err != nil {
			return end{}, timedOut(err)
		}
		done, e, err := w.step()
		if done || err != nil {
			return e, err
		}
	}
	rel := w.rel()
	if w.leaf != "" {
		rel = joinRel(rel, w.leaf)
		if err := w.q.askWhole(rel); err != nil {
			return end{}, err
		}
		return end{found: found{node: w.take(), resolved: rel}, missing: []string{w.leaf}}, nil
	}
	if err := w.q.ask(w.q.want, rel, asDirectory); err != nil {
		return end{}, err
	}
	return end{found: found{node: w.take(), resolved: rel, link: w.link}}, nil
}

// step walks one name. done tells that the walk is over.
func (w *walk) step() (done bool, e end, err error) {
	name, viaLink := w.next()
	switch name {
	case "", ".":
		return false, end{}, nil
	case "..":
		return false, end{}, w.up()
	}
	rel := joinRel(w.rel(), name)
	last := len(w.rest) == 0 && w.leaf == ""
	a, err := w.mayLook(rel, last)
	if err != nil {
		return false, end{}, err
	}
	n, listed, err := w.here().child(name)
	if errors.Is(err, fs.ErrNotExist) {
		e, err := w.absent(rel, viaLink)
		return true, e, err
	}
	if err != nil {
		return false, end{}, w.lookFault(err, rel)
	}
	if listed != name {
		n.close()
		return false, end{}, w.respell(listed, viaLink)
	}
	a.viaLink = viaLink
	return w.arrive(n, name, a)
}

// respell walks a name again as its directory lists it, so that the guard is asked about that spelling.
func (w *walk) respell(listed string, viaLink bool) error {
	if w.links++; w.links > maxLinks {
		return errMoved
	}
	if viaLink {
		w.fromLink++
	}
	w.rest = append([]string{listed}, w.rest...)
	return nil
}

// answers are what the guard said about a name before it was looked at, by the kind that it may turn out to have.
type answers struct {
	last            bool
	viaLink         bool
	file, directory error
}

// mayLook asks whether the name at rel may be looked at. Of the last name the answers about the call's own access are
// kept until its kind is known, since a link counts as the place that it points to.
func (w *walk) mayLook(rel string, last bool) (answers, error) {
	if !last {
		if err := w.q.ask(Look, rel, asDirectory); err != nil {
			return answers{}, w.refusal(err, rel)
		}
		return answers{}, nil
	}
	a := answers{last: true}
	a.file, a.directory = w.q.askBoth(w.q.want, rel)
	if a.file == nil || a.directory == nil {
		return a, nil
	}
	if file, directory := w.q.askBoth(Look, rel); file != nil && directory != nil {
		return a, a.file
	}
	return a, nil
}

// refusal returns what the caller is told where the walk may not go on at rel: the answer about the whole path, which
// does not show how far the walk came.
func (w *walk) refusal(err error, rel string) error {
	if whole := w.q.askWhole(w.whole(rel)); whole != nil {
		return whole
	}
	return err
}

// arrive takes in the object that a name stands for.
func (w *walk) arrive(n node, name string, a answers) (done bool, e end, err error) {
	mode := n.info().Mode()
	rel := joinRel(w.rel(), name)
	switch {
	case mode&fs.ModeSymlink != 0:
		defer n.close()
		return false, end{}, w.expand(n, a)
	case mode.IsDir() && !a.last:
		w.nodes, w.names = append(w.nodes, n), append(w.names, name)
		return false, end{}, nil
	case !a.last:
		n.close()
		if err := w.q.askWhole(w.whole(rel)); err != nil {
			return false, end{}, err
		}
		return false, end{}, notADirectory(w.q.named(rel))
	}
	refused := a.file
	if mode.IsDir() {
		refused = a.directory
	}
	if refused != nil {
		n.close()
		return false, end{}, refused
	}
	return true, end{found: found{node: n, resolved: rel, link: w.link}}, nil
}

// expand puts a link's text in the place of its name.
func (w *walk) expand(n node, a answers) error {
	if w.links++; w.links > maxLinks {
		return envelope.Errorf(envelope.LinkLoop,
			"%s can't be opened: its links lead round in a circle, or there are more than %d of them.", w.q.quoted(), maxLinks)
	}
	text, err := n.target()
	if err != nil {
		return errMoved
	}
	if a.last && !a.viaLink {
		w.link = text
	}
	if leaves(text) {
		return outsideRoot(w.q.quoted())
	}
	names := strings.Split(text, "/")
	if len(names)+len(w.rest) > maxPending {
		return envelope.Errorf(envelope.LinkLoop, "%s can't be opened: its links are too long.", w.q.quoted())
	}
	w.fromLink += len(names)
	w.rest = append(names, w.rest...)
	return nil
}

// absent ends a walk at a name that is not there.
func (w *walk) absent(rel string, viaLink bool) (end, error) {
	whole := w.whole(rel)
	if err := w.q.askWhole(whole); err != nil {
		return end{}, err
	}
	_, name := parentRel(rel)
	missing := append([]string{name}, w.rest...)
	if w.leaf != "" {
		missing = append(missing, w.leaf)
	}
	if slices.ContainsFunc(missing, func(name string) bool { return name == "" || name == "." || name == ".." }) {
		return end{}, notFound(w.q.quoted())
	}
	e := end{missing: missing, dangling: viaLink || w.fromLink > 0}
	e.found = found{node: w.take(), resolved: whole, link: w.link}
	return e, nil
}

func (w *walk) lookFault(err error, rel string) error {
	if errors.Is(err, errMoved) {
		return err
	}
	if whole := w.q.askWhole(w.whole(rel)); whole != nil {
		return whole
	}
	return fault(err, w.q.named(rel))
}

func (w *walk) next() (name string, viaLink bool) {
	name, w.rest = w.rest[0], w.rest[1:]
	if w.fromLink > 0 {
		w.fromLink--
		viaLink = true
	}
	return name, viaLink
}

// up leaves a directory by the way that the walk came. Only links bring it about.
func (w *walk) up() error {
	if len(w.nodes) == 0 {
		return outsideRoot(w.q.quoted())
	}
	last := len(w.nodes) - 1
	w.nodes[last].close()
	w.nodes, w.names = w.nodes[:last], w.names[:last]
	return nil
}

func (w *walk) here() node {
	if len(w.nodes) == 0 {
		return w.root
	}
	return w.nodes[len(w.nodes)-1]
}

// take hands the directory that the walk is in over to the caller.
func (w *walk) take() node {
	n := w.here()
	if len(w.nodes) > 0 {
		w.nodes = w.nodes[:len(w.nodes)-1]
	}
	return n
}

func (w *walk) release() {
	for _, n := range w.nodes {
		n.close()
	}
}

func (w *walk) rel() string { return strings.Join(w.names, "/") }

// whole returns rel with the names that would have followed.
func (w *walk) whole(rel string) string {
	if slices.Contains(w.rest, "..") {
		return rel
	}
	for _, name := range w.rest {
		if name != "" && name != "." {
			rel += "/" + name
		}
	}
	if w.leaf != "" {
		rel += "/" + w.leaf
	}
	return rel
}

// parent makes a parent of the end of a parent walk; its directory is yet to be opened.
func (e *end) parent(q *question) (parent, error) {
	if e.dangling {
		return parent{}, envelope.Errorf(envelope.NotARegularFile,
			"%s can't be made: a link on the way points to a place that does not exist.", q.quoted())
	}
	last := len(e.missing) - 1
	return parent{
		leaf:      e.missing[last],
		resolved:  e.resolved,
		missing:   e.missing[:last],
		directory: strings.TrimSuffix(strings.TrimSuffix(e.resolved, strings.Join(e.missing, "/")), "/"),
	}, nil
}

// segments yields the names that rel is made of; none for "".
func segments(rel string) iter.Seq[string] {
	if rel == "" {
		return func(func(string) bool) {}
	}
	return strings.SplitSeq(rel, "/")
}

func joinRel(rel, name string) string {
	if rel == "" {
		return name
	}
	return rel + "/" + name
}

// parentRel splits rel into the directory and the last name.
func parentRel(rel string) (directory, leaf string) {
	if i := strings.LastIndexByte(rel, '/'); i >= 0 {
		return rel[:i], rel[i+1:]
	}
	return "", rel
}

// leaves tells whether a link's text is absolute.
func leaves(text string) bool {
	return strings.HasPrefix(text, "/") || filepath.IsAbs(text) || filepath.VolumeName(text) != ""
}

func rootGone() error {
	return envelope.Errorf(envelope.IO,
		"The root directory was moved, replaced or removed while the server runs. A person must put it back or start the server again.")
}

// rootAsEntry refuses a change of the root itself.
func rootAsEntry(q *question) error {
	if err := q.askWhole(""); err != nil {
		return err
	}
	return isDirectory(q.quoted())
}

// settle runs try until the tree holds still for it.
func settle(ctx context.Context, t tree, q *question, try func() error) error {
	for range maxAttempts {
		if err := ctx.Err(); err != nil {
			return timedOut(err)
		}
		err := try()
		if err == nil {
			return nil
		}
		if errors.Is(err, errMoved) {
			continue
		}
		if envelope.CodeOf(err) == envelope.PathNotFound {
			if gone := t.health(); gone != nil {
				return gone
			}
		}
		return err
	}
	if err := t.health(); err != nil {
		return err
	}
	return changedDuringCall(q.quoted())
}
