package workspace

import (
	"io/fs"

	"golang.org/x/sys/unix"
)

const errNoAttribute = unix.ENODATA

func linkCountNative(info fs.FileInfo) uint64 {
	if o, ok := info.(*objectInfo); ok {
		return uint64(o.st.Nlink)
	}
	return 1
}
