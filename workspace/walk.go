package workspace

import (
	"context"
	"io/fs"
	"runtime"
	"strings"
	"sync"
	"unicode/utf8"

	"writ/contract"
)

// A walk visits regular files. Each directory is put to the guard before it is opened, each file before it is visited.
// Links are not followed, so no file is visited twice and a walk ends; a file that links lead to is found under its own
// path. Mounts are not crossed. An entry that can't be read is counted and never ends the walk.
//
// While a walk reads a directory somebody may move it, and a hidden one to its place. So no name of a directory is told
// before the directory was seen, after the names had been read, at the path that the guard allowed.

// DirectoryGuard is a [Guard] that can answer for many files of a directory at once, which saves a walk most of its
// questions.
type DirectoryGuard interface {
	Guard
	// AllowsPlain tells whether Allow returns nil for a and each file directly in dir that no ignore file names and
	// whose name is plain: ASCII letters, digits, '_', '-' and '.', and no '.' at the start.
	AllowsPlain(a Access, dir contract.Path) bool
}

// Visited is a regular file that a walk has come to. It may be used during the visit only.
type Visited struct {
	scan scanner
	dir  *directory
	name string
}

// Path returns the file's path, which is free of links.
func (v *Visited) Path() contract.Path { return v.dir.path.Join(v.name) }

// facts returns the file's size and times.
func (v *Visited) facts() (entryFacts, error) {
	f, err := v.scan.stat(v.name)
	if err == nil && !f.mode.IsRegular() {
		err = errMoved
	}
	return f, err
}

// directory is one that a walk has still to read.
type directory struct {
	root    *root
	rel     string
	path    contract.Path // rel as callers name it
	chain   *ignoreChain  // of the directory above
	ignored int           // see Place.Ignored
}

// chooser selects among the entries of one directory.
type chooser interface {
	Match(name string) bool
	Below() bool // whether anything in its directories can be wanted
}

// only chooses one name.
type only string

func (o only) Match(name string) bool { return name == string(o) }
func (o only) Below() bool            { return false }

// walking is one walk.
type walking struct {
	ctx    context.Context
	guard  Guard
	choose func(dir string) chooser // takes the path from base; nil chooses all
	visit  func(worker int, v *Visited)
	arrive func(d *directory) // called before a directory is read; it may be nil
	// onlyBelow refuses a base that is a file.
	onlyBelow bool
	alone     bool // one worker, the caller's goroutine

	base   contract.Path // resolved
	single bool          // base is a file
	mu     sync.Mutex
	more   sync.Cond
	todo   []directory // the last is taken first, which keeps the list short
	busy   int         // workers that may still add to todo
	skips  Skips
}

// workers is how many goroutines a walk has.
func workers() int { return runtime.GOMAXPROCS(0) }

// Walk calls visit for each regular file below base that the guard lets be read, in no order and from several
// goroutines at once. base may be a link to a directory; if it is a file, that alone is visited.
func (r Reader) Walk(ctx context.Context, base contract.Path, visit func(*Visited)) (Skips, error) {
	w := &walking{visit: func(_ int, v *Visited) { visit(v) }}
	return w.run(ctx, r, base)
}

// run walks below base. An error of a single entry is in the Skips; the error returned is one of base, or of a ctx that
// ended before the walk did.
func (w *walking) run(ctx context.Context, r Reader, base contract.Path) (Skips, error) {
	w.ctx, w.guard = ctx, r.guard
	w.more.L = &w.mu
	if err := w.begin(r, base); err != nil {
		return Skips{}, err
	}
	if w.alone {
		w.work(0)
		return w.skips, ctx.Err()
	}
	var wg sync.WaitGroup
	stop := context.AfterFunc(ctx, func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.more.Broadcast()
	})
	defer stop()
	for i := range workers() {
		wg.Go(func() { w.work(i) })
	}
	wg.Wait()
	return w.skips, ctx.Err()
}

