package workspace

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

const openNoWait = 0

// sameDevice is true: a mount point is a reparse point on Windows, which is refused as a link.
func sameDevice(_, _ fs.FileInfo) bool { return true }

// moveEntry renames after a look, since the system has no call that renames between two handles without replacing.
func moveEntry(from *portableDir, name string, to *portableDir, as string) error {
	if _, err := to.root.Lstat(as); err == nil {
		return fs.ErrExist
	}
	return from.tree.top.Rename(filepath.FromSlash(joinRel(from.rel, name)), filepath.FromSlash(joinRel(to.rel, as)))
}

// removeDirectory removes an empty directory after a look at what it is.
func removeDirectory(in *portableDir, name string) error {
	fact, err := in.root.Lstat(name)
	if err != nil {
		return err
	}
	if !fact.IsDir() {
		return fs.ErrInvalid
	}
	return in.root.Remove(name)
}

// syncDirectory does nothing: Windows makes entries durable with the file.
func syncDirectory(*os.File) error { return nil }

func directoryIdentity(d *portableDir) (string, error) {
	return strings.ToLower(filepath.Join(d.tree.dir, filepath.FromSlash(d.rel))), nil
}

// linkCount is not told by a look at a file.
func linkCount(fs.FileInfo) uint64 { return 1 }

// attributesOf returns none: a new file inherits the access list of its directory.
func attributesOf(*os.File) (*attributes, error) { return nil, nil }

func (a *attributes) give(*os.File) ([]string, error) { return nil, nil }

func exchangeEntries(*os.File, string, string) error { return errNoExchange }
