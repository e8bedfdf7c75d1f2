package notes

import (
	"context"
	"errors"
	"log/slog"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"writ/contract"
	"writ/workspace"
)

// The index is a second copy of the words of the notes, and nothing but that: everything that a result shows is read
// from the notes themselves, through the Source of the caller. What it may say without reading them is how many notes
// there are with which words, so it holds those notes alone that its Vault hands out, and before each search it is
// brought up to what is on disk. When that takes long, or the database gives trouble, the notes are scanned instead:
// an answer is never wrong or missing for want of an index.

// Vault is the Source that an index is made of, which can also tell what has changed in it.
type Vault interface {
	Source
	// Some calls visit, for one at a time, with those of files that are notes now; it stops at the first error that
	// visit returns, and returns it. If it returns nil, those that were not visited are none.
	Some(ctx context.Context, files []contract.Path, visit func(Candidate) error) error
	// Changes returns the files that may have changed since the last call or, before the first one, since Notes was
	// called last. all tells that it is not known which: only another call of Notes can say.
	Changes() (files []contract.Path, all bool)
	// Close ends the keeping account of changes.
	Close() error
}

// IndexOptions are what an index is made of.
type IndexOptions struct {
	// File is the database. It is made where it is missing, with the directories above it, for its owner only. It must
	// not be in a root, and what one policy lets be read must not share it with what another does.
	File       string
	Vault      Vault
	Visibility string       // VisibilityUnmarked if empty
	Limit      int          // how many matches are returned; zero means DefaultLimit
	Wrote      func() bool  // tells whether this process has changed files: no answer is older than that; nil: it never does
	Log        *slog.Logger // told of trouble with the database; nil: nobody is
}

const (
	// fewNotes is how many notes are scanned as fast as an index is asked. None is begun for less.
	fewNotes = 200
	// fewChanges is how many notes a search waits for to be indexed.
	fewChanges = 128
)

// Index is a [Searcher] that keeps the words of the notes in a database, which several processes may share. It opens
// nothing before the first search. It may be used from many goroutines.
type Index struct {
	scanner Scanner
	vault   Vault
	place   location
	wrote   func() bool
	log     *slog.Logger

	building atomic.Pointer[building]
	turn     chan struct{} // held while the index is brought up to date; guards the rest
	store    *store        // nil: not opened
	stale    bool          // the notes must be walked over
	looked   bool          // they have been, by this process
	dirty    map[contract.Path]bool
	leftOut  workspace.Skips // of the last walk

	first   atomic.Pointer[firstLook] // nil: not under way
	grace   time.Duration             // see graceAtStart
	swept   atomic.Int64              // when all notes were walked over last, in nanoseconds since 1970
	shunned atomic.Bool               // it can't be opened; this process scans
	tidying atomic.Bool               // that is about to happen
	context context.Context           // of the work in the background
	cancel  context.CancelFunc
	work    sync.WaitGroup
}

// building is work in the background that searches do not wait for.
type building struct{ done, total atomic.Int64 }

func (b *building) progress() *Progress {
	return &Progress{Done: int(b.done.Load()), Total: int(b.total.Load())}
}

// NewIndex returns an index. Nothing is opened yet.
func NewIndex(o IndexOptions) *Index {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Wrote == nil {
		o.Wrote = func() bool { return false }
	}
	x := &Index{
		scanner: Scanner{Visibility: o.Visibility, Limit: o.Limit}, vault: o.Vault, place: location{filepath.Clean(o.File), o.Visibility}, log: o.Log, wrote: o.Wrote,
		turn: make(chan struct{}, 1), stale: true, dirty: map[contract.Path]bool{}, grace: graceAtStart,
	}
	x.context, x.cancel = context.WithCancel(context.Background())
	return x
}

// Search implements [Searcher]. The source must hand out the notes that the index's vault does: it is who decides about
// each note that is shown, but totals and repairs are those of the vault.
func (x *Index) Search(ctx context.Context, q Query, source Source) (Result, error) {
	if q.IsEmpty() {
		return emptyResult(), nil
	}
	if result, ok := x.searchIndex(ctx, &q, source); ok {
		return result, nil
	}
	if err := ctx.Err(); err != nil {
		return emptyResult(), err
	}
	busy := x.building.Load() != nil
	result, read, err := x.scanner.search(ctx, &q, source)
	if err == nil && read >= fewNotes && !busy {
		x.start()
	}
	if b := x.building.Load(); b != nil && err == nil {
		result.Building = b.progress()
	}
	return result, err
}

// searchIndex returns false where the index can't answer: it is not there, not ready, or in trouble.
func (x *Index) searchIndex(ctx context.Context, q *Query, source Source) (Result, bool) {
	grace := x.grace
	if x.wrote() {
		grace = forever
	}
	return x.searchWithin(ctx, q, source, grace)
}

