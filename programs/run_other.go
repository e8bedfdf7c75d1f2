//go:build !unix

package programs

import (
	"context"
	"errors"

	"writ/walls"
)

// IsLauncher tells whether this process was started to become a program: never, here.
func IsLauncher() bool { return false }

// Launch does nothing here.
func Launch() int { return 1 }

// Run runs nothing here.
func (r *Runner) Run(context.Context, *Program, Run) (Outcome, error) {
	return Outcome{}, errors.New("programs can't be run within bounds on this system")
}

// Around are the walls of a process that runs no programs.
func (r *Runner) Around([]*Program) (walls.Walls, error) { return walls.Walls{}, nil }

// Sweep has nothing to take away.
func (r *Runner) Sweep() error { return nil }

// KeepsReadOnly tells whether a program that may not write is kept from it: no.
func KeepsReadOnly() bool { return false }
