package ledger

import (
	"os"
	"syscall"
)

// flushData returns when the bytes of f are on the disk, with as much of its metadata as reading them takes. Time
// stamps are left out: they would double the cost of a flush that overwrites.
func flushData(f *os.File) error {
	for {
		err := syscall.Fdatasync(int(f.Fd()))
		if err != syscall.EINTR {
			return os.NewSyscallError("fdatasync", err)
		}
	}
}
