package main

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/spf13/afero"
	"github.com/spf13/cobra"

	"writ/gate"
	"writ/ledger"
	"writ/policy"
	"writ/programs"
	"writ/tools"
	"writ/walls"
	"writ/workspace"
)

// options are the flags that all commands share: which directories, under which policy.
type options struct {
	policyFile string
	read       []string
	write      []string
	ask        []string
	readOnly   bool
	profile    string
	state      string
	structured bool // repeat file text in structuredContent
	keepAlways bool // hold every answer against its contract; for tests
}

func (o *options) register(cmd *cobra.Command) {
	o.registerPolicy(cmd)
	cmd.Flags().StringVar(&o.state, "state", "", "directory for the change log, outside every root (default: by the system's custom)")
}

// registerPolicy adds the flags that say what may be done.
func (o *options) registerPolicy(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&o.policyFile, "policy", "", "policy file, by custom writ.yaml")
	f.StringArrayVar(&o.read, "read", nil, "glob of what may be read; everything if absent (repeatable)")
	f.StringArrayVar(&o.write, "write", nil, "glob of what may be written without a question (repeatable)")
	f.StringArrayVar(&o.ask, "ask", nil, "glob of what may be written once a person approves (repeatable)")
	f.BoolVar(&o.readOnly, "read-only", false, "nothing may be written, whatever the policy and the other flags say")
}

// house is everything a command works with.
type house struct {
	policy   *policy.Policy
	files    *workspace.Workspace
	ledger   *ledger.Ledger
	gate     *gate.Gate
	log      *slog.Logger
	state    string
	index    string // the notes index; "" where there is none
	checks   *gate.ProgramChecks
	programs *gate.Programs
	walls    walls.Level // that were raised around this process
	reads    []string    // directories beside the roots whose files are read

	stopSettling func() // nil where nothing is settled in the background
}

func (h *house) close() error {
	if h.stopSettling != nil {
		h.stopSettling()
	}
	return errors.Join(h.gate.Close(), h.ledger.Close(), h.files.Close())
}

// finish closes everything at the end of a command.
func (h *house) finish() {
	if err := h.close(); err != nil {
		h.log.Error("not all could be put on record", "error", err)
	}
}

// open reads the policy and opens the directories; those on the command line replace the policy's.
func (o *options) open(directories []string) (*house, error) {
	log := slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn}))
	rules, err := o.compile(directories)
	if err != nil {
		return nil, err
	}
	roots := rootsOf(rules)
	chosen, err := o.chosen(rules)
	if err != nil {
		return nil, err
	}
	state := o.state
	if state == "" {
		if state, err = defaultState(roots); err != nil {
			return nil, err
		}
	}
	files, err := workspace.Open(workspace.Options{
		Roots: roots, State: state, FileBytes: rules.Limits().FileBytes, Encoding: rules.EncodingOf, Secrets: gate.SecretsOf(rules),
	})
	if errors.Is(err, workspace.ErrStateInRoot) {
		err = fmt.Errorf("%w; name another one with --state", err)
	}
	if err != nil {
		return nil, err
	}
	identity, err := nameOf(roots)
	if err != nil {
		return nil, errors.Join(err, files.Close())
	}
	book, err := openLedger(state, identity, rules, log)
	if err != nil {
		return nil, errors.Join(err, files.Close())
	}
	if most := rules.Limits().Memory; most > 0 {
		debug.SetMemoryLimit(most)
	}
	full, err := filepath.Abs(state)
	if err != nil {
		return nil, errors.Join(err, book.Close(), files.Close())
	}
	h := &house{policy: rules, files: files, ledger: book, log: log, state: state, index: o.indexFile(rules, files)}
	h.findPrograms(full)
	h.gate = gate.New(gate.Options{
		Checks: h.checks, Programs: h.programs,
		Policy: rules, Files: files, Ledger: book, Tools: chosen, Index: h.index, Log: log, KeepAlways: o.keepAlways,
		Sandbox: func() string { return h.walls.String() },
	})
	return h, nil
}

