package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"writ/notes"
)

func newIndex() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "index",
		Short: "Look at the notes index, or make it",
		Long: `The notes index makes search_notes fast where there are many notes. A server begins one by itself when it finds
more than a few hundred, and keeps it up to date; nothing depends on it but speed. It lies in the cache directory (with
--state, beside the change log), holds no text but words, and can be removed at any time.

  writ index status ~/notes
  writ index build ~/notes    before the first search, where there are very many notes
  writ index verify ~/notes
  writ index rebuild ~/notes`,
		Args: cobra.NoArgs,
	}
	cmd.AddCommand(
		newIndexCommand("status", "Tell where the index is, what it holds and what it has still to read", showIndex),
		newIndexCommand("build", "Read the notes that the index does not know", buildIndex),
		newIndexCommand("verify", "Check that the index holds together; a damaged one is removed", verifyIndex),
		newIndexCommand("rebuild", "Make the index anew", rebuildIndex),
	)
	return cmd
}

var errNoIndex = errors.New("there is no place for an index here: the cache directory is unknown or inside a root; name one with --state")

func newIndexCommand(use, short string, run func(ctx context.Context, out io.Writer, x *notes.Index) error) *cobra.Command {
	o := &options{profile: "all"}
	cmd := &cobra.Command{
		Use:   use + " [DIR…]",
		Short: short,
		RunE: func(cmd *cobra.Command, directories []string) error {
			h, err := o.open(directories)
			if err != nil {
				return err
			}
			defer h.finish()
			if h.gate.Index() == nil {
				return errNoIndex
			}
			return run(cmd.Context(), cmd.OutOrStdout(), h.gate.Index())
		},
	}
	o.register(cmd)
	return cmd
}

func showIndex(ctx context.Context, out io.Writer, x *notes.Index) error {
	s, err := x.Status(ctx)
	if err != nil {
		return err
	}
	if !s.Exists {
		_, err := fmt.Fprintf(out, "There is no index yet; it would be %s.\n", s.File)
		return err
	}
	_, err = fmt.Fprintf(out, "%s\n%d notes in %.1f MB; %d are private, %d can't be searched; %d are not as the index knows them.\n",
		s.File, s.Notes, float64(s.Bytes)/1e6, s.Hidden, s.Skipped, s.Stale)
	return err
}

func buildIndex(ctx context.Context, out io.Writer, x *notes.Index) error {
	if err := x.Build(ctx, tellProgress(os.Stderr)); err != nil {
		return err
	}
	return showIndex(ctx, out, x)
}

func rebuildIndex(ctx context.Context, out io.Writer, x *notes.Index) error {
	if err := x.Rebuild(ctx, tellProgress(os.Stderr)); err != nil {
		return err
	}
	return showIndex(ctx, out, x)
}

func verifyIndex(ctx context.Context, out io.Writer, x *notes.Index) error {
	if err := x.Verify(ctx); err != nil {
		fmt.Fprintln(out, "wrong:", err)
		return exitStatus(1)
	}
	fmt.Fprint(out, "right: ")
	return showIndex(ctx, out, x)
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
