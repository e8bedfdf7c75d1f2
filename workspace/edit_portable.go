package workspace

import (
	"io/fs"
	"os"
)

func (d *portableDir) unnamed(fs.FileMode) (*os.File, error) { return nil, errNoUnnamed }

func (d *portableDir) create(name string, mode fs.FileMode) (*os.File, error) {
	return d.root.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, mode.Perm())
}

func (d *portableDir) link(*os.File, string) error { return errNoUnnamed }

func (d *portableDir) exchange(a, b string) error { return exchangeEntries(d.f, a, b) }

func (d *portableDir) moveTo(name string, to editDir, as string) error {
	return moveEntry(d, name, to.(*portableDir), as)
}

func (d *portableDir) replace(name, over string) error { return d.root.Rename(name, over) }
func (d *portableDir) remove(name string) error        { return d.root.Remove(name) }
func (d *portableDir) mkdir(name string) error         { return d.root.Mkdir(name, 0o777) }
func (d *portableDir) rmdir(name string) error         { return removeDirectory(d, name) }

func (d *portableDir) openEdit(name string) (editDir, error) {
	sub, err := d.openDir(name)
	if err != nil {
		return nil, err
	}
	return sub.(*portableDir), nil
}

func (d *portableDir) writable(string) error { return nil }

func (d *portableDir) sync() error { return syncDirectory(d.f) }

func (d *portableDir) identity() (string, error) { return directoryIdentity(d) }
