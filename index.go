package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"writ/envelope"
	"writ/notes"
)

func newIndex() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "index",
		Short: "Look at the notes index, or make it",
		Long: `The notes index makes search_notes fast where there are many notes. A server begins one by itself when it finds
more than a few hundred, and keeps it up to date; nothing depends on it but speed. It lies in the cache directory (with
--state, beside the change log), holds no text but words, and can be removed at any time. The exit status of verify is 1
where it was damaged.

--json prints one object: {"file", "exists", "bytes", "notes", "private", "skipped", "stale", "wrong"}.

  writ index status ~/notes
  writ index build ~/notes    before the first search, where there are very many notes
  writ index verify ~/notes
  writ index rebuild ~/notes`,
		Args: cobra.NoArgs,
	}
	cmd.AddCommand(
		newIndexCommand("status", "Tell where the index is, what it holds and what it has still to read", leaveIndex),
		newIndexCommand("build", "Read the notes that the index does not know", buildIndex),
		newIndexCommand("verify", "Check that the index holds together; a damaged one is removed", verifyIndex),
		newIndexCommand("rebuild", "Make the index anew", rebuildIndex),
	)
	return cmd
}

var errNoIndex = errors.New("there is no place for an index here: the cache directory is unknown or inside a root; name one with --state")

// newIndexCommand is a command that does something with the index and tells then how it is.
func newIndexCommand(use, short string, work func(context.Context, *notes.Index) (wrong, failed error)) *cobra.Command {
	o := &options{profile: "all"}
	var asJSON bool
	cmd := &cobra.Command{
		Use:   use + " [DIR…]",
		Short: short,
		RunE: func(cmd *cobra.Command, directories []string) error {
			h, err := o.open(directories)
			if err != nil {
				return err
			}
			defer h.finish()
			x := h.gate.Index()
			if x == nil {
				return errNoIndex
			}
			wrong, err := work(cmd.Context(), x)
			if err != nil {
				return err
			}
			s, err := x.Status(cmd.Context())
			if err != nil {
				return err
			}
			return tellIndex(cmd.OutOrStdout(), newIndexReport(s, wrong), asJSON)
		},
	}
	o.register(cmd)
	cmd.Flags().BoolVar(&asJSON, "json", false, "print what there is to say as one JSON object")
	return cmd
}

func leaveIndex(context.Context, *notes.Index) (wrong, failed error) { return nil, nil }

func buildIndex(ctx context.Context, x *notes.Index) (wrong, failed error) {
	return nil, x.Build(ctx, tellProgress(os.Stderr))
}

func rebuildIndex(ctx context.Context, x *notes.Index) (wrong, failed error) {
	return nil, x.Rebuild(ctx, tellProgress(os.Stderr))
}

func verifyIndex(ctx context.Context, x *notes.Index) (wrong, failed error) {
	return x.Verify(ctx), nil
}

// indexReport is what there is to say about an index, as --json prints it.
type indexReport struct {
	File    string `json:"file"`
	Exists  bool   `json:"exists"`
	Bytes   int64  `json:"bytes"`
	Notes   int    `json:"notes"`
	Private int    `json:"private"`
	Skipped int    `json:"skipped"`         // that can't be searched
	Stale   int    `json:"stale"`           // that are not as the index knows them
	Wrong   string `json:"wrong,omitempty"` // what a verification found
}

func newIndexReport(s notes.IndexStatus, wrong error) indexReport {
	r := indexReport{File: s.File, Exists: s.Exists, Bytes: s.Bytes, Notes: s.Notes, Private: s.Hidden, Skipped: s.Skipped, Stale: s.Stale}
	if wrong != nil {
		r.Wrong = wrong.Error()
	}
	return r
}

// tellIndex prints a report. The exit status is 1 where something is wrong.
func tellIndex(out io.Writer, r indexReport, asJSON bool) error {
	if asJSON {
		fmt.Fprintf(out, "%s\n", envelope.AppendValue(nil, r))
	} else {
		r.print(out)
	}
	if r.Wrong != "" {
		return exitStatus(1)
	}
	return nil
}

func (r indexReport) print(out io.Writer) {
	switch {
	case r.Wrong != "":
		fmt.Fprintln(out, "wrong:", r.Wrong)
	case !r.Exists:
		fmt.Fprintf(out, "There is no index yet; it would be %s.\n", r.File)
	default:
		fmt.Fprintf(out, "%s\n%d notes in %.1f MB; %d are private, %d can't be searched; %d are not as the index knows them.\n",
			r.File, r.Notes, float64(r.Bytes)/1e6, r.Private, r.Skipped, r.Stale)
	}
}

// tellProgress returns what writes progress over and over on one line of a terminal, and nothing elsewhere.
func tellProgress(f *os.File) func(notes.Progress) {
	if !isTerminal(f) {
		return func(notes.Progress) {}
	}
	return func(p notes.Progress) {
		end := ""
		if p.Done >= p.Total {
			end = "\n"
		}
		fmt.Fprint(f, "\r", progressBar(p), end)
	}
}

// progressBar is one line of a terminal.
func progressBar(p notes.Progress) string {
	const width = 30
	done := width * min(p.Done, p.Total) / max(p.Total, 1)
	return fmt.Sprintf("[%s%s] %d of %d notes", strings.Repeat("=", done), strings.Repeat(" ", width-done), p.Done, p.Total)
}
