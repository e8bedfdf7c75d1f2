package workspace

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"
)

// On Linux openat2 resolves a whole path in one call and refuses links and mounts on the way: what it returns is at the
// path that was asked for. That is the usual case. Only where it refuses is the path walked name by name.
//
// An object is first held with O_PATH, which opens nothing and so wakes no device and no FIFO; once it is known to be a
// regular file, that very inode is opened through /proc/self/fd, and one readlink there shows its whole path at an
// instant.

const strictly = unix.RESOLVE_BENEATH | unix.RESOLVE_NO_SYMLINKS | unix.RESOLVE_NO_MAGICLINKS | unix.RESOLVE_NO_XDEV

type linuxTree struct {
	top   linuxNode
	dir   string // as the operator wrote it, absolute
	real  atomic.Pointer[string]
	folds bool // the volume takes several spellings for one name
}

func openLinuxTree(dir string) (*linuxTree, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	fd, err := unix.Open(dir, unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, &fs.PathError{Op: "open root", Path: dir, Err: err}
	}
	t := &linuxTree{dir: dir, top: linuxNode{fd: fd, borrowed: true}}
	t.top.tree = t
	if err := unix.Fstat(fd, &t.top.st); err != nil {
		unix.Close(fd)
		return nil, err
	}
	if probe, err := openat2(fd, ".", unix.O_PATH); err != nil {
		unix.Close(fd)
		return nil, fmt.Errorf("open root: openat2: %w", err)
	} else {
		unix.Close(probe)
	}
	real := ""
	if text, err := procLink(fd); err == nil {
		real = text
	}
	t.real.Store(&real)
	t.folds = foldsNames(dir)
	return t, nil
}

func (t *linuxTree) foldsNames() bool { return t.folds }

func (t *linuxTree) close() error { return unix.Close(t.top.fd) }

func (t *linuxTree) health() error {
	var st unix.Stat_t
	if err := unix.Stat(t.dir, &st); err == nil && sameObject(&st, &t.top.st) {
		return nil
	}
	return rootGone()
}

func (t *linuxTree) openFile(ctx context.Context, q *question) (*os.File, string, error) {
	fd, _, resolved, err := t.openRegular(ctx, q)
	if err != nil {
		return nil, "", err
	}
	return newFile(fd, resolved), resolved, nil
}

// openRegular returns a descriptor of a regular file and its facts.
func (t *linuxTree) openRegular(ctx context.Context, q *question) (fd int, st unix.Stat_t, resolved string, err error) {
	err = settle(ctx, t, q, func() error {
		n, at, err := t.find(ctx, q)
		if err != nil {
			return err
		}
		defer n.close()
		switch n.st.Mode & unix.S_IFMT {
		case unix.S_IFREG:
		case unix.S_IFDIR:
			return isDirectory(q.named(at.resolved))
		default:
			return notRegular(q.named(at.resolved))
		}
		fd, err = n.reopen(at.resolved)
		if err == errMoved {
			return err
		}
		if err != nil {
			return fault(err, q.named(at.resolved))
		}
		if !t.isAt(fd, at.resolved) {
			unix.Close(fd)
			return errMoved
		}
		st, resolved = n.st, at.resolved
		return nil
	})
	return fd, st, resolved, err
}

// load works with the bare descriptor: an os.File costs more than reading a small file.
func (t *linuxTree) load(ctx context.Context, q *question, most int64) (data []byte, fact fs.FileInfo, resolved string, err error) {
	err = settle(ctx, t, q, func() error {
		fd, st, at, err := t.openRegular(ctx, q)
		if err != nil {
			return err
		}
		defer unix.Close(fd)
		if st.Size > most {
			return tooLarge(q.named(at), st.Size, most)
		}
		data, err = readDescriptor(fd, &st, most)
		if err != nil && err != errMoved {
			return fault(err, q.named(at))
		}
		fact, resolved = &objectInfo{st: st}, at
		return err
	})
	return data, fact, resolved, err
}

// readDescriptor reads a file to its end. It returns errMoved where the file changed meanwhile. A file that tells no
// size, as in /proc, may hold something all the same.
func readDescriptor(fd int, st *unix.Stat_t, most int64) ([]byte, error) {
	data := make([]byte, st.Size+1)
	size := 0
	for {
		n, err := unix.Pread(fd, data[size:], int64(size))
		if err == unix.EINTR {
			continue
		}
		if err != nil {
			return nil, err
		}
		if size += n; int64(size) > most {
			return nil, errMoved
		}
		if n == 0 || int64(size) == st.Size {
			break
		}
		if size == len(data) {
			data = append(data, make([]byte, max(512, size/4))...)
		}
	}
	var after unix.Stat_t
	if err := unix.Fstat(fd, &after); err != nil {
		return nil, err
	}
	if after.Size != st.Size || after.Mtim != st.Mtim || after.Ctim != st.Ctim {
		return nil, errMoved
	}
	return data[:size:size], nil
}

