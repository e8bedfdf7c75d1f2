//go:build !windows

package ledger

import (
	"errors"
	"io/fs"
	"os"
	"syscall"
)

// tryLock locks f against every other open handle, of this process or another, and tells whether it could. The lock
// ends with the handle, so it never outlives a process.
func tryLock(f *os.File) (bool, error) {
	for {
		err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		switch {
		case err == nil:
			return true, nil
		case errors.Is(err, syscall.EWOULDBLOCK):
			return false, nil
		case !errors.Is(err, syscall.EINTR):
			return false, &os.PathError{Op: "lock", Path: f.Name(), Err: err}
		}
	}
}

func othersMayWrite(mode fs.FileMode) bool { return mode.Perm()&0o022 != 0 }
