package workspace

import (
	"io/fs"
)

func linkCountNative(info fs.FileInfo) uint64 {
	if o, ok := info.(*objectInfo); ok {
		return uint64(o.st.Nlink)
	}
	return 1
}