func (t *linuxTree) openDir(ctx context.Context, q *question) (dir, string, error) {
	var opened dir
	var resolved string
	err := settle(ctx, t, q, func() error {
		n, at, err := t.find(ctx, q)
		if err != nil {
			return err
		}
		defer n.close()
		if n.st.Mode&unix.S_IFMT != unix.S_IFDIR {
			return notADirectory(q.named(at.resolved))
		}
		fd, err := openat2(n.fd, ".", unix.O_RDONLY|unix.O_DIRECTORY)
		if err != nil {
			return fault(err, q.named(at.resolved))
		}
		if !t.isAt(fd, at.resolved) {
			unix.Close(fd)
			return errMoved
		}
		opened, resolved = t.newDir(fd, at.resolved), at.resolved
		return nil
	})
	return opened, resolved, err
}

func (t *linuxTree) locate(ctx context.Context, q *question) (found, error) {
	var f found
	err := settle(ctx, t, q, func() error {
		n, at, err := t.find(ctx, q)
		if err != nil {
			return err
		}
		if !t.isAt(n.fd, at.resolved) {
			n.close()
			return errMoved
		}
		f = at
		return nil
	})
	return f, err
}

func (t *linuxTree) parent(ctx context.Context, q *question) (parent, error) {
	if q.rel == "" {
		return parent{}, rootAsEntry(q)
	}
	var p parent
	err := settle(ctx, t, q, func() error {
		e, err := newParentWalk(q, &t.top).run(ctx)
		if err != nil {
			return err
		}
		defer e.node.close()
		at, err := e.parent(q)
		if err != nil {
			return err
		}
		fd, err := openat2(e.node.(*linuxNode).fd, ".", unix.O_PATH|unix.O_DIRECTORY)
		if err != nil {
			return fault(err, q.named(at.directory))
		}
		if !t.isAt(fd, at.directory) {
			unix.Close(fd)
			return errMoved
		}
		p = at
		p.dir = t.newDir(fd, at.directory)
		return nil
	})
	return p, err
}

// find holds the object that q names, at the path that the guard has allowed.
func (t *linuxTree) find(ctx context.Context, q *question) (*linuxNode, found, error) {
	if n := t.direct(q); n != nil {
		return n, found{node: n, resolved: q.rel}, nil
	}
	w := newWalk(q, &t.top)
	e, err := w.run(ctx)
	if err != nil {
		return nil, found{}, err
	}
	n := e.node.(*linuxNode)
	if len(e.missing) > 0 {
		n.close()
		return nil, found{}, notFound(q.quoted())
	}
	return n, e.found, nil
}

// direct holds the object that q names if its path is free of links and the guard has nothing against it. It returns
// nil in any other case, to be looked into step by step.
func (t *linuxTree) direct(q *question) *linuxNode {
	if t.folds || q.rel == "" {
		return nil
	}
	for i := range len(q.rel) {
		if q.rel[i] == '/' && q.ask(Look, q.rel[:i], asDirectory) != nil {
			return nil
		}
	}
	if file, directory := q.askBoth(q.want, q.rel); file != nil || directory != nil {
		return nil
	}
	fd, err := openat2(t.top.fd, q.rel, unix.O_PATH|unix.O_NOFOLLOW)
	if err != nil {
		return nil
	}
	n := &linuxNode{fd: fd, tree: t}
	if unix.Fstat(fd, &n.st) != nil || n.st.Mode&unix.S_IFMT == unix.S_IFLNK {
		n.close()
		return nil
	}
	return n
}

func (t *linuxTree) confirm(f *os.File, resolved string) bool {
	return t.isAt(int(f.Fd()), resolved)
}

// isAt tells whether the object of fd is at the path resolved at this instant.
func (t *linuxTree) isAt(fd int, resolved string) bool {
	real := *t.real.Load()
	if real == "" || t.folds { // /proc tells the spelling that somebody used
		return t.leadsTo(fd, resolved)
	}
	at, err := procLinkIs(fd, real, resolved)
	if err != nil {
		return t.leadsTo(fd, resolved)
	}
	if !at {
		t.refresh(real)
	}
	return at
}

