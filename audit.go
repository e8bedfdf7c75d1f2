package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"writ/contract"
	"writ/envelope"
	"writ/ledger"
)

func newAudit() *cobra.Command {
	o := &options{}
	var directories []string
	var asJSON bool
	var since string
	var filter ledger.RowFilter
	cmd := &cobra.Command{
		Use:   "audit [PATH]",
		Short: "Print who called what, and how it ended",
		Long: `Print the audit, oldest call first: a table on a terminal, else the JSON lines themselves, byte for byte. Each line
holds the SHA-256 of the one before; "writ audit verify" looks whether any was changed or is missing. Texts in arguments
are kept as length and SHA-256 only. With a path, the calls are printed that name or changed it or a place below it.

  writ audit --since 24h docs
  writ audit --status denied --caller local
  writ audit --tool replace_text --json | jq .status`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			if len(args) > 0 {
				if filter.Path, err = contract.ParsePath(args[0]); err != nil {
					return err
				}
			}
			if filter.Since, err = parseSince(since, time.Now()); err != nil {
				return err
			}
			h, err := o.open(directories)
			if err != nil {
				return err
			}
			defer h.finish()
			out := cmd.OutOrStdout()
			if !asJSON && isTerminal(out) {
				table := tabwriter.NewWriter(out, 0, 8, 2, ' ', 0)
				return errors.Join(h.ledger.Rows(cmd.Context(), filter, printAuditRow(table)), table.Flush())
			}
			return h.ledger.Rows(cmd.Context(), filter, printAuditLine(out))
		},
	}
	o.register(cmd)
	cmd.PersistentFlags().StringArrayVar(&directories, "root", nil, "directory whose audit is meant; the policy's or the current one if absent (repeatable)")
	cmd.Flags().BoolVar(&asJSON, "json", false, "JSON lines, also on a terminal")
	cmd.Flags().StringVar(&since, "since", "", "calls since then: a duration such as 24h, a date, or a time by RFC 3339")
	cmd.Flags().StringVar(&filter.Tool, "tool", "", "calls of this tool")
	cmd.Flags().StringVar(&filter.RequestID, "request", "", "the call with this request_id")
	cmd.Flags().StringVar(&filter.Caller, "caller", "", "calls of this caller")
	cmd.Flags().StringVar((*string)(&filter.Status), "status", "", "calls that ended so: ok, succeeded, denied, …")
	cmd.AddCommand(newAuditVerify(&directories))
	return cmd
}

// parseSince reads a point in time; the zero time for "".
func parseSince(text string, now time.Time) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	if ago, err := time.ParseDuration(text); err == nil {
		return now.Add(-ago), nil
	}
	for _, layout := range []string{time.RFC3339, time.DateTime, time.DateOnly} {
		if at, err := time.ParseInLocation(layout, text, time.Local); err == nil {
			return at, nil
		}
	}
	return time.Time{}, fmt.Errorf("--since %q is neither a duration such as 24h nor a date such as 2026-11-30", text)
}

func printAuditLine(out io.Writer) func(json.RawMessage) error {
	return func(row json.RawMessage) error {
		_, err := fmt.Fprintf(out, "%s\n", row)
		return err
	}
}

func printAuditRow(out io.Writer) func(json.RawMessage) error {
	fmt.Fprintln(out, "TIME\tREQUEST\tCALLER\tTOOL\tSTATUS\tPATHS")
	return func(line json.RawMessage) error {
		var row struct {
			Time                        time.Time
			RequestID                   string `json:"request_id"`
			Event, Caller, Tool, Status string
			Codes, Paths                []string
		}
		if err := json.Unmarshal(line, &row); err != nil {
			return err
		}
		status := strings.Join(append([]string{row.Status}, row.Codes...), " ")
		for i, p := range row.Paths {
			row.Paths[i] = contract.Shown(p)
		}
		_, err := fmt.Fprintf(out, "%s\t%s\t%s\t%s\t%s\t%s%s\n", row.Time.Local().Format(time.DateTime), row.RequestID, row.Caller,
			row.Tool, status, strings.Join(row.Paths, " "), row.Event)
		return err
	}
}

