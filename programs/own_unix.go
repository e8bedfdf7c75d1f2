//go:build unix

package programs

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"
)

// A run has a directory of its own, which goes with it. Where a server was killed meanwhile it stays, and the next one to
// start takes it away: each is held by a lock for as long as its run lasts, so those of other servers are left alone.

// own is the directory of one run.
type own struct {
	dir  string
	copy string   // the path of the copy; "" where there is none
	held *os.File // the lock
}

const (
	ownPrefix = "run-"
	lockName  = "lock"
	// youth is how old a directory without a lock must be to be no one's: it is made before it is locked.
	youth = time.Hour
)

// parts are the directories in that of a run. They alone are the program's to write.
var parts = []string{"home", "tmp", "copy", "work"}

// open makes the directory: home and temporary files, the copy, and an empty place to be in, so that no file of the
// copy's name or beside it is taken for a part of the program.
func (r *Runner) open(file *File) (own, error) {
	if err := os.MkdirAll(r.dir, 0o700); err != nil {
		return own{}, fmt.Errorf("a place for programs: %w", err)
	}
	dir, err := os.MkdirTemp(r.dir, ownPrefix)
	if err != nil {
		return own{}, fmt.Errorf("a directory for a program: %w", err)
	}
	o := own{dir: dir}
	if o.held, err = lock(dir, os.O_CREATE); err != nil {
		return own{}, errors.Join(fmt.Errorf("hold the directory of a program: %w", err), os.RemoveAll(dir))
	}
	for _, name := range parts {
		if err := os.Mkdir(o.at(name), 0o700); err != nil {
			return own{}, errors.Join(err, o.close())
		}
	}
	if file == nil {
		return o, nil
	}
	o.copy = filepath.Join(dir, "copy", filepath.Base(file.Base))
	if err := os.WriteFile(o.copy, file.Data, 0o600); err != nil {
		return own{}, errors.Join(err, o.close())
	}
	return o, nil
}

// lock takes the lock of a run's directory, or fails at once.
func lock(dir string, flag int) (*os.File, error) {
	f, err := os.OpenFile(filepath.Join(dir, lockName), os.O_RDWR|flag, 0o600)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// close takes the directory away; where not all of it goes, the rest is for [Runner.Sweep].
func (o own) close() error {
	return errors.Join(remove(o.dir), o.held.Close())
}

// remove takes a directory away, also one of whose directories the program took the modes that this needs, as `go` does
// with what it downloads.
func remove(dir string) error {
	if os.RemoveAll(dir) == nil {
		return nil
	}
	root, err := os.OpenRoot(dir) // a program that lives on could put a link to elsewhere in a directory's place
	if err != nil {
		return err
	}
	defer root.Close()
	_ = fs.WalkDir(root.FS(), ".", func(name string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() {
			return root.Chmod(name, 0o700)
		}
		return nil
	})
	return os.RemoveAll(dir)
}

// Sweep takes away what runs of servers left that were killed.
func (r *Runner) Sweep() error {
	entries, err := os.ReadDir(r.dir)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	for _, e := range entries {
		if e.IsDir() && strings.HasPrefix(e.Name(), ownPrefix) {
			err = errors.Join(err, sweep(filepath.Join(r.dir, e.Name())))
		}
	}
	return err
}

func sweep(dir string) error {
	held, err := lock(dir, 0)
	switch {
	case errors.Is(err, syscall.EWOULDBLOCK):
		return nil // its run is under way
	case errors.Is(err, os.ErrNotExist):
		if info, err := os.Stat(dir); err != nil || time.Since(info.ModTime()) < youth {
			return nil // it is just being made, or it is gone
		}
		return remove(dir)
	case err != nil:
		return err
	}
	return own{dir: dir, held: held}.close()
}

func (o own) at(name string) string { return filepath.Join(o.dir, name) }

// places are those of parts.
func (o own) places() []string {
	list := make([]string, len(parts))
	for i, name := range parts {
		list[i] = o.at(name)
	}
	return list
}

// environment is all that a program gets to know of where it runs, each variable once: those that come first stand.
func (o own) environment(first []string) []string {
	env := slices.Clone(first)
	for _, custom := range []string{"PATH=/usr/bin:/bin", "HOME=" + o.at("home"), "TMPDIR=" + o.at("tmp"), "LANG=C.UTF-8"} {
		name, _, _ := strings.Cut(custom, "=")
		if !slices.ContainsFunc(first, func(v string) bool { return strings.HasPrefix(v, name+"=") }) {
			env = append(env, custom)
		}
	}
	return env
}

// arguments puts the copy's path into the arguments.
func (o own) arguments(args []string) []string {
	if o.copy == "" {
		return args
	}
	placed := make([]string, len(args))
	for i, arg := range args {
		placed[i] = strings.ReplaceAll(arg, CopyPath, o.copy)
	}
	return placed
}
