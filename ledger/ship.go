package ledger

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"sync"
	"time"
)

// Shipping says where the audit's lines are written a second time, as a plain file for programs that carry logs away.
//
// The lines are the audit's own, byte for byte and in its order, so that the chain holds over the files. They follow the
// database within a fifth of a second, whichever process wrote them, and only once they are durable there; what a crash
// or a full disk kept back comes later. A file that is full is renamed to FILE.1, the one that had that name to FILE.2,
// and so on. FILE.position names the last line that was written, so that files may be taken away at any time; it is
// locked by the process that writes. If the database was begun anew, so is the file, with its first line.
type Shipping struct {
	File  string // absolute; "": nowhere
	Bytes int64  // a file that would grow beyond is full; 0: DefaultShippedBytes
	Files int    // full files that are kept; 0: DefaultShippedFiles
}

// What the shipped files may take where Shipping leaves it open.
const (
	DefaultShippedBytes = 64 << 20
	DefaultShippedFiles = 8
)

// shipper brings the lines from the database to the file.
type shipper struct {
	Shipping
	mu    sync.Mutex  // guards timer, which writers wait for
	timer *time.Timer // runs while there may be lines to bring

	bringing sync.Mutex // held while lines are brought; guards the rest
	ended    bool
	fault    string // that was logged last
}

// shipSoon sees to it that the lines written by now are shipped.
func (l *Ledger) shipSoon() {
	if l.shipper.File == "" {
		return
	}
	l.shipper.mu.Lock()
	defer l.shipper.mu.Unlock()
	if l.shipper.timer == nil {
		l.shipper.timer = time.AfterFunc(flushAfter, l.ship)
	}
}

// ship ships what was written by now. A failure is told once; the next line tries again.
func (l *Ledger) ship() {
	l.shipper.stopTimer()
	l.shipper.bringing.Lock()
	defer l.shipper.bringing.Unlock()
	if l.shipper.ended {
		return
	}
	if err := l.bring(); errors.Is(err, errOtherShips) {
		l.shipSoon() // what it did not see yet
	}
}

// shipLast is the last ship, of a ledger that was used.
func (l *Ledger) shipLast() {
	if l.shipper.File == "" || !l.isOpen() {
		return
	}
	l.shipper.stopTimer()
	l.shipper.bringing.Lock()
	defer l.shipper.bringing.Unlock()
	l.shipper.ended = true
	_ = l.bring() // it is logged
}

func (l *Ledger) isOpen() bool {
	l.opening.Lock()
	defer l.opening.Unlock()
	return l.store != nil
}

// bring ships the lines. The caller holds shipper.bringing.
func (l *Ledger) bring() error {
	s, err := l.open(context.Background())
	if err == nil {
		err = l.shipper.bring(context.Background(), s)
	}
	switch {
	case err == nil:
		l.shipper.fault = ""
	case errors.Is(err, errClosed), errors.Is(err, errOtherShips):
	case l.shipper.fault != err.Error():
		l.shipper.fault = err.Error()
		l.log.Error("the audit can't be written to its file; it is tried again with the next line", "file", l.shipper.File, "error", err)
	}
	return err
}

func (p *shipper) stopTimer() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.timer != nil {
		p.timer.Stop()
		p.timer = nil
	}
}

// errOtherShips is the end of a ship that another process is in the way of: it ships these lines too.
var errOtherShips = errors.New("another process is shipping the audit")

func (p *shipper) bring(ctx context.Context, s *store) error {
	if err := s.wal.wait(); err != nil { // else a power cut could take lines back that are in the file
		return err
	}
	if err := os.MkdirAll(filepath.Dir(p.File), 0o700); err != nil {
		return err
	}
	position, err := os.OpenFile(p.File+".position", os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return err
	}
	defer position.Close()
	if err := lockWithin(position, time.Second); err != nil {
		return err
	}
	w := &shippedFile{shipper: p, position: position}
	err = w.findLast(ctx, s)
	if err == nil {
		err = w.copyLines(ctx, s)
	}
	return errors.Join(err, w.finish())
}

// lockWithin waits for other processes, which hold the lock for moments.
func lockWithin(f *os.File, long time.Duration) error {
	for end := time.Now().Add(long); ; time.Sleep(2 * time.Millisecond) {
		locked, err := tryLock(f)
		switch {
		case locked || err != nil:
			return err
		case time.Now().After(end):
			return errOtherShips
		}
	}
}
