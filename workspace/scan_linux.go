package workspace

import (
	"encoding/binary"
	"io/fs"

	"golang.org/x/sys/unix"
)

func newScanner(t tree) scanner {
	if l, ok := t.(*linuxTree); ok {
		return &linuxScanner{tree: l, dir: -1, file: -1}
	}
	return &portableScanner{tree: t}
}

// lstatBelow returns the facts of the entry at rel, whose directories are free of links. Should one of them be swapped
// for a link at this moment, the facts are those of another place; so they may steer us, and are never shown.
func lstatBelow(t tree, rel string) (entryFacts, error) {
	l, ok := t.(*linuxTree)
	if !ok {
		return lstatPortably(t, rel)
	}
	var st unix.Stat_t
	if err := fstatat(l.top.fd, rel, &st); err != nil {
		return entryFacts{}, err
	}
	return linuxFacts(&st), nil
}

func linuxFacts(st *unix.Stat_t) entryFacts {
	info := objectInfo{st: *st}
	return entryFacts{stamp: linuxStamp(st), mode: info.Mode()}
}

// linuxScanner works with bare descriptors: an os.File costs more than reading a small file.
type linuxScanner struct {
	tree  *linuxTree
	rel   string
	dir   int // -1: none
	name  string
	file  int // -1: none
	dents []byte
	names []byte
	ends  []nameEnd
}

// nameEnd is an entry whose name ends at that place in names.
type nameEnd struct {
	at   int
	kind fs.FileMode
}

func (s *linuxScanner) hold(rel string) error { return s.openDir(rel, unix.O_PATH) }

// openDir takes one call that follows no link and crosses no mount. Where the directory is afterwards is isHere's to say.
func (s *linuxScanner) openDir(rel string, flags uint64) error {
	s.close()
	path := rel
	if rel == "" {
		path = "."
	}
	fd, err := openat2(s.tree.top.fd, path, flags|unix.O_DIRECTORY|unix.O_NOFOLLOW)
	if err != nil {
		return lookError(err)
	}
	s.dir, s.rel = fd, rel
	return nil
}

func (s *linuxScanner) enter(rel string) ([]dirEntry, error) {
	if err := s.openDir(rel, unix.O_RDONLY); err != nil {
		return nil, err
	}
	if s.dents == nil {
		s.dents = make([]byte, 32<<10)
	}
	s.names, s.ends = s.names[:0], s.ends[:0]
	for {
		n, err := unix.Getdents(s.dir, s.dents)
		if err == unix.EINTR {
			continue
		}
		if n <= 0 || err != nil {
			return s.entries(), err
		}
		s.take(s.dents[:n])
	}
}

// take reads struct linux_dirent64: inode 8, offset 8, length 2, type 1, name up to a NUL.
func (s *linuxScanner) take(b []byte) {
	const head = 19
	for len(b) > head {
		length := int(binary.NativeEndian.Uint16(b[16:]))
		start := len(s.names)
		for _, c := range b[head:length] {
			if c == 0 {
				break
			}
			s.names = append(s.names, c)
		}
		if name := s.names[start:]; string(name) == "." || string(name) == ".." {
			s.names = s.names[:start]
		} else {
			s.ends = append(s.ends, nameEnd{at: len(s.names), kind: s.kind(b[18], name)})
		}
		b = b[length:]
	}
}

func (s *linuxScanner) kind(t byte, name []byte) fs.FileMode {
	switch t {
	case unix.DT_REG:
		return 0
	case unix.DT_DIR:
		return fs.ModeDir
	case unix.DT_LNK:
		return fs.ModeSymlink
	case unix.DT_UNKNOWN: // a file system that does not tell
		if f, err := s.stat(string(name)); err == nil {
			return f.mode.Type()
		}
	}
	return fs.ModeIrregular
}

// entries makes the names one string: one allocation for a directory.
func (s *linuxScanner) entries() []dirEntry {
	names := string(s.names)
	entries := make([]dirEntry, len(s.ends))
	start := 0
	for i, e := range s.ends {
		entries[i] = dirEntry{name: names[start:e.at], kind: e.kind}
		start = e.at
	}
	return entries
}

func (s *linuxScanner) isHere() bool { return s.tree.isAt(s.dir, s.rel) }

func (s *linuxScanner) stat(name string) (entryFacts, error) {
	var st unix.Stat_t
	if err := fstatat(s.dir, name, &st); err != nil {
		return entryFacts{}, err
	}
	return linuxFacts(&st), nil
}

func (s *linuxScanner) readlink(name string) (string, error) {
	return (&linuxDir{fd: s.dir}).readlink(name)
}

func (s *linuxScanner) read(name string, buf []byte, most int64) ([]byte, error) {
	s.closeFile()
	fd, err := openat2(s.dir, name, unix.O_RDONLY|unix.O_NONBLOCK|unix.O_NOFOLLOW|unix.O_NOCTTY)
	if err != nil {
		return nil, lookError(err)
	}
	s.file, s.name = fd, name
	var st unix.Stat_t
	switch err := unix.Fstat(fd, &st); {
	case err != nil:
		return nil, err
	case st.Mode&unix.S_IFMT != unix.S_IFREG:
		return nil, fs.ErrInvalid
	case st.Size > most:
		return nil, errTooLarge
	}
	return readFD(fd, sized(buf[:0], st.Size), most)
}

// readFD reads to the end of a regular file. There a read that fills less than it could has reached the end.
func readFD(fd int, buf []byte, most int64) ([]byte, error) {
	for {
		n, err := unix.Read(fd, buf[len(buf):cap(buf)])
		if err == unix.EINTR {
			continue
		}
		if err != nil {
			return nil, err
		}
		buf = buf[:len(buf)+n]
		if n == 0 || len(buf) < cap(buf) {
			return buf, nil
		}
		if int64(len(buf)) > most {
			return nil, errTooLarge
		}
		buf = sized(buf, int64(2*len(buf)))
	}
}

func (s *linuxScanner) isFileHere() bool { return s.tree.isAt(s.file, joinRel(s.rel, s.name)) }

func (s *linuxScanner) closeFile() {
	if s.file >= 0 {
		unix.Close(s.file)
		s.file = -1
	}
}

func (s *linuxScanner) close() {
	s.closeFile()
	if s.dir >= 0 {
		unix.Close(s.dir)
		s.dir = -1
	}
}
