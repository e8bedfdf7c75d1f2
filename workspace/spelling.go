package workspace

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Some volumes take several spellings for one name: README for readme, or one Unicode form for another. There the
// system opens what the guard was never asked about, so each name is first looked for as its directory lists it.

// foldsNames tells whether the volume of the directory takes several spellings for one name. It tries names that are
// there: entries, then the directory's own name and those above it on the same volume. Where none has a letter, the
// volume is taken for one that does, which costs time and nothing else.
//
// Linux can fold in single directories of a volume that otherwise does not (chattr +F). Such a directory is only known
// if it is the root itself.
func foldsNames(directory string) bool {
	f, err := os.Open(directory)
	if err != nil {
		return true
	}
	defer f.Close()
	names, _ := f.Readdirnames(64)
	for _, name := range names {
		if folds, known := foldsName(directory, name); known {
			return folds
		}
	}
	for at := directory; onSameDevice(at, filepath.Dir(at)); at = filepath.Dir(at) {
		if folds, known := foldsName(filepath.Dir(at), filepath.Base(at)); known {
			return folds
		}
	}
	return true
}

// onSameDevice tells whether a directory and the one above it are two, on one volume.
func onSameDevice(directory, above string) bool {
	a, err1 := os.Stat(directory)
	b, err2 := os.Stat(above)
	return directory != above && err1 == nil && err2 == nil && sameDevice(a, b)
}

func foldsName(directory, name string) (folds, known bool) {
	other := swapCase(name)
	if other == name {
		return false, false
	}
	a, err := os.Lstat(filepath.Join(directory, name))
	if err != nil {
		return false, false
	}
	b, err := os.Lstat(filepath.Join(directory, other))
	return err == nil && os.SameFile(a, b), true
}

// swapCase turns each ASCII letter into the other case.
func swapCase(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case 'a' <= r && r <= 'z':
			return r - 'a' + 'A'
		case 'A' <= r && r <= 'Z':
			return r - 'A' + 'a'
		}
		return r
	}, s)
}

// spellingIn returns the name under which a directory lists the object that leaf was looked up to.
func spellingIn(in dir, leaf string, object fs.FileInfo) (string, error) {
	d, err := in.openDir(".")
	if err != nil {
		return "", err
	}
	defer d.Close()
	return listedName(d, leaf, object)
}

// listedName returns the name under which the directory lists the object that name was looked up to.
func listedName(d dir, name string, object fs.FileInfo) (string, error) {
	names, err := d.handle().Readdirnames(-1)
	if err != nil {
		return "", err
	}
	alias := ""
	for _, n := range names {
		if n == name {
			return name, nil
		}
		if alias != "" {
			continue
		}
		if info, err := d.stat(n); err == nil && sameFile(info, object) {
			alias = n
		}
	}
	if alias == "" {
		return "", errMoved
	}
	return alias, nil
}

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= 0x80 {
			return false
		}
	}
	return true
}
