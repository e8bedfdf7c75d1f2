package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"writ/callers"
	"writ/policy"
)

func newToken() *cobra.Command {
	token := &cobra.Command{Use: "token", Short: "Make tokens for callers over HTTP"}
	token.AddCommand(&cobra.Command{
		Use:   "new [NAME]",
		Short: "Make a token, and the entry of the policy that lets its owner in",
		Long: `Make a new token. The first line is the token, which is shown this once and kept nowhere; the second is the
entry for callers in the policy, which holds the token's hash. A client sends the token with each request:

  Authorization: Bearer TOKEN

  writ token new ada
  writ install cursor --url https://files.example/mcp --token-env WRIT_TOKEN    the client's side of it`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			name := "NAME"
			if len(args) == 1 {
				name = args[0]
			}
			if fault := policy.NameFault(name); fault != "" {
				return errors.New(fault)
			}
			secret, hash := callers.NewToken()
			_, err := fmt.Fprintf(cmd.OutOrStdout(), "%s\n  - {name: %q, token: %q}\n", secret, name, hash)
			return err
		},
	})
	return token
}
