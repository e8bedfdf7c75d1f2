//go:build !windows

package workspace

import (
	"fmt"
	"io/fs"
	"syscall"
)

// umask reads the mask by setting it; no test makes files at that moment.
func umask() fs.FileMode {
	mask := syscall.Umask(0o022)
	syscall.Umask(mask)
	return fs.FileMode(mask)
}

func ownerOf(info fs.FileInfo) string {
	st := info.Sys().(*syscall.Stat_t)
	return fmt.Sprintf("%d:%d", st.Uid, st.Gid)
}