// verdict is what a verification found, as --json prints it.
type verdict struct {
	Whole  bool          `json:"whole"`
	Rows   int           `json:"rows"`
	Bad    int64         `json:"bad,omitempty"` // the first row that is not as it was
	Why    string        `json:"why,omitempty"`
	Copies []copyVerdict `json:"copies,omitempty"`
}

type copyVerdict struct {
	File  string `json:"file"`
	Whole bool   `json:"whole"`
	Rows  int    `json:"rows"`
	Bad   int64  `json:"bad,omitempty"`
	Why   string `json:"why,omitempty"`
}

func newAuditVerify(directories *[]string) *cobra.Command {
	o := &options{}
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "verify [COPY…]",
		Short: "Look whether any line of the audit was changed or is missing",
		Long: `Look through the whole audit. The exit status is 1 if a line was changed, moved or is missing, the last ones included.
Whoever can write to the state directory could make the whole chain anew, or a shorter one: that shows against copies of
its lines that were kept elsewhere, such as the files that audit.file in the policy names. Each must be held as it is.

--json prints one object: {"whole", "rows", "bad", "why", "copies": [{"file", "whole", "rows", "bad", "why"}]}, where bad is
the number of the first line that is wrong.

  writ audit verify
  writ audit verify /mnt/logs/audit.jsonl*
  writ audit verify --json --root ~/project`,
		RunE: func(cmd *cobra.Command, copies []string) error {
			h, err := o.open(*directories)
			if err != nil {
				return err
			}
			defer h.finish()
			v, err := h.verifyAudit(cmd.Context(), copies)
			if err != nil {
				return err
			}
			if asJSON {
				fmt.Fprintf(cmd.OutOrStdout(), "%s\n", envelope.AppendValue(nil, v))
			} else {
				v.print(cmd.OutOrStdout())
			}
			if !v.Whole {
				return exitStatus(1)
			}
			return nil
		},
	}
	o.register(cmd)
	cmd.Flags().BoolVar(&asJSON, "json", false, "print what was found as one JSON object")
	return cmd
}

// verifyAudit looks through the audit, and compares copies of its lines with it where it is whole.
func (h *house) verifyAudit(ctx context.Context, copies []string) (verdict, error) {
	found, err := h.ledger.Verify(ctx)
	if err != nil {
		return verdict{}, err
	}
	v := verdict{Whole: found.Bad == 0, Rows: found.Rows, Bad: found.Bad, Why: found.Why}
	for _, name := range copies {
		if found.Bad != 0 {
			break
		}
		c, err := h.verifyCopy(ctx, name)
		if err != nil {
			return verdict{}, err
		}
		v.Whole = v.Whole && c.Whole
		v.Copies = append(v.Copies, c)
	}
	return v, nil
}

// verifyCopy compares the audit with a file of its lines.
func (h *house) verifyCopy(ctx context.Context, name string) (copyVerdict, error) {
	f, err := os.Open(name)
	if err != nil {
		return copyVerdict{}, err
	}
	defer f.Close()
	v, err := h.ledger.VerifyCopy(ctx, f)
	return copyVerdict{File: name, Whole: v.Bad == 0, Rows: v.Rows, Bad: v.Bad, Why: v.Why}, err
}

func (v verdict) print(out io.Writer) {
	if v.Bad != 0 {
		fmt.Fprintln(out, v.Why)
		return
	}
	for _, c := range v.Copies {
		if c.Whole {
			fmt.Fprintf(out, "%s: %d rows, all in the audit.\n", c.File, c.Rows)
		} else {
			fmt.Fprintf(out, "%s: %s\n", c.File, c.Why)
		}
	}
	if v.Whole {
		fmt.Fprintf(out, "The audit is whole: %d rows.\n", v.Rows)
	}
}