// begin sets out where the walk starts: base, or each root. A base that is a file is chosen alone from its directory.
func (w *walking) begin(r Reader, base contract.Path) error {
	if base.IsTop() && r.hasMounts() {
		w.todo = r.mounts()
		return nil
	}
	q, err := r.w.question(r.guard, base, Look)
	if err != nil {
		return err
	}
	at, err := q.root.tree.locate(w.ctx, q)
	if err != nil {
		return err
	}
	defer at.node.close()
	rel := at.resolved
	switch mode := at.node.info().Mode(); {
	case mode.IsRegular() && w.onlyBelow:
		return notADirectory(q.quoted())
	case mode.IsRegular():
		var name string
		rel, name = parentRel(rel)
		w.single = true
		w.choose = func(string) chooser { return only(name) }
	case !mode.IsDir():
		return notRegular(q.quoted())
	}
	d, err := q.root.directoryAt(rel)
	w.todo, w.base = []directory{d}, d.path
	return err
}

// fromBase returns the path of a directory of the walk as seen from base, "" for base itself.
func (w *walking) fromBase(dir contract.Path) string {
	return strings.TrimPrefix(dir.String()[len(w.base.String()):], "/")
}

func (r Reader) hasMounts() bool { return r.w.roots[0].name != "" }

// mounts returns the roots that the guard lets be looked into, where there are several.
func (r Reader) mounts() []directory {
	var all []directory
	for _, root := range r.w.roots {
		d, err := root.directoryAt("")
		if err == nil && r.guard.Allow(Look, Place{Path: d.path}) == nil {
			all = append(all, d)
		}
	}
	return all
}

// directoryAt returns the directory at rel with what the ignore files above it say.
func (r *root) directoryAt(rel string) (directory, error) {
	path, err := r.path(rel)
	d := directory{root: r, rel: rel, path: path}
	if err != nil || r.ignores == nil {
		return d, err
	}
	d.ignored, d.chain = r.ignores.view().above(rel)
	if d.ignored > 0 && r.name != "" {
		d.ignored++
	}
	return d, nil
}

func (w *walking) work(worker int) {
	scanners := make(map[*root]scanner, 1)
	defer func() {
		for _, s := range scanners {
			s.close()
		}
	}()
	for {
		d, ok := w.take()
		if !ok {
			return
		}
		s := scanners[d.root]
		if s == nil {
			s = newScanner(d.root.tree)
			scanners[d.root] = s
		}
		v := dirVisit{w: w, worker: worker, scan: s, dir: &d}
		v.run()
		w.done(&v)
	}
}

// take waits for a directory. It returns false when there will be no more.
func (w *walking) take() (directory, bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for len(w.todo) == 0 && w.busy > 0 && w.ctx.Err() == nil {
		w.more.Wait()
	}
	if len(w.todo) == 0 || w.ctx.Err() != nil {
		w.more.Broadcast()
		return directory{}, false
	}
	d := w.todo[len(w.todo)-1]
	w.todo = w.todo[:len(w.todo)-1]
	w.busy++
	return d, true
}

// done takes over what the visit of a directory brought.
func (w *walking) done(v *dirVisit) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.todo = append(w.todo, v.found...)
	w.skips.merge(v.skips)
	w.busy--
	if len(v.found) > 1 || w.busy == 0 {
		w.more.Broadcast()
	}
}

// dirVisit is the visit of one directory by one worker.
type dirVisit struct {
	w      *walking
	worker int
	scan   scanner
	dir    *directory
	chain  *ignoreChain
	choice chooser
	plain  bool // the guard lets every plain name be read
	seen   bool // isHere has looked
	here   bool // what it saw
	found  []directory
	skips  Skips
}

// yieldEvery is after how many entries a worker lets others have the processor: a walk of a large tree must not keep
// short calls waiting.
const yieldEvery = 32

func (v *dirVisit) run() {
	runtime.Gosched()
	if v.w.arrive != nil {
		v.w.arrive(v.dir)
	}
	entries, err := v.scan.enter(v.dir.rel)
	if err != nil {
		v.skip(err, v.dir.path)
	}
	v.prepare(entries)
	for i, e := range entries {
		if i%yieldEvery == yieldEvery-1 {
			if v.w.ctx.Err() != nil {
				return
			}
			runtime.Gosched()
		}
		v.entry(e)
	}
}