func (x *Index) searchWithin(ctx context.Context, q *Query, source Source, grace time.Duration) (Result, bool) {
	at := x.fresh(ctx, grace)
	if at.db == nil {
		return Result{}, false
	}
	result, err := at.db.search(ctx, x.scanner.limited(q), q, source)
	if err == nil && !at.settled && result.Tier != TierExact {
		return x.searchWithin(ctx, q, source, forever) // that no note has the words is not known yet
	}
	if err != nil {
		x.trouble(ctx, at.db, err)
		return Result{}, false
	}
	if !at.settled {
		return asOfBefore(result), true
	}
	if at.db.untidy.Load() {
		x.tidyLater()
	}
	x.sweepAside()
	result.LeftOut = at.left
	return result, true
}

// moment is the database at the moment of a search.
type moment struct {
	db      *store // nil: it can't be asked
	settled bool   // it has been brought up to what is on disk
	left    workspace.Skips
}

// fresh returns the database, brought up to what is on disk; or, while this process looks at the notes for the first time
// and that takes longer than the grace, as an earlier process left it.
func (x *Index) fresh(ctx context.Context, grace time.Duration) moment {
	look := x.first.Load()
	if look == nil {
		at, begun := x.freshNow(ctx)
		if begun == nil {
			return at
		}
		look = begun
	}
	switch {
	case !look.isOver(ctx, grace):
		return moment{db: look.db}
	case look.failed:
		return moment{}
	}
	at, _ := x.freshNow(ctx)
	return at
}

// freshNow brings the database up to what is on disk, or begins the first look at it.
func (x *Index) freshNow(ctx context.Context) (moment, *firstLook) {
	if x.building.Load() != nil || !x.take(ctx) {
		return moment{}, nil
	}
	if x.building.Load() != nil || !x.opened(ctx, existing) {
		x.release()
		return moment{}, nil
	}
	if !x.looked && x.context.Err() == nil {
		return moment{}, x.lookFirst()
	}
	defer x.release()
	db := x.store
	if err := x.catchUp(ctx); err != nil {
		x.troubled(ctx, db, err)
		return moment{}, nil
	}
	if x.building.Load() != nil {
		return moment{}, nil
	}
	return moment{db: db, settled: true, left: x.leftOut}, nil
}

func (x *Index) take(ctx context.Context) bool {
	select {
	case x.turn <- struct{}{}:
		return true
	case <-ctx.Done():
		return false
	}
}

func (x *Index) release() { <-x.turn }

// opened opens the database if it must. It returns false where there is none, or none that can be used.
func (x *Index) opened(ctx context.Context, how opening) bool {
	if x.store != nil && !x.store.isReplaced() {
		return true
	}
	if x.store != nil {
		x.store.close()
		x.store, x.stale = nil, true
	}
	if x.shunned.Load() {
		return false
	}
	db, err := openStore(ctx, x.place, how)
	if err != nil && ctx.Err() == nil {
		x.shunned.Store(true)
		x.log.Warn("the notes index can't be opened; notes are searched without it", "file", x.place.file, "error", err)
	}
	x.store, x.stale = db, true
	return db != nil
}

// trouble is troubled for one who does not hold the turn.
func (x *Index) trouble(ctx context.Context, db *store, err error) {
	if ctx.Err() == nil && x.take(ctx) {
		defer x.release()
		x.troubled(ctx, db, err)
	}
}

// troubled removes a database that is damaged; any other trouble may pass by itself. A call that ran out of time is
// none.
func (x *Index) troubled(ctx context.Context, db *store, err error) {
	if ctx.Err() != nil {
		return
	}
	x.log.Warn("the notes index failed; notes are searched without it", "file", x.place.file, "error", err)
	if isDamaged(err) && x.store == db {
		x.discard(ctx)
	}
}

// discard removes the database. The next search that is worth it begins a new one.
func (x *Index) discard(ctx context.Context) {
	x.store.close()
	x.store, x.stale = nil, true
	if err := removeStore(ctx, x.place.file); err != nil {
		x.shunned.Store(true)
		x.log.Warn("the damaged notes index can't be removed", "file", x.place.file, "error", err)
	}
}

// Close ends the work in the background and closes the database and the vault.
func (x *Index) Close() error {
	x.cancel()
	x.work.Wait()
	x.turn <- struct{}{}
	defer x.release()
	x.shunned.Store(true)
	err := x.vault.Close()
	if db := x.store; db != nil {
		x.store = nil
		err = errors.Join(err, db.close())
	}
	return err
}
