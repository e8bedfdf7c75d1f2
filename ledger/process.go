package ledger

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"writ/envelope"
)

// lockWait is how long one process waits for another to open the database.
const lockWait = 5 * time.Second

// process is the mark of an open ledger: a file in processes/ that it holds locked. The lock ends with the process
// however it ends, so a mark that can be locked belongs to a dead one. Marks are made, tried and removed only under the
// directory lock.
type process struct {
	id   int64
	file *os.File
}

func register(dir string) (*process, error) {
	var random [8]byte
	rand.Read(random[:])
	id := int64(binary.BigEndian.Uint64(random[:]) >> 1)
	f, err := os.OpenFile(markOf(dir, id), os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	p := &process{id: id, file: f}
	locked, err := tryLock(f)
	if err == nil && !locked {
		err = errors.New("a new file can't be locked")
	}
	if err != nil {
		p.leave()
		return nil, fmt.Errorf("the mark of this process: %w", err)
	}
	// For people who look into the directory; nothing reads it.
	fmt.Fprintf(f, "pid %d\n", os.Getpid())
	return p, nil
}

func markOf(dir string, id int64) string {
	return filepath.Join(dir, processesDir, fmt.Sprintf("%016x", id))
}

// leave removes the mark. A mark that stays behind does no harm: it can be locked.
func (p *process) leave() {
	_ = p.file.Close()
	_ = os.Remove(p.file.Name())
}

// isAlive tells whether the process that left the mark still runs, and removes the mark if not.
func isAlive(mark string) (bool, error) {
	f, err := os.OpenFile(mark, os.O_RDWR, 0)
	if errors.Is(err, os.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	locked, err := tryLock(f)
	_ = f.Close()
	if err == nil && locked {
		_ = os.Remove(mark)
	}
	return !locked, err
}

// others counts the other processes that have the ledger open, and those that ended without closing it. It removes the
// marks of the latter.
func (p *process) others(dir string) (alive, dead int, err error) {
	entries, err := os.ReadDir(filepath.Join(dir, processesDir))
	if err != nil {
		return 0, 0, err
	}
	for _, e := range entries {
		mark := filepath.Join(dir, processesDir, e.Name())
		if mark == p.file.Name() {
			continue
		}
		lives, err := isAlive(mark)
		if err != nil {
			return 0, 0, err
		}
		if lives {
			alive++
		} else {
			dead++
		}
	}
	return alive, dead, nil
}

// lockDir takes the directory lock, which is held only for moments, and returns the function that gives it back.
func lockDir(ctx context.Context, dir string) (unlock func(), err error) {
	f, err := os.OpenFile(filepath.Join(dir, "open.lock"), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	unlock = func() { _ = f.Close() }
	timeout := time.After(lockWait)
	for {
		locked, err := tryLock(f)
		if locked {
			return unlock, nil
		}
		if err != nil {
			unlock()
			return nil, err
		}
		select {
		case <-time.After(2 * time.Millisecond):
		case <-ctx.Done():
			unlock()
			return nil, ctx.Err()
		case <-timeout:
			unlock()
			return nil, envelope.Errorf(envelope.Busy, "Another writ process is opening the change log. Try again in a moment.").
				With("retry_after_ms", 1000)
		}
	}
}
