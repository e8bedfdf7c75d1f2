package ledger

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"writ/envelope"
)

// replaceDamaged moves a damaged database and all that belongs to it into a directory of its own, where its undo data
// can be recovered by hand, and opens a new one. The first audit row of the new one says so.
func replaceDamaged(o opening, damage error) (*store, error) {
	alive, _, err := o.process.others(o.dir)
	if err != nil {
		return nil, err
	}
	if alive > 0 {
		return nil, &envelope.Error{
			Code:    envelope.IO,
			Message: "The change log in the state directory is damaged, and other writ processes have it open, so it can't be set aside. A person must stop them all and start one again.",
			Err:     damage,
		}
	}
	aside, err := setAside(o.dir, o.now)
	if err != nil {
		return nil, fmt.Errorf("set the damaged database aside: %w", err)
	}
	o.log.Error("the change log was damaged: it is set aside and a new one begun. Changes made before can't be undone by writ; their undo data are in the directory set aside. Changes that were being made when it was damaged are not settled.",
		"directory", filepath.Join(o.dir, aside), "error", damage)
	o.suspect = false
	s, err := openDatabase(o)
	if err != nil {
		return nil, err
	}
	return s, s.appendEvent(o.now, "the change log was damaged and set aside as "+aside)
}

// setAside moves the database into a new directory and returns its name. Nothing is deleted, but for the index of the
// write-ahead log, which SQLite makes anew from the log.
func setAside(dir string, now time.Time) (string, error) {
	name, err := makeAside(dir, now)
	if err != nil {
		return "", err
	}
	if err := os.Remove(filepath.Join(dir, databaseName+"-shm")); err != nil && !errors.Is(err, os.ErrNotExist) {
		return "", err
	}
	// The database goes last: as long as it is there, a start that was cut short here is taken up again by the next.
	for _, part := range []string{imagesDir, databaseName + "-wal", databaseName} {
		err := os.Rename(filepath.Join(dir, part), filepath.Join(dir, name, part))
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			return "", err
		}
	}
	if err := os.MkdirAll(filepath.Join(dir, imagesDir), 0o700); err != nil {
		return "", err
	}
	return name, errors.Join(flushDir(filepath.Join(dir, name)), flushDir(dir))
}

func makeAside(dir string, now time.Time) (string, error) {
	stamp := "damaged-" + now.UTC().Format("2006-01-02T150405Z")
	name := stamp
	for n := 2; ; n++ {
		err := os.Mkdir(filepath.Join(dir, name), 0o700)
		if !errors.Is(err, os.ErrExist) {
			return name, err
		}
		name = fmt.Sprintf("%s-%d", stamp, n)
	}
}
