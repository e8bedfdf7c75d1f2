//go:build !linux

package workspace

import (
	"io/fs"
	"os"
)

func openTree(directory string) (tree, error) { return openPortableTree(directory) }

// sameFile tells whether two facts are of one object.
func sameFile(a, b fs.FileInfo) bool { return os.SameFile(a, b) }
