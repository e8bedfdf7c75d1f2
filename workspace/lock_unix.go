//go:build !windows

package workspace

import (
	"os"

	"golang.org/x/sys/unix"
)

// tryLock locks the whole file for its descriptor, without waiting.
func tryLock(f *os.File) (bool, error) {
	switch err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); err {
	case nil:
		return true, nil
	case unix.EWOULDBLOCK, unix.EINTR:
		return false, nil
	default:
		return false, err
	}
}
