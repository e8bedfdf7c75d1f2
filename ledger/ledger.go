// Package ledger is what was done: the log of changes with the bytes to undo them, what became of each call, and the
// audit, a chain of one JSON line a call.
//
// All of it is one SQLite database, ledger.db, in the state directory, which several processes share. A change is told
// twice. [Ledger.Begin] makes the intent durable before anything on disk is different: it has been flushed to the disk
// when Begin returns. [Ledger.End] records what became of it and needs no flush of its own, nor a commit: it goes with
// the next row, mostly that of its call. If it is lost, the intent is found open at the next start, compared with the disk
// and with what the next change there found, and settled ([Ledger.Pending], [Ledger.Settle]). A call that writes has its
// outcome and its audit row in the operating system's hands before it is answered, so that only a power cut can lose them;
// the rows of reads are gathered for a tenth of a second, and a crash may lose those.
//
// Beside the database lie images/, which holds undo data too large for a row, processes/, where each running process
// holds a locked file so that others know that it lives, and open.lock, held while a process opens the database.
package ledger

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"os"
	"path/filepath"
	"sync"
	"time"
)

// What undo data may take where Options leaves it open.
const (
	DefaultBudgetBytes = 512 << 20
	DefaultBudgetAge   = 30 * 24 * time.Hour
)

// Budget bounds the undo data that is kept. What goes beyond it is dropped, oldest change first; the change itself
// stays in the log. The newest change keeps its undo data whatever their size.
type Budget struct {
	Bytes int64         // 0: DefaultBudgetBytes
	Age   time.Duration // 0: DefaultBudgetAge
}

// Options are the parts of a Ledger that its surroundings choose.
type Options struct {
	Clock  func() time.Time // nil: time.Now
	Budget Budget
	Logger *slog.Logger // nil: nothing is logged
	// ArtifactBytes bounds what the artifacts take together; 0: DefaultArtifactBytes.
	ArtifactBytes int64
	Shipping      Shipping // the zero value: nowhere
	// Roots tells the roots that paths are in from others. A state directory belongs to those that it was first used
	// with; with others it can't be opened, since what its log says would be carried out on the wrong files. "": whatever
	// roots they are.
	Roots string
}

// Ledger is the change log, the outcomes and the audit of one state directory. Its methods may be called from several
// goroutines.
type Ledger struct {
	dir    string
	clock  func() time.Time
	budget Budget
	log    *slog.Logger
	roots  string

	artifactBytes int64
	artifacts     artifactUse

	opening sync.Mutex // guards the five below, and is held while the database is opened
	store   *store     // nil until first used
	process *process   // the mark of this process, from the first opening on
	suspect bool       // the database was found damaged: look through it when it is opened next
	gone    bool       // the database was taken away, and no row says so yet
	closed  bool

	audit   auditBuffer
	shipper shipper
}

// errClosed answers the use of a ledger after its Close.
var errClosed = errors.New("the ledger is closed")

// Open returns the ledger of the state directory dir and makes the directory if there is none. The database is opened
// when it is first needed, or by [Ledger.Ready].
func Open(dir string, o Options) (*Ledger, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, fmt.Errorf("the state directory: %w", err)
	}
	l := &Ledger{dir: dir, clock: o.Clock, budget: o.Budget, log: o.Logger, roots: o.Roots, artifactBytes: cmp.Or(o.ArtifactBytes, DefaultArtifactBytes)}
	l.shipper.Shipping = o.Shipping
	l.shipper.Bytes = cmp.Or(o.Shipping.Bytes, DefaultShippedBytes)
	l.shipper.Files = cmp.Or(o.Shipping.Files, DefaultShippedFiles)
	if l.clock == nil {
		l.clock = time.Now
	}
	if l.log == nil {
		l.log = slog.New(slog.DiscardHandler)
	}
	if l.budget.Bytes == 0 {
		l.budget.Bytes = DefaultBudgetBytes
	}
	if l.budget.Age == 0 {
		l.budget.Age = DefaultBudgetAge
	}
	if err := l.makeDir(); err != nil {
		return nil, causeOf(err)
	}
	return l, nil
}

