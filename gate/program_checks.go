package gate

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"writ/checks"
	"writ/contract"
	"writ/policy"
	"writ/programs"
	"writ/walls"
)

// Bounds of one run of a check.
const (
	checkTime   = 5 * time.Second
	checkMemory = 1 << 30
	checkOutput = 64 << 10
	// allChecksTime bounds what one call spends on checks by programs: its answer waits for them.
	allChecksTime = 15 * time.Second
)

// Exit statuses by which shells and env tell that what they were to run could not be run. A check that was not made has
// found nothing.
const (
	notRunnable = 126
	notThere    = 127
)

// ProgramChecks are the checks by programs that a policy declares. They look at a copy of what was written, so that
// whatever they do is not done to the file.
type ProgramChecks struct {
	policy   *policy.Policy
	runner   *programs.Runner
	checkers []*programChecker // as in the policy
}

// NewProgramChecks finds the programs, which the runner runs. A program that callers could change, since
// inside tells that a file's path lies in a root, is not run, nor one that is not found: [ProgramChecks.Faults] names
// them, and a check by one is reported as skipped.
func NewProgramChecks(p *policy.Policy, runner *programs.Runner, inside func(file string) bool) *ProgramChecks {
	c := &ProgramChecks{policy: p, runner: runner}
	for _, declared := range p.Checks() {
		checker := &programChecker{name: nameOfCheck(declared.Command), args: declared.Command[1:], runner: c.runner}
		checker.program, checker.fault = findOutside(declared.Command[0], inside)
		c.checkers = append(c.checkers, checker)
	}
	return c
}

// findOutside finds a program that lies in no root, whichever way one comes to it.
func findOutside(name string, inside func(string) bool) (*programs.Program, error) {
	found, err := programs.Find(name)
	if err != nil {
		return nil, err
	}
	real, err := filepath.EvalSymlinks(found.Path())
	if err != nil {
		return nil, err
	}
	if inside(found.Path()) || inside(real) {
		return nil, fmt.Errorf("%s is inside a root, where callers could change it", found.Path())
	}
	return found, nil
}

// nameOfCheck is a command as callers know it: without the program's directory, and without the file that it looks at.
func nameOfCheck(command []string) string {
	words := []string{filepath.Base(command[0])}
	for _, arg := range command[1:] {
		if !strings.Contains(arg, programs.CopyPath) {
			words = append(words, arg)
		}
	}
	return strings.Join(words, " ")
}

// Faults tells why programs can't be run; nil if all can.
func (c *ProgramChecks) Faults() error {
	var faults []error
	for _, one := range c.checkers {
		if one.fault != nil {
			faults = append(faults, fmt.Errorf("the check %s is skipped: %w", contract.Quote(one.name), one.fault))
		}
	}
	return errors.Join(faults...)
}

// Walls are what a server needs to reach so that the programs run.
func (c *ProgramChecks) Walls() (walls.Walls, error) {
	var found []*programs.Program
	for _, one := range c.checkers {
		if one.fault == nil {
			found = append(found, one.program)
		}
	}
	if len(found) == 0 {
		return walls.Walls{}, nil
	}
	return c.runner.Around(found)
}

// of returns the checkers of a file.
func (c *ProgramChecks) of(path contract.Path) []checks.Checker {
	if c == nil {
		return nil
	}
	var list []checks.Checker
	for _, i := range c.policy.ChecksOf(path) {
		list = append(list, c.checkers[i])
	}
	return list
}

// programChecker is one check by a program.
type programChecker struct {
	name    string
	program *programs.Program
	fault   error // why there is no program
	args    []string
	runner  *programs.Runner
}

func (c *programChecker) Name() string { return c.name }

// FindsAll is not known of a program.
func (c *programChecker) FindsAll() bool { return false }

// Find has the program look at a copy of the text. The reason of a skip names no place of this machine: callers read it.
func (c *programChecker) Find(ctx context.Context, base string, text []byte) checks.Found {
	if c.fault != nil {
		return checks.Found{Skipped: "The program could not be found when the server started, or lies where callers could change it."}
	}
	out, err := c.runner.Run(ctx, c.program, programs.Run{
		Args: c.args, Copy: &programs.File{Base: base, Data: text}, Time: checkTime, Memory: checkMemory, Output: checkOutput,
	})
	switch {
	case errors.Is(err, programs.ErrReplaced):
		return checks.Found{Skipped: "The program's file is another one than when the server started."}
	case ctx.Err() != nil:
		return checks.Found{Skipped: "There was no time left for this check."}
	case err != nil:
		return checks.Found{Skipped: "The program could not be started."}
	case out.Stopped == programs.OutOfTime:
		return checks.Found{Skipped: fmt.Sprintf("The program took longer than %v and was ended.", checkTime)}
	case out.Stopped != programs.NotStopped:
		return checks.Found{Skipped: "The program wrote far too much and was ended."}
	case out.Signal != "":
		return checks.Found{Skipped: "The program crashed or met a bound: " + out.Signal + "."}
	case out.ExitCode == 0:
		return checks.Found{}
	case out.ExitCode == notRunnable || out.ExitCode == notThere:
		return checks.Found{Skipped: "The program could not run what it needs: a part of it is missing, or lies where it may not reach."}
	}
	return checks.Found{Problems: checks.Said(out.Copy, string(out.Output))}
}
