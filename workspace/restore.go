package workspace

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"slices"

	"writ/contract"
	"writ/envelope"
)

// Restore makes a file as [Writer.Create] does, with the given permission bits whatever the umask says.
func (w Writer) Restore(ctx context.Context, p contract.Path, data []byte, mode fs.FileMode) (Written, error) {
	return w.create(ctx, p, creation{content: pieces{data}, mode: &mode})
}

// RemoveEmpty removes those of the directories, given outermost first, that are empty or become so by this. It is for
// directories that a change of ours made on its way: what can't be removed stays, and nobody is told.
func (w Writer) RemoveEmpty(ctx context.Context, directories []contract.Path) {
	for _, p := range slices.Backward(directories) {
		if err := w.removeEmpty(ctx, p); err != nil && envelope.CodeOf(err) != envelope.PathNotFound && !errors.Is(err, fs.ErrNotExist) {
			return
		}
	}
}

func (w Writer) removeEmpty(ctx context.Context, p contract.Path) error {
	at, err := w.w.openDirectoryEntry(ctx, p)
	if err != nil {
		return err
	}
	defer at.dir.Close()
	if err := at.dir.rmdir(at.leaf); err != nil {
		return err
	}
	return at.dir.sync()
}

// openDirectoryEntry returns the place of a directory that no link leads to. The guard is not asked: the directory was
// made by a change that it allowed.
func (w *Workspace) openDirectoryEntry(ctx context.Context, p contract.Path) (parent, error) {
	q, err := w.question(everything{}, p, Write)
	if err != nil {
		return parent{}, err
	}
	at, err := q.root.tree.parent(ctx, q)
	if err != nil {
		return parent{}, err
	}
	if len(at.missing) > 0 || at.resolved != q.rel {
		at.dir.Close()
		return parent{}, notFound(q.quoted())
	}
	return at, nil
}

// RemoveDirectories removes directories, given outermost first, each of which holds the next one alone. If one holds
// anything else, nothing is removed, and the error is a *[Conflict] of code not-empty.
func (w Writer) RemoveDirectories(ctx context.Context, directories []contract.Path) (done Written, err error) {
	err = w.onSettledGround(ctx, func() error {
		done, err = w.removeDirectoriesOnce(ctx, directories)
		return err
	})
	return done, err
}

func (w Writer) removeDirectoriesOnce(ctx context.Context, directories []contract.Path) (Written, error) {
	last := directories[len(directories)-1]
	if err := w.Judge(Write, last); err != nil {
		return Written{}, err
	}
	for i, p := range directories {
		if err := w.holdsOnly(ctx, p, directories[i+1:]); err != nil {
			return Written{}, err
		}
	}
	in := contract.Intent{Kind: contract.ChangeRmdir, Path: last, Directories: directories}
	if w.rehearses() {
		return Written{}, w.rehearse(ctx, in, nil, nil)
	}
	c, err := w.begin(ctx, in)
	if err != nil {
		return Written{}, err
	}
	for i, p := range slices.Backward(directories) {
		if err := w.removeEmpty(ctx, p); err != nil {
			return Written{}, w.remake(ctx, directories[i+1:], c, fault(err, contract.Quote(p.String())))
		}
	}
	c.end(contract.OutcomeDone)
	return Written{
		Path: last, Resolved: last, ChangeID: c.id, Changed: envelope.Yes, Directories: slices.Clone(directories),
	}, nil
}

// holdsOnly returns an error unless the directory p holds just the first of the others, or nothing where there is none.
func (w Writer) holdsOnly(ctx context.Context, p contract.Path, others []contract.Path) error {
	at, err := w.w.openDirectoryEntry(ctx, p)
	if err != nil {
		return err
	}
	defer at.dir.Close()
	d, err := at.dir.openDir(at.leaf)
	if err != nil {
		return fault(err, contract.Quote(p.String()))
	}
	defer d.Close()
	entries, err := d.handle().ReadDir(2)
	if err != nil && !errors.Is(err, io.EOF) {
		return fault(err, contract.Quote(p.String()))
	}
	if len(entries) == 0 && len(others) == 0 || len(entries) == 1 && len(others) > 0 && entries[0].Name() == others[0].Base() {
		return nil
	}
	return &Conflict{Cause: envelope.Errorf(envelope.NotEmpty, "%s is not empty.", contract.Quote(p.String()))}
}

// remake makes directories again that were removed, and ends the change that failed with err.
func (w Writer) remake(ctx context.Context, directories []contract.Path, c *change, err error) error {
	for _, p := range directories {
		at, openErr := w.w.openDirectoryEntry(context.WithoutCancel(ctx), p)
		if openErr == nil {
			openErr = errors.Join(at.dir.mkdir(at.leaf), at.dir.sync())
			at.dir.Close()
		}
		if openErr != nil {
			return c.unknownOutcome(contract.Quote(p.String()), "a directory in it could not be made again.", openErr)
		}
	}
	return c.notDone(err)
}
