//go:build !windows

package workspace

import (
	"fmt"
	"io/fs"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// openNoWait keeps the opening of a FIFO from waiting for a writer.
const openNoWait = syscall.O_NONBLOCK | syscall.O_NOCTTY

// sameDevice tells whether two objects are on one file system.
func sameDevice(a, b fs.FileInfo) bool {
	x, ok1 := a.Sys().(*syscall.Stat_t)
	y, ok2 := b.Sys().(*syscall.Stat_t)
	return !ok1 || !ok2 || x.Dev == y.Dev
}

// moveEntry renames an entry without replacing. Where the system has no call for it, a hard link does: for a moment the
// file has both names. A file system without hard links gets a rename after a look.
func moveEntry(from *portableDir, name string, to *portableDir, as string) error {
	a, b := int(from.f.Fd()), int(to.f.Fd())
	if err := renameExclusively(a, name, b, as); err != errNoExchange {
		return err
	}
	switch err := unix.Linkat(a, name, b, as, 0); err {
	case nil:
		return unix.Unlinkat(a, name, 0)
	case unix.EPERM, unix.EOPNOTSUPP, unix.ENOSYS:
	default:
		return err
	}
	if _, err := to.root.Lstat(as); err == nil {
		return fs.ErrExist
	}
	return unix.Renameat(a, name, b, as)
}

// removeDirectory removes an empty directory, and nothing else whatever takes its place.
func removeDirectory(in *portableDir, name string) error {
	return unix.Unlinkat(int(in.f.Fd()), name, unix.AT_REMOVEDIR)
}

func syncDirectory(f *os.File) error {
	if err := f.Sync(); err != nil && !isUnsupportedSync(err) {
		return err
	}
	return nil
}

func isUnsupportedSync(err error) bool {
	e, ok := plain(err).(syscall.Errno)
	return ok && (e == syscall.EINVAL || e == syscall.ENOTSUP)
}

func directoryIdentity(d *portableDir) (string, error) {
	info, err := d.f.Stat()
	if err != nil {
		return "", err
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return "", fmt.Errorf("no identity of a directory: %w", fs.ErrInvalid)
	}
	return fmt.Sprintf("%d:%d", st.Dev, st.Ino), nil
}

// linkCount returns how many names a file has.
func linkCount(info fs.FileInfo) uint64 {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return uint64(st.Nlink)
	}
	return linkCountNative(info)
}

// carryOver gives a new file the owner, mode and extended attributes of another; access lists are among the latter on
// Linux. An owner that may not be given is left, and then the bits that would lend his rights are left too.
func carryOver(from, to *os.File) error {
	var st unix.Stat_t
	if err := unix.Fstat(int(from.Fd()), &st); err != nil {
		return err
	}
	mode := uint32(st.Mode) & 0o7777
	if err := unix.Fchown(int(to.Fd()), int(st.Uid), int(st.Gid)); err != nil {
		if err != unix.EPERM {
			return err
		}
		if unix.Fchown(int(to.Fd()), -1, int(st.Gid)) != nil {
			mode &^= unix.S_ISGID
		}
		mode &^= unix.S_ISUID
	}
	if err := unix.Fchmod(int(to.Fd()), mode); err != nil {
		return err
	}
	return carryAttributes(int(from.Fd()), int(to.Fd()))
}