// findPrograms finds the programs that the policy names, and takes away what runs of servers left that were killed.
func (h *house) findPrograms(state string) {
	runner := programs.NewRunner(filepath.Join(state, "programs"))
	if err := runner.Sweep(); err != nil {
		h.log.Warn("what killed programs left could not be taken away", "error", err)
	}
	h.checks = gate.NewProgramChecks(h.policy, runner, func(file string) bool {
		_, inside := h.files.Relative(file)
		return inside
	})
	if err := h.checks.Faults(); err != nil {
		h.log.Warn("not every check can be made", "error", err)
	}
	h.programs = gate.NewPrograms(h.policy, h.files, runner, state)
	if err := h.programs.Faults(); err != nil {
		h.log.Warn("not every program can be run", "error", err)
	}
}

// openLedger opens the ledger within the bounds that the policy sets.
func openLedger(state, identity string, rules *policy.Policy, log *slog.Logger) (*ledger.Ledger, error) {
	limits, audit := rules.Limits(), rules.Audit()
	o := ledger.Options{
		Logger: log, Roots: identity, ArtifactBytes: limits.ArtifactBytes,
		Budget: ledger.Budget{Bytes: limits.UndoBytes, Age: time.Duration(limits.UndoDays) * 24 * time.Hour},
	}
	if audit.File != "" {
		file, err := filepath.Abs(audit.File)
		if err != nil {
			return nil, err
		}
		root, err := workspace.RootAround(rootsOf(rules), filepath.Dir(file))
		if err != nil {
			return nil, fmt.Errorf("audit.file: %w", err)
		}
		if root != "" {
			return nil, fmt.Errorf("audit.file %s is inside the root %s, where callers could reach it; name a place outside", file, root)
		}
		o.Shipping = ledger.Shipping{File: file, Bytes: audit.Bytes, Files: audit.Files}
	}
	return ledger.Open(state, o)
}

// compile makes the policy of the file and the flags. Directories on the command line replace its roots; without
// either, the current one is served.
//
// An empty glob of what may be written grants nothing: a form that a person leaves empty, in a client that fills in the
// flags, ends as one. An empty glob of what may be read stays a mistake, since leaving it out would open everything.
func (o *options) compile(directories []string) (*policy.Policy, error) {
	o.write, o.ask = withoutEmpty(o.write), withoutEmpty(o.ask)
	if err := o.areDirectories(directories); err != nil {
		return nil, err
	}
	config := policy.FromFlags(o.read, o.write, o.ask)
	if o.policyFile != "" {
		file, err := policy.Load(afero.NewOsFs(), o.policyFile)
		if err != nil {
			return nil, err
		}
		config = file.Grant(o.read, o.write, o.ask)
	}
	if o.readOnly {
		config = config.ReadOnly()
	}
	switch {
	case len(directories) == 1 || len(directories) == 0 && len(config.Roots) == 0:
		config.Roots = []policy.Root{{Path: cmp.Or(append(directories, ".")...)}}
	case len(directories) > 1:
		roots, err := mounts(directories)
		if err != nil {
			return nil, err
		}
		config.Roots = roots
	}
	return policy.Compile(config)
}

// areDirectories refuses files in the place of directories. A pattern without quotes is where they come from: the shell
// puts the names that it matches there, and only the first is taken for the glob.
func (o *options) areDirectories(directories []string) error {
	for _, d := range directories {
		info, err := os.Stat(d)
		switch {
		case err != nil || info.IsDir():
		case len(o.read)+len(o.write)+len(o.ask) > 0:
			return fmt.Errorf("%s is a file, and a directory is wanted. If it came from a pattern, put that in quotes: --write 'docs/**'", d)
		default:
			return fmt.Errorf("%s is a file, and a directory is wanted", d)
		}
	}
	return nil
}

func withoutEmpty(globs []string) []string {
	return slices.DeleteFunc(globs, func(glob string) bool { return glob == "" })
}

func rootsOf(p *policy.Policy) []workspace.Root {
	var roots []workspace.Root
	for _, r := range p.Roots() {
		roots = append(roots, workspace.Root{Name: r.Name, Dir: r.Path})
	}
	return roots
}

// chosen returns the tools that are asked for. Whoever declares programs means them to be run, so core has the tool for it
// then.
func (o *options) chosen(rules *policy.Policy) ([]*tools.Tool, error) {
	if isCore := o.profile == "" || o.profile == "core"; isCore && len(rules.Programs()) > 0 {
		return pick(tools.All(), func(t *tools.Tool) bool { return t.Core || t.Effect.Runs }), nil
	}
	return profile(o.profile)
}

