package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"

	"github.com/spf13/cobra"

	"writ/contract"
	"writ/ledger"
	"writ/tools"
	"writ/walls"
)

func newDoctor() *cobra.Command {
	o := &options{profile: "all"}
	cmd := &cobra.Command{
		Use:   "doctor [DIR…]",
		Short: "Tell what works here and what does not",
		Long: `Open the directories as serve would, look at the policy, the change log and the tools, and say in a line each what is
right and what is not. The exit status is 1 if something is wrong.

  writ doctor ~/notes
  writ doctor --policy writ.yaml`,
		RunE: func(cmd *cobra.Command, directories []string) error {
			out := cmd.OutOrStdout()
			fmt.Fprintf(out, "writ %s, %s, %s/%s\n", version(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
			h, err := o.open(directories)
			if err != nil {
				return err
			}
			defer h.finish()
			if !h.examine(cmd.Context(), out) {
				return exitStatus(1)
			}
			return nil
		},
	}
	o.register(cmd)
	return cmd
}

// examine prints a line for each thing that was looked at, and tells whether all is well.
func (h *house) examine(ctx context.Context, out io.Writer) bool {
	well := true
	report := func(what string, err error, good string) {
		if err != nil {
			well = false
			fmt.Fprintf(out, "wrong  %s: %v\n", what, err)
			return
		}
		fmt.Fprintf(out, "right  %s: %s\n", what, good)
	}
	for i, err := range h.files.Health() {
		report("root "+h.files.Mounts()[i], err, "open, and still where it was")
	}
	report("sandbox", nil, walls.Available().String()+", which `writ serve` raises around itself")
	z := h.policy.Zones()
	report("policy", nil, fmt.Sprintf("read %s; write %s; ask %s", globs(z.Read), globs(z.Write), globs(z.Ask)))
	if n := len(h.policy.Checks()); n > 0 {
		report("checks", h.checks.Faults(), fmt.Sprintf("%d by programs", n))
	}
	for _, t := range tools.All() {
		if err := t.Compile(); err != nil {
			report("tool "+t.Name, err, "")
		}
	}
	report("tools", nil, fmt.Sprintf("%d of %d are open here", len(h.gate.Contracts()), len(tools.All())))
	report("change log "+h.state, h.ledger.Ready(ctx), "opens")
	report("interrupted changes", h.interrupted(ctx, out), "none")
	chain, err := h.ledger.Verify(ctx)
	if err == nil && chain.Bad != 0 {
		err = errors.New(chain.Why)
	}
	report("audit", err, fmt.Sprintf("whole, %d rows", chain.Rows))
	if err := h.showUnknown(ctx, out); err != nil {
		report("changes", err, "")
	}
	return well
}

// interrupted returns an error if changes are open whose processes have ended. Those whose processes run are named: most
// end in a moment, and one that stays is stuck on a drive that hangs.
func (h *house) interrupted(ctx context.Context, out io.Writer) error {
	pending, err := h.ledger.Pending(ctx)
	open := 0
	for _, p := range pending {
		switch {
		case !p.Alive:
			open++
		case p.Intent.Kind != contract.ChangeBatch:
			fmt.Fprintf(out, "look   change %s of %s: a process that runs is in the midst of it; if it stays so, the drive may hang\n",
				p.ID, contract.Quote(p.Intent.Path.String()))
		}
	}
	if err == nil && open > 0 {
		err = fmt.Errorf("%d changes were cut short and are not settled; the next start of `writ serve` settles them", open)
	}
	return err
}

// showUnknown names the changes of which it could not be told whether they were made, for a person to look at.
func (h *house) showUnknown(ctx context.Context, out io.Writer) error {
	changes, _, err := h.ledger.Changes(ctx, ledger.Filter{})
	for _, c := range changes {
		if c.Outcome == contract.OutcomeUnknown {
			fmt.Fprintf(out, "look   change %s of %s: whether it was made is unknown; what it left is kept beside the file\n", c.ID, placeOf(c))
		}
	}
	return err
}
