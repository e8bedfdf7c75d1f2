package workspace

import (
	"errors"
	"io/fs"
	"os"

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

// sameFile tells whether two facts are of one object.
func sameFile(a, b fs.FileInfo) bool {
	x, ok1 := a.(*objectInfo)
	y, ok2 := b.(*objectInfo)
	if ok1 && ok2 {
		return sameObject(&x.st, &y.st)
	}
	return os.SameFile(a, b)
}
