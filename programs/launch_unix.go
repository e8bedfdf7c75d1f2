//go:build unix

package programs

import (
	"encoding/json"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"

	"writ/walls"
)

// launcherName is what a launcher is called, which tells this binary what it is to be.
const launcherName = "writ: launcher"

// faultFile is where a launcher says what stopped it. That it is closed and empty tells that the program runs.
const faultFile = 3

const (
	// mostFileBytes bounds each file that a program writes.
	mostFileBytes = 64 << 20
	// mostTasks bounds the processes and threads of a program, with all that its user starts meanwhile. The kernel has no
	// such bound for root.
	mostTasks = 1024
)

// task is what a launcher is to become.
type task struct {
	Path    string
	Argv    []string
	Env     []string
	Seconds uint64 // of processor time
	Memory  uint64
	Walls   walls.Walls
	Server  int // the process that starts it
}

// IsLauncher tells whether this process was started to become a program. Its main function then calls [Launch] and does
// nothing else.
func IsLauncher() bool { return len(os.Args) == 1 && os.Args[0] == launcherName }

// Launch bounds this process and makes it the program that the process which started it names on standard input. It
// returns only if that fails, with the exit status.
func Launch() int {
	err := keepFiles()
	if err == nil {
		err = become()
	}
	fmt.Fprint(os.NewFile(faultFile, "fault"), err)
	return 1
}

// keepFiles sees to it that no open file becomes the program's but the three of custom: whoever started the server may
// have left it some.
func keepFiles() error {
	syscall.CloseOnExec(faultFile)
	open, err := os.ReadDir("/dev/fd")
	if err != nil {
		return fmt.Errorf("close what is open: %w", err)
	}
	for _, f := range open {
		if fd, err := strconv.Atoi(f.Name()); err == nil && fd >= faultFile {
			syscall.CloseOnExec(fd)
		}
	}
	return nil
}

func become() error {
	var t task
	if err := json.NewDecoder(os.Stdin).Decode(&t); err != nil {
		return fmt.Errorf("the launcher was told nothing: %w", err)
	}
	if err := closeInput(); err != nil {
		return err
	}
	if _, err := t.Walls.Raise(); err != nil {
		return err
	}
	debug.SetGCPercent(-1) // little memory is left from here on
	if err := t.limit(); err != nil {
		return err
	}
	runtime.LockOSThread()
	if err := dieWith(t.Server); err != nil {
		return fmt.Errorf("bind the program to the server: %w", err)
	}
	return fmt.Errorf("start the program: %w", syscall.Exec(t.Path, t.Argv, t.Env))
}

// closeInput leaves an empty file in the place of standard input.
func closeInput() error {
	if err := syscall.Close(0); err != nil {
		return fmt.Errorf("no input: %w", err)
	}
	fd, err := syscall.Open(walls.NullDevice, syscall.O_RDONLY, 0)
	if err == nil && fd != 0 {
		err = fmt.Errorf("it became file %d", fd)
	}
	if err != nil {
		return fmt.Errorf("no input: %w", err)
	}
	return nil
}

// limit has the kernel bound this process and all that come from it, each for itself. RLIMIT_DATA and not RLIMIT_AS, since
// many a runtime reserves far more addresses than it ever uses.
func (t task) limit() error {
	bounds := []bound{
		{unix.RLIMIT_CORE, 0}, {unix.RLIMIT_FSIZE, mostFileBytes}, {unix.RLIMIT_CPU, t.Seconds}, {unix.RLIMIT_DATA, t.Memory},
	}
	if n := tasks(); n > 0 {
		bounds = append(bounds, bound{unix.RLIMIT_NPROC, n + mostTasks})
	}
	for _, b := range bounds {
		if err := b.set(); err != nil {
			return fmt.Errorf("bound the program: %w", err)
		}
	}
	return nil
}

// bound is one of the kernel's.
type bound struct {
	resource int
	most     uint64
}

// set sets it, unless a closer one holds already.
func (b bound) set() error {
	var now unix.Rlimit
	if err := unix.Getrlimit(b.resource, &now); err != nil {
		return err
	}
	most := min(b.most, now.Max)
	return unix.Setrlimit(b.resource, &unix.Rlimit{Cur: most, Max: most})
}
