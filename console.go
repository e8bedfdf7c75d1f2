package main

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"os/user"

	"github.com/spf13/cobra"

	"writ/console"
	"writ/gate"
	"writ/server"
	"writ/tools"
)

func newConsole() *cobra.Command {
	o := &options{profile: "revert_change"}
	var address string
	cmd := &cobra.Command{
		Use:   "console [DIR…]",
		Short: "Serve a page to approve, look back and undo in a browser",
		Long: `Serve the page for people, to browsers of this machine: what waits for an approval, with a diff; what was changed, to
look at and to undo; the audit; and what is allowed. It works beside a server that runs for the same directories, and
does what "writ approvals", "writ changes", "writ undo" and "writ audit" do.

A link that opens it is printed on standard error. It is good once, and when it was used the next one is printed.
In an ask zone whoever undoes something has approved it by that. Without a policy and without --write, every place of the
root may be written for that, as with "writ undo".

  writ console ~/project
  writ console --policy writ.yaml --listen 127.0.0.1:7412`,
		RunE: func(cmd *cobra.Command, directories []string) error {
			shown, err := o.compile(directories)
			if err != nil {
				return err
			}
			if o.policyFile == "" && len(o.write) == 0 {
				o.write = []string{"**"}
			}
			h, err := o.open(directories)
			if err != nil {
				return err
			}
			defer h.finish()
			listener, err := console.Listen(address)
			if err != nil {
				return err
			}
			person := userName()
			h.confine(false)
			c := console.New(console.Options{
				Gate: h.gate, Ledger: h.ledger, Policy: shown, Person: person, Log: h.log, Sandbox: h.walls.String,
				Tell: tellLink("http://" + listener.Addr().String()),
			})
			c.Invite()
			return c.Serve(cmd.Context(), listener)
		},
	}
	o.register(cmd)
	cmd.Flags().StringVar(&address, "listen", "127.0.0.1:0", "address of this machine to serve at; port 0 chooses one")
	return cmd
}

// tellLink says on standard error how to open a console.
func tellLink(site string) func(link string) {
	return func(link string) { fmt.Fprintf(os.Stderr, "Open the console, once, at %s%s\n", site, link) }
}

// besideHTTP returns the console of a server, as a handler that ends with the context. Its gate is a person's: it has the
// tool that undoes, whatever tools the server offers, and goes by the same policy.
func (h *house) besideHTTP(ctx context.Context, web *webOptions, site func() string) (*console.Console, server.Mount) {
	person := gate.New(gate.Options{
		Policy: h.policy, Files: h.files, Ledger: h.ledger, Checks: h.checks, Log: h.log,
		Tools: pick(tools.All(), func(t *tools.Tool) bool { return t.Name == "revert_change" }),
	})
	var names []string
	for _, c := range h.gate.Contracts() {
		names = append(names, c.Name)
	}
	c := console.New(console.Options{
		Gate: person, Ledger: h.ledger, Policy: h.policy, Base: "/console", Hosts: web.ownHosts(), BehindTLS: web.behindProxy,
		Person: userName(), Tools: names, Log: h.log, Sandbox: func() string { return h.walls.String() },
		Tell: func(link string) { tellLink(site())(link) },
	})
	return c, server.Mount{Pattern: "/console/", AsksItself: true, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ends, stop := context.WithCancel(r.Context()) // a page that is told of what is new would keep the server from its end
		defer stop()
		defer context.AfterFunc(ctx, stop)()
		c.ServeHTTP(w, r.WithContext(ends))
	})}
}

// userName is who runs this program.
func userName() string {
	u, err := user.Current()
	if err != nil {
		return "somebody"
	}
	return u.Username
}
