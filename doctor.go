package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"runtime"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"writ/contract"
	"writ/envelope"
	"writ/gate"
	"writ/ledger"
	"writ/programs"
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
	if n := len(h.policy.Programs()); n > 0 {
		report("programs", h.programs.Faults(), fmt.Sprintf("%d can be run; %s", n, programBounds()))
	}
	for _, t := range tools.All() {
		if err := t.Compile(); err != nil {
			report("tool "+t.Name, err, "")
		}
	}
	report("tools", nil, fmt.Sprintf("%d of %d are open here", len(h.gate.Contracts()), len(tools.All())))
	report("change log "+h.state, h.ledger.Ready(ctx), "opens")
	report("interrupted changes", h.interrupted(ctx, out), "none")
	report("stopped calls", h.showStopped(ctx, out), "looked for")
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

// programBounds tells which bounds of programs do not hold here.
func programBounds() string {
	told := "those that may not write are kept from it"
	if !programs.KeepsReadOnly() {
		told = "the kernel keeps none from writing, so what they change is unknown"
	}
	if os.Getuid() == 0 {
		told += "; how many processes they start is not bounded, since this user is root"
	}
	return told
}

// showStopped names the calls that any server of this state has refused lately since the very same one had failed too
// often, or since an outcome is to be read first. What a server remembers ends with it; what it has refused is on record.
func (h *house) showStopped(ctx context.Context, out io.Writer) error {
	counts := map[string]int{}
	err := h.ledger.Rows(ctx, ledger.RowFilter{Since: time.Now().Add(-gate.CoolDown), Status: envelope.Denied}, func(row json.RawMessage) error {
		var call struct {
			Tool, Caller string
			Codes        []envelope.Code
		}
		if err := json.Unmarshal(row, &call); err != nil {
			return err
		}
		if slices.Contains(call.Codes, envelope.RetryStopped) {
			counts[call.Tool+" of "+contract.Quote(call.Caller)]++
		}
		return nil
	})
	for _, who := range slices.Sorted(maps.Keys(counts)) {
		fmt.Fprintf(out, "look   %s: stopped %d times in the last %v, since the same call had failed too often or an outcome is to be read first\n",
			who, counts[who], gate.CoolDown)
	}
	return err
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
