package workspace

import (
	"errors"
	"io/fs"
	"syscall"

	"golang.org/x/sys/unix"
)

// openTree opens a root. A kernel or a sandbox that has no openat2 gets the portable form.
func openTree(directory string) (tree, error) {
	t, err := openLinuxTree(directory)
	if errors.Is(err, unix.ENOSYS) || errors.Is(err, unix.EPERM) {
		return openPortableTree(directory)
	}
	if err != nil {
		return nil, err
	}
	return t, nil
}

// sameFile tells whether two facts are of one object, whoever told them.
func sameFile(a, b fs.FileInfo) bool {
	devA, inoA, okA := objectOf(a)
	devB, inoB, okB := objectOf(b)
	return okA && okB && devA == devB && inoA == inoB
}

func objectOf(fact fs.FileInfo) (dev, ino uint64, ok bool) {
	switch st := fact.Sys().(type) {
	case *unix.Stat_t:
		return st.Dev, st.Ino, true
	case *syscall.Stat_t:
		return st.Dev, st.Ino, true
	}
	return 0, 0, false
}
