package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"writ/envelope"
	"writ/gate"
	"writ/tools"
)

func newCall() *cobra.Command {
	o := &options{profile: "all"}
	var directories []string
	cmd := &cobra.Command{
		Use:   "call TOOL [key=value… | JSON | -]",
		Short: "Run one call through the gate and print the answer",
		Long: `Run one tool call exactly as a client's would run, and print its envelope as one line of JSON, then file
text as it stands. Arguments are key=value, or one JSON object, or "-" for a JSON object on standard input.
A value is text where the tool wants text, and JSON otherwise.

The exit status is 0 if the call was answered "ok" or "succeeded", 1 if it was refused or failed.

  writ call read_file path=docs/plan.md
  writ call search_text pattern=TODO context_lines=2
  writ call replace_text --write 'docs/**' '{"path": "docs/plan.md", "old_text": "a", "new_text": "b",
                                             "observed_version": "…"}'`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			arguments, err := parseArguments(args[0], args[1:], cmd.InOrStdin())
			if err != nil {
				return err
			}
			h, err := o.open(directories)
			if err != nil {
				return err
			}
			defer h.finish()
			if !h.gate.Has(args[0]) {
				return fmt.Errorf("there is no tool %q here; `writ tools --all` with the same flags lists those that the policy allows", args[0])
			}
			return h.call(cmd.Context(), cmd.OutOrStdout(), args[0], arguments)
		},
	}
	o.register(cmd)
	cmd.Flags().StringArrayVar(&directories, "root", nil, "directory to work in; the policy's or the current one if absent (repeatable)")
	return cmd
}

// call runs one call and prints its answer.
func (h *house) call(ctx context.Context, out io.Writer, tool string, arguments json.RawMessage) error {
	e := h.gate.Call(ctx, gate.Call{Caller: gate.CallerLocal, Client: "writ call", Tool: tool, Arguments: arguments})
	if err := printAnswer(out, &e); err != nil {
		return err
	}
	if e.IsError() {
		return exitStatus(1)
	}
	return nil
}

func printAnswer(out io.Writer, e *envelope.Envelope) error {
	w := bufio.NewWriter(out)
	w.Write(append(e.AppendJSON(nil), '\n'))
	for _, text := range e.Texts {
		w.WriteString(text)
	}
	return w.Flush()
}

// parseArguments makes the JSON arguments of a call from the command line.
func parseArguments(tool string, words []string, in io.Reader) (json.RawMessage, error) {
	switch {
	case len(words) == 0:
		return nil, nil
	case len(words) == 1 && words[0] == "-":
		return io.ReadAll(in)
	case len(words) == 1 && strings.HasPrefix(words[0], "{"):
		return json.RawMessage(words[0]), nil
	}
	isText := textParameters(tool)
	b := []byte{'{'}
	for i, word := range words {
		key, value, found := strings.Cut(word, "=")
		if !found {
			return nil, fmt.Errorf("%q is neither key=value nor a JSON object", word)
		}
		if i > 0 {
			b = append(b, ',')
		}
		b = append(envelope.AppendString(b, key), ':')
		if isText[key] || !json.Valid([]byte(value)) {
			b = envelope.AppendString(b, value)
		} else {
			b = append(b, value...)
		}
	}
	return append(b, '}'), nil
}

// textParameters tells which parameters of a tool are text.
func textParameters(tool string) map[string]bool {
	isText := map[string]bool{}
	for _, t := range tools.All() {
		if t.Name == tool {
			for _, name := range t.TextParameters() {
				isText[name] = true
			}
		}
	}
	return isText
}