// profile returns the tools of a profile: core, all, or names separated by commas.
func profile(name string) ([]*tools.Tool, error) {
	all := tools.All()
	switch name {
	case "all":
		return all, nil
	case "", "core":
		return pick(all, func(t *tools.Tool) bool { return t.Core }), nil
	}
	var chosen []*tools.Tool
	for want := range strings.SplitSeq(name, ",") {
		found := pick(all, func(t *tools.Tool) bool { return t.Name == strings.TrimSpace(want) })
		if len(found) == 0 {
			return nil, fmt.Errorf("--tools: there is no tool %q; `writ tools --all` lists them", want)
		}
		chosen = append(chosen, found...)
	}
	return chosen, nil
}

func pick(list []*tools.Tool, keep func(*tools.Tool) bool) []*tools.Tool {
	var kept []*tools.Tool
	for _, t := range list {
		if keep(t) {
			kept = append(kept, t)
		}
	}
	return kept
}

// defaultState is where this system keeps what programs remember, and in it one directory for each set of roots.
func defaultState(roots []workspace.Root) (string, error) {
	base, err := stateHome()
	if err != nil {
		return "", err
	}
	name, err := nameOf(roots)
	if err != nil {
		return "", err
	}
	return filepath.Join(base, name), nil
}

// stateHome holds the state directories that nobody chose another place for.
func stateHome() (string, error) {
	base := os.Getenv("XDG_STATE_HOME")
	if base == "" {
		home, err := os.UserHomeDir()
		if err != nil {
			return "", fmt.Errorf("no place for the change log: %w; name one with --state", err)
		}
		switch runtime.GOOS {
		case "darwin":
			base = filepath.Join(home, "Library", "Application Support")
		case "windows":
			base = filepath.Join(home, "AppData", "Local")
		default:
			base = filepath.Join(home, ".local", "state")
		}
	}
	return filepath.Join(base, "writ"), nil
}

// nameOf returns a name for what is kept about a set of roots, whatever their order.
func nameOf(roots []workspace.Root) (string, error) {
	h := sha256.New()
	for _, r := range slices.SortedFunc(slices.Values(roots), func(a, b workspace.Root) int { return cmp.Compare(a.Name, b.Name) }) {
		real, err := filepath.EvalSymlinks(r.Dir)
		if err != nil {
			return "", fmt.Errorf("the root %s can't be opened: %w", r.Dir, err)
		}
		if real, err = filepath.Abs(real); err != nil {
			return "", err
		}
		fmt.Fprintf(h, "%s\x00%s\x00", r.Name, real)
	}
	return hex.EncodeToString(h.Sum(nil)[:8]), nil
}

// indexFile is where the notes index of the policy is kept: beside the change log if that was given a place, else where
// this system keeps what can be made anew. It is "" where that can't be told, or lies in a root.
func (o *options) indexFile(rules *policy.Policy, files *workspace.Workspace) string {
	dir := filepath.Join(o.state, "index")
	if o.state == "" {
		cache, err := os.UserCacheDir()
		if err != nil {
			return ""
		}
		if real, err := filepath.EvalSymlinks(cache); err == nil {
			cache = real
		}
		name, err := nameOf(rootsOf(rules))
		if err != nil {
			return ""
		}
		dir = filepath.Join(cache, "writ", name)
	}
	dir, err := filepath.Abs(dir)
	if err != nil {
		return ""
	}
	if _, inside := files.Relative(dir); inside {
		return ""
	}
	return filepath.Join(dir, gate.IndexName(rules))
}

// settle compares with the disk what earlier processes left open, in the background and again now and then until the
// house is closed. A start waits for nothing, and a call that comes to such a file sees to it first.
func (h *house) settle(ctx context.Context) {
	ctx, cancel := context.WithCancel(ctx)
	settled := make(chan struct{})
	h.stopSettling = func() {
		cancel()
		<-settled
	}
	go func() {
		defer close(settled)
		h.gate.RecoverNowAndThen(ctx)
	}()
}
