package client

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"strconv"
	"strings"

	"github.com/spf13/afero"
)

// Carry carries out a plan. The file as it was is kept beside it first; backup is its name, "" where there was none or
// nothing is to be done. The new text replaces the old in one step, in the place that a link leads to, and only if the
// file is still what the plan saw.
func (m *Machine) Carry(ctx context.Context, p *Plan) (backup string, err error) {
	if p.Change == Nothing {
		return "", nil
	}
	if err := p.stillSame(m); err != nil {
		return "", err
	}
	if p.Before != nil {
		if backup, err = m.keep(p); err != nil {
			return "", fmt.Errorf("no copy of %s could be kept, so it was not touched: %w", p.File, err)
		}
	}
	if p.Native {
		return backup, m.runNative(ctx, p)
	}
	return backup, m.replace(p)
}

// keep copies the file to a name beside it that is free, and returns that.
func (m *Machine) keep(p *Plan) (string, error) {
	name := p.Target + ".before-writ-" + m.Now().Format("20060102-150405")
	for i := 1; ; i++ {
		free := name
		if i > 1 {
			free += "-" + strconv.Itoa(i)
		}
		if err := m.create(free, p.Before, p.Mode); !errors.Is(err, fs.ErrExist) || i == 100 {
			return free, err
		}
	}
}

// stillSame returns ErrChanged unless the file is what the plan saw.
func (p *Plan) stillSame(m *Machine) error {
	now, err := afero.ReadFile(m.FS, p.Target)
	switch {
	case errors.Is(err, fs.ErrNotExist) && p.Before == nil:
		return nil
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return err
	case err != nil || p.Before == nil || !bytes.Equal(now, p.Before):
		return fmt.Errorf("%s: %w", p.File, ErrChanged)
	}
	return nil
}

// create makes a file that must not be there, and sees it onto the disk.
func (m *Machine) create(name string, data []byte, mode fs.FileMode) error {
	f, err := m.FS.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	err = errors.Join(err, f.Sync(), f.Close(), m.FS.Chmod(name, mode))
	if err != nil {
		return errors.Join(err, m.FS.Remove(name))
	}
	return nil
}

// replace puts the new text in the place of the old.
func (m *Machine) replace(p *Plan) error {
	dir := path.Dir(p.Target)
	if err := m.FS.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	fresh := path.Join(dir, ".writ-"+strings.ToLower(rand.Text()[:12])+".tmp")
	if err := m.create(fresh, p.After, p.Mode); err != nil {
		return err
	}
	m.keepOwner(p.Target, fresh)
	err := p.stillSame(m)
	if err == nil {
		err = m.FS.Rename(fresh, p.Target)
	}
	if err != nil {
		return errors.Join(err, m.FS.Remove(fresh))
	}
	return nil
}

// runNative has the client do it, and looks at what it did.
func (m *Machine) runNative(ctx context.Context, p *Plan) error {
	for _, command := range p.Commands {
		if err := m.Run(ctx, command[0], command[1:]...); err != nil {
			return fmt.Errorf("%s failed: %w", strings.Join(command, " "), err)
		}
	}
	after := *p
	if err := after.read(m); err != nil {
		return err
	}
	found, err := find(p.product.syntax, after.Before, p.product.section, p.request.Name)
	if err != nil {
		return err
	}
	if done := p.entry.covers(found); done == p.request.Remove {
		return fmt.Errorf("%s ended well, but the entry %q is not as it should be in %s", p.Commands[len(p.Commands)-1][0], p.request.Name, p.File)
	}
	return nil
}
