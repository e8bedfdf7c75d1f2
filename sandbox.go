package main

import (
	"os"
	"path/filepath"
	"time"

	"writ/walls"
)

// resolverFiles tell how the address of a name is found, such as that of the host whose keys are fetched.
var resolverFiles = []string{"/etc/resolv.conf", "/etc/hosts", "/etc/nsswitch.conf"}

// confine raises walls around this process, so that even a fault of ours reaches nothing but the roots, the change log
// and the notes index. It comes after everything outside was opened, and can't be undone. That it does not work is no
// reason not to serve: what keeps callers inside the roots is the resolver.
func (h *house) confine(offline bool) {
	_, _ = time.Now().Zone() // the time zone is read from the disk once, which the walls would not let be
	w := walls.Walls{Write: []string{h.state}, Devices: []string{walls.NullDevice}, Offline: offline}
	if h.index != "" {
		w.Write = append(w.Write, filepath.Dir(h.index))
	}
	for _, directory := range w.Write { // a rule is for what is there
		if err := os.MkdirAll(directory, 0o700); err != nil {
			h.log.Warn("no directory to keep things in", "error", err)
		}
	}
	if file := h.policy.Audit().File; file != "" {
		w.Write = append(w.Write, filepath.Dir(file)) // it is rotated, so its directory is written too
	}
	w = w.And(h.runs(h.checks.Walls())).And(h.runs(h.programs.Walls()))
	w.Offline = offline
	w.Read = append(w.Read, h.reads...)
	if !offline && h.policy.OAuth() != nil {
		w.Files = append(w.Files, resolverFiles...)
	}
	for _, r := range h.policy.Roots() {
		if h.policy.CanEverWrite() {
			w.Write = append(w.Write, r.Path)
		} else {
			w.Read = append(w.Read, r.Path)
		}
	}
	level, err := w.Raise()
	if err != nil {
		h.log.Warn("the server runs without walls of the kernel", "error", err)
	}
	h.walls = level
}

// runs are the walls that programs need.
func (h *house) runs(needs walls.Walls, err error) walls.Walls {
	if err != nil {
		h.log.Warn("the programs of the policy can't be started", "error", err)
	}
	return needs
}
