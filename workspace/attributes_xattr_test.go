//go:build linux || darwin

package workspace

import "golang.org/x/sys/unix"

func setAttribute(name string) bool {
	return unix.Setxattr(name, "user.writ-test", []byte("kept"), 0) == nil
}

func getAttribute(name string) string {
	value := make([]byte, 16)
	n, err := unix.Getxattr(name, "user.writ-test", value)
	if err != nil {
		return ""
	}
	return string(value[:n])
}
