package gate

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"writ/contract"
	"writ/policy"
	"writ/programs"
	"writ/tools"
	"writ/walls"
	"writ/workspace"
)

// Programs are those that a policy declares for callers to run, as they were found when the server started.
type Programs struct {
	runner   *programs.Runner
	declared []*declared   // as in the policy
	places   chan struct{} // one for each program that may run at once
}

// mostPrograms is how many run at once: each may take all the memory that the policy gives it.
const mostPrograms = 4

// declared is one of them.
type declared struct {
	policy.Program
	program *programs.Program
	place   contract.Path // its directory, links followed
	dir     string        // the same on this machine
	env     []string      // NAME=value
	fault   error         // why it can't be run
}

// NewPrograms finds the programs, which the runner runs, and the directories that they work in. A program that callers
// could change, since it lies in a root, is not run, nor one that is not found, nor one that may read what the server
// keeps in state: [Programs.Faults] names them, and a call of one is refused.
func NewPrograms(p *policy.Policy, files *workspace.Workspace, runner *programs.Runner, state string) *Programs {
	c := &Programs{runner: runner, places: make(chan struct{}, mostPrograms)}
	for _, one := range p.Programs() {
		d := &declared{Program: one}
		d.fault = d.find(files, state)
		c.declared = append(c.declared, d)
	}
	return c
}

func (d *declared) find(files *workspace.Workspace, state string) (err error) {
	inside := func(file string) bool {
		_, in := files.Relative(file)
		return in
	}
	if d.program, err = findOutside(d.Path, inside); err != nil {
		return err
	}
	for _, reads := range d.Reads {
		if real, err := filepath.EvalSymlinks(reads); err == nil && (holds(real, state) || holds(state, real)) {
			return fmt.Errorf("it may read %s, where this server keeps what callers must not see", reads)
		}
	}
	if d.place, err = d.findPlace(context.Background(), files); err != nil {
		return fmt.Errorf("its directory %s: %w", contract.Quote(d.Directory), err)
	}
	var found bool
	if d.dir, found = files.Absolute(d.place); !found {
		return fmt.Errorf("its directory %s lies in no root", contract.Quote(d.Directory))
	}
	d.env = programs.Variables(d.Env)
	return nil
}

// holds tells whether a directory is another one, or lies above it.
func holds(directory, place string) bool {
	rest, err := filepath.Rel(directory, place)
	return err == nil && (rest == "." || filepath.IsLocal(rest))
}

// anywhere is a guard for what the operator names, who may name any place.
type anywhere struct{}

func (anywhere) Allow(workspace.Access, workspace.Place) error { return nil }

var errNoDirectory = errors.New("it is no directory")

// findPlace returns where the program's directory is now, links followed inside its root alone.
func (d *declared) findPlace(ctx context.Context, files *workspace.Workspace) (contract.Path, error) {
	var named contract.Path
	if d.Directory != "" {
		var err error
		if named, err = contract.ParsePath(d.Directory); err != nil {
			return contract.Path{}, err
		}
	}
	info, err := files.Reader(anywhere{}).Stat(ctx, named)
	if err == nil && info.Kind != workspace.KindDirectory {
		err = errNoDirectory
	}
	return info.Resolved, err
}

// Faults tells why programs can't be run; nil if all can.
func (c *Programs) Faults() error {
	var faults []error
	for _, d := range c.declared {
		if d.fault != nil {
			faults = append(faults, fmt.Errorf("the program %s is not run: %w", d.Name, d.fault))
		}
	}
	return errors.Join(faults...)
}

// Walls are what a server needs to reach so that the programs run.
func (c *Programs) Walls() (walls.Walls, error) {
	var found []*programs.Program
	var around walls.Walls
	for _, d := range c.declared {
		if d.fault != nil {
			continue
		}
		found = append(found, d.program)
		around.Run = append(around.Run, d.Reads...)
		if d.Writes {
			around.Write = append(around.Write, d.dir)
		}
	}
	if len(found) == 0 {
		return walls.Walls{}, nil
	}
	needs, err := c.runner.Around(found)
	return needs.And(around), err
}

// told lists the programs as a caller is told of them.
func (c *Programs) told(p *policy.Policy) []tools.ScopeProgram {
	if c == nil || len(p.Programs()) == 0 {
		return nil
	}
	var list []tools.ScopeProgram
	for _, d := range c.declared {
		if d.fault != nil {
			continue
		}
		entry := tools.ScopeProgram{Program: d.Name, Arguments: append([]string{}, d.Allow...), Directory: d.Directory, Writes: d.Writes, Asks: d.Ask}
		if entry.Directory == "" {
			entry.Directory = "."
		}
		if d.Commands == nil {
			list = append(list, entry)
		}
		for _, command := range d.Commands {
			entry.Command, entry.Arguments = command.Name, command.Allow
			list = append(list, entry)
		}
	}
	return list
}

// below returns the form in which a program that works in dir is told of a place: never one that begins with a dash.
func below(dir, place contract.Path) (string, bool) {
	if place == dir {
		return ".", true
	}
	if dir.IsTop() {
		return "./" + place.String(), true
	}
	rest, inside := strings.CutPrefix(place.String(), dir.String()+"/")
	return "./" + rest, inside
}
