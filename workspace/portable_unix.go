//go:build !windows

package workspace

import (
	"errors"
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

// moveEntry renames an entry without replacing.
func moveEntry(from *portableDir, name string, to *portableDir, as string) error {
	a, b := int(from.f.Fd()), int(to.f.Fd())
	if err := renameExclusively(a, name, b, as); err != errNoExchange {
		return err
	}
	return moveByLink(a, name, b, as)
}

// moveByLink renames an entry without replacing where the system has no call for it: a hard link never replaces either.
// For a moment the file has both names; if it can't lose the old one, it loses the new one. A file system without hard
// links gets a rename after a look.
func moveByLink(from int, name string, to int, as string) error {
	switch err := unix.Linkat(from, name, to, as, 0); err {
	case nil:
	case unix.EPERM, unix.EOPNOTSUPP, unix.ENOSYS:
		return moveAfterALook(from, name, to, as)
	default:
		return err
	}
	if !sameEntry(from, name, to, as) {
		return nil // another program has put a file of its own under the old name, which is free of ours thereby
	}
	if err := unix.Unlinkat(from, name, 0); err != nil && err != unix.ENOENT {
		return errors.Join(err, unix.Unlinkat(to, as, 0))
	}
	return nil
}

func sameEntry(a int, name string, b int, as string) bool {
	var x, y unix.Stat_t
	return unix.Fstatat(a, name, &x, unix.AT_SYMLINK_NOFOLLOW) == nil && unix.Fstatat(b, as, &y, unix.AT_SYMLINK_NOFOLLOW) == nil &&
		x.Dev == y.Dev && x.Ino == y.Ino
}

func moveAfterALook(from int, name string, to int, as string) error {
	var st unix.Stat_t
	switch err := unix.Fstatat(to, as, &st, unix.AT_SYMLINK_NOFOLLOW); err {
	case unix.ENOENT:
		return unix.Renameat(from, name, to, as)
	case nil:
		return fs.ErrExist
	default:
		return err
	}
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

// attributesOf returns what a file is beside its bytes.
func attributesOf(f *os.File) (*attributes, error) {
	var st unix.Stat_t
	if err := unix.Fstat(int(f.Fd()), &st); err != nil {
		return nil, err
	}
	a := &attributes{UID: st.Uid, GID: st.Gid, Mode: uint32(st.Mode) & 0o7777}
	var err error
	a.Extended, a.Unread, err = extendedOf(int(f.Fd()))
	return a, err
}

// give gives a new file these attributes, and tells which it may not have. An owner that may not be given is left, and
// then the bits that would lend his rights, or those of his group, to somebody else are left too. Without its access list
// a file could be open to more than it was, so that is an error.
func (a *attributes) give(to *os.File) (lost []string, err error) {
	mode, groupKept := a.Mode, true
	if err := unix.Fchown(int(to.Fd()), int(a.UID), int(a.GID)); err != nil {
		if err != unix.EPERM {
			return nil, err
		}
		if groupKept = unix.Fchown(int(to.Fd()), -1, int(a.GID)) == nil; !groupKept {
			mode = withoutGroup(mode)
		}
		mode &^= unix.S_ISUID
		lost = a.lostOwner(to)
	}
	if err := unix.Fchmod(int(to.Fd()), mode); err != nil {
		return nil, err
	}
	extended, err := a.giveExtended(int(to.Fd()), groupKept)
	return append(lost, extended...), err
}

// withoutGroup returns a mode that gives a group no more than everybody.
func withoutGroup(mode uint32) uint32 {
	const group = 0o070
	return mode&^(unix.S_ISGID|group) | mode&group&(mode<<3)
}

// lostOwner tells which of the two owners a file did not get.
func (a *attributes) lostOwner(f *os.File) (lost []string) {
	var got unix.Stat_t
	if unix.Fstat(int(f.Fd()), &got) != nil || got.Uid != a.UID {
		lost = append(lost, "owner")
	}
	if got.Gid != a.GID {
		lost = append(lost, "group")
	}
	return lost
}
