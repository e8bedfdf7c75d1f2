package ledger

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// images is the directory of undo data that are too large for a row: files named by the SHA-256 of their bytes, each
// written once. A row names its image, and an image that no row names is removed.
//
// Placing and removing may meet: a process finds an image in place, and another removes it before the row that names it
// is committed. An image is removed only while holding the database's write lock, so after the commit it either is
// there to stay or must be placed again; see [store.confirmImage].
type images struct{ dir string }

const tempPrefix = "tmp-"

func sumOf(parts [][]byte) string {
	h := sha256.New()
	for _, p := range parts {
		h.Write(p)
	}
	return hex.EncodeToString(h.Sum(nil))
}

// place makes the image sum of the given bytes durable.
func (i images) place(sum string, parts [][]byte) error {
	if i.has(sum) {
		return flushDir(i.dir)
	}
	f, err := os.CreateTemp(i.dir, tempPrefix) // mode 0600
	if err != nil {
		return err
	}
	err = writeAll(f, parts)
	if err == nil {
		err = os.Rename(f.Name(), i.path(sum))
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return flushDir(i.dir)
}

// writeAll writes, flushes and closes f.
func writeAll(f *os.File, parts [][]byte) error {
	for _, p := range parts {
		if _, err := f.Write(p); err != nil {
			return errors.Join(err, f.Close())
		}
	}
	return errors.Join(f.Sync(), f.Close())
}

func (i images) path(sum string) string { return filepath.Join(i.dir, sum) }

func (i images) has(sum string) bool {
	_, err := os.Stat(i.path(sum))
	return err == nil
}

// read returns the image's bytes, or an error that is os.ErrNotExist or errUndoDamaged.
func (i images) read(sum string) ([]byte, error) {
	data, err := os.ReadFile(i.path(sum))
	if err != nil {
		return nil, err
	}
	if got := sha256.Sum256(data); !strings.EqualFold(hex.EncodeToString(got[:]), sum) {
		return nil, fmt.Errorf("image %s: %w", sum, errUndoDamaged)
	}
	return data, nil
}

// remove deletes the image; the caller holds the database's write lock and knows that no row names it.
func (i images) remove(sum string) error {
	err := os.Remove(i.path(sum))
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	return err
}

// list returns the images, and removes what was left of writing others more than an hour ago.
func (i images) list(now time.Time) ([]string, error) {
	entries, err := os.ReadDir(i.dir)
	if err != nil {
		return nil, err
	}
	var sums []string
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), tempPrefix) {
			sums = append(sums, e.Name())
			continue
		}
		if info, err := e.Info(); err == nil && now.Sub(info.ModTime()) > time.Hour {
			_ = os.Remove(i.path(e.Name()))
		}
	}
	return sums, nil
}
