package workspace

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"maps"

	"golang.org/x/sys/unix"

	"writ/contract"
)

// watchedDirs are directories that the kernel watches through one inotify instance. The zero value watches none.
type watchedDirs struct {
	fd    int // valid while byID is not nil
	byID  map[int32]watched
	blind bool // not all can be watched, so that what is read here is not everything
}

type watched struct {
	path contract.Path
	walk uint64 // the last one that came by
}

const watchedFor = unix.IN_MODIFY | unix.IN_ATTRIB | unix.IN_CREATE | unix.IN_DELETE | unix.IN_MOVED_FROM |
	unix.IN_MOVED_TO | unix.IN_DELETE_SELF | unix.IN_MOVE_SELF | unix.IN_ONLYDIR

// watch begins to watch the directory, or takes note of where it is now.
func (w *watchedDirs) watch(d *directory, walk uint64) {
	tree, ok := d.root.tree.(*linuxTree)
	if w.blind || !ok {
		w.blind = true
		return
	}
	if w.byID == nil && !w.open(tree) {
		return
	}
	// A name that is swapped for a link here makes the wrong directory watched. That shows nothing of it: what changed
	// is looked at through the guard. And the swap itself is a change of the directory above.
	id, err := unix.InotifyAddWatch(w.fd, fmt.Sprintf("/proc/self/fd/%d/%s", tree.top.fd, d.rel), watchedFor)
	switch err {
	case nil:
		w.byID[int32(id)] = watched{d.path, walk}
	case unix.ENOENT, unix.ENOTDIR, unix.EACCES: // it is gone or can't be read: the walk will find so
	default:
		w.blind = true
	}
}

// open makes the inotify instance, unless the file system tells of no changes but our own.
func (w *watchedDirs) open(tree *linuxTree) bool {
	if isRemote(tree) {
		w.blind = true
		return false
	}
	fd, err := unix.InotifyInit1(unix.IN_NONBLOCK | unix.IN_CLOEXEC)
	if err != nil {
		w.blind = true
		return false
	}
	w.fd, w.byID = fd, map[int32]watched{}
	return true
}

// isRemote tells whether others can change the files without this kernel's knowing.
func isRemote(tree *linuxTree) bool {
	var fs unix.Statfs_t
	if err := unix.Fstatfs(tree.top.fd, &fs); err != nil {
		return true
	}
	const fuse, vboxsf, ceph, lustre = 0x65735546, 0x786f4256, 0x00c36400, 0x0bd00bd0
	switch uint32(fs.Type) {
	case unix.NFS_SUPER_MAGIC, unix.SMB_SUPER_MAGIC, unix.SMB2_SUPER_MAGIC, unix.CIFS_SUPER_MAGIC, unix.V9FS_MAGIC,
		unix.AFS_FS_MAGIC, unix.AFS_SUPER_MAGIC, unix.CODA_SUPER_MAGIC, unix.OCFS2_SUPER_MAGIC, fuse, vboxsf, ceph, lustre:
		return true
	}
	return false
}

// read hands over what the kernel has noted since the last read. It returns false if that is not everything.
func (w *watchedDirs) read(take func(sighting)) bool {
	if w.blind || w.byID == nil {
		return false
	}
	sound := true
	buf := make([]byte, 16<<10)
	for {
		n, err := unix.Read(w.fd, buf)
		switch {
		case err == unix.EINTR:
			continue
		case err == unix.EAGAIN:
			return sound
		case err != nil || n <= 0:
			return false
		}
		sound = w.take(buf[:n], take) && sound
	}
}

// take reads struct inotify_event: watch 4, mask 4, cookie 4, length 4, name up to a NUL.
func (w *watchedDirs) take(b []byte, take func(sighting)) bool {
	sound := true
	for len(b) >= unix.SizeofInotifyEvent {
		id := int32(binary.NativeEndian.Uint32(b))
		mask := binary.NativeEndian.Uint32(b[4:])
		end := unix.SizeofInotifyEvent + int(binary.NativeEndian.Uint32(b[12:]))
		name, _, _ := bytes.Cut(b[unix.SizeofInotifyEvent:end], []byte{0})
		b = b[end:]
		dir, known := w.byID[id]
		switch {
		case mask&(unix.IN_Q_OVERFLOW|unix.IN_UNMOUNT) != 0:
			sound = false
		case mask&unix.IN_IGNORED != 0:
			delete(w.byID, id)
		case known:
			isDir := len(name) == 0 || mask&unix.IN_ISDIR != 0
			take(sighting{dir: dir.path, name: string(name), directory: isDir})
		}
	}
	return sound
}

// forget ends the watching of what the last walk did not come by.
func (w *watchedDirs) forget(walk uint64) {
	maps.DeleteFunc(w.byID, func(id int32, d watched) bool {
		if d.walk == walk {
			return false
		}
		_, _ = unix.InotifyRmWatch(w.fd, uint32(id)) // it may be gone already
		return true
	})
}

func (w *watchedDirs) close() error {
	if w.byID == nil {
		return nil
	}
	w.byID, w.blind = nil, true
	return unix.Close(w.fd)
}
