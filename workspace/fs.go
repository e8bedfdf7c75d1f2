package workspace

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"strings"
	"time"

	"github.com/spf13/afero"

	"writ/contract"
	"writ/envelope"
)

// FS returns the files as a read-only afero.Fs, for those who take one. Names are paths; "." is the top. Every access
// is resolved and put to the guard like any other.
func (r Reader) FS() afero.Fs { return afero.FromIOFS{FS: files{r}} }

type files struct{ r Reader }

func (f files) Open(name string) (fs.File, error) {
	info, p, err := f.stat(name)
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: name, Err: asFSError(err)}
	}
	if info.IsDir() {
		return &openedDir{files: f, path: p, info: info}, nil
	}
	q, err := f.r.w.question(f.r.guard, p, Read)
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: name, Err: asFSError(err)}
	}
	opened, resolved, err := q.root.tree.openFile(context.Background(), q)
	if err == nil {
		if err = q.admitOpen(resolved, opened); err != nil {
			opened.Close()
		}
	}
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: name, Err: asFSError(err)}
	}
	return &openedFile{ReadSeeker: opened, Closer: opened, ReaderAt: opened, info: info}, nil
}

func (f files) Stat(name string) (fs.FileInfo, error) {
	info, _, err := f.stat(name)
	if err != nil {
		return nil, &fs.PathError{Op: "stat", Path: name, Err: asFSError(err)}
	}
	return info, nil
}

func (f files) stat(name string) (fsInfo, contract.Path, error) {
	p := contract.Path{}
	if name = strings.TrimPrefix(name, "/"); name != "" && name != "." {
		var err error
		if p, err = contract.ParsePath(name); err != nil {
			return fsInfo{}, p, err
		}
	}
	info, err := f.r.Stat(context.Background(), p)
	return fsInfo{name: p.Base(), kind: info.Kind, size: info.Size, mode: info.Mode, modified: info.Modified}, p, err
}

// openedFile hides what an os.File could do beyond reading.
type openedFile struct {
	io.ReadSeeker
	io.ReaderAt
	io.Closer
	info fsInfo
}

func (f *openedFile) Stat() (fs.FileInfo, error) { return f.info, nil }

type openedDir struct {
	files   files
	path    contract.Path
	info    fsInfo
	entries []fs.DirEntry
	read    bool
}

func (d *openedDir) Stat() (fs.FileInfo, error) { return d.info, nil }
func (d *openedDir) Read([]byte) (int, error)   { return 0, isDirectory(contract.Quote(d.path.String())) }
func (d *openedDir) Close() error               { return nil }

func (d *openedDir) ReadDir(n int) ([]fs.DirEntry, error) {
	if err := d.list(); err != nil {
		return nil, &fs.PathError{Op: "readdir", Path: d.path.String(), Err: asFSError(err)}
	}
	if n <= 0 {
		n = len(d.entries)
	} else if len(d.entries) == 0 {
		return nil, io.EOF
	}
	n = min(n, len(d.entries))
	page := d.entries[:n:n]
	d.entries = d.entries[n:]
	return page, nil
}

func (d *openedDir) list() error {
	if d.read {
		return nil
	}
	l, err := d.files.r.List(context.Background(), d.path, Window{})
	if err != nil {
		return err
	}
	for _, e := range l.Entries {
		d.entries = append(d.entries, fs.FileInfoToDirEntry(fsInfo{name: e.Name, kind: e.Kind, size: e.Size, modified: e.Modified}))
	}
	d.read = true
	return nil
}

// fsInfo is an entry as io/fs tells of it.
type fsInfo struct {
	name     string
	kind     Kind
	size     int64
	mode     fs.FileMode
	modified time.Time
}

func (i fsInfo) Name() string       { return i.name }
func (i fsInfo) Size() int64        { return i.size }
func (i fsInfo) ModTime() time.Time { return i.modified }
func (i fsInfo) IsDir() bool        { return i.kind == KindDirectory }
func (i fsInfo) Sys() any           { return nil }

func (i fsInfo) Mode() fs.FileMode {
	switch i.kind {
	case KindDirectory:
		return i.mode | fs.ModeDir
	case KindLink:
		return i.mode | fs.ModeSymlink
	case KindOther:
		return i.mode | fs.ModeIrregular
	}
	return i.mode
}

// asFSError lets callers of an afero.Fs tell by errors.Is what they know to ask for.
func asFSError(err error) error {
	switch envelope.CodeOf(err).Status() {
	case envelope.NotFound:
		return errors.Join(fs.ErrNotExist, err)
	case envelope.Denied:
		return errors.Join(fs.ErrPermission, err)
	}
	return err
}
