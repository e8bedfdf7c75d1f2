package main

import (
	"context"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"writ/server"
)

func newServe() *cobra.Command {
	o := &options{}
	var address string
	var open bool
	cmd := &cobra.Command{
		Use:   "serve [DIR…]",
		Short: "Serve directories over stdio or HTTP",
		Long: `Serve one or more directories to an MCP client, over stdio or, with --http, over streamable HTTP at /mcp and
HTTP+SSE at /sse. Without a policy and without --write the server is read-only. Several directories are mounted by
their names: the first segment of a path says which one is meant.

  writ serve ~/notes                                   read-only
  writ serve --write 'docs/**' --ask 'src/**' .        docs may be written, src after a person's yes
  writ serve --policy writ.yaml --http 127.0.0.1:7411  as the policy says, over HTTP`,
		RunE: func(cmd *cobra.Command, directories []string) error {
			h, err := o.open(directories)
			if err != nil {
				return err
			}
			defer h.finish()
			h.settle(cmd.Context())
			s := server.New(server.OfGate(h.gate), server.Info{Name: "writ", Version: version(), StructuredReads: o.structured, Log: h.log})
			confine := func(offline bool) {
				if !open {
					h.confine(offline)
				}
			}
			if address != "" {
				return serveHTTP(cmd.Context(), s, address, confine)
			}
			confine(true)
			return s.Stdio(cmd.Context(), os.Stdin, os.Stdout)
		},
	}
	o.register(cmd)
	cmd.Flags().StringVar(&o.profile, "tools", "core", "which tools to offer: core, all, or names separated by commas")
	cmd.Flags().StringVar(&address, "http", "", "serve HTTP at this address, such as 127.0.0.1:7411; port 0 chooses one")
	cmd.Flags().BoolVar(&o.structured, "structured-reads", false, "repeat file text in structuredContent, for programs that want it there")
	cmd.Flags().BoolVar(&open, "no-landlock", false, "do not have the kernel keep the server to its directories")
	return cmd
}

// serveHTTP says where it serves in one line on standard error, and serves until the context ends.
func serveHTTP(ctx context.Context, s *server.Server, address string, confine func(offline bool)) error {
	listener, err := s.Listen(address, server.HTTPOptions{})
	if err != nil {
		return err
	}
	confine(false)
	fmt.Fprintf(os.Stderr, "writ serves MCP at %s\n", listener.URL())
	return listener.Serve(ctx)
}
