//go:build linux || darwin

package workspace

import (
	"bytes"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// extendedOf returns the extended attributes of a file, and the names of those that may not be read.
func extendedOf(f int) (list []extended, unread []string, err error) {
	names, err := attributeNames(f)
	if err != nil {
		return nil, nil, err
	}
	for _, name := range names {
		value, err := attribute(f, name)
		switch {
		case err == nil:
			list = append(list, extended{[]byte(name), value})
		case !isNoAttribute(err):
			unread = append(unread, name)
		}
	}
	return list, unread, nil
}

// giveExtended gives a new file the extended attributes, and tells which it may not have. An access list it must have,
// and that means something else where the file's group is another one.
func (a *attributes) giveExtended(to int, sameGroup bool) (lost []string, err error) {
	if slices.ContainsFunc(a.Unread, isAccessList) {
		return nil, errAccessList
	}
	lost = slices.Clone(a.Unread)
	for _, x := range a.Extended {
		name := string(x.Name)
		if isAccessList(name) && !sameGroup {
			return nil, errAccessList
		}
		given, err := giveAttribute(to, name, x.Value)
		switch {
		case err != nil:
			return nil, err
		case !given && isAccessList(name):
			return nil, errAccessList
		case !given:
			lost = append(lost, name)
		}
	}
	return lost, nil
}

func isAccessList(name string) bool { return strings.HasPrefix(name, "system.") }

func attributeNames(f int) ([]string, error) {
	size, err := unix.Flistxattr(f, nil)
	if err == unix.ENOTSUP || err == nil && size == 0 {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	list := make([]byte, size)
	if size, err = unix.Flistxattr(f, list); err != nil || size == 0 {
		return nil, err
	}
	return strings.Split(strings.TrimSuffix(string(list[:size]), "\x00"), "\x00"), nil
}

// giveAttribute tells whether the new file has the attribute now.
func giveAttribute(to int, name string, value []byte) (bool, error) {
	switch err := unix.Fsetxattr(to, name, value, 0); err {
	case nil:
		return true, nil
	case unix.ENOSPC, unix.EDQUOT, unix.EIO:
		return false, err
	}
	// The system keeps some for itself, and may have given the same to the new file.
	has, err := attribute(to, name)
	return err == nil && bytes.Equal(has, value), nil
}

// isNoAttribute tells whether an attribute that was listed is none, or belongs to no file in particular.
func isNoAttribute(err error) bool {
	return err == unix.ENOTSUP || err == errNoAttribute
}

func attribute(f int, name string) ([]byte, error) {
	size, err := unix.Fgetxattr(f, name, nil)
	if err != nil {
		return nil, err
	}
	value := make([]byte, size)
	size, err = unix.Fgetxattr(f, name, value)
	if err != nil {
		return nil, err
	}
	return value[:size], nil
}
