package main

import (
	"github.com/spf13/cobra"

	"writ/client"
)

func newBridge() *cobra.Command {
	o := &options{}
	cmd := &cobra.Command{
		Use:   "bridge [DIR…]",
		Short: "Answer function calls of the Responses API, a line each",
		Long: `Read function calls from standard input, carry each out through the gate, and print its answer. A line in is
one JSON value: an item of type function_call, a list of items, a whole response, or an event of a stream. A line out is
a function_call_output with the same call_id, in the order in which the answers are ready.

Only complete calls are carried out, each call_id once. Fragments of a stream, and messages whose text looks like a
call, are passed over. A line that is wrong is answered by {"type":"error","line":N,…}, and the bridge goes on. It ends
with its input, when all calls are answered. ` + "`writ tools --format openai`" + ` with the same flags prints the tools for
the request.

  writ bridge --write 'docs/**' ~/project <calls.jsonl`,
		RunE: func(cmd *cobra.Command, directories []string) error {
			h, err := o.open(directories)
			if err != nil {
				return err
			}
			defer h.finish()
			h.settle(cmd.Context())
			b := client.Bridge{Gate: h.gate, Out: cmd.OutOrStdout()}
			return b.Run(cmd.Context(), cmd.InOrStdin())
		},
	}
	o.register(cmd)
	cmd.Flags().StringVar(&o.profile, "tools", "core", "which tools to offer: core, all, or names separated by commas")
	return cmd
}
