//go:build unix

package main

import (
	"os"
	"syscall"
)

func makeFIFO(name string) error { return syscall.Mkfifo(name, 0o600) }

// makeZero makes a device that never ends, which takes root.
func makeZero(name string) error { return syscall.Mknod(name, syscall.S_IFCHR|0o666, 1<<8|5) }

// makeSparse makes a file of that size without a byte on disk.
func makeSparse(name string, size int64) error {
	f, err := os.Create(name)
	if err != nil {
		return err
	}
	defer f.Close()
	return f.Truncate(size)
}
