// Package console is the page for people: what waits for an approval, what was changed, who called what, and what is
// allowed. A person decides and undoes there by the very same ways as `writ approvals` and `writ undo`.
//
// It is served as plain HTML that works without scripts; a small script adds that a page tells when it is out of date.
// Nothing comes from elsewhere, and nothing in a page is run but that script.
//
// Who may come in: whoever holds a link that was told to [Options.Tell], once. It is for a person, so no token of a caller
// opens the console: an agent that had one could approve its own writes. A session is a cookie which browsers send to this
// console alone. Cookies are told apart by path and not by port, so that path holds a secret of this process; else any
// other server of this machine that the person's browser visits would be sent the session.
//
// What a page shows was written by others: names and texts have what does not show made visible, and are escaped.
package console

import (
	"crypto/rand"
	"html/template"
	"log/slog"
	"net/http"
	"strings"
	"time"

	"writ/gate"
	"writ/ledger"
	"writ/policy"
)

// Options are what a console is made of.
type Options struct {
	Gate   *gate.Gate // undoes, and shows what a change did
	Ledger *ledger.Ledger
	Policy *policy.Policy // what is shown as in force; it may allow less than the gate, which is a person's
	// Base is the path that the console is below, such as "/console"; "" for all of a host.
	Base string
	// Hosts are the names, without port, under which the console may be addressed beside the loopback ones.
	Hosts []string
	// Person is who decides: whoever was given a link.
	Person string
	// Tell is told the path and query of a link that opens the console once: of the first by [Console.Invite], and of
	// another one whenever one was used.
	Tell func(link string)
	// BehindTLS says that a proxy speaks TLS for the console: browsers are told to send the cookie over nothing else.
	BehindTLS bool
	Sandbox   func() string    // what the kernel keeps the process to; nil: nothing is known of it
	Tools     []string         // that callers are offered; nil: not known here
	Clock     func() time.Time // nil: time.Now
	Log       *slog.Logger     // nil: nobody is told of faults
}

// Console serves the pages. It may be used from many goroutines.
type Console struct {
	Options
	key      string // a segment of the path that only those who are in know
	sessions *sessions
	streams  chan struct{} // holds a token for each open stream
	pages    map[string]func() (*template.Template, error)
	handler  http.Handler
}

// way is how a person was reached, and what called: it stands in the audit.
const way = "writ console"

// maxStreams bounds the pages that are told of what is new at the same time.
const maxStreams = 32

// New returns a console that nobody can enter yet; see [Console.Invite].
func New(o Options) *Console {
	if o.Clock == nil {
		o.Clock = time.Now
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	c := &Console{Options: o, key: secret()[:16], streams: make(chan struct{}, maxStreams)}
	c.sessions = newSessions(o.Clock)
	c.pages = parsePages()
	c.handler = c.guard(c.routes())
	return c
}

// ServeHTTP answers a request.
func (c *Console) ServeHTTP(w http.ResponseWriter, r *http.Request) { c.handler.ServeHTTP(w, r) }

// Invite tells a link that opens the console once.
func (c *Console) Invite() { c.Tell(c.Base + "/login?code=" + c.sessions.newCode()) }

// root is the path below which all is that only a session opens.
func (c *Console) root() string { return c.Base + "/" + c.key }

func (c *Console) routes() http.Handler {
	mux := http.NewServeMux()
	for _, name := range []string{"style.css", "live.js", "icon.svg"} {
		mux.HandleFunc("GET "+c.Base+"/"+name, serveAsset(name))
	}
	mux.HandleFunc("GET "+c.Base+"/login", c.login)
	mux.HandleFunc(c.Base+"/", c.closed)
	for pattern, show := range map[string]func(*visit) error{
		"GET /{$}":                     (*visit).approvals,
		"GET /approvals/{id}":          (*visit).approval,
		"POST /approvals/{id}/approve": (*visit).approve,
		"POST /approvals/{id}/decline": (*visit).decline,
		"GET /changes":                 (*visit).changes,
		"GET /changes/{id}":            (*visit).change,
		"POST /changes/{id}/undo":      (*visit).undo,
		"GET /audit":                   (*visit).audit,
		"GET /scope":                   (*visit).scope,
		"GET /live":                    (*visit).live,
		"POST /leave":                  (*visit).leave,
	} {
		method, path, _ := strings.Cut(pattern, " ")
		mux.HandleFunc(method+" "+c.root()+path, c.inside(show))
	}
	return mux
}

// secret returns 26 characters that can't be guessed.
func secret() string { return strings.ToLower(rand.Text()) }
