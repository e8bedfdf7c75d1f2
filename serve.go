package main

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"writ/callers"
	"writ/server"
)

func newServe() *cobra.Command {
	o, web := &options{}, &webOptions{}
	var open bool
	cmd := &cobra.Command{
		Use:   "serve [DIR…]",
		Short: "Serve directories over stdio or HTTP",
		Long: `Serve one or more directories to an MCP client, over stdio or, with --http, over streamable HTTP at /mcp and
HTTP+SSE at /sse. Without a policy and without --write the server is read-only. Several directories are mounted by
their names: the first segment of a path says which one is meant.

  writ serve ~/notes                                   read-only
  writ serve --write 'docs/**' --ask 'src/**' .        docs may be written, src after a person's yes
  writ serve --policy writ.yaml --http 127.0.0.1:7411  as the policy says, over HTTP
  writ serve --http 127.0.0.1:7411 --console .         with the page for people at /console/
  writ serve --http unix:/run/writ/mcp.sock .          over a socket that only this user can reach

Where other machines can connect, the policy must name callers (writ token new), and the line must be TLS.`,
		RunE: func(cmd *cobra.Command, directories []string) error {
			if err := web.needAddress(cmd); err != nil {
				return err
			}
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
			if web.address != "" {
				return serveHTTP(cmd.Context(), h, s, web, confine)
			}
			confine(true)
			return s.Stdio(cmd.Context(), os.Stdin, os.Stdout)
		},
	}
	o.register(cmd)
	web.register(cmd)
	cmd.Flags().StringVar(&o.profile, "tools", "core", "which tools to offer: core, all, or names separated by commas")
	cmd.Flags().BoolVar(&o.structured, "structured-reads", false, "repeat file text in structuredContent, for programs that want it there")
	cmd.Flags().BoolVar(&open, "no-landlock", false, "do not have the kernel keep the server to its directories")
	return cmd
}

// webOptions are the flags of serving over HTTP.
type webOptions struct {
	address           string
	certificate, key  string
	behindProxy       bool
	hosts, webOrigins []string
	console           bool
}

// ownHosts are the names under which the server is addressed.
func (w *webOptions) ownHosts() []string {
	at, err := url.Parse("//" + w.address)
	if err != nil || at.Hostname() == "" {
		return w.hosts
	}
	return append(slices.Clone(w.hosts), at.Hostname())
}

func (w *webOptions) register(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&w.address, "http", "", "serve HTTP at this address, such as 127.0.0.1:7411 (port 0 chooses one), or at unix:PATH")
	f.StringVar(&w.certificate, "tls-cert", "", "file of the certificate chain, PEM")
	f.StringVar(&w.key, "tls-key", "", "file of the certificate's key, PEM")
	f.BoolVar(&w.behindProxy, "behind-proxy", false, "a proxy speaks TLS for this server: plain HTTP is taken from other machines")
	f.BoolVar(&w.console, "console", false, "serve the page for people at /console/ too; a link that opens it is printed")
	cmd.MarkFlagsRequiredTogether("tls-cert", "tls-key")
	f.StringArrayVar(&w.hosts, "allow-host", nil, "a further name under which clients address this server (repeatable)")
	f.StringArrayVar(&w.webOrigins, "allow-origin", nil, "a web origin whose pages may use this server, such as https://example.com (repeatable)")
}

// needAddress refuses flags that would be passed over without --http.
func (w *webOptions) needAddress(cmd *cobra.Command) error {
	for _, name := range []string{"tls-cert", "tls-key", "behind-proxy", "console", "allow-host", "allow-origin"} {
		if w.address == "" && cmd.Flags().Changed(name) {
			return fmt.Errorf("--%s is for HTTP: give an address too, such as --http 127.0.0.1:7411", name)
		}
	}
	return nil
}

// speakTLS takes the certificate that the flags name, if they do.
func (w *webOptions) speakTLS(h *house, o *server.HTTPOptions) (err error) {
	if w.certificate == "" && w.key == "" {
		return nil
	}
	h.reads = append(h.reads, directoriesOf(w.certificate, w.key)...) // a renewal replaces the files
	o.TLS, err = server.TLSFromFiles(w.certificate, w.key, h.log)
	return err
}

// directoriesOf returns where the files lie, and where they lead: certbot's are links into a directory beside theirs, in
// which a renewal puts the new ones.
func directoriesOf(files ...string) []string {
	var list []string
	for _, file := range files {
		list = append(list, filepath.Dir(file))
		if real, err := filepath.EvalSymlinks(file); err == nil {
			list = append(list, filepath.Dir(real))
		}
	}
	return list
}

// serveHTTP says where it serves in one line on standard error, and serves until the context ends.
func serveHTTP(ctx context.Context, h *house, s *server.Server, web *webOptions, confine func(offline bool)) error {
	o := server.HTTPOptions{
		Callers: callers.New(h.policy), BehindProxy: web.behindProxy, Hosts: web.hosts, Origins: web.webOrigins, Ready: h.ledger.Ready,
	}
	var listener *server.Listener
	if err := web.speakTLS(h, &o); err != nil {
		return err
	}
	invite := func() {}
	if web.console {
		c, mount := h.besideHTTP(ctx, web, func() string { return strings.TrimSuffix(listener.URL(), "/mcp") })
		o.Mounts = append(o.Mounts, mount)
		invite = c.Invite
	}
	listener, err := s.Listen(web.address, o)
	if err != nil {
		return err
	}
	confine(false)
	fmt.Fprintf(os.Stderr, "writ serves MCP at %s\n", listener.URL())
	invite()
	return listener.Serve(ctx)
}
