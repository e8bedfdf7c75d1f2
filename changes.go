package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"writ/contract"
	"writ/envelope"
	"writ/ledger"
)

func newChanges() *cobra.Command {
	o := &options{}
	var directories []string
	var asJSON bool
	var limit int
	cmd := &cobra.Command{
		Use:   "changes [PATH]",
		Short: "List what was changed, newest first",
		Long: `List the changes that were made through writ, newest first, at a path or below it: a table on a terminal, else one
JSON object a line. An outcome "unknown" is that of a change that was cut short and can't be judged, or is under way.

  writ changes docs
  writ changes --json --limit 0 | jq -r .change_id`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if limit < 0 {
				return fmt.Errorf("--limit %d: it must be 0, for all, or more", limit)
			}
			filter := ledger.Filter{Limit: limit}
			if len(args) > 0 {
				var err error
				if filter.Path, err = contract.ParsePath(args[0]); err != nil {
					return err
				}
			}
			h, err := o.open(directories)
			if err != nil {
				return err
			}
			defer h.finish()
			list, total, err := h.ledger.Changes(cmd.Context(), filter)
			if err != nil {
				return err
			}
			out := cmd.OutOrStdout()
			if asJSON || !isTerminal(out) {
				return printChangeLines(out, list)
			}
			if err := printChangeTable(out, list); err != nil {
				return err
			}
			if total > len(list) {
				fmt.Fprintf(out, "%d of %d; --limit 0 shows all\n", len(list), total)
			}
			return nil
		},
	}
	o.register(cmd)
	cmd.Flags().StringArrayVar(&directories, "root", nil, "directory whose changes are meant; the policy's or the current one if absent (repeatable)")
	cmd.Flags().BoolVar(&asJSON, "json", false, "one JSON object a line, also on a terminal")
	cmd.Flags().IntVar(&limit, "limit", 50, "how many; 0: all")
	return cmd
}

// isTerminal tells whether a person reads what is written there.
func isTerminal(out io.Writer) bool {
	f, ok := out.(*os.File)
	if !ok {
		return false
	}
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}

// changeLine is a change as `writ changes --json` prints it.
type changeLine struct {
	ChangeID   string `json:"change_id"`
	RequestID  string `json:"request_id"`
	Time       string `json:"time"`
	Caller     string `json:"caller"`
	Tool       string `json:"tool"`
	Kind       string `json:"kind"`
	Path       string `json:"path"`
	To         string `json:"to,omitempty"`
	Before     string `json:"before,omitempty"`
	After      string `json:"after,omitempty"`
	Outcome    string `json:"outcome"`
	Batch      string `json:"batch,omitempty"`
	Reverted   bool   `json:"reverted"`
	RevertedBy string `json:"reverted_by,omitempty"`
}

func printChangeLines(out io.Writer, list []contract.Change) error {
	w := json.NewEncoder(out)
	w.SetEscapeHTML(false)
	for _, c := range list {
		line := changeLine{
			c.ID, c.RequestID, c.Time.UTC().Format(time.RFC3339Nano), c.Caller, c.Tool, string(c.Kind), c.Path.String(), c.To.String(),
			c.Before.String(), c.After.String(), string(c.Outcome), c.Batch, c.Reverted, c.RevertedBy,
		}
		if err := w.Encode(line); err != nil {
			return err
		}
	}
	return nil
}

func printChangeTable(out io.Writer, list []contract.Change) error {
	w := tabwriter.NewWriter(out, 0, 8, 2, ' ', 0)
	fmt.Fprintln(w, "TIME\tCHANGE\tKIND\tPATH\tSTATE")
	for _, c := range list {
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\n", c.Time.Local().Format(time.DateTime), c.ID, c.Kind, placeOf(c), stateOf(c))
	}
	return w.Flush()
}

// placeOf names where a change was made. Names are quoted where they could do something to a terminal.
func placeOf(c contract.Change) string {
	place := contract.Shown(c.Path.String())
	if !c.To.IsTop() {
		place += " → " + contract.Shown(c.To.String())
	}
	return place
}

func stateOf(c contract.Change) string {
	switch {
	case c.Outcome != contract.OutcomeDone:
		return string(c.Outcome)
	case c.Reverted:
		return "undone by " + c.RevertedBy
	case c.Batch != "":
		return "done, in " + c.Batch
	}
	return "done"
}

func newUndo() *cobra.Command {
	o := &options{profile: "revert_change"}
	var directories []string
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "undo CHANGE_ID",
		Short: "Undo a change, if nothing was changed since",
		Long: `Undo one change, or with the id of a batch all of it: bytes, mode and existence are as before. A file that was
changed since is left alone. The undoing is a change too, and can be undone.

In an ask zone whoever runs this has approved it by that. Without a policy and without --write, every place of the root
may be written that no hidden name or ignore rule keeps out: whoever runs this could write there anyway.

  writ changes                        the ids
  writ undo chg_d25s17br7hmq
  writ undo chg_… --root ~/project    where the directory is another one`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if o.policyFile == "" && len(o.write) == 0 {
				o.write = []string{"**"}
			}
			h, err := o.open(directories)
			if err != nil {
				return err
			}
			defer h.finish()
			if !h.gate.CanUndo() {
				return fmt.Errorf("the policy allows no writing, so nothing can be undone")
			}
			return h.undo(cmd.Context(), cmd.OutOrStdout(), undoing{args[0], asJSON})
		},
	}
	o.register(cmd)
	cmd.Flags().StringArrayVar(&directories, "root", nil, "directory that was changed; the policy's or the current one if absent (repeatable)")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the whole answer as JSON")
	return cmd
}

// undoing is what `writ undo` was asked for.
type undoing struct {
	changeID string
	asJSON   bool
}

func (h *house) undo(ctx context.Context, out io.Writer, u undoing) error {
	e := h.gate.Undo(ctx, "writ undo", u.changeID)
	if u.asJSON {
		if err := printAnswer(out, &e); err != nil {
			return err
		}
	} else {
		printUndone(out, &e)
	}
	if e.IsError() {
		return exitStatus(1)
	}
	return nil
}

func printUndone(out io.Writer, e *envelope.Envelope) {
	for _, p := range e.Errors {
		fmt.Fprintln(out, p.Message)
	}
	for _, w := range e.Warnings {
		fmt.Fprintln(out, "Note:", w.Message)
	}
	if e.IsError() {
		return
	}
	var told struct {
		ChangedFile string `json:"changed_file"`
		ChangeID    string `json:"change_id"`
		Items       []struct{ Path string }
	}
	if err := json.Unmarshal(e.AppendJSON(nil), &told); err != nil {
		panic(err) // it was made here
	}
	what := contract.Shown(told.ChangedFile)
	if len(told.Items) > 1 {
		what = fmt.Sprintf("%d files", len(told.Items))
	}
	fmt.Fprintf(out, "Undone: %s. `writ undo %s` brings the change back.\n", cmp.Or(what, "nothing differs"), told.ChangeID)
}
