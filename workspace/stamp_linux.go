package workspace

import (
	"io/fs"
	"syscall"

	"golang.org/x/sys/unix"
)

func stampOf(info fs.FileInfo) stamp {
	switch st := info.Sys().(type) {
	case *unix.Stat_t:
		return linuxStamp(st)
	case *syscall.Stat_t:
		return stamp{dev: st.Dev, ino: st.Ino, size: st.Size, mtime: st.Mtim.Nano(), ctime: st.Ctim.Nano()}
	}
	return stamp{size: info.Size(), mtime: info.ModTime().UnixNano()}
}

func linuxStamp(st *unix.Stat_t) stamp {
	return stamp{dev: st.Dev, ino: st.Ino, size: st.Size, mtime: st.Mtim.Nano(), ctime: st.Ctim.Nano()}
}
