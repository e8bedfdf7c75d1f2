package notes

import (
	"context"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"writ/contract"
)

// An index is as fresh as the last look at the disk, so there is one before each search. Where the system keeps account
// of changes it costs next to nothing; elsewhere all notes are walked over, and those read whose state is another.

// catchUp brings the database up to what is on disk. Where that would take long it is begun in the background.
func (x *Index) catchUp(ctx context.Context) error {
	files, all := x.vault.Changes()
	if all {
		x.stale = true
	}
	if x.stale {
		return x.sweep(ctx)
	}
	for _, p := range files {
		x.dirty[p] = true
	}
	if len(x.dirty) == 0 {
		return nil
	}
	return x.read(ctx, slices.Collect(maps.Keys(x.dirty)))
}

// sweep walks over all notes and reads those that are not as the database knows them.
func (x *Index) sweep(ctx context.Context) error {
	todo, err := x.compare(ctx)
	if err != nil {
		return err
	}
	x.stale = x.leftOut.IsUnsure()
	x.swept.Store(time.Now().UnixNano())
	clear(x.dirty)
	for _, p := range todo {
		x.dirty[p] = true
	}
	if len(todo) == 0 {
		return nil
	}
	return x.read(ctx, todo)
}

// sweepEvery is how often all notes are walked over although nothing is known to have changed: the system does not tell
// of what is written through a mapping or another hard link.
const sweepEvery = 5 * time.Minute

// sweepAside walks over all notes in the background, if that has not been done for long.
func (x *Index) sweepAside() {
	last := x.swept.Load()
	now := time.Now()
	if x.context.Err() != nil || now.Sub(time.Unix(0, last)) < sweepEvery || !x.swept.CompareAndSwap(last, now.UnixNano()) {
		return
	}
	x.work.Go(func() {
		if !x.take(x.context) {
			return
		}
		defer x.release()
		if x.building.Load() != nil || !x.opened(x.context, existing) {
			return
		}
		x.stale = true
		if err := x.catchUp(x.context); err != nil {
			x.troubled(x.context, x.store, err)
		}
	})
}

// read indexes the notes, or begins to where they are many.
func (x *Index) read(ctx context.Context, files []contract.Path) error {
	sortPaths(files)
	if len(files) > fewChanges {
		x.readAside(files)
		return nil
	}
	if err := x.store.readNotes(ctx, x.vault, files); err != nil {
		return err
	}
	clear(x.dirty)
	return nil
}

func sortPaths(files []contract.Path) {
	slices.SortFunc(files, func(a, b contract.Path) int { return strings.Compare(a.String(), b.String()) })
}

// compare returns the notes whose state the database does not know, and those that are gone. What it can't look into is
// as good as gone, and is told of with each search; what may be there at the next look is not given up.
func (x *Index) compare(ctx context.Context) ([]contract.Path, error) {
	known, err := x.store.states(ctx)
	if err != nil {
		return nil, err
	}
	var mu sync.Mutex
	var todo []contract.Path
	left, err := x.vault.Notes(ctx, func(c Candidate) error {
		mu.Lock()
		defer mu.Unlock()
		state, ok := known[c.Path.String()]
		if !ok || state == 0 || state != c.State {
			todo = append(todo, c.Path)
		}
		delete(known, c.Path.String())
		return ctx.Err()
	})
	if err != nil {
		return nil, err
	}
	x.leftOut = left
	if left.IsUnsure() {
		return todo, nil
	}
	for name := range known {
		if p, err := contract.ParsePath(name); err == nil {
			todo = append(todo, p)
		}
	}
	return todo, nil
}

// start begins an index in the background, unless that can't be.
func (x *Index) start() {
	if x.context.Err() != nil || x.shunned.Load() || !x.building.CompareAndSwap(nil, &building{}) {
		return
	}
	x.work.Go(func() {
		if !x.take(x.context) {
			return
		}
		defer x.release()
		x.building.Store(nil)
		if !x.opened(x.context, orNew) {
			return
		}
		if err := x.catchUp(x.context); err != nil {
			x.troubled(x.context, x.store, err)
		}
	})
}

// readAside indexes notes in the background. Until that is done, searches scan.
func (x *Index) readAside(files []contract.Path) {
	b := &building{}
	b.total.Store(int64(len(files)))
	x.building.Store(b)
	db := x.store
	x.work.Go(func() {
		err := db.build(x.context, x.vault, files, func(n int) { b.done.Add(int64(n)) })
		x.turn <- struct{}{}
		defer x.release()
		x.building.Store(nil)
		if err == nil {
			clear(x.dirty)
			return
		}
		x.stale = true
		x.troubled(x.context, db, err)
	})
}
