package workspace

import (
	"context"
	"errors"
	"io"
	"io/fs"

	"writ/contract"
	"writ/envelope"
)

// chain is directories each of which is in the one before. They are found by one walk, where a look at each by its path
// would take the square of their number.
type chain struct {
	holders []editDir // the i-th holds the i-th directory
	names   []string
}

// openChain opens what holds the directories, given outermost first, as far as they are there: the last one found may
// hold the next no longer.
func (w *Workspace) openChain(ctx context.Context, directories []contract.Path) (*chain, error) {
	at, err := w.openDirectoryEntry(ctx, directories[0])
	if err != nil {
		return nil, err
	}
	c := &chain{holders: []editDir{at.dir}, names: []string{at.leaf}}
	for i, p := range directories[1:] {
		if p.Dir() != directories[i] {
			c.close()
			return nil, fault(fs.ErrInvalid, contract.Quote(p.String()))
		}
		d, err := c.holders[i].openEdit(c.names[i])
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return c, nil
		case err != nil:
			c.close()
			return nil, fault(err, contract.Quote(directories[i].String()))
		}
		c.holders, c.names = append(c.holders, d), append(c.names, p.Base())
	}
	return c, nil
}

func (c *chain) close() {
	for _, d := range c.holders {
		d.Close()
	}
}

// sync makes the entries of the directories durable.
func (c *chain) sync() error {
	for _, d := range c.holders {
		if err := d.sync(); err != nil {
			return err
		}
	}
	return nil
}

// holdNothingElse returns an error unless each of the directories holds the next one alone, and the last one nothing.
func (c *chain) holdNothingElse(directories []contract.Path) error {
	if len(c.names) < len(directories) {
		return notFound(contract.Quote(directories[len(c.names)-1].String()))
	}
	for i, p := range directories {
		d, err := c.holders[i].openDir(c.names[i])
		if err != nil {
			return fault(err, contract.Quote(p.String()))
		}
		entries, err := d.handle().ReadDir(2)
		d.Close()
		if err != nil && err != io.EOF {
			return fault(err, contract.Quote(p.String()))
		}
		last := i == len(directories)-1
		if last && len(entries) > 0 || !last && (len(entries) != 1 || entries[0].Name() != c.names[i+1]) {
			return &Conflict{Cause: envelope.Errorf(envelope.NotEmpty, "%s is not empty.", contract.Quote(p.String()))}
		}
	}
	return nil
}
