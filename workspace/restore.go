package workspace

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"writ/contract"
	"writ/envelope"
)

// Former is what a deleted file was beside its bytes.
type Former struct {
	Mode       fs.FileMode // permission bits
	Attributes []byte      // as the intent of the deletion has them; nil: the mode is all that is known
}

// Restore makes a file as [Writer.Create] does, with the attributes of the former one whatever the umask says. Those
// that the operating system does not let it have are told in a warning.
func (w Writer) Restore(ctx context.Context, p contract.Path, data []byte, was Former) (Written, error) {
	like, err := unpackAttributes(was.Attributes)
	if err != nil {
		return Written{}, fmt.Errorf("stored attributes: %w", err)
	}
	return w.create(ctx, p, creation{content: pieces{data}, mode: &was.Mode, like: like})
}

// RemoveEmpty removes those of the directories, given outermost first and each in the one before, that are empty or
// become so by this. It is for directories that a change of ours made on its way: what can't be removed stays, and nobody
// is told.
func (w Writer) RemoveEmpty(ctx context.Context, directories []contract.Path) {
	if len(directories) == 0 {
		return
	}
	c, err := w.w.openChain(ctx, directories)
	if err != nil {
		return
	}
	defer c.close()
	top := len(c.names)
	for i, name := range slices.Backward(c.names) {
		if err := c.holders[i].rmdir(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
			break
		}
		top = i
	}
	if top < len(c.names) {
		_ = c.holders[top].sync()
	}
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
	chain, err := w.w.openChain(ctx, directories)
	if err != nil {
		return Written{}, err
	}
	defer chain.close()
	if err := chain.holdNothingElse(directories); err != nil {
		return Written{}, err
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
		if err := chain.holders[i].rmdir(chain.names[i]); err != nil {
			return Written{}, w.remake(ctx, directories[i+1:], c, fault(err, contract.Quote(p.String())))
		}
	}
	if err := chain.holders[0].sync(); err != nil {
		return Written{}, w.remake(ctx, directories, c, fault(err, contract.Quote(directories[0].String())))
	}
	c.end(contract.OutcomeDone)
	return Written{
		Path: last, Resolved: last, ChangeID: c.id, Changed: envelope.Yes, Directories: slices.Clone(directories),
	}, nil
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
