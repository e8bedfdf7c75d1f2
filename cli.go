package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"writ/client"
	"writ/envelope"
	"writ/tools"
)

// usageError is a mistake in the command line itself.
type usageError struct {
	cmd *cobra.Command
	err error
}

func (e *usageError) Error() string {
	return fmt.Sprintf("%v\n`%s --help` tells how it is used.", e.err, e.cmd.CommandPath())
}

func (e *usageError) Unwrap() error { return e.err }

// polish gives every command what all of them have: mistakes that tell what to do next, and completion.
func polish(root *cobra.Command) {
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error { return &usageError{cmd, err} })
	for _, cmd := range root.Commands() {
		polishOne(cmd)
	}
}

func polishOne(cmd *cobra.Command) {
	switch check := cmd.Args; {
	case !cmd.Runnable():
		cmd.RunE, cmd.Args, cmd.SuggestionsMinimumDistance = groupOnly, cobra.ArbitraryArgs, 2
	case check != nil:
		cmd.Args = func(cmd *cobra.Command, args []string) error {
			if check(cmd, args) == nil {
				return nil
			}
			return &usageError{cmd, wrongNumber(cmd, args)}
		}
	}
	completeFlags(cmd)
	if cmd.ValidArgsFunction == nil {
		cmd.ValidArgsFunction = completionOf(cmd)
	}
	for _, below := range cmd.Commands() {
		polishOne(below)
	}
}

// groupOnly is for commands that only hold others: a misspelt one is a mistake, and not a question for help.
func groupOnly(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return cmd.Help()
	}
	err := fmt.Errorf("there is no %q under %q", args[0], cmd.CommandPath())
	if near := cmd.SuggestionsFor(args[0]); len(near) > 0 {
		err = fmt.Errorf("%w; perhaps you mean %s", err, strings.Join(near, " or "))
	}
	return &usageError{cmd, err}
}

// wrongNumber says whether an argument is missing or too many, by the line that shows how the command is used.
func wrongNumber(cmd *cobra.Command, args []string) error {
	_, wanted, _ := strings.Cut(cmd.Use, " ")
	required := 0
	for word := range strings.FieldsSeq(wanted) {
		if strings.HasPrefix(word, "[") {
			break
		}
		required++
	}
	switch {
	case len(args) < required:
		return fmt.Errorf("an argument is missing: %s %s", cmd.CommandPath(), wanted)
	case wanted == "":
		return fmt.Errorf("%q is too much: %s takes no arguments", args[0], cmd.CommandPath())
	}
	return fmt.Errorf("%q is too much: %s %s", args[required], cmd.CommandPath(), wanted)
}

// completeFlags says what the values of flags are, by their names. A flag has the same meaning wherever it is.
func completeFlags(cmd *cobra.Command) {
	var statuses []string
	for _, s := range envelope.Statuses {
		statuses = append(statuses, string(s))
	}
	nothing := cobra.FixedCompletions(nil, cobra.ShellCompDirectiveNoFileComp)
	words := func(list ...string) cobra.CompletionFunc {
		return cobra.FixedCompletions(list, cobra.ShellCompDirectiveNoFileComp)
	}
	for name, complete := range map[string]cobra.CompletionFunc{
		"policy": cobra.FixedCompletions([]string{"yaml", "yml"}, cobra.ShellCompDirectiveFilterFileExt),
		"root":   cobra.FixedCompletions(nil, cobra.ShellCompDirectiveFilterDirs),
		"state":  cobra.FixedCompletions(nil, cobra.ShellCompDirectiveFilterDirs),
		"tools":  words(append([]string{"core", "all"}, toolNames()...)...),
		"tool":   words(toolNames()...),
		"format": words("openai", "anthropic", "gemini", "mcp"),
		"scope":  words(string(client.User), string(client.Project)),
		"status": words(statuses...),
		"read":   nothing, "write": nothing, "ask": nothing, "http": nothing, "url": nothing, "token-env": nothing, "name": nothing,
		"since": nothing, "caller": nothing, "request": nothing, "for": nothing, "limit": nothing,
	} {
		if cmd.Flags().Lookup(name) != nil {
			_ = cmd.RegisterFlagCompletionFunc(name, complete) // fails only for a flag that is not there
		}
	}
}

// completionOf completes arguments by what the line of use calls them.
func completionOf(cmd *cobra.Command) cobra.CompletionFunc {
	use := strings.Fields(cmd.Use)
	return func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
		if len(use) == 1 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		switch word := strings.Trim(use[min(len(args)+1, len(use)-1)], "[]…"); word {
		case "DIR":
			return nil, cobra.ShellCompDirectiveFilterDirs
		case "FILE", "COPY":
			return nil, cobra.ShellCompDirectiveDefault
		case "CLIENT":
			return clientTitles(), cobra.ShellCompDirectiveNoFileComp
		case "TOOL", "NAME":
			return slices.DeleteFunc(toolNames(), func(name string) bool { return slices.Contains(args, name) }), cobra.ShellCompDirectiveNoFileComp
		}
		if use[0] == "call" && len(args) > 0 {
			return parameterNames(args[0]), cobra.ShellCompDirectiveNoSpace | cobra.ShellCompDirectiveNoFileComp
		}
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
}

func clientTitles() []string {
	var list []string
	for _, p := range client.Products() {
		list = append(list, cobra.CompletionWithDesc(p[0], p[1]))
	}
	return list
}

func toolNames() []string {
	var list []string
	for _, t := range tools.All() {
		list = append(list, t.Name)
	}
	return list
}

// parameterNames are those of a tool, as they begin an argument of `writ call`.
func parameterNames(tool string) []string {
	var list []string
	for _, t := range tools.All() {
		if t.Name != tool {
			continue
		}
		for _, p := range t.Input().Properties {
			list = append(list, p.Name+"=")
		}
	}
	return list
}
