//go:build unix

package programs

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"sync"
	"syscall"
	"time"

	"writ/walls"
)

const (
	// grace is how long a program that is to end has for it, before it is killed.
	grace = 500 * time.Millisecond
	// patience is how long a process that has left the group, and holds the output open, is waited for.
	patience = 2 * time.Second
	// flood is how many times more than what is kept a program may write.
	flood = 64
)

var errFlood = errors.New("too much output")

// Run runs the program and waits for its end. The error tells that it was not run. What can't be taken away of its own
// directory is none: [Runner.Sweep] tries again.
func (r *Runner) Run(ctx context.Context, p *Program, run Run) (Outcome, error) {
	if err := ctx.Err(); err != nil {
		return Outcome{}, err
	}
	if err := p.check(); err != nil {
		return Outcome{}, err
	}
	o, err := r.open(run.Copy)
	if err != nil {
		return Outcome{}, err
	}
	defer func() { _ = o.close() }()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	ctx, stop := context.WithTimeout(ctx, run.Time)
	defer stop()
	kept := &collector{keep: run.Output, most: int64(run.Output) * flood, flooded: func() { cancel(errFlood) }}
	state, cut, err := start(ctx, p, run, o, kept)
	if err != nil {
		return Outcome{}, err
	}
	out := Outcome{ExitCode: state.ExitCode(), Copy: o.copy}
	if cut {
		out.Stopped = why(context.Cause(ctx))
	}
	if status, ok := state.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		out.Signal = status.Signal().String()
	}
	out.Output, out.Total = kept.taken()
	return out, nil
}

func why(cause error) Stop {
	switch {
	case errors.Is(cause, errFlood):
		return TooMuchOutput
	case errors.Is(cause, context.DeadlineExceeded):
		return OutOfTime
	}
	return Cancelled
}

// start starts a launcher, which becomes the program, and waits for its end. cut tells that the end was asked for.
func start(ctx context.Context, p *Program, run Run, o own, output io.Writer) (state *os.ProcessState, cut bool, err error) {
	fault, faultEnd, err := os.Pipe()
	if err != nil {
		return nil, false, err
	}
	defer fault.Close()
	defer faultEnd.Close()
	command, err := launcher(ctx, job(p, run, o), faultEnd)
	if err != nil {
		return nil, false, err
	}
	command.Dir, command.Stdout, command.Stderr = cmp.Or(run.Place, o.at("work")), output, output
	ended := make(chan struct{})
	command.Cancel = func() error { // before Wait returns, or never
		cut = true
		return endGroup(command.Process.Pid, ended)
	}
	runtime.LockOSThread() // the kernel ends the program with the thread that started it
	defer runtime.UnlockOSThread()
	if err := command.Start(); err != nil {
		return nil, false, fmt.Errorf("the launcher: %w", err)
	}
	faultEnd.Close()
	waited := command.Wait()
	close(ended)
	killGroup(command.Process.Pid)
	if said, _ := io.ReadAll(io.LimitReader(fault, 1<<10)); len(said) > 0 {
		return nil, false, errors.New(string(said))
	}
	if command.ProcessState == nil {
		return nil, false, fmt.Errorf("wait for the program: %w", waited)
	}
	return command.ProcessState, cut, nil
}

// launcher is this binary with a task.
func launcher(ctx context.Context, t task, fault *os.File) (*exec.Cmd, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("the launcher: %w", err)
	}
	told, err := json.Marshal(t)
	if err != nil {
		return nil, err
	}
	command := exec.CommandContext(ctx, self)
	command.Args, command.Env = []string{launcherName}, []string{}
	command.Stdin, command.ExtraFiles = bytes.NewReader(told), []*os.File{fault}
	command.SysProcAttr, command.WaitDelay = ownGroup(), grace+patience
	return command, nil
}

// job is what a launcher is told of a run.
func job(p *Program, run Run, o own) task {
	return task{
		Path: p.path, Argv: slices.Concat([]string{p.path}, o.arguments(run.Args)), Env: o.environment(run.Env),
		Seconds: secondsOf(run.Time), Memory: run.Memory, Walls: wallsOf(p, run, o), Server: os.Getpid(),
	}
}

// secondsOf is the processor time of each process, which may use every processor all the time.
func secondsOf(wall time.Duration) uint64 {
	return (uint64(wall/time.Second) + 2) * uint64(runtime.NumCPU())
}

// wallsOf are those around a program. What is in the directory that it works in is not run, since callers may have written
// it; what the program makes for itself in its own is, as compilers do with tests.
func wallsOf(p *Program, run Run, o own) walls.Walls {
	w := Needs()
	w.Files, w.Write, w.Offline = []string{p.path}, o.places(), true
	if run.Place == "" {
		return w
	}
	w.Run = append(append(w.Run, o.at("tmp"), o.at("home")), run.Reads...)
	if run.Writes {
		w.Write = append(w.Write, run.Place)
	} else {
		w.Read = append(w.Read, run.Place)
	}
	return w
}

// endGroup asks a program to end, and kills it if it does not in time.
func endGroup(pid int, ended <-chan struct{}) error {
	err := syscall.Kill(-pid, syscall.SIGTERM)
	go func() {
		select {
		case <-ended:
		case <-time.After(grace):
			killGroup(pid)
		}
	}()
	return err
}

// killGroup kills what is left of the process group. There may be nothing left.
func killGroup(pid int) { _ = syscall.Kill(-pid, syscall.SIGKILL) }

// collector keeps the beginning of what is written to it.
type collector struct {
	mu      sync.Mutex
	keep    int
	kept    []byte
	total   int64
	most    int64
	flooded func()
}

func (c *collector) Write(b []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.kept = append(c.kept, b[:min(len(b), c.keep-len(c.kept))]...)
	c.total += int64(len(b))
	if c.total > c.most {
		c.flooded()
	}
	return len(b), nil
}

// taken returns what was kept, and how much was written.
func (c *collector) taken() ([]byte, int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.kept, c.total
}

// Around are the walls of a process that runs the programs: launchers inherit them. What places and reads are to a run,
// these are to all of them.
func (r *Runner) Around(found []*Program) (walls.Walls, error) {
	self, err := os.Executable()
	if err != nil {
		return walls.Walls{}, fmt.Errorf("the launcher: %w", err)
	}
	w := Needs()
	w.Files, w.Write, w.Run, w.Signals = []string{self}, []string{r.dir}, append(w.Run, r.dir), true
	for _, p := range found {
		w.Files = append(w.Files, p.path)
	}
	return w, nil
}

// KeepsReadOnly tells whether the kernel keeps a program that may not write from changing the bytes of a file, or which
// files there are.
func KeepsReadOnly() bool { return walls.Available().ABI >= truncateABI }

// truncateABI is the first version of Landlock that knows of cutting a file short.
const truncateABI = 3
