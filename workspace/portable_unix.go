//go:build !windows

package workspace

import (
	"io/fs"
	"syscall"
)

// openNoWait keeps the opening of a FIFO from waiting for a writer.
const openNoWait = syscall.O_NONBLOCK | syscall.O_NOCTTY

// sameDevice tells whether two objects are on one file system.
func sameDevice(a, b fs.FileInfo) bool {
	x, ok1 := a.Sys().(*syscall.Stat_t)
	y, ok2 := b.Sys().(*syscall.Stat_t)
	return !ok1 || !ok2 || x.Dev == y.Dev
}
