//go:build unix

package client

import "syscall"

// keepOwner gives a new file the owner of the old one, so that root's help does not lock a person out of their own
// file. Where that is not allowed, the file is the caller's.
func (m *Machine) keepOwner(old, fresh string) {
	info, err := m.FS.Stat(old)
	if err != nil {
		return
	}
	if stat, ok := info.Sys().(*syscall.Stat_t); ok {
		_ = m.FS.Chown(fresh, int(stat.Uid), int(stat.Gid))
	}
}
