package notes

import (
	"cmp"
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
	x.stale, x.looked = x.leftOut.IsUnsure(), true
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
	var known map[string]int64
	var failed error
	var reading sync.WaitGroup
	reading.Go(func() { known, failed = x.store.states(ctx) })
	var mu sync.Mutex
	var there []atState
	left, err := x.vault.Notes(ctx, func(c Candidate) error {
		mu.Lock()
		defer mu.Unlock()
		there = append(there, atState{c.Path, c.State})
		return ctx.Err()
	})
	reading.Wait()
	if err = cmp.Or(failed, err); err != nil {
		return nil, err
	}
	x.leftOut = left
	return differing(there, known, left.IsUnsure()), nil
}

// atState is a note and the state it is in.
type atState struct {
	path  contract.Path
	state int64
}

// differing returns the notes that are not in the state that is known, and those known that are not there.
func differing(there []atState, known map[string]int64, unsure bool) []contract.Path {
	var todo []contract.Path
	for _, n := range there {
		name := n.path.String()
		if state, ok := known[name]; !ok || state == 0 || state != n.state {
			todo = append(todo, n.path)
		}
		delete(known, name)
	}
	if unsure {
		return todo
	}
	for name := range known {
		if p, err := contract.ParsePath(name); err == nil {
			todo = append(todo, p)
		}
	}
	return todo
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
