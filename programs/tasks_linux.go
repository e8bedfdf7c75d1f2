package programs

import (
	"os"
	"path/filepath"
	"strconv"
	"syscall"
)

// tasks counts the processes and threads of this user, as far as they can be seen: what the kernel compares with its bound.
func tasks() uint64 {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return 0
	}
	var count uint64
	for _, e := range entries {
		if _, err := strconv.Atoi(e.Name()); err != nil {
			continue
		}
		info, err := e.Info()
		if err != nil {
			continue
		}
		if owner, ok := info.Sys().(*syscall.Stat_t); !ok || int(owner.Uid) != os.Getuid() {
			continue
		}
		if threads, err := os.ReadDir(filepath.Join("/proc", e.Name(), "task")); err == nil {
			count += uint64(len(threads))
		}
	}
	return count
}
