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
	"writ/gate"
	"writ/policy"
	"writ/server"
	"writ/tools"
)

// toolList is what the command line of `writ tools` asks for.
type toolList struct {
	options
	directories []string
	names       []string
	all, asJSON bool
	format      string
}

func newTools() *cobra.Command {
	l := &toolList{}
	cmd := &cobra.Command{
		Use:   "tools [NAME…]",
		Short: "List the tools, or show what some promise",
		Long: `List the tools of the core profile, or with --all every tool; with names, show what each promises: its
description, parameters, effect and the codes it can answer. --json prints the definitions as MCP clients get them.
--format prints them as the list that a request to a model's API takes as its tools: openai (Responses), anthropic
(Messages), gemini (generateContent), or mcp (the answer to tools/list).

With --policy, --root, globs or --read-only it lists what a server or a bridge with these offers: where nothing may be
written, only tools that read. Without any of them it lists them all.

  writ tools --all
  writ tools replace_text
  writ tools --format openai --policy writ.yaml
  writ tools --format anthropic --write 'docs/**' --root ~/project`,
		RunE: func(cmd *cobra.Command, names []string) error {
			l.names = names
			list, err := l.choose(cmd)
			if err != nil {
				return err
			}
			return l.print(cmd.OutOrStdout(), list)
		},
	}
	l.registerPolicy(cmd)
	f := cmd.Flags()
	f.StringArrayVar(&l.directories, "root", nil, "directory that would be served; the policy's or the current one if absent (repeatable)")
	f.StringVar(&l.profile, "tools", "core", "which tools would be offered: core, all, or names separated by commas")
	f.BoolVar(&l.all, "all", false, "not only those of the core profile")
	f.BoolVar(&l.asJSON, "json", false, "one JSON definition a line")
	f.StringVar(&l.format, "format", "", "as the tools of a request: openai, anthropic, gemini or mcp")
	return cmd
}

// choose picks the tools: by name, or those of the profile, and of these what the policy leaves.
func (l *toolList) choose(cmd *cobra.Command) ([]*tools.Tool, error) {
	if l.all || len(l.names) > 0 {
		l.profile = "all"
	}
	list, err := profile(l.profile)
	if err != nil {
		return nil, err
	}
	for _, name := range l.names {
		if !slices.ContainsFunc(list, func(t *tools.Tool) bool { return t.Name == name }) {
			return nil, fmt.Errorf("there is no tool %q; `writ tools --all` lists them", name)
		}
	}
	if len(l.names) > 0 && !l.all {
		list = pick(list, func(t *tools.Tool) bool { return slices.Contains(l.names, t.Name) })
	}
	if !slices.ContainsFunc([]string{"policy", "root", "read", "write", "ask", "read-only"}, cmd.Flags().Changed) {
		return list, nil
	}
	rules, err := l.compile(l.directories)
	if err != nil {
		return nil, err
	}
	return pick(list, func(t *tools.Tool) bool { return gate.Offers(rules, t) }), nil
}

func (l *toolList) print(out io.Writer, list []*tools.Tool) error {
	if l.format != "" {
		return printDefinitions(out, l.format, list)
	}
	for _, t := range list {
		switch {
		case l.asJSON:
			fmt.Fprintf(out, "%s\n", definitionJSON(t.Contract))
		case len(l.names) > 0:
			describe(out, t.Contract)
		default:
			fmt.Fprintf(out, "%-17s %-7s %s\n", t.Name, effectOf(t.Contract), t.Title)
		}
	}
	return nil
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
		Long: `Read a policy file, writ.yaml if none is named, and tell each mistake with its line and what would be right there. The
exit status is 2 if there is one.

  writ policy check
  writ policy check ~/project/writ.yaml`,
		Args: cobra.MaximumNArgs(1),
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
		Long: `Tell whether a path may be read and written, and the rule of the policy that decides. The path is judged as it is
written; the tools judge the place that it leads to.

  writ policy explain docs/plan.md --policy writ.yaml
  writ policy explain .env --root ~/project --write '**'`,
		Args: cobra.ExactArgs(1),
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
		Long: `Print the JSON Schema of a policy file. An editor that knows YAML then completes and checks it:

  writ policy schema > ~/.config/writ.schema.json

and in the first line of writ.yaml:

  # yaml-language-server: $schema=file:///home/you/.config/writ.schema.json`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			_, err := cmd.OutOrStdout().Write(policy.Schema())
			return err
		},
	}
}
