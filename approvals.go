package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"writ/contract"
	"writ/gate"
	"writ/ledger"
)

// approvals is what the commands about approvals share.
type approvals struct {
	options
	directories []string
	asJSON      bool
}

func newApprovals() *cobra.Command {
	a := &approvals{}
	var all bool
	cmd := &cobra.Command{
		Use:   "approvals",
		Short: "List the writes that wait for a person, and approve or decline them",
		Long: `List the writes in ask zones that wait for a person's yes, those asked for last first: a table on a terminal, else one
JSON object a line. Without --root, --policy and --state it is those of every directory that writ keeps its change log for
in the usual place. After a yes the agent sends the same call again and it goes on; a different one does not. A yes that
is not used within an hour is void, and so is a question after a day.

  writ approvals
  writ approvals show apr_…
  writ approvals approve apr_…             this call, once
  writ approvals approve apr_… --for 30m   such changes of these files, for half an hour
  writ approvals decline apr_…             also takes back a yes that is not used yet`,
		Args: cobra.NoArgs,
		RunE: a.with(func(ctx context.Context, b books, out io.Writer, _ []string) error {
			filter := ledger.ApprovalFilter{State: ledger.ApprovalPending}
			if all {
				filter.State = ""
			}
			list, err := b.list(ctx, filter)
			if a.asJSON || !isTerminal(out) {
				return errors.Join(err, printApprovalLines(out, list))
			}
			return errors.Join(err, printApprovalTable(out, list))
		}),
	}
	a.register(cmd)
	cmd.Flags().BoolVar(&all, "all", false, "also those that are settled or expired")
	cmd.AddCommand(newApprovalsShow(), newApprovalsDecide("approve", true), newApprovalsDecide("decline", false))
	return cmd
}

func (a *approvals) register(cmd *cobra.Command) {
	a.options.register(cmd)
	cmd.Flags().StringArrayVar(&a.directories, "root", nil, "directory whose approvals are meant; all if absent (repeatable)")
	cmd.Flags().BoolVar(&a.asJSON, "json", false, "JSON, also on a terminal")
}

// with opens the change logs for a command.
func (a *approvals) with(run func(ctx context.Context, b books, out io.Writer, args []string) error) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		if len(a.directories) > 0 || a.policyFile != "" || a.state != "" {
			h, err := a.open(a.directories)
			if err != nil {
				return err
			}
			defer h.finish()
			return run(cmd.Context(), books{h.ledger}, cmd.OutOrStdout(), args)
		}
		all, err := booksEverywhere()
		if err != nil {
			return err
		}
		return errors.Join(run(cmd.Context(), all, cmd.OutOrStdout(), args), all.close())
	}
}

func newApprovalsShow() *cobra.Command {
	a := &approvals{}
	cmd := &cobra.Command{
		Use:   "show ID",
		Short: "Show what a write would change",
		Long: `Show who asked, the tool, the places, and the whole diff of one write that waits. Hidden characters are written out.

  writ approvals show apr_fsmr5ysn5yxdbgvy`,
		Args: cobra.ExactArgs(1),
		RunE: a.with(func(ctx context.Context, b books, out io.Writer, args []string) error {
			_, found, err := b.find(ctx, args[0])
			if err != nil {
				return err
			}
			if a.asJSON {
				return printApprovalLines(out, []ledger.Approval{found})
			}
			return printApproval(out, found)
		}),
	}
	a.register(cmd)
	return cmd
}

func newApprovalsDecide(verb string, approve bool) *cobra.Command {
	a := &approvals{}
	var once bool
	var lasts time.Duration
	cmd := &cobra.Command{
		Use:   verb + " ID",
		Short: map[bool]string{true: "Let a write go on", false: "Refuse a write, or take back a yes that is not used yet"}[approve],
		Long: map[bool]string{true: `Let one write go on, once, within an hour; the agent sends the same call again. --for lets such changes of these files
through for a while.

  writ approvals approve apr_fsmr5ysn5yxdbgvy
  writ approvals approve apr_… --for 30m`, false: `Refuse a write; it stays refused for ten minutes. A yes that is not used yet is taken back.

  writ approvals decline apr_fsmr5ysn5yxdbgvy`}[approve],
		Args: cobra.ExactArgs(1),
		RunE: a.with(func(ctx context.Context, b books, out io.Writer, args []string) error {
			if once && lasts != 0 || lasts < 0 || lasts > ledger.MaxStanding {
				return fmt.Errorf("--for takes a duration up to %s, and not beside --once", ledger.MaxStanding)
			}
			book, _, err := b.find(ctx, args[0])
			if err != nil {
				return err
			}
			decided, err := decide(ctx, book, args[0], ledger.Decision{Approve: approve, For: lasts})
			if err != nil && !errors.Is(err, ledger.ErrDecided) {
				return err
			}
			if a.asJSON {
				err = errors.Join(err, printApprovalLines(out, []ledger.Approval{decided}))
			} else {
				fmt.Fprintln(out, toldState(decided))
			}
			if err != nil {
				return exitStatus(1)
			}
			return nil
		}),
	}
	a.register(cmd)
	if approve {
		cmd.Flags().BoolVar(&once, "once", false, "this call, once (the default)")
		cmd.Flags().DurationVar(&lasts, "for", 0, "such changes of these files, for so long")
	}
	return cmd
}

