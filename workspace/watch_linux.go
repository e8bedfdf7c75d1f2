package workspace

import (
	"context"
	"errors"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// watch is a read lease on an open file. The kernel grants it only while nobody has the file open for writing or mapped
// to be written, and breaks it before it lets anybody open the file so. A lease that is still whole is therefore a
// proof that the bytes are those that were read after it was granted: there is no need to read them again.
//
// A lease is for the file's owner, or for those with CAP_LEASE, on a file system that offers it, and it proves nothing
// about what other machines do. Elsewhere the bytes are read again.
type watch struct {
	f      *os.File
	leased bool
}

// errHeld tells that another program has the file open for writing.
var errHeld = errors.New("another program has the file open for writing")

// patience is how long a program that saves a file is waited for.
const patience = 50 * time.Millisecond

func watchFile(ctx context.Context, f *os.File) (watch, error) {
	if !isLocal(f) {
		return watch{f: f}, nil
	}
	deadline := time.Now().Add(patience)
	for pause := 50 * time.Microsecond; ; pause *= 2 {
		_, err := unix.FcntlInt(f.Fd(), unix.F_SETLEASE, unix.F_RDLCK)
		if err == nil {
			return watch{f: f, leased: true}, nil
		}
		if err != unix.EAGAIN && err != unix.EINTR {
			return watch{f: f}, nil
		}
		if time.Now().After(deadline) {
			return watch{}, errHeld
		}
		select {
		case <-ctx.Done():
			return watch{}, timedOut(ctx.Err())
		case <-time.After(pause):
		}
	}
}

// whole tells whether the lease was granted and nobody has asked to write since.
func (w watch) whole() bool {
	if !w.leased {
		return false
	}
	held, err := unix.FcntlInt(w.f.Fd(), unix.F_GETLEASE, 0)
	return err == nil && held == unix.F_RDLCK
}

// isLocal tells whether all that writes to the file goes through this kernel.
func isLocal(f *os.File) bool {
	var st unix.Statfs_t
	if unix.Fstatfs(int(f.Fd()), &st) != nil {
		return false
	}
	switch uint32(st.Type) {
	case unix.FUSE_SUPER_MAGIC, unix.NFS_SUPER_MAGIC, unix.CIFS_SUPER_MAGIC, unix.SMB2_SUPER_MAGIC, unix.SMB_SUPER_MAGIC,
		unix.V9FS_MAGIC, unix.CEPH_SUPER_MAGIC, unix.AFS_FS_MAGIC, unix.AFS_SUPER_MAGIC, unix.CODA_SUPER_MAGIC:
		return false
	}
	return true
}