// prepare learns what holds for all entries.
func (v *dirVisit) prepare(entries []dirEntry) {
	v.chain = v.dir.chain
	if v.dir.root.ignores != nil && lists(entries, ignoreName) {
		v.chain = v.chain.below(v.dir.rel, v.dir.root.ignores.rules(v.dir.rel))
	}
	if v.w.choose != nil {
		v.choice = v.w.choose(v.w.fromBase(v.dir.path))
	}
	if g, ok := v.w.guard.(DirectoryGuard); ok && v.dir.ignored == 0 {
		v.plain = g.AllowsPlain(Read, v.dir.path)
	}
}

func lists(entries []dirEntry, name string) bool {
	for i := range entries {
		if entries[i].name == name {
			return true
		}
	}
	return false
}

func (v *dirVisit) entry(e dirEntry) {
	switch {
	case e.kind == 0 && (v.choice == nil || v.choice.Match(e.name)):
		if v.mayRead(e.name) {
			v.w.visit(v.worker, &Visited{scan: v.scan, dir: v.dir, name: e.name})
		}
	case e.kind == fs.ModeDir && (v.choice == nil || v.choice.Below()):
		v.descend(e.name)
	}
}

func (v *dirVisit) mayRead(name string) bool {
	if !v.speakable(name, asFile) || isTempName(name) {
		return false
	}
	if v.plain && isPlainName(name) && v.ignored(name, asFile) == 0 {
		return v.isHere()
	}
	return v.allows(Read, name, asFile) && v.isHere()
}

func (v *dirVisit) allows(a Access, name string, as form) bool {
	return v.w.guard.Allow(a, Place{Path: v.dir.path.Join(name), Ignored: v.ignored(name, as)}) == nil
}

// isHere tells whether the directory was at its path after its names had been read. It looks when it is asked first, so
// that a directory of which nothing is told is not looked at again.
func (v *dirVisit) isHere() bool {
	if !v.seen {
		v.seen, v.here = true, v.scan.isHere()
		if !v.here {
			v.skips.Add(SkipChanged, v.dir.path.String())
		}
	}
	return v.here
}

func (v *dirVisit) descend(name string) {
	if !v.speakable(name, asDirectory) {
		return
	}
	d := directory{
		root: v.dir.root, rel: joinRel(v.dir.rel, name), path: v.dir.path.Join(name),
		chain: v.chain, ignored: v.ignored(name, asDirectory),
	}
	if v.w.guard.Allow(Look, Place{Path: d.path, Ignored: d.ignored}) == nil {
		v.found = append(v.found, d)
	}
}

// speakable tells whether a path can hold the name. One that no path can is counted as left out, if the caller may know
// of it: the guard is asked about the name with what is wrong in it replaced.
func (v *dirVisit) speakable(name string, as form) bool {
	if utf8.ValidString(name) {
		return true
	}
	access := Read
	if as == asDirectory {
		access = Look
	}
	near := v.dir.path.Join(strings.ToValidUTF8(name, "\uFFFD"))
	if v.w.guard.Allow(access, Place{Path: near, Ignored: v.ignored(name, as)}) == nil && v.isHere() {
		v.skips.Add(SkipName, joinRel(v.dir.path.String(), name))
	}
	return false
}

// ignored is Place.Ignored of the entry.
func (v *dirVisit) ignored(name string, as form) int {
	if v.dir.ignored > 0 || v.chain == nil {
		return v.dir.ignored
	}
	if !v.chain.ignores(joinRel(v.dir.rel, name), as) {
		return 0
	}
	return len(v.dir.path.Segments()) + 1
}

func (v *dirVisit) skip(err error, path contract.Path) {
	if reason, ok := reasonOf(err); ok {
		v.skips.Add(reason, path.String())
	}
}

// isPlainName tells whether a name is what DirectoryGuard calls plain.
func isPlainName(name string) bool {
	for i := range len(name) {
		c := name[i]
		switch {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', c == '_', c == '-', c == '.' && i > 0:
		default:
			return false
		}
	}
	return true
}
