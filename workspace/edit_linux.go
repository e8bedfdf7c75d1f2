package workspace

import (
	"fmt"
	"io/fs"
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

func (d *linuxDir) unnamed(mode fs.FileMode) (*os.File, error) {
	if procFD() < 0 {
		return nil, errNoUnnamed
	}
	fd, err := unix.Openat(d.fd, ".", unix.O_TMPFILE|unix.O_RDWR|unix.O_CLOEXEC, uint32(mode.Perm()))
	switch err {
	case nil:
		return os.NewFile(uintptr(fd), "."), nil
	case unix.EOPNOTSUPP, unix.EISDIR, unix.EINVAL:
		return nil, errNoUnnamed
	}
	return nil, err
}

func (d *linuxDir) create(name string, mode fs.FileMode) (*os.File, error) {
	fd, err := unix.Openat(d.fd, name, unix.O_RDWR|unix.O_CREAT|unix.O_EXCL|unix.O_NOFOLLOW|unix.O_CLOEXEC, uint32(mode.Perm()))
	if err != nil {
		return nil, err
	}
	return os.NewFile(uintptr(fd), name), nil
}

// link goes through /proc, since AT_EMPTY_PATH asks for a capability.
func (d *linuxDir) link(f *os.File, name string) error {
	return unix.Linkat(procFD(), strconv.Itoa(int(f.Fd())), d.fd, name, unix.AT_SYMLINK_FOLLOW)
}

func (d *linuxDir) exchange(a, b string) error {
	err := unix.Renameat2(d.fd, a, d.fd, b, unix.RENAME_EXCHANGE)
	if err == unix.EINVAL || err == unix.ENOSYS || err == unix.EOPNOTSUPP {
		return errNoExchange
	}
	return err
}

func (d *linuxDir) moveTo(name string, to editDir, as string) error {
	other := to.(*linuxDir)
	err := unix.Renameat2(d.fd, name, other.fd, as, unix.RENAME_NOREPLACE)
	if err != unix.EINVAL && err != unix.ENOSYS && err != unix.EOPNOTSUPP {
		return err
	}
	return moveByLink(d.fd, name, other.fd, as)
}

func (d *linuxDir) replace(name, over string) error { return unix.Renameat(d.fd, name, d.fd, over) }
func (d *linuxDir) remove(name string) error        { return unix.Unlinkat(d.fd, name, 0) }
func (d *linuxDir) mkdir(name string) error         { return unix.Mkdirat(d.fd, name, 0o777) }
func (d *linuxDir) rmdir(name string) error         { return unix.Unlinkat(d.fd, name, unix.AT_REMOVEDIR) }

func (d *linuxDir) openEdit(name string) (editDir, error) {
	fd, err := openat2(d.fd, name, unix.O_PATH|unix.O_DIRECTORY|unix.O_NOFOLLOW)
	if err != nil {
		return nil, lookError(err)
	}
	return d.tree.newDir(fd, name), nil
}

// writable asks for what the system would say to a write in place, since to put another file in the place of one asks
// for less.
func (d *linuxDir) writable(name string) error {
	err := unix.Faccessat(d.fd, name, unix.W_OK, unix.AT_EACCESS|unix.AT_SYMLINK_NOFOLLOW)
	if err == unix.EACCES {
		return err
	}
	return nil
}

// sync makes the entries durable.
func (d *linuxDir) sync() error {
	fd, err := openat2(d.fd, ".", unix.O_RDONLY|unix.O_DIRECTORY)
	if err == unix.EACCES {
		return d.syncAll()
	}
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	if err := unix.Fsync(fd); err != nil && err != unix.EINVAL {
		return err
	}
	return nil
}

// syncAll makes durable all that is on the file system of a directory that may be changed but not read, by way of a file
// in it.
func (d *linuxDir) syncAll() error {
	f, err := d.unnamed(0o600)
	if err != nil {
		return err
	}
	defer f.Close()
	return unix.Syncfs(int(f.Fd()))
}

func (d *linuxDir) identity() (string, error) {
	var st unix.Stat_t
	if err := unix.Fstat(d.fd, &st); err != nil {
		return "", err
	}
	return fmt.Sprintf("%d:%d", st.Dev, st.Ino), nil
}