// leadsTo is isAt where /proc tells nothing: a second walk from the root must lead to the same object.
func (t *linuxTree) leadsTo(fd int, resolved string) bool {
	again := t.top.fd
	if resolved != "" {
		var err error
		if again, err = openat2(t.top.fd, resolved, unix.O_PATH|unix.O_NOFOLLOW); err != nil {
			return false
		}
		defer unix.Close(again)
	}
	var a, b unix.Stat_t
	return unix.Fstat(fd, &a) == nil && unix.Fstat(again, &b) == nil && sameObject(&a, &b)
}

// refresh learns the root's path anew where a directory above it was renamed.
func (t *linuxTree) refresh(old string) {
	if now, err := procLink(t.top.fd); err == nil && now != old && t.health() == nil {
		t.real.Store(&now)
	}
}

// linuxNode is an object held with O_PATH.
type linuxNode struct {
	tree     *linuxTree
	fd       int
	st       unix.Stat_t
	borrowed bool // the root's own
}

func (n *linuxNode) child(name string) (node, string, error) {
	fd, err := openat2(n.fd, name, unix.O_PATH|unix.O_NOFOLLOW)
	if err != nil {
		return nil, "", lookError(err)
	}
	c := &linuxNode{tree: n.tree, fd: fd}
	if err := unix.Fstat(fd, &c.st); err != nil {
		c.close()
		return nil, "", err
	}
	if !n.tree.folds {
		return c, name, nil
	}
	listed, err := n.listedName(name, &c.st)
	if err != nil {
		c.close()
		return nil, "", err
	}
	return c, listed, nil
}

func (n *linuxNode) listedName(name string, st *unix.Stat_t) (string, error) {
	fd, err := openat2(n.fd, ".", unix.O_RDONLY|unix.O_DIRECTORY)
	if err != nil {
		return "", lookError(err)
	}
	d := n.tree.newDir(fd, ".")
	defer d.Close()
	return listedName(d, name, &objectInfo{name: name, st: *st})
}

func (n *linuxNode) info() fs.FileInfo { return &objectInfo{st: n.st} }

func (n *linuxNode) target() (string, error) {
	buf := make([]byte, unix.PathMax+1)
	size, err := unix.Readlinkat(n.fd, "", buf)
	if err != nil || size == len(buf) {
		return "", errMoved
	}
	return string(buf[:size]), nil
}

func (n *linuxNode) close() {
	if !n.borrowed {
		unix.Close(n.fd)
	}
}

// reopen opens the very inode that is held, to read. It never waits, not even for a lease that another program has.
func (n *linuxNode) reopen(resolved string) (int, error) {
	const flags = unix.O_RDONLY | unix.O_NONBLOCK | unix.O_NOCTTY | unix.O_CLOEXEC
	proc := procFD()
	if proc < 0 {
		return n.openAgain(resolved, flags)
	}
	for {
		fd, err := unix.Openat(proc, strconv.Itoa(n.fd), flags, 0)
		if err != unix.EINTR {
			return fd, err
		}
	}
}

// openAgain is reopen where there is no /proc: what is opened by its path must be what is held.
func (n *linuxNode) openAgain(resolved string, flags uint64) (int, error) {
	fd, err := openat2(n.tree.top.fd, resolved, flags|unix.O_NOFOLLOW)
	if err != nil {
		return -1, lookError(err)
	}
	var st unix.Stat_t
	if unix.Fstat(fd, &st) != nil || !sameObject(&st, &n.st) {
		unix.Close(fd)
		return -1, errMoved
	}
	return fd, nil
}

// linuxDir is an open directory.
type linuxDir struct {
	tree *linuxTree
	f    *os.File
	fd   int
}

func (t *linuxTree) newDir(fd int, name string) *linuxDir {
	return &linuxDir{tree: t, f: os.NewFile(uintptr(fd), name), fd: fd}
}

func (d *linuxDir) handle() *os.File { return d.f }
func (d *linuxDir) Close() error     { return d.f.Close() }

func (d *linuxDir) open(name string) (*os.File, error) {
	fd, err := openat2(d.fd, name, unix.O_RDONLY|unix.O_NONBLOCK|unix.O_NOFOLLOW|unix.O_NOCTTY)
	if err != nil {
		return nil, lookError(err)
	}
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil || st.Mode&unix.S_IFMT != unix.S_IFREG {
		unix.Close(fd)
		return nil, fs.ErrInvalid
	}
	return newFile(fd, name), nil
}

func (d *linuxDir) openDir(name string) (dir, error) {
	fd, err := openat2(d.fd, name, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW)
	if err != nil {
		return nil, lookError(err)
	}
	return d.tree.newDir(fd, name), nil
}

func (d *linuxDir) stat(name string) (fs.FileInfo, error) {
	info := &objectInfo{name: name}
	if err := fstatat(d.fd, name, &info.st); err != nil {
		return nil, err
	}
	return info, nil
}

