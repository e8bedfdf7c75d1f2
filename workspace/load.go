package workspace

import (
	"context"
	"fmt"
	"io"
	"io/fs"
	"os"
	"time"

	"writ/contract"
	"writ/envelope"
)

// Kind is what an entry is.
type Kind string

// The kinds. A device, pipe or socket is other: it is named, and never opened.
const (
	KindFile      Kind = "file"
	KindDirectory Kind = "directory"
	KindLink      Kind = "link" // in a listing, or where what it points to is not there
	KindOther     Kind = "other"
)

func kindOf(mode fs.FileMode) Kind {
	switch {
	case mode.IsRegular():
		return KindFile
	case mode.IsDir():
		return KindDirectory
	case mode&fs.ModeSymlink != 0:
		return KindLink
	}
	return KindOther
}

// Info is what the file system says about an entry.
type Info struct {
	Path     contract.Path // as asked for
	Resolved contract.Path // links followed
	Kind     Kind
	Size     int64 // of a file, in bytes
	Modified time.Time
	Mode     fs.FileMode // permission bits
	Links    uint64      // names that the file has
	// LinkTarget is the text of the link that Path is, "" where it is none.
	LinkTarget string
}

func newInfo(fact fs.FileInfo) Info {
	return Info{
		Kind:     kindOf(fact.Mode()),
		Size:     fact.Size(),
		Modified: fact.ModTime(),
		Mode:     fact.Mode().Perm(),
		Links:    linkCount(fact),
	}
}

// File is a whole file. Its bytes may be shared and must not be changed.
type File struct {
	Info
	Data    []byte
	Version contract.Version
}

// Stat returns the facts about what p stands for, links followed. A link to nothing is told of as a link.
func (r Reader) Stat(ctx context.Context, p contract.Path) (Info, error) {
	if r.w.isTopOfMounts(p) {
		if err := r.guard.Allow(Read, Place{}); err != nil {
			return Info{}, err
		}
		return Info{Kind: KindDirectory, Mode: 0o555, Links: 1}, nil
	}
	q, err := r.w.question(r.guard, p, Read)
	if err != nil {
		return Info{}, err
	}
	f, err := q.root.tree.locate(ctx, q)
	if envelope.CodeOf(err) == envelope.PathNotFound && q.rel != "" {
		return statDangling(ctx, q, err)
	}
	if err != nil {
		return Info{}, err
	}
	defer f.node.close()
	info := newInfo(f.node.info())
	info.Path, info.LinkTarget = p, f.link
	info.Resolved, err = q.path(f.resolved)
	return info, err
}

// statDangling returns the facts about a link to nothing, or the error where there is no link either.
func statDangling(ctx context.Context, q *question, notThere error) (Info, error) {
	at, err := q.root.tree.parent(ctx, q)
	if err != nil || len(at.missing) > 0 {
		if err == nil {
			at.dir.Close()
		}
		return Info{}, notThere
	}
	defer at.dir.Close()
	fact, err := at.dir.stat(at.leaf)
	if err != nil || fact.Mode()&fs.ModeSymlink == 0 {
		return Info{}, notThere
	}
	info := newInfo(fact)
	info.Path = q.spelled
	if info.LinkTarget, err = at.dir.readlink(at.leaf); err != nil {
		return Info{}, notThere
	}
	info.Resolved, err = q.path(at.resolved)
	return info, err
}

// isTopOfMounts tells whether p is the place above several roots, which is on no disk.
func (w *Workspace) isTopOfMounts(p contract.Path) bool {
	return p.IsTop() && w.roots[0].name != ""
}

// Load returns the whole of a regular file. One that is larger than Options.FileBytes is an Error of code too-large.
func (r Reader) Load(ctx context.Context, p contract.Path) (*File, error) {
	q, err := r.w.question(r.guard, p, Read)
	if err != nil {
		return nil, err
	}
	data, fact, resolved, err := q.root.tree.load(ctx, q, r.w.options.FileBytes)
	if err == nil {
		err = q.admit(resolved, data)
	}
	if err != nil {
		return nil, err
	}
	f := &File{Info: newInfo(fact), Data: data, Version: contract.VersionOf(data)}
	f.Path, f.Size = p, int64(len(data))
	if f.Resolved, err = q.path(resolved); err != nil {
		return nil, err
	}
	r.w.contents.add(f.Version, data)
	return f, nil
}

// Recall returns the bytes that v names, if they were loaded or written of late.
func (r Reader) Recall(v contract.Version) ([]byte, bool) { return r.w.contents.get(v) }

func tooLarge(place string, size, most int64) error {
	return envelope.Errorf(envelope.TooLarge,
		"%s has %d bytes, and files of at most %d are taken. A person can raise limits.file_bytes in the policy.", place, size, most).
		With("size", size).With("limit", most)
}

// readWhole reads an open file of the size that fact tells. It returns errMoved if the file changes meanwhile.
func readWhole(f *os.File, fact fs.FileInfo, place string, most int64) ([]byte, error) {
	if fact.Size() > most {
		return nil, tooLarge(place, fact.Size(), most)
	}
	data := make([]byte, 0, fact.Size()+1)
	for {
		n, err := f.ReadAt(data[len(data):cap(data)], int64(len(data)))
		data = data[:len(data)+n]
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, fault(err, place)
		}
		if int64(len(data)) > most {
			return nil, tooLarge(place, int64(len(data)), most)
		}
		if len(data) == cap(data) {
			data = append(data, 0)[:len(data)]
		}
	}
	after, err := f.Stat()
	if err != nil {
		return nil, fmt.Errorf("stat after reading: %w", err)
	}
	if after.Size() != fact.Size() || !after.ModTime().Equal(fact.ModTime()) {
		return nil, errMoved
	}
	return data, nil
}
