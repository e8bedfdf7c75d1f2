package workspace

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
)

// scanner looks at the directories of one root, one after the other, for one worker of a walk. What it shows of a
// directory may be told to a caller only if isHere says so after it was read: by then it was at the path that the guard
// allowed, and not a hidden place that took its name.
type scanner interface {
	// enter opens the directory at rel, which is free of links, and returns its entries in no order. They stay valid.
	enter(rel string) ([]dirEntry, error)
	// hold opens the directory at rel for isHere and stat alone.
	hold(rel string) error
	// isHere tells whether the directory is at its path at this instant.
	isHere() bool
	// stat returns the facts of an entry and does not follow it.
	stat(name string) (entryFacts, error)
	// readlink returns the text of the link name.
	readlink(name string) (string, error)
	// read returns the content of the regular file name, in buf if that is large enough. The file stays open until the
	// next read or enter. A file of more than most bytes is errTooLarge.
	read(name string, buf []byte, most int64) ([]byte, error)
	// isFileHere tells whether the file that was read is at its path at this instant.
	isFileHere() bool
	close()
}

var errTooLarge = errors.New("the file is larger than the limit")

// dirEntry is one entry of a directory as the directory lists it.
type dirEntry struct {
	name string
	kind fs.FileMode // type bits alone
}

// portableScanner needs nothing but a tree.
type portableScanner struct {
	tree tree
	rel  string
	dir  dir
	file *os.File
	name string
}

func (s *portableScanner) hold(rel string) error {
	s.close()
	q, err := unasked(s.tree, rel)
	if err != nil {
		return err
	}
	d, resolved, err := s.tree.openDir(context.Background(), q)
	if err != nil {
		return err
	}
	s.dir, s.rel = d, rel
	if resolved != rel {
		return errMoved
	}
	return nil
}

func (s *portableScanner) enter(rel string) ([]dirEntry, error) {
	if err := s.hold(rel); err != nil {
		return nil, err
	}
	listed, err := s.dir.handle().ReadDir(-1)
	entries := make([]dirEntry, len(listed))
	for i, e := range listed {
		entries[i] = dirEntry{name: e.Name(), kind: e.Type()}
	}
	return entries, err
}

func (s *portableScanner) isHere() bool { return s.tree.confirm(s.dir.handle(), s.rel) }

func (s *portableScanner) stat(name string) (entryFacts, error) {
	info, err := s.dir.stat(name)
	if err != nil {
		return entryFacts{}, err
	}
	return factsOf(info), nil
}

func (s *portableScanner) readlink(name string) (string, error) { return s.dir.readlink(name) }

func (s *portableScanner) read(name string, buf []byte, most int64) ([]byte, error) {
	s.closeFile()
	f, err := s.dir.open(name)
	if err != nil {
		return nil, err
	}
	s.file, s.name = f, name
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if info.Size() > most {
		return nil, errTooLarge
	}
	return readAll(f, sized(buf, info.Size()), most)
}

// readAll reads r to its end into buf and beyond, but no more than most bytes.
func readAll(r io.Reader, buf []byte, most int64) ([]byte, error) {
	for {
		n, err := r.Read(buf[len(buf):cap(buf)])
		buf = buf[:len(buf)+n]
		switch {
		case err == io.EOF:
			return buf, nil
		case err != nil:
			return nil, err
		case int64(len(buf)) > most:
			return nil, errTooLarge
		case len(buf) == cap(buf):
			buf = sized(buf, int64(2*len(buf)))
		}
	}
}

// sized returns buf with its content and room for size bytes and one more, by which a read tells that nothing follows.
func sized(buf []byte, size int64) []byte {
	if int64(cap(buf)) > size {
		return buf
	}
	larger := make([]byte, len(buf), (size+1+4095)&^4095)
	copy(larger, buf)
	return larger
}

func (s *portableScanner) isFileHere() bool {
	return s.tree.confirm(s.file, joinRel(s.rel, s.name))
}

func (s *portableScanner) closeFile() {
	if s.file != nil {
		s.file.Close()
		s.file = nil
	}
}

func (s *portableScanner) close() {
	s.closeFile()
	if s.dir != nil {
		s.dir.Close()
		s.dir = nil
	}
}

// lstatPortably returns the facts of the entry at rel and does not follow it.
func lstatPortably(t tree, rel string) (entryFacts, error) {
	s := &portableScanner{tree: t}
	defer s.close()
	parent, leaf := parentRel(rel)
	if err := s.hold(parent); err != nil {
		return entryFacts{}, err
	}
	return s.stat(leaf)
}
