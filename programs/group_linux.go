package programs

import (
	"errors"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// ownGroup puts a program into a process group of its own, and has the kernel kill it when the server dies.
func ownGroup() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}

// dieWith has the kernel kill what this thread becomes when the server dies. What ownGroup asks for is the first thread's
// alone, and whichever becomes the program is not that one always. The thread must be locked.
func dieWith(server int) error {
	if err := unix.Prctl(unix.PR_SET_PDEATHSIG, uintptr(syscall.SIGKILL), 0, 0, 0); err != nil {
		return err
	}
	if os.Getppid() != server {
		return errors.New("the server has ended")
	}
	return nil
}
