// Package programs runs programs that the operator declared, within bounds. Nothing else in a server starts one.
//
// A program is fixed when it is found, by its absolute path and the identity of its file, and is not run once another
// file stands there. It is started without a shell, with the arguments as they are, an environment that holds nothing of
// the server's, no input, and a directory of its own that is gone afterwards. This very binary stands in between for a
// moment, as a launcher: it bounds itself and then becomes the program, see [Launch].
//
// Bounded are wall and processor time, the output, the size of files, on Linux the memory of each process and, where the
// kernel has Landlock, what can be reached: the program's own directory, and to read and run what [Needs] names; no TCP.
// What is left in the program's process group at its end is killed. A process that left the group lives on. On Linux there
// may be 1024 processes and threads more than the server's user has when the program starts, but where that user is root,
// whom the kernel does not bound. On Windows nothing is run.
package programs

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"writ/walls"
)

// Program is a program of this machine as it was when it was found.
type Program struct {
	path string
	fact fs.FileInfo
	sum  [sha256.Size]byte // zero for a large one
}

// Find returns the program of an absolute path, or that of a bare name which the server's own PATH leads to.
func Find(name string) (*Program, error) {
	if !filepath.IsAbs(name) {
		if strings.ContainsAny(name, `/\`) || name == "" {
			return nil, fmt.Errorf("%q is neither an absolute path nor a bare name", name)
		}
		found, err := exec.LookPath(name)
		if err != nil {
			return nil, fmt.Errorf("%q is nowhere on the server's PATH", name)
		}
		name = found
	}
	p := &Program{path: filepath.Clean(name)}
	var err error
	if p.fact, p.sum, err = identify(p.path); err != nil {
		return nil, err
	}
	if !p.fact.Mode().IsRegular() || p.fact.Mode()&0o111 == 0 {
		return nil, fmt.Errorf("%s is no program", name)
	}
	return p, nil
}

// Path is where the program is, links not followed.
func (p *Program) Path() string { return p.path }

// ErrReplaced tells that a program is not the file any more that was found.
var ErrReplaced = errors.New("the program's file is another one than when the server started")

// check returns ErrReplaced if another file, or other content, stands where the program was found.
func (p *Program) check() error {
	now, sum, err := identify(p.path)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrReplaced, err)
	}
	same := os.SameFile(now, p.fact) && now.Size() == p.fact.Size() && now.ModTime().Equal(p.fact.ModTime()) && now.Mode() == p.fact.Mode()
	if !same || sum != p.sum {
		return ErrReplaced
	}
	return nil
}

// mostHashed is the size of the largest program whose content is part of what it is, in bytes: one that is read in a
// millisecond. Scripts are what somebody could change without leaving a trace.
const mostHashed = 1 << 20

// identify returns what a program is known by.
func identify(path string) (fact fs.FileInfo, sum [sha256.Size]byte, err error) {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrPermission) { // it may be run and not read
		fact, err = os.Stat(path)
		return fact, sum, err
	}
	if err != nil {
		return nil, sum, err
	}
	defer f.Close()
	if fact, err = f.Stat(); err != nil || !fact.Mode().IsRegular() || fact.Size() > mostHashed {
		return fact, sum, err
	}
	data, err := io.ReadAll(io.LimitReader(f, mostHashed))
	return fact, sha256.Sum256(data), err
}

// Run is what a program is to do, and within which bounds.
type Run struct {
	Args []string // [CopyPath] in one of them stands for the path of Copy, where there is one
	Copy *File    // put for the program into its own directory; nil: none

	Place  string   // the directory that it works in; "": an empty one of its own
	Writes bool     // it may change what is in Place
	Reads  []string // directories that it may read and run, beside [Needs]
	Env    []string // NAME=value, beside and before those that every program gets

	Time   time.Duration
	Memory uint64 // bytes of memory that each process may write to
	Output int    // bytes of its output that are kept
}

// File is a file as it is handed to a program.
type File struct {
	Base string
	Data []byte
}

// CopyPath stands in an argument for the path of a run's copy.
const CopyPath = "{path}"

// Stop says why a program was ended.
type Stop string

// The stops.
const (
	NotStopped    Stop = ""          // it ended by itself
	OutOfTime     Stop = "time"      // it took too long
	TooMuchOutput Stop = "output"    // it wrote far more than is kept
	Cancelled     Stop = "cancelled" // nobody waits for it any more
)

// Outcome is what became of a run.
type Outcome struct {
	ExitCode int    // -1 where a signal ended the program
	Signal   string // that ended it, "" for none
	Output   []byte // what it wrote to its output and its error output, from the beginning
	Total    int64  // bytes that it wrote, as far as they were counted
	Stopped  Stop
	Copy     string // the path that the copy had
}

// Runner runs programs, each in a directory of its own that is gone afterwards.
type Runner struct{ dir string }

// NewRunner returns a runner that makes those directories below dir, an absolute path.
func NewRunner(dir string) *Runner { return &Runner{dir} }

// Variables returns NAME=value for those of this process's variables that are set.
func Variables(names []string) []string {
	var set []string
	for _, name := range names {
		if value, found := os.LookupEnv(name); found {
			set = append(set, name+"="+value)
		}
	}
	return set
}

// Needs is what programs need of this system beside their own files: libraries, interpreters and devices.
func Needs() walls.Walls {
	return walls.Walls{
		Run:     []string{"/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/nix/store"},
		Read:    []string{"/etc", "/proc"},
		Devices: []string{walls.NullDevice, "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom"},
	}
}
