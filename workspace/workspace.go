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
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

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
	// [contract.ErrInterrupted] tells that another change of the place must be settled first, see Aftermath.
	Begin(ctx context.Context, in contract.Intent) (changeID string, err error)
	// End records what became of the change that Begin named.
	End(ctx context.Context, changeID string, o contract.Outcome) error
	BatchJournal
	Aftermath
}

// BatchJournal is told of changes that belong together.
type BatchJournal interface {
	// BeginBatch is Begin for several intents: all of them are durable or none is.
	BeginBatch(ctx context.Context, b contract.Batch) (batchID string, changeIDs []string, err error)
	// EndBatch records what became of each change. If all were done, that is durable when it returns.
	EndBatch(ctx context.Context, batchID string, outcomes map[string]contract.Outcome) error
	// OpenBatch returns the id of a batch whose changes are begun one by one and stand alone.
	OpenBatch(ctx context.Context, b contract.Batch) (batchID string, err error)
}

// Aftermath is what ended processes left behind.
type Aftermath interface {
	// Recover settles the changes that were begun by processes which have ended since, and have no outcome. It is called
	// while no lock is held, after a Begin was refused with [contract.ErrInterrupted].
	Recover(ctx context.Context) error
}

// Root is one directory tree that an operator opened.
type Root struct {
	Name string // its mount; "" where there is only one root
	Dir  string // where it is on this machine
}

// Options say what a workspace holds and how it may be used.
type Options struct {
	Roots []Root
	// State is a directory for locks, outside every root; it is made with mode 0700. "" makes a workspace that can't
	// be written.
	State string
	// FileBytes is the size of the largest file that is loaded or written; 0 stands for 32 MiB.
	FileBytes int64
	// Encoding returns the encoding that the policy names for a path, "" for none. It may be nil.
	Encoding func(contract.Path) string

	// Secrets finds what is kept back where text is shown; nil: nothing is.
	Secrets SecretFinder

	portable bool // resolve as on other systems, for tests
}

// ErrStateInRoot tells that callers could reach the state directory.
var ErrStateInRoot = errors.New("the state directory must lie outside every root")

const defaultFileBytes = 32 << 20

// Workspace is the open roots.
type Workspace struct {
	roots    []*root
	options  Options
	contents *contents
	locks    *locks
	facts    factCache
}

// Open opens each root once. A root that is itself a link is a root like any other.
func Open(o Options) (*Workspace, error) {
	if err := checkNames(o.Roots); err != nil {
		return nil, err
	}
	if o.FileBytes == 0 {
		o.FileBytes = defaultFileBytes
	}
	if err := o.checkState(); err != nil {
		return nil, err
	}
	locks, err := newLocks(o.State)
	if err != nil {
		return nil, fmt.Errorf("open workspace: %w", err)
	}
	w := &Workspace{options: o, contents: newContents(), locks: locks}
	for _, r := range o.Roots {
		t, err := o.open(r.Dir)
		if err != nil {
			return nil, errors.Join(fmt.Errorf("open workspace: %w", err), w.Close())
		}
		w.roots = append(w.roots, &root{name: r.Name, tree: t, ignores: newIgnores(t)})
	}
	return w, nil
}

// checkState returns an error if the state directory lies in a root, where a caller could reach it, or would if it were
// made.
func (o *Options) checkState() error {
	if o.State == "" {
		return nil
	}
	root, err := RootAround(o.Roots, o.State)
	if err != nil {
		return fmt.Errorf("open workspace: state directory: %w", err)
	}
	if root != "" {
		return fmt.Errorf("open workspace: %w: %s is inside the root %s", ErrStateInRoot, o.State, root)
	}
	return nil
}

// RootAround returns the root whose callers could reach a directory, or could if it were made; "" if none could.
func RootAround(roots []Root, directory string) (string, error) {
	directory, err := filepath.Abs(directory)
	if err == nil {
		directory, err = nearest(directory)
	}
	if err != nil {
		return "", err
	}
	for _, r := range roots {
		for at := directory; ; at = filepath.Dir(at) {
			if sameDirectory(at, r.Dir) {
				return r.Dir, nil
			}
			if at == filepath.Dir(at) {
				break
			}
		}
	}
	return "", nil
}

// nearest returns the directory, links followed, or the nearest one above it that is there.
func nearest(directory string) (string, error) {
	for {
		real, err := filepath.EvalSymlinks(directory)
		if !errors.Is(err, fs.ErrNotExist) || directory == filepath.Dir(directory) {
			return real, err
		}
		directory = filepath.Dir(directory)
	}
}

func sameDirectory(a, b string) bool {
	x, err1 := os.Stat(a)
	y, err2 := os.Stat(b)
	return err1 == nil && err2 == nil && os.SameFile(x, y)
}

func (o *Options) open(directory string) (tree, error) {
	if o.portable {
		return openPortableTree(directory)
	}
	return openTree(directory)
}

// Close closes the roots. Calls that are under way may fail.
func (w *Workspace) Close() error {
	var errs []error
	for _, r := range w.roots {
		errs = append(errs, r.tree.close())
	}
	return errors.Join(errs...)
}

// Reader returns what a caller may do that may only read. A Reader can't be turned into a [Writer].
func (w *Workspace) Reader(g Guard) Reader { return Reader{w: w, guard: g} }

// Writer returns what a caller may do that may also change files. Its changes belong to the call o and are told to j,
// which may be nil in tests.
func (w *Workspace) Writer(g Guard, j Journal, o contract.Origin) Writer {
	return Writer{Reader: w.Reader(g), journal: j, origin: o}
}

// Reader reads files.
type Reader struct {
	w     *Workspace
	guard Guard
}

// Writer reads files and changes them.
type Writer struct {
	Reader
	journal Journal
	origin  contract.Origin
	reverts string              // the change that this Writer's changes undo
	batch   *openBatch          // the batch that they belong to
	judge   func(Planned) error // see Rehearsing; nil: changes are made
}

// Reverting returns a Writer whose changes are recorded as undoing the change of that id. It may bring names back that
// no new file is given.
func (w Writer) Reverting(changeID string) Writer {
	w.reverts = changeID
	return w
}

// Encoding returns the encoding that the policy names for p, "" where it names none.
func (r Reader) Encoding(p contract.Path) string {
	if r.w.options.Encoding == nil {
		return ""
	}
	return r.w.options.Encoding(p)
}
