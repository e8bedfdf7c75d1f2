package workspace

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"writ/envelope"
)

// Two changes of one file follow one another, in one process and in many. A file is known by its directory's identity
// and its name there, which stay the same when its content gets another inode. Each falls into one of a fixed number of
// slots; a slot is a channel within this process and a locked file in the state directory between processes. A change
// holds one slot and waits for no other; a batch takes all of its slots in ascending order. So nobody waits in a circle.

const lockSlots = 256

// lockWait bounds the waiting for a change of another process.
const lockWait = 10 * time.Second

type locks struct {
	dir   string // "" where the workspace can't be written
	slots [lockSlots]chan struct{}
}

func newLocks(state string) (*locks, error) {
	l := &locks{}
	if state == "" {
		return l, nil
	}
	l.dir = filepath.Join(state, "locks")
	if err := os.MkdirAll(l.dir, 0o700); err != nil {
		return nil, err
	}
	for i := range l.slots {
		l.slots[i] = make(chan struct{}, 1)
	}
	return l, nil
}

// slotOf returns the slot of the file name in the directory.
func (l *locks) slotOf(directory editDir, name string) (int, error) {
	id, err := directory.identity()
	if err != nil {
		return 0, err
	}
	h := fnv.New32a()
	h.Write([]byte(id + "/" + name))
	return int(h.Sum32() % lockSlots), nil
}

// acquire waits for the slot of the file name in the directory and returns what gives it back.
func (l *locks) acquire(ctx context.Context, directory editDir, name string) (release func(), err error) {
	n, err := l.slotOf(directory, name)
	if err != nil {
		return nil, err
	}
	return l.acquireSlot(ctx, n)
}

// acquireAll waits for several slots.
func (l *locks) acquireAll(ctx context.Context, slots []int) (release func(), err error) {
	slots = slices.Compact(slices.Sorted(slices.Values(slots)))
	var releases []func()
	release = func() {
		for _, r := range releases {
			r()
		}
	}
	for _, n := range slots {
		one, err := l.acquireSlot(ctx, n)
		if err != nil {
			release()
			return nil, err
		}
		releases = append(releases, one)
	}
	return release, nil
}

func (l *locks) acquireSlot(ctx context.Context, n int) (release func(), err error) {
	if l.dir == "" {
		return nil, errors.New("the workspace was opened without a state directory and can't be written")
	}
	ctx, cancel := context.WithTimeout(ctx, lockWait)
	defer cancel()
	select {
	case l.slots[n] <- struct{}{}:
	case <-ctx.Done():
		return nil, busy(ctx.Err())
	}
	f, err := l.lockFile(ctx, n)
	if err != nil {
		<-l.slots[n]
		return nil, err
	}
	return func() {
		f.Close()
		<-l.slots[n]
	}, nil
}

// lockFile locks a slot's file. Closing it, by whatever end of the process, unlocks it. What was locked must be what stands
// under that name afterwards: else somebody took the file away, and others lock another one.
func (l *locks) lockFile(ctx context.Context, slot int) (*os.File, error) {
	for pause := 100 * time.Microsecond; ; pause = min(2*pause, 5*time.Millisecond) {
		f, err := l.tryFile(slot)
		if f != nil || err != nil {
			return f, err
		}
		select {
		case <-ctx.Done():
			return nil, busy(ctx.Err())
		case <-time.After(pause):
		}
	}
}

// tryFile locks a slot's file, or returns nil where another process has it. A directory that somebody cleared away is
// made again.
func (l *locks) tryFile(slot int) (*os.File, error) {
	name := filepath.Join(l.dir, fmt.Sprintf("%02x", slot))
	f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o600)
	if errors.Is(err, fs.ErrNotExist) {
		_ = os.Mkdir(l.dir, 0o700) // that it fails shows again below
		f, err = os.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o600)
	}
	if err != nil {
		return nil, noLock(err)
	}
	locked, err := tryLock(f)
	if err == nil && locked && stands(f, name) {
		return f, nil
	}
	f.Close()
	if err != nil {
		return nil, noLock(err)
	}
	return nil, nil
}

// stands tells whether an open file is the one under the name.
func stands(f *os.File, name string) bool {
	open, err := f.Stat()
	if err != nil {
		return false
	}
	there, err := os.Stat(name)
	return err == nil && os.SameFile(open, there)
}

// noLock tells that the state directory is not fit for locks: it is gone, full or read-only.
func noLock(err error) error {
	return &envelope.Error{
		Code: envelope.IO,
		Message: "The server can't use its state directory, so nothing can be written and nothing was changed. A person must look at it: " +
			"`writ doctor` tells what is wrong.",
		Err: fmt.Errorf("lock: %w", err),
	}
}

func busy(err error) error {
	return &envelope.Error{
		Code:    envelope.Busy,
		Message: "Another change of the same file is still under way, and nothing was changed. Try again.",
		Err:     err,
	}
}
