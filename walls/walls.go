// Package walls has the kernel keep this process, and all that it starts, to what it needs: a second wall behind the
// resolver and the policy, which holds even where those have a fault. It is Landlock where the kernel has that, and
// nothing elsewhere; [Level] tells which.
//
// The wall is drawn around directories, so it is coarser than a policy: in a root it keeps nothing apart. It does not
// cover what is open already, looking at the facts of a file, changes of mode and owner, nor UDP. Once raised it can't be
// lifted, only be drawn closer.
package walls

import (
	"fmt"
	"slices"
)

// Walls is what a process may still do once they are raised. Directories and files that are not there are left out.
type Walls struct {
	Read    []string // directories whose files may be read and listed
	Write   []string // directories whose files may be read, changed, made and removed
	Run     []string // directories whose files may be read and executed
	Files   []string // single files that may be read and executed
	Devices []string // single files that may be read and written
	Offline bool     // no TCP connection may be made and none be waited for
	// Signals leaves open to send signals to processes outside: who starts a process may have to end it, and each thread is
	// behind walls of its own, so that a child of one is outside to the others.
	Signals bool
}

// And returns what is possible by w, by more, or by both.
func (w Walls) And(more Walls) Walls {
	return Walls{
		Read: slices.Concat(w.Read, more.Read), Write: slices.Concat(w.Write, more.Write), Run: slices.Concat(w.Run, more.Run),
		Files: slices.Concat(w.Files, more.Files), Devices: slices.Concat(w.Devices, more.Devices), Offline: w.Offline && more.Offline,
		Signals: w.Signals || more.Signals,
	}
}

// Level is what the kernel keeps to. The zero Level is no wall.
type Level struct {
	ABI     int  // of Landlock
	Offline bool // TCP is shut
}

// String names the level as callers and operators see it.
func (l Level) String() string {
	if l.ABI == 0 {
		return "none"
	}
	return fmt.Sprintf("landlock-abi%d", l.ABI)
}

// netABI is the first that knows of TCP.
const netABI = 4

// NullDevice is what programs take for an empty file.
const NullDevice = "/dev/null"
