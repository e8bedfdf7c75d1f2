package main

import (
	"fmt"
	"os"
	"os/user"
	"time"

	"github.com/spf13/cobra"

	"writ/console"
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
			time.Now().Zone() // it is read from the disk once, which the walls would not let be
			h.confine(false)
			c := console.New(console.Options{
				Gate: h.gate, Ledger: h.ledger, Policy: shown, Person: person, Log: h.log, Sandbox: h.walls.String,
				Tell: func(link string) {
					fmt.Fprintf(os.Stderr, "Open the console, once, at http://%s%s\n", listener.Addr(), link)
				},
			})
			return c.Serve(cmd.Context(), listener)
		},
	}
	o.register(cmd)
	cmd.Flags().StringVar(&address, "listen", "127.0.0.1:0", "address of this machine to serve at; port 0 chooses one")
	return cmd
}

// userName is who runs this program.
func userName() string {
	u, err := user.Current()
	if err != nil {
		return "somebody"
	}
	return u.Username
}