// decide answers for whoever runs this program.
func decide(ctx context.Context, book *ledger.Ledger, id string, d ledger.Decision) (ledger.Approval, error) {
	d.By, d.Way = userName(), "writ approvals"
	return book.Decide(ctx, id, d)
}

// toldState says what became of an approval.
func toldState(a ledger.Approval) string {
	by := ""
	if a.Decider != "" {
		by = " by " + contract.Shown(a.Decider)
	}
	switch until := a.Expires.Local().Format(time.DateTime); a.State {
	case ledger.ApprovalApproved:
		return fmt.Sprintf("%s is approved%s: the same call goes on when the agent sends it again, until %s.", a.ID, by, until)
	case ledger.ApprovalStanding:
		return fmt.Sprintf("%s is approved%s: such changes of these files go on until %s.", a.ID, by, until)
	case ledger.ApprovalDeclined:
		return fmt.Sprintf("%s is declined%s: such a call is refused until %s.", a.ID, by, until)
	case ledger.ApprovalUsed:
		return fmt.Sprintf("%s was approved%s, and the call was carried out.", a.ID, by)
	case ledger.ApprovalPending:
		return fmt.Sprintf("%s waits for an answer until %s.", a.ID, until)
	}
	return fmt.Sprintf("%s is expired. If the agent sends the call again, it is asked for anew.", a.ID)
}

func printApproval(out io.Writer, a ledger.Approval) error {
	fmt.Fprintf(out, "%s, asked %s by %s, tool %s\n", a.ID, a.Asked.Local().Format(time.DateTime), contract.Shown(cmp.Or(a.Client, a.Caller)), a.Tool)
	for _, c := range a.Changes {
		fmt.Fprintf(out, "  %s%s\n", gate.DescribeApproved(c), map[bool]string{false: " (needs no approval)"}[c.Asks])
	}
	if a.Diff != "" {
		fmt.Fprintf(out, "\n%s\n", strings.TrimSuffix(a.Diff, "\n"))
	}
	_, err := fmt.Fprintf(out, "\n%s\n", toldState(a))
	return err
}

func printApprovalTable(out io.Writer, list []ledger.Approval) error {
	if len(list) == 0 {
		_, err := fmt.Fprintln(out, "Nothing waits for an approval.")
		return err
	}
	w := tabwriter.NewWriter(out, 0, 8, 2, ' ', 0)
	fmt.Fprintln(w, "ASKED\tAPPROVAL\tSTATE\tTOOL\tWHAT")
	for _, a := range list {
		what := gate.DescribeApproved(a.Changes[0])
		if more := len(a.Changes) - 1; more > 0 {
			what += fmt.Sprintf(" and %d more", more)
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\n", a.Asked.Local().Format(time.DateTime), a.ID, a.State, a.Tool, what)
	}
	return w.Flush()
}

// approvalLine is an approval as --json prints it.
type approvalLine struct {
	ApprovalID string                  `json:"approval_id"`
	State      ledger.ApprovalState    `json:"state"`
	RequestID  string                  `json:"request_id"`
	Caller     string                  `json:"caller"`
	Client     string                  `json:"client"`
	Tool       string                  `json:"tool"`
	Changes    []ledger.ApprovalChange `json:"changes"`
	Diff       string                  `json:"diff"`
	Asked      string                  `json:"asked"`
	Expires    string                  `json:"expires"`
	Decided    string                  `json:"decided,omitempty"`
	By         string                  `json:"by,omitempty"`
	Way        string                  `json:"way,omitempty"`
}

func printApprovalLines(out io.Writer, list []ledger.Approval) error {
	w := json.NewEncoder(out)
	w.SetEscapeHTML(false)
	for _, a := range list {
		line := approvalLine{
			a.ID, a.State, a.RequestID, a.Caller, a.Client, a.Tool, a.Changes, a.Diff,
			stamp(a.Asked), stamp(a.Expires), stamp(a.Decided), a.Decider, a.Way,
		}
		if err := w.Encode(line); err != nil {
			return err
		}
	}
	return nil
}

// stamp writes a time for programs; "" where there is none.
func stamp(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339Nano)
}
