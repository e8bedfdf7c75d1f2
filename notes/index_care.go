package notes

import (
	"context"
	"fmt"
	"os"
	"time"
)

// What people do with an index, by hand: look at it, check it, make it anew.

// IndexStatus is what there is to say about an index.
type IndexStatus struct {
	File    string
	Exists  bool // the rest is zero if it does not
	Bytes   int64
	Notes   int // that can be found
	Hidden  int // that the visibility keeps back
	Skipped int // that can't be searched
	Stale   int // that the index has still to read, or to forget
}

// Status compares the index with the disk and changes nothing.
func (x *Index) Status(ctx context.Context) (IndexStatus, error) {
	s := IndexStatus{File: x.place.file}
	if !x.take(ctx) {
		return s, ctx.Err()
	}
	defer x.release()
	if !x.opened(ctx, existing) {
		return s, nil
	}
	s.Exists = true
	for _, name := range []string{s.File, s.File + "-wal"} {
		if info, err := os.Stat(name); err == nil {
			s.Bytes += info.Size()
		}
	}
	const question = "SELECT (SELECT notes FROM totals), (SELECT count(*) FROM notes WHERE skip = ?), (SELECT count(*) FROM notes WHERE skip NOT IN ('', ?))"
	if err := x.store.readers.QueryRowContext(ctx, question, hidden, hidden).Scan(&s.Notes, &s.Hidden, &s.Skipped); err != nil {
		return s, err
	}
	todo, err := x.compare(ctx)
	s.Stale = len(todo)
	return s, err
}

// Verify reads the whole database and returns an error if it does not hold together; then it is removed, and the next
// search that is worth it begins a new one.
func (x *Index) Verify(ctx context.Context) error {
	if !x.take(ctx) {
		return ctx.Err()
	}
	defer x.release()
	_, missing := os.Stat(x.place.file)
	switch {
	case x.opened(ctx, existing):
	case ctx.Err() != nil || missing != nil:
		return ctx.Err()
	default:
		return fmt.Errorf("%w: it could not be opened", errDamaged)
	}
	err := x.store.check(ctx)
	if isDamaged(err) {
		x.discard(ctx)
	}
	return err
}

// Build brings the index up to date and waits for that. It tells how far it is after every few hundred notes.
func (x *Index) Build(ctx context.Context, tell func(Progress)) error {
	if !x.take(ctx) {
		return ctx.Err()
	}
	defer x.release()
	return x.build(ctx, tell)
}

// Rebuild makes the index anew.
func (x *Index) Rebuild(ctx context.Context, tell func(Progress)) error {
	if !x.take(ctx) {
		return ctx.Err()
	}
	defer x.release()
	if x.store != nil {
		x.store.close()
		x.store = nil
	}
	if err := removeStore(ctx, x.place.file); err != nil {
		return err
	}
	return x.build(ctx, tell)
}

func (x *Index) build(ctx context.Context, tell func(Progress)) error {
	db, err := openStore(ctx, x.place, orNew)
	if err != nil {
		return err
	}
	if x.store != nil {
		x.store.close()
	}
	x.store = db
	todo, err := x.compare(ctx)
	x.looked = err == nil
	if err != nil || len(todo) == 0 {
		x.stale = err != nil
		return err
	}
	sortPaths(todo)
	p := Progress{Total: len(todo)}
	err = db.build(ctx, x.vault, todo, func(n int) {
		p.Done += n
		tell(p)
	})
	x.stale = err != nil
	x.swept.Store(time.Now().UnixNano())
	return err
}
