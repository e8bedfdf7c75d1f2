package workspace

import (
	"context"
	"encoding/binary"
	"hash/fnv"
	"slices"
	"strings"
	"sync"
	"time"

	"writ/contract"
)

// Stamp is what a directory entry says of a file's state.
type Stamp struct {
	Modified time.Time
	// State names the state: two that are equal and not zero are of the same bytes. It is zero for a file that was
	// changed so shortly before that another change may have left no trace.
	State int64
}

// Stamp returns the visited file's stamp. It is that of the text only if it was taken before the text was read.
func (v *Visited) Stamp() (Stamp, error) {
	f, err := v.facts()
	if err != nil {
		return Stamp{}, err
	}
	return Stamp{Modified: f.modified(), State: f.state(time.Now())}, nil
}

func (s stamp) state(now time.Time) int64 {
	if max(s.mtime, s.ctime) >= now.Add(-settling).UnixNano() {
		return 0
	}
	h := fnv.New64a()
	var b [8]byte
	for _, part := range [...]uint64{s.dev, s.ino, uint64(s.size), uint64(s.mtime), uint64(s.ctime)} {
		binary.LittleEndian.PutUint64(b[:], part)
		h.Write(b[:])
	}
	return int64(h.Sum64() | 1)
}

// A Follower tells which files have changed since it walked over them, where the system keeps account of that. On Linux
// the kernel notes every change in a directory that is watched, and [Follower.Changes] reads its notes at the moment of
// the question: there is no thread that could lag behind. Where that is not to be had (another system, a file system on
// the network, more directories than may be watched, a kernel queue that overflowed), Changes says that it can't tell.
//
// Its methods may be called from several goroutines, but for two Walks at once.
type Follower struct {
	reader Reader
	mu     sync.Mutex
	dirs   watchedDirs
	lost   bool // what changed is not known: walk
	walks  uint64
}

// Follow returns a Follower of what the reader may read. It has walked over nothing yet.
func (r Reader) Follow() *Follower { return &Follower{reader: r, lost: true} }

// Walk is [Reader.Walk] of everything. Every directory is watched from before it is read.
func (f *Follower) Walk(ctx context.Context, visit func(*Visited)) (Skips, error) {
	f.mu.Lock()
	f.lost = false
	f.walks++
	f.mu.Unlock()
	w := &walking{
		visit:  func(_ int, v *Visited) { visit(v) },
		arrive: f.arrive,
	}
	skips, err := w.run(ctx, f.reader, contract.Path{})
	f.mu.Lock()
	defer f.mu.Unlock()
	if err != nil {
		f.lost = true
		return skips, err
	}
	f.dirs.forget(f.walks)
	return skips, nil
}

func (f *Follower) arrive(d *directory) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.dirs.watch(d, f.walks)
}

// Changes returns the files that may have changed since the last call or, before the first one, since the last Walk
// began. all tells that it is not known which: only another Walk can say.
func (f *Follower) Changes() (files []contract.Path, all bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	changed := map[contract.Path]bool{}
	sound := f.dirs.read(func(e sighting) {
		switch p, ok := e.path(); {
		case !ok || isTempName(e.name):
		case e.directory:
			f.lost = f.lost || f.reader.guard.Allow(Look, Place{Path: p}) == nil
		case e.name == ignoreName:
			f.lost = true
		default:
			changed[p] = true
		}
	})
	if !sound {
		f.lost = true
	}
	if f.lost {
		return nil, true
	}
	for p := range changed {
		files = append(files, p)
	}
	slices.SortFunc(files, func(a, b contract.Path) int { return strings.Compare(a.String(), b.String()) })
	return files, false
}

// Close ends the watching.
func (f *Follower) Close() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.lost = true
	return f.dirs.close()
}

// sighting is one entry of a watched directory that is not as it was.
type sighting struct {
	dir       contract.Path
	name      string // "" for the directory itself
	directory bool
}

func (s sighting) path() (contract.Path, bool) {
	if s.name == "" {
		return s.dir, true
	}
	joined := s.name
	if !s.dir.IsTop() {
		joined = s.dir.String() + "/" + s.name
	}
	p, err := contract.ParsePath(joined)
	return p, err == nil
}
