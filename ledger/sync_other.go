//go:build !linux

package ledger

import "os"

// flushData returns when the bytes of f are on the disk.
func flushData(f *os.File) error { return f.Sync() }
