package workspace

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
)

// The portable form needs nothing but os.Root, which never leaves the root but follows links and tells nothing of the
// path that it took. So a path is walked one name at a time through a handle of each directory. That a name is no link
// is proved after the opening: the name, looked at without following, must be the object that is now held. Whether a
// directory was moved meanwhile is proved by a second walk that must end at the same object.
//
// What is left: a bind mount of the same device is not noticed, and a FIFO that takes a directory's place between two
// steps can block one call.

type portableTree struct {
	top   *heldRoot
	dir   string
	info  fs.FileInfo
	folds bool
}

func openPortableTree(directory string) (*portableTree, error) {
	directory, err := filepath.Abs(directory)
	if err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(directory)
	if err != nil {
		return nil, err
	}
	info, err := root.Stat(".")
	if err != nil {
		root.Close()
		return nil, err
	}
	t := &portableTree{top: holdRoot(root), dir: directory, info: info, folds: foldsNames(directory)}
	return t, nil
}

func (t *portableTree) foldsNames() bool { return t.folds }

func (t *portableTree) close() error {
	t.top.release()
	return nil
}

func (t *portableTree) health() error {
	if info, err := os.Stat(t.dir); err == nil && os.SameFile(info, t.info) {
		return nil
	}
	return rootGone()
}

func (t *portableTree) topNode() *portableNode {
	return &portableNode{tree: t, self: t.top.share(), fact: t.info}
}

func (t *portableTree) openFile(ctx context.Context, q *question) (*os.File, string, error) {
	var opened *os.File
	var resolved string
	err := settle(ctx, t, q, func() error {
		n, at, err := t.find(ctx, q)
		if err != nil {
			return err
		}
		defer n.close()
		if n.fact.IsDir() {
			return isDirectory(q.named(at.resolved))
		}
		if !n.fact.Mode().IsRegular() {
			return notRegular(q.named(at.resolved))
		}
		f, err := openRegularIn(n.parent.Root, n.name)
		if err != nil {
			return openFault(err, q.named(at.resolved))
		}
		if !t.confirm(f, at.resolved) {
			f.Close()
			return errMoved
		}
		opened, resolved = f, at.resolved
		return nil
	})
	return opened, resolved, err
}

func (t *portableTree) load(ctx context.Context, q *question, most int64) (data []byte, fact fs.FileInfo, resolved string, err error) {
	err = settle(ctx, t, q, func() error {
		f, at, err := t.openFile(ctx, q)
		if err != nil {
			return err
		}
		defer f.Close()
		if fact, err = f.Stat(); err != nil {
			return fault(err, q.named(at))
		}
		resolved = at
		data, err = readWhole(f, fact, q.named(at), most)
		return err
	})
	return data, fact, resolved, err
}

func (t *portableTree) openDir(ctx context.Context, q *question) (dir, string, error) {
	var opened dir
	var resolved string
	err := settle(ctx, t, q, func() error {
		n, at, err := t.find(ctx, q)
		if err != nil {
			return err
		}
		defer n.close()
		if n.self == nil {
			return notADirectory(q.named(at.resolved))
		}
		if !t.leadsTo(at.resolved, n.fact) {
			return errMoved
		}
		d, err := t.newDir(n.self.share(), at.resolved)
		if err != nil {
			return fault(err, q.named(at.resolved))
		}
		opened, resolved = d, at.resolved
		return nil
	})
	return opened, resolved, err
}

func (t *portableTree) locate(ctx context.Context, q *question) (found, error) {
	var f found
	err := settle(ctx, t, q, func() error {
		n, at, err := t.find(ctx, q)
		if err != nil {
			return err
		}
		if !t.leadsTo(at.resolved, n.fact) {
			n.close()
			return errMoved
		}
		f = at
		return nil
	})
	return f, err
}

func (t *portableTree) parent(ctx context.Context, q *question) (parent, error) {
	if q.rel == "" {
		return parent{}, rootAsEntry(q)
	}
	var p parent
	err := settle(ctx, t, q, func() error {
		e, err := newParentWalk(q, t.topNode()).run(ctx)
		if err != nil {
			return err
		}
		defer e.node.close()
		at, err := e.parent(q)
		if err != nil {
			return err
		}
		n := e.node.(*portableNode)
		if !t.leadsTo(at.directory, n.fact) {
			return errMoved
		}
		d, err := t.newDir(n.self.share(), at.directory)
		if err != nil {
			return fault(err, q.named(at.directory))
		}
		p = at
		p.dir = d
		return nil
	})
	return p, err
}

// find holds the object that q names, at the path that the guard has allowed.
func (t *portableTree) find(ctx context.Context, q *question) (*portableNode, found, error) {
	e, err := newWalk(q, t.topNode()).run(ctx)
	if err != nil {
		return nil, found{}, err
	}
	n := e.node.(*portableNode)
	if len(e.missing) > 0 {
		n.close()
		return nil, found{}, notFound(q.quoted())
	}
	return n, e.found, nil
}

func (t *portableTree) confirm(f *os.File, resolved string) bool {
	info, err := f.Stat()
	return err == nil && t.leadsTo(resolved, info)
}