// makeDir leaves the mode of a directory that is already there alone, since it may be shared on purpose; the files in
// it are for their owner only in any case.
func (l *Ledger) makeDir() error {
	info, err := os.Stat(l.dir)
	if errors.Is(err, os.ErrNotExist) {
		return makeDurably(l.dir)
	}
	if err != nil {
		return err
	}
	if !info.IsDir() {
		return &os.PathError{Op: "open", Path: l.dir, Err: errors.New("not a directory")}
	}
	if othersMayWrite(info.Mode()) {
		l.log.Warn("others may write to the state directory; it should have mode 0700", "directory", l.dir)
	}
	return nil
}

// makeDurably makes a directory and those above it that are missing. Their names are made durable at once, and not with
// the first change: a server keeps itself out of what lies around its directories by then.
func makeDurably(dir string) error {
	above := filepath.Dir(dir)
	if _, err := os.Stat(above); errors.Is(err, os.ErrNotExist) && above != dir {
		if err := makeDurably(above); err != nil {
			return err
		}
	}
	if err := os.MkdirAll(dir, 0o700); err != nil { // another process may be faster
		return err
	}
	return flushDir(above)
}

// Ready opens the database now. A start-up may call it in the background, so that the first change need not wait.
func (l *Ledger) Ready(ctx context.Context) error {
	_, err := l.open(ctx)
	return err
}

// open returns the opened database. A failure is not remembered: the next call tries again.
func (l *Ledger) open(ctx context.Context) (*store, error) {
	l.opening.Lock()
	defer l.opening.Unlock()
	if l.closed {
		return nil, errClosed
	}
	if l.store != nil {
		return l.store, nil
	}
	s, err := openStore(ctx, opening{dir: l.dir, log: l.log, now: l.clock(), process: l.process, suspect: l.suspect, roots: l.roots})
	if err != nil {
		return nil, causeOf(err)
	}
	l.store, l.process, l.suspect = s, s.process, false
	s.startTidying(l.tidy)
	if !l.gone {
		return s, nil
	}
	err = s.appendEvent(l.clock(), "the change log was taken out of the state directory while it was in use")
	l.gone = err != nil
	return s, causeOf(err)
}

// fail turns what went wrong on s into what the caller is told. A damaged database is let go, so that the next use
// opens it with a thorough look.
func (l *Ledger) fail(s *store, err error) error {
	if isDamage(err) {
		l.log.Error("the ledger's database is damaged; it is examined at its next use", "directory", l.dir, "error", err)
		l.letGo(s, err)
	}
	if errors.Is(err, errGone) {
		l.log.Error("the ledger's database was taken away while it was in use; a new one is begun, and changes made before can't be undone", "directory", l.dir)
		l.letGo(s, err)
	}
	return causeOf(err)
}

// letGo closes s, which is of no use because of err, unless another has done so already.
func (l *Ledger) letGo(s *store, err error) {
	l.opening.Lock()
	defer l.opening.Unlock()
	if l.store != s {
		return
	}
	l.store, l.suspect, l.gone = nil, true, errors.Is(err, errGone)
	s.abandon()
}

// Close writes what is buffered and lets go of the database.
func (l *Ledger) Close() error {
	flushed := l.flush(context.Background(), math.MaxInt)
	l.shipLast()
	s, p := l.retire()
	var closed error
	if s != nil {
		closed = s.close() // outside the lock, which the background work may want
	}
	if p != nil {
		p.leave()
	}
	return errors.Join(flushed, closed)
}

func (l *Ledger) retire() (*store, *process) {
	l.opening.Lock()
	defer l.opening.Unlock()
	s, p := l.store, l.process
	l.store, l.process, l.closed = nil, nil, true
	return s, p
}
