//go:build linux || darwin

package workspace

import (
	"bytes"
	"strings"

	"golang.org/x/sys/unix"
)

// carryAttributes gives a new file the extended attributes of another, and tells which may not be given. An access list
// must be, and means something else where the file's group is another one.
func carryAttributes(from, to int, sameGroup bool) (lost []string, err error) {
	names, err := attributeNames(from)
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		isList := strings.HasPrefix(name, "system.")
		if isList && !sameGroup {
			return nil, errAccessList
		}
		carried, err := carryAttribute(from, to, name)
		switch {
		case err != nil:
			return nil, err
		case !carried && isList:
			return nil, errAccessList
		case !carried:
			lost = append(lost, name)
		}
	}
	return lost, nil
}

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

// carryAttribute tells whether the new file has the attribute now.
func carryAttribute(from, to int, name string) (bool, error) {
	value, err := attribute(from, name)
	if err != nil {
		return isNoAttribute(err), nil // one that may not be read may not be given either
	}
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
