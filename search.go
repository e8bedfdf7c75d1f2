package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"writ/envelope"
	"writ/gate"
	"writ/notes"
	"writ/workspace"
)

func newSearch() *cobra.Command {
	o := &options{profile: "all"}
	var directories []string
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "search QUERY…",
		Short: "Search the notes as an agent would, for people to read",
		Long: `Search the notes through the same gate as the tool search_notes, and print what was found. --json prints the
envelope instead.

  writ search garden sensor
  writ search '"exact phrase" tag:project path:2026/'`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, words []string) error {
			h, err := o.open(directories)
			if err != nil {
				return err
			}
			defer h.finish()
			query := strings.Join(words, " ")
			arguments := append(envelope.AppendString([]byte(`{"query":`), query), '}')
			if asJSON {
				return h.call(cmd.Context(), cmd.OutOrStdout(), "search_notes", arguments)
			}
			e := h.gate.Call(cmd.Context(), gate.Call{Caller: gate.CallerLocal, Client: "writ search", Tool: "search_notes", Arguments: arguments})
			return printFound(cmd.OutOrStdout(), query, &e)
		},
	}
	o.register(cmd)
	cmd.Flags().StringArrayVar(&directories, "root", nil, "directory to search; the policy's or the current one if absent (repeatable)")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the envelope")
	return cmd
}

// foundNotes is what of an answer people are shown.
type foundNotes struct {
	Matches []struct {
		Path, Title, Heading, Snippet string
		Line                          int
	}
	Warnings []struct{ Message string }
	Errors   []struct{ Message string }
}

func printFound(out io.Writer, query string, e *envelope.Envelope) error {
	var found foundNotes
	if err := json.Unmarshal(e.AppendJSON(nil), &found); err != nil {
		return err
	}
	if e.IsError() {
		for _, fault := range found.Errors {
			fmt.Fprintln(os.Stderr, "writ:", workspace.VisibleLine(fault.Message))
		}
		return exitStatus(1)
	}
	q, err := notes.ParseQuery(query)
	if err != nil {
		return err
	}
	mark := func(text string) string { return text }
	if isTerminal(out) {
		mark = func(text string) string { return inBold(text, q.Spots(text)) }
	}
	w := bufio.NewWriter(out)
	for _, m := range found.Matches {
		fmt.Fprintf(w, "%s:%d  %s\n", workspace.VisibleLine(m.Path), m.Line, mark(workspace.VisibleLine(about(m.Title, m.Heading))))
		for line := range strings.Lines(m.Snippet) {
			fmt.Fprintf(w, "    %s\n", mark(workspace.VisibleLine(strings.TrimRight(line, "\r\n"))))
		}
	}
	for _, warning := range found.Warnings {
		fmt.Fprintf(w, "(%s)\n", workspace.VisibleLine(warning.Message))
	}
	if len(found.Matches) == 0 {
		fmt.Fprintln(w, "No note matches.")
	}
	return w.Flush()
}

// about names a place in a note by its title and the heading above it.
func about(title, heading string) string {
	if heading == "" || heading == title {
		return title
	}
	return title + " › " + heading
}

func inBold(text string, spots []notes.Spot) string {
	var b strings.Builder
	at := 0
	for _, s := range spots {
		b.WriteString(text[at:s.Start] + "\x1b[1m" + text[s.Start:s.End] + "\x1b[0m")
		at = s.End
	}
	return b.String() + text[at:]
}
