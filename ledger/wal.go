package ledger

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"sync"
	"sync/atomic"
)

// wal flushes SQLite's write-ahead log.
//
// SQLite commits with synchronous=NORMAL: a commit is written to the log and left to the operating system. What must
// survive a power cut is flushed here, through a handle of our own, after the commit and outside every lock. So one
// connection serves commits with and without a flush, and callers that wait at the same time share one. It is safe:
// the log's file stays the same one while a connection is open, and SQLite flushes database and log itself before it
// writes over old frames.
type wal struct {
	file  *os.File
	flush func(*os.File) error

	committed atomic.Uint64 // commits that asked for a flush so far
	failed    atomic.Bool   // a flush failed; asked without mu, which is held for as long as a flush takes
	mu        sync.Mutex    // held while flushing
	flushed   uint64        // commits that are durable
	unhealed  error         // why the log could not be emptied after a flush failed; guarded by store.write
}

// errNotFlushed stops every commit after a flush that failed: the system may have dropped the pages that it could not
// write, so that a later flush succeeds and still leaves a hole before it.
var errNotFlushed = errors.New("an earlier part of the log could not be flushed")

func openWAL(database string) (*wal, error) {
	f, err := os.OpenFile(database+"-wal", os.O_RDWR, 0)
	if err != nil {
		return nil, fmt.Errorf("the write-ahead log: %w", err)
	}
	return &wal{file: f, flush: flushData}, nil
}

// wait returns when everything that was committed before the call is durable.
func (w *wal) wait() error {
	mine := w.committed.Add(1)
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.flushed >= mine {
		return nil
	}
	if w.failed.Load() {
		return errNotFlushed
	}
	upTo := w.committed.Load()
	if err := w.flush(w.file); err != nil {
		w.failed.Store(true)
		return err
	}
	w.flushed = upTo
	return nil
}

// flushDir makes the names in dir durable. Windows has no such call and needs none.
func flushDir(dir string) error {
	if runtime.GOOS == "windows" {
		return nil
	}
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