func (d *linuxDir) readlink(name string) (string, error) {
	buf := make([]byte, unix.PathMax+1)
	n, err := unix.Readlinkat(d.fd, name, buf)
	if err != nil {
		return "", err
	}
	return string(buf[:n]), nil
}

// objectInfo is what fstat said of an object.
type objectInfo struct {
	name string
	st   unix.Stat_t
}

func (i *objectInfo) Name() string       { return i.name }
func (i *objectInfo) Size() int64        { return i.st.Size }
func (i *objectInfo) ModTime() time.Time { return time.Unix(i.st.Mtim.Unix()) }
func (i *objectInfo) IsDir() bool        { return i.st.Mode&unix.S_IFMT == unix.S_IFDIR }
func (i *objectInfo) Sys() any           { return &i.st }

func (i *objectInfo) Mode() fs.FileMode {
	mode := fs.FileMode(i.st.Mode & 0o777)
	for _, bit := range [...]struct {
		unix uint32
		mode fs.FileMode
	}{{unix.S_ISUID, fs.ModeSetuid}, {unix.S_ISGID, fs.ModeSetgid}, {unix.S_ISVTX, fs.ModeSticky}} {
		if i.st.Mode&bit.unix != 0 {
			mode |= bit.mode
		}
	}
	switch i.st.Mode & unix.S_IFMT {
	case unix.S_IFDIR:
		mode |= fs.ModeDir
	case unix.S_IFLNK:
		mode |= fs.ModeSymlink
	case unix.S_IFIFO:
		mode |= fs.ModeNamedPipe
	case unix.S_IFSOCK:
		mode |= fs.ModeSocket
	case unix.S_IFCHR:
		mode |= fs.ModeDevice | fs.ModeCharDevice
	case unix.S_IFBLK:
		mode |= fs.ModeDevice
	}
	return mode
}

func sameObject(a, b *unix.Stat_t) bool { return a.Dev == b.Dev && a.Ino == b.Ino }

// newFile wraps a descriptor of a regular file. It clears O_NONBLOCK, which served the opening alone and would make
// the runtime try to poll the file.
func newFile(fd int, name string) *os.File {
	unix.FcntlInt(uintptr(fd), unix.F_SETFL, 0)
	return os.NewFile(uintptr(fd), name)
}

func openat2(dirfd int, name string, flags uint64) (int, error) {
	how := unix.OpenHow{Flags: flags | unix.O_CLOEXEC, Resolve: strictly}
	for {
		fd, err := unix.Openat2(dirfd, name, &how)
		if err != unix.EINTR {
			return fd, err
		}
	}
}

func fstatat(dirfd int, name string, st *unix.Stat_t) error {
	for {
		if err := unix.Fstatat(dirfd, name, st, unix.AT_SYMLINK_NOFOLLOW); err != unix.EINTR {
			return err
		}
	}
}

func lookError(err error) error {
	switch err {
	case unix.EXDEV:
		return errElsewhere
	case unix.EAGAIN, unix.ELOOP:
		return errMoved
	}
	return err
}

// procFD returns a handle of /proc/self/fd, or -1 where there is none.
var procFD = sync.OnceValue(func() int {
	fd, err := unix.Open("/proc/self/fd", unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return -1
	}
	var st unix.Statfs_t
	if unix.Fstatfs(fd, &st) != nil || st.Type != unix.PROC_SUPER_MAGIC {
		unix.Close(fd)
		return -1
	}
	return fd
})

// procLink returns the path of the object of fd.
func procLink(fd int) (string, error) {
	buf := make([]byte, unix.PathMax+1)
	n, err := unix.Readlinkat(procFD(), strconv.Itoa(fd), buf)
	if err != nil {
		return "", err
	}
	return string(buf[:n]), nil
}

// procLinkIs tells whether the path of the object of fd is real/resolved.
func procLinkIs(fd int, real, resolved string) (bool, error) {
	var few [512]byte
	buf := few[:]
	want := len(real) + 1 + len(resolved)
	if want >= len(buf) {
		buf = make([]byte, want+1)
	}
	n, err := unix.Readlinkat(procFD(), strconv.Itoa(fd), buf)
	if err != nil {
		return false, err
	}
	got := buf[:n]
	if real == "/" {
		real = ""
	}
	if resolved == "" {
		return string(got) == real || real == "" && string(got) == "/", nil
	}
	return n == len(real)+1+len(resolved) && string(got[:len(real)]) == real && got[len(real)] == '/' &&
		string(got[len(real)+1:]) == resolved, nil
}
