package main

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/afero"
	"github.com/spf13/cobra"

	"writ/client"
	"writ/contract"
	"writ/envelope"
	"writ/policy"
	"writ/server"
	"writ/tools"
)

func newTools() *cobra.Command {
	var all, asJSON bool
	var format string
	cmd := &cobra.Command{
		Use:   "tools [NAME…]",
		Short: "List the tools, or show what some promise",
		Long: `List the tools of the core profile, or with --all every tool; with names, show what each promises: its
description, parameters, effect and the codes it can answer. --json prints the definitions as MCP clients get them.
--format prints them as the list that a request to a model's API takes as its tools: openai (Responses), anthropic
(Messages), gemini (generateContent), or mcp (the answer to tools/list).`,
		RunE: func(cmd *cobra.Command, names []string) error {
			list := pick(tools.All(), func(t *tools.Tool) bool {
				return all || t.Core && len(names) == 0 || slices.Contains(names, t.Name)
			})
			for _, name := range names {
				if !slices.ContainsFunc(list, func(t *tools.Tool) bool { return t.Name == name }) {
					return fmt.Errorf("there is no tool %q; `writ tools --all` lists them", name)
				}
			}
			out := cmd.OutOrStdout()
			if format != "" {
				return printDefinitions(out, format, list)
			}
			for _, t := range list {
				switch {
				case asJSON:
					fmt.Fprintf(out, "%s\n", definitionJSON(t.Contract))
				case len(names) > 0:
					describe(out, t.Contract)
				default:
					fmt.Fprintf(out, "%-17s %-7s %s\n", t.Name, effectOf(t.Contract), t.Title)
				}
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&all, "all", false, "not only those of the core profile")
	cmd.Flags().BoolVar(&asJSON, "json", false, "one JSON definition a line")
	cmd.Flags().StringVar(&format, "format", "", "as the tools of a request: openai, anthropic, gemini or mcp")
	return cmd
}

// printDefinitions prints a list of definitions in the form of an API.
func printDefinitions(out io.Writer, format string, list []*tools.Tool) error {
	contracts := make([]*contract.Contract, len(list))
	for i, t := range list {
		contracts[i] = t.Contract
	}
	definitions, err := client.Definitions(format, contracts, definitionJSON)
	if err == nil {
		_, err = out.Write(append(definitions, '\n'))
	}
	return err
}

// definitionJSON is the definition of a tool as tools/list has it.
func definitionJSON(c *contract.Contract) []byte {
	d := server.DefinitionOf(c)
	var output any // none for a tool that answers with file text
	if d.OutputSchema != nil {
		output = d.OutputSchema
	}
	return envelope.AppendValue(nil, struct {
		Name         string          `json:"name"`
		Title        string          `json:"title"`
		Description  string          `json:"description"`
		InputSchema  json.RawMessage `json:"inputSchema"`
		OutputSchema any             `json:"outputSchema,omitempty"`
		Annotations  map[string]bool `json:"annotations"`
	}{d.Name, d.Title, d.Description, d.InputSchema, output, map[string]bool{
		"readOnlyHint": d.ReadOnly, "destructiveHint": d.Destructive, "idempotentHint": d.Idempotent, "openWorldHint": false,
	}})
}

func effectOf(c *contract.Contract) string {
	switch {
	case !c.Effect.Writes:
		return "reads"
	case c.Effect.Destroys:
		return "changes"
	}
	return "adds"
}

func describe(out io.Writer, c *contract.Contract) {
	fmt.Fprintf(out, "%s: %s (%s)\n\n%s\n\n", c.Name, c.Title, effectOf(c), c.Doc)
	for _, p := range c.Parameters() {
		fmt.Fprintf(out, "  %s\n", p)
	}
	codes := make([]string, len(c.Codes))
	for i, code := range c.Codes {
		codes[i] = string(code)
	}
	fmt.Fprintf(out, "\nCodes: %s\n\n", strings.Join(codes, ", "))
}

func newPolicy() *cobra.Command {
	cmd := &cobra.Command{Use: "policy", Short: "Check a policy, or explain what it decides"}
	cmd.AddCommand(newPolicyCheck(), newPolicyExplain(), newPolicySchema())
	return cmd
}

func newPolicyCheck() *cobra.Command {
	return &cobra.Command{
		Use:   "check [FILE]",
		Short: "Tell what is wrong in a policy file (writ.yaml if none is named)",
		Args:  cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			file := "writ.yaml"
			if len(args) > 0 {
				file = args[0]
			}
			config, err := policy.Load(afero.NewOsFs(), file)
			if err != nil {
				return err
			}
			p, err := policy.Compile(config)
			if err != nil {
				return err
			}
			z := p.Zones()
			fmt.Fprintf(cmd.OutOrStdout(), "%s is right.\nread:  %s\nwrite: %s\nask:   %s\n", file, globs(z.Read), globs(z.Write), globs(z.Ask))
			return nil
		},
	}
}

func globs(list []string) string {
	if len(list) == 0 {
		return "nothing"
	}
	return strings.Join(list, "  ")
}

func newPolicyExplain() *cobra.Command {
	o := &options{}
	var directories []string
	cmd := &cobra.Command{
		Use:   "explain PATH",
		Short: "Tell what may be done with a path, and which rule decides",
		Args:  cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			path, err := contract.ParsePath(args[0])
			if err != nil {
				return err
			}
			h, err := o.open(directories)
			if err != nil {
				return err
			}
			defer h.finish()
			for _, line := range h.policy.Explain(path, h.files.Ignored(path)).Lines() {
				fmt.Fprintln(cmd.OutOrStdout(), line)
			}
			return nil
		},
	}
	o.register(cmd)
	cmd.Flags().StringArrayVar(&directories, "root", nil, "directory the path is in; the policy's or the current one if absent (repeatable)")
	return cmd
}

func newPolicySchema() *cobra.Command {
	return &cobra.Command{
		Use:   "schema",
		Short: "Print the JSON Schema of a policy file, for editors",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			_, err := cmd.OutOrStdout().Write(policy.Schema())
			return err
		},
	}
}
