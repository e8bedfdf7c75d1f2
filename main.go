// Writ is a Model Context Protocol server that gives AI agents file and note tools they can be trusted with.
//
// This file wires the rooms together; each subcommand is a file of its own beside it.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"

	"github.com/spf13/cobra"

	"writ/programs"
)

func main() {
	if programs.IsLauncher() {
		os.Exit(programs.Launch())
	}
	os.Exit(run(os.Args[1:]))
}

// run carries out one command line and returns the exit status: 0 done, 1 refused or failed, 2 a mistake in the command
// line or the policy.
func run(args []string) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	root := newRoot()
	root.SetArgs(args)
	err := root.ExecuteContext(ctx)
	var status exitStatus
	switch {
	case err == nil:
		return 0
	case errors.As(err, &status):
		return int(status)
	}
	fmt.Fprintln(os.Stderr, "writ:", err)
	return 2
}

// exitStatus ends the program with that status; what there is to say has been said.
type exitStatus int

func (s exitStatus) Error() string { return fmt.Sprintf("exit status %d", int(s)) }

func newRoot() *cobra.Command {
	root := &cobra.Command{
		Use:   "writ",
		Short: "File and note tools for AI agents that keep their word",
		Long: `Writ is a Model Context Protocol server. It gives an AI agent tools to search, read and edit
the files of one or more directories, and says the truth in every answer.

  writ demo                               see it work, on a sample vault, with nothing to set up
  writ serve --write 'docs/**' ~/project  serve a directory over stdio; the agent may write in docs
  writ call read_file path=README.md      run one call and print the answer
  writ install claude-desktop ~/notes     write it into a client's configuration

Exit status: 0 done, 1 refused, failed or something is wrong, 2 a mistake in the command line or the policy.
Standard output is the answer alone; everything else goes to standard error.`,
		SilenceUsage:  true,
		SilenceErrors: true,
		Version:       version(),
	}
	root.AddCommand(newServe(), newCall(), newTools(), newPolicy(), newDoctor(), newVersion(), newDemo(),
		newChanges(), newUndo(), newApprovals(), newAudit(), newConsole(), newIndex(), newSearch(), newInstall(), newBridge(), newToken())
	root.InitDefaultCompletionCmd()
	polish(root)
	return root
}

func newVersion() *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version",
		Long:  "Print the version: the tag that it was built from, or the commit. `writ doctor` prints the Go version and the platform too.",
		Args:  cobra.NoArgs,
		Run:   func(cmd *cobra.Command, _ []string) { fmt.Fprintln(cmd.OutOrStdout(), "writ", version()) },
	}
}

// version is that of the module this program was built from, or the commit where it was built from a checkout.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok || info.Main.Version == "" {
		return "(devel)"
	}
	return info.Main.Version
}
