// Package walls has the kernel keep this process, and all that it starts, to what it needs: a second wall behind the
// resolver and the policy, which holds even where those have a fault. It is Landlock where the kernel has that, and
// nothing elsewhere; [Level] tells which.
//
// The wall is drawn around directories, so it is coarser than a policy: in a root it keeps nothing apart. It does not
// cover what is open already, looking at the facts of a file, changes of mode and owner, nor UDP. Once raised it can't be
// lifted, only be drawn closer.
package walls

import "fmt"

// Walls is what a process may still do once they are raised. Directories and files that are not there are left out.
type Walls struct {
	Read    []string // directories whose files may be read and listed
	Write   []string // directories whose files may be read, changed, made and removed
	Run     []string // directories whose files may be read and executed
	Files   []string // single files that may be read and executed
	Devices []string // single files that may be read and written
	Offline bool     // no TCP connection may be made and none be waited for
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