// leadsTo tells whether a walk without links leads to the object, from the root where the operator put it.
func (t *portableTree) leadsTo(resolved string, object fs.FileInfo) bool {
	if t.health() != nil {
		return false
	}
	n := t.topNode()
	for name := range segments(resolved) {
		next, _, err := n.child(name)
		n.close()
		if err != nil {
			return false
		}
		n = next.(*portableNode)
	}
	defer n.close()
	return n.fact.Mode()&fs.ModeSymlink == 0 && os.SameFile(n.fact, object)
}

// heldRoot is an os.Root that several nodes share; the last to release it closes it.
type heldRoot struct {
	*os.Root
	holders atomic.Int32
}

func holdRoot(r *os.Root) *heldRoot {
	h := &heldRoot{Root: r}
	h.holders.Store(1)
	return h
}

func (h *heldRoot) share() *heldRoot {
	h.holders.Add(1)
	return h
}

func (h *heldRoot) release() {
	if h.holders.Add(-1) == 0 {
		h.Close()
	}
}

// portableNode is a directory with its handle, or another object by its name in its directory.
type portableNode struct {
	tree   *portableTree
	parent *heldRoot // nil for the root itself
	name   string
	self   *heldRoot // of a directory
	fact   fs.FileInfo
}

func (n *portableNode) child(name string) (node, string, error) {
	if n.self == nil {
		return nil, "", fs.ErrInvalid
	}
	if os.PathSeparator != '/' && strings.ContainsRune(name, os.PathSeparator) {
		return nil, "", fs.ErrNotExist // it would be taken for a path
	}
	info, err := n.self.Lstat(name)
	if err != nil {
		return nil, "", err
	}
	listed := name
	if n.tree.folds {
		if listed, err = n.listedName(name, info); err != nil {
			return nil, "", err
		}
	}
	if !sameDevice(info, n.tree.info) {
		return nil, "", errElsewhere
	}
	c := &portableNode{tree: n.tree, parent: n.self.share(), name: name, fact: info}
	if !info.IsDir() {
		return c, listed, nil
	}
	if c.self, c.fact, err = enter(n.self.Root, name); err != nil {
		c.close()
		return nil, "", err
	}
	return c, listed, nil
}

func (n *portableNode) listedName(name string, info fs.FileInfo) (string, error) {
	d, err := n.tree.newDir(n.self.share(), n.name)
	if err != nil {
		return "", err
	}
	defer d.Close()
	return listedName(d, name, info)
}

func (n *portableNode) info() fs.FileInfo { return n.fact }

func (n *portableNode) target() (string, error) {
	text, err := n.parent.Readlink(n.name)
	return filepath.ToSlash(text), err
}

func (n *portableNode) close() {
	if n.self != nil {
		n.self.release()
	}
	if n.parent != nil {
		n.parent.release()
	}
}

// enter opens a directory and proves that its name stood for it directly.
func enter(in *os.Root, name string) (*heldRoot, fs.FileInfo, error) {
	sub, err := in.OpenRoot(name)
	if err != nil {
		return nil, nil, moved(err)
	}
	held, err1 := sub.Stat(".")
	named, err2 := in.Lstat(name)
	if err1 != nil || err2 != nil || !os.SameFile(held, named) {
		sub.Close()
		return nil, nil, errMoved
	}
	return holdRoot(sub), held, nil
}

// openRegularIn opens a regular file and proves that its name stood for it directly.
func openRegularIn(in *os.Root, name string) (*os.File, error) {
	info, err := in.Lstat(name)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fs.ErrInvalid
	}
	f, err := in.OpenFile(name, os.O_RDONLY|openNoWait, 0)
	if err != nil {
		return nil, moved(err)
	}
	held, err1 := f.Stat()
	named, err2 := in.Lstat(name)
	if err1 != nil || err2 != nil || !held.Mode().IsRegular() || !os.SameFile(held, named) {
		f.Close()
		return nil, errMoved
	}
	return f, nil
}

// moved returns errMoved for an error that an entry gives which was there a moment ago and is allowed to be opened.
func moved(err error) error {
	if errors.Is(err, fs.ErrPermission) {
		return err
	}
	return errMoved
}

// portableDir is an open directory.
type portableDir struct {
	tree *portableTree
	root *heldRoot
	f    *os.File
	rel  string // where it was when it was opened
}

// newDir makes a directory of a root that it takes over.
func (t *portableTree) newDir(r *heldRoot, rel string) (*portableDir, error) {
	f, err := r.Open(".")
	if err != nil {
		r.release()
		return nil, err
	}
	return &portableDir{tree: t, root: r, f: f, rel: rel}, nil
}

func (d *portableDir) handle() *os.File { return d.f }

func (d *portableDir) Close() error {
	d.root.release()
	return d.f.Close()
}

func (d *portableDir) open(name string) (*os.File, error) { return openRegularIn(d.root.Root, name) }

func (d *portableDir) openDir(name string) (dir, error) {
	info, err := d.root.Lstat(name)
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		return nil, fs.ErrInvalid
	}
	if !sameDevice(info, d.tree.info) {
		return nil, errElsewhere
	}
	sub, _, err := enter(d.root.Root, name)
	if err != nil {
		return nil, err
	}
	return d.tree.newDir(sub, joinRel(d.rel, name))
}

func (d *portableDir) stat(name string) (fs.FileInfo, error) { return d.root.Lstat(name) }

func (d *portableDir) readlink(name string) (string, error) {
	text, err := d.root.Readlink(name)
	return filepath.ToSlash(text), err
}
