//go:build linux || darwin

package workspace

import (
	"strings"

	"golang.org/x/sys/unix"
)

// carryAttributes gives a new file the extended attributes of another. Those that may not be given, or that the file
// system keeps for itself, are left.
func carryAttributes(from, to int) error {
	size, err := unix.Flistxattr(from, nil)
	if err != nil || size == 0 {
		return nil
	}
	list := make([]byte, size)
	size, err = unix.Flistxattr(from, list)
	if err != nil {
		return nil
	}
	for name := range strings.SplitSeq(strings.TrimSuffix(string(list[:size]), "\x00"), "\x00") {
		if err := carryAttribute(from, to, name); err != nil {
			return err
		}
	}
	return nil
}

func carryAttribute(from, to int, name string) error {
	size, err := unix.Fgetxattr(from, name, nil)
	if err != nil {
		return nil
	}
	value := make([]byte, size)
	size, err = unix.Fgetxattr(from, name, value)
	if err != nil {
		return nil
	}
	switch err := unix.Fsetxattr(to, name, value[:size], 0); err {
	case unix.ENOSPC, unix.EDQUOT, unix.EIO:
		return err
	}
	return nil
}
