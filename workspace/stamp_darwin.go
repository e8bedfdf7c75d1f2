package workspace

import (
	"io/fs"
	"syscall"
)

func stampOf(info fs.FileInfo) stamp {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return stamp{dev: uint64(st.Dev), ino: st.Ino, size: st.Size, mtime: st.Mtimespec.Nano(), ctime: st.Ctimespec.Nano()}
	}
	return stamp{size: info.Size(), mtime: info.ModTime().UnixNano()}
}
