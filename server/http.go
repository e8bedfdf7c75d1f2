package server

import (
	"bytes"
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	library "github.com/mark3labs/mcp-go/server"

	"github.com/mark3labs/mcp-go/mcp"

	"writ/callers"
)

const (
	pathMCP     = "/mcp"     // streamable HTTP
	pathSSE     = "/sse"     // HTTP+SSE: the stream
	pathMessage = "/message" // HTTP+SSE: what the client sends
	pathHealth  = "/healthz"
	pathReady   = "/readyz"
	pathMetrics = "/metrics"

	headerTimeout = 10 * time.Second
	bodyTimeout   = time.Minute
	idleTimeout   = 2 * time.Minute
	maxHeader     = 64 << 10
	keepAlive     = 20 * time.Second // between signs of life on a stream; proxies cut silent ones
	sweepPause    = time.Minute
	// streamSettle is how long SSE streams stay open after the last call: the library writes its answer a little later.
	streamSettle = 50 * time.Millisecond
)

// HTTPOptions says who may come in over HTTP. The zero value lets in programs of this machine alone, and asks none of
// them who it is.
type HTTPOptions struct {
	// Callers are those who may come in; nil: nobody is asked.
	Callers *callers.Register
	// TLS is spoken; nil: plain HTTP. Where other machines can connect, callers and TLS are needed.
	TLS *tls.Config
	// BehindProxy says that plain HTTP does there, since a proxy speaks TLS for this server.
	BehindProxy bool
	// Hosts are further names, without port, under which the server may be addressed. The loopback names and the host
	// listened on always are.
	Hosts []string
	// Origins are web origins, such as https://example.com, whose pages may send requests.
	Origins []string
	// MaxBody is the size of the longest request body in bytes; 0 means [MaxMessage].
	MaxBody int64
	// Ready tells whether calls can be carried out; nil: as long as the server runs.
	Ready func(context.Context) error
	// Mounts are served beside MCP.
	Mounts []Mount
}

// Mount is a handler beside MCP's own. Requests reach it once their Host and Origin are allowed and their caller is known;
// [CallerOf] returns him.
type Mount struct {
	Pattern string // of [http.ServeMux], such as /console/
	Handler http.Handler
	// AsksItself says that the handler finds out itself who comes, by [callers.Register.Identify]: a browser's first
	// request has no token.
	AsksItself bool
}

// Listener serves clients over HTTP.
type Listener struct {
	server     *Server
	listener   net.Listener
	http       *http.Server
	streamable *library.StreamableHTTPServer
	sse        *library.SSEServer
	sseStreams sync.Map // id to sseClient
	sessions   *sessions
	calls      *calls
	asked      *questions
	silent     silent
	callers    *callers.Register // nil: nobody is asked
	origins    *http.CrossOriginProtection
	trusted    []string // origins
	names      []string // under which it is known, beside where it listens
	hosts      []string // those, and where it listens
	tls        *tls.Config
	mounts     []Mount
	ready      func(context.Context) error
	metrics    *counters

	isLocalSocket bool

	maxBody int64
	streams atomic.Int64    // open SSE streams
	ending  context.Context // ends the streams
	end     context.CancelFunc
}

// Listen opens an address for HTTP clients: host:port, where port 0 chooses one, or unix:PATH for a socket in the file
// system that only this user can reach. Only [Listener.Serve] answers them.
func (s *Server) Listen(addr string, o HTTPOptions) (*Listener, error) {
	origins := http.NewCrossOriginProtection()
	for _, origin := range o.Origins {
		if err := origins.AddTrustedOrigin(origin); err != nil {
			return nil, fmt.Errorf("listen on %s: %w", addr, err)
		}
	}
	socket, isLocal := strings.CutPrefix(addr, unixPrefix)
	open := func() (net.Listener, error) { return o.listenTCP(addr) }
	if isLocal {
		open = func() (net.Listener, error) { return listenUnix(socket) }
	}
	listener, err := open()
	if err != nil {
		return nil, fmt.Errorf("listen on %s: %w", addr, err)
	}
	limited := newBounded(listener, maxConnections)
	host, _, _ := net.SplitHostPort(addr)
	l := &Listener{
		server:   s,
		listener: limited,
		sessions: newSessions(),
		calls:    newCalls(context.Background()),
		asked:    newQuestions(),
		callers:  o.Callers,
		origins:  origins,
		trusted:  o.Origins,
		names:    o.Hosts,
		hosts:    append(slices.Clone(o.Hosts), host),
		tls:      o.TLS,
		mounts:   o.Mounts,
		ready:    o.Ready,
		maxBody:  cmp.Or(o.MaxBody, MaxMessage),

		isLocalSocket: isLocal,
	}
	l.ending, l.end = context.WithCancel(context.Background())
	l.metrics = newCounters(l, limited.count)
	s.noteCall = l.metrics.note
	l.setUp()
	return l, nil
}

// URL returns the address of the streamable HTTP endpoint; of a socket in the file system it is where that is. Where all
// addresses of this machine are listened at, it has a name under which the server may be addressed.
func (l *Listener) URL() string {
	address := l.listener.Addr().String()
	if l.isLocalSocket {
		return unixPrefix + address
	}
	if tcp, ok := l.listener.Addr().(*net.TCPAddr); ok && tcp.IP.IsUnspecified() {
		name := cmp.Or(append(slices.Clone(l.names), "localhost")...)
		address = net.JoinHostPort(name, strconv.Itoa(tcp.Port))
	}
	if l.tls != nil {
		return "https://" + address + pathMCP
	}
	return "http://" + address + pathMCP
}

// setUp makes the library's two servers and puts the checks before them.
func (l *Listener) setUp() {
	l.streamable = library.NewStreamableHTTPServer(l.server.mcp,
		library.WithSessionIdManager(l.sessions),
		library.WithDisableStreaming(true),
		library.WithDisableLocalhostProtection(true), // isHostAllowed is stricter
		library.WithStreamableHTTPLogger(l.server.log),
	)
	l.sse = library.NewSSEServer(l.server.mcp,
		library.WithSSEEndpoint(pathSSE),
		library.WithMessageEndpoint(pathMessage),
		library.WithKeepAliveInterval(keepAlive),
		library.WithSSEDisableLocalhostProtection(true),
		library.WithSessionIDGenerator(func(ctx context.Context, _ *http.Request) (string, error) {
			id, _ := ctx.Value(sseID{}).(string)
			return id, nil
		}),
		library.WithSSEContextFunc(func(ctx context.Context, r *http.Request) context.Context {
			return context.WithValue(withCaller(ctx, r), callsKey{}, l.calls)
		}),
	)
	l.http = &http.Server{
		Handler:           l.guard(l.routes()),
		TLSConfig:         l.tls,
		ReadHeaderTimeout: headerTimeout,
		IdleTimeout:       idleTimeout,
		ConnState:         l.silent.note,
		MaxHeaderBytes:    maxHeader,
		ErrorLog:          slog.NewLogLogger(l.server.log.Handler(), slog.LevelWarn),
	}
}

// routes are the endpoints. All but those that tell nothing ask who comes.
func (l *Listener) routes() *http.ServeMux {
	mux := http.NewServeMux()
	mux.Handle(pathMCP, l.admit(http.HandlerFunc(l.serveMCP)))
	mux.Handle(pathSSE, l.admit(http.HandlerFunc(l.serveSSE)))
	mux.Handle(pathMessage, l.admit(http.HandlerFunc(l.serveMessage)))
	mux.HandleFunc(pathHealth, func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "ok") })
	mux.HandleFunc(pathReady, l.serveReady)
	mux.Handle(pathMetrics, l.admit(l.metrics.handler()))
	if resource := l.callers.Resource(); resource != nil {
		mux.Handle(callers.WellKnown, protectedResource(resource))
		mux.Handle(callers.WellKnown+"/", protectedResource(resource))
	}
	for _, m := range l.mounts {
		handler := m.Handler
		if !m.AsksItself {
			handler = l.admit(handler)
		}
		mux.Handle(m.Pattern, handler)
	}
	return mux
}

// readyTime is how long the looking may take.
const readyTime = 2 * time.Second

// serveReady tells a load balancer whether to send calls. Why not is in the log; strangers may ask.
func (l *Listener) serveReady(w http.ResponseWriter, r *http.Request) {
	ctx, cancel := context.WithTimeout(r.Context(), readyTime)
	defer cancel()
	switch {
	case l.calls.isClosed():
		http.Error(w, "The server is ending", http.StatusServiceUnavailable)
		return
	case l.ready != nil:
		if err := l.ready(ctx); err != nil {
			l.server.log.Warn("the server is not ready", "error", err)
			http.Error(w, "The server is not ready", http.StatusServiceUnavailable)
			return
		}
	}
	fmt.Fprint(w, "ok")
}

// Serve answers clients until ctx ends. Then open calls are finished and answered; those that take too long are
// cancelled. The end of ctx is no error.
func (l *Listener) Serve(ctx context.Context) error {
	defer l.end()
	served := make(chan error, 1)
	go func() { served <- l.accept() }()
	go l.sweep()
	select {
	case err := <-served:
		return fmt.Errorf("serve HTTP: %w", err)
	case <-ctx.Done():
	}
	return l.shutDown()
}

func (l *Listener) accept() error {
	if l.tls != nil {
		return l.http.ServeTLS(l.listener, "", "") // the configuration has the certificate
	}
	return l.http.Serve(l.listener)
}

func (l *Listener) shutDown() error {
	patience, stop := context.WithTimeout(context.Background(), l.server.drainGrace+2*l.server.cancelGrace)
	defer stop()
	closed := make(chan error, 1)
	go func() { closed <- l.http.Shutdown(patience) }()
	l.silent.close()
	l.asked.close()
	l.calls.drain(l.server.drainGrace, l.server.cancelGrace)
	if l.streams.Load() > 0 {
		time.Sleep(streamSettle)
	}
	l.end()
	err := <-closed
	if errors.Is(err, context.DeadlineExceeded) {
		err = l.http.Close()
	}
	if err != nil {
		return fmt.Errorf("shut down HTTP: %w", err)
	}
	return nil
}

// sweep closes sessions that nobody uses.
func (l *Listener) sweep() {
	ticker := time.NewTicker(sweepPause)
	defer ticker.Stop()
	for {
		select {
		case <-l.ending.Done():
			return
		case <-ticker.C:
			l.closeSurplus()
		}
	}
}

// closeSurplus has the library forget the sessions as if their clients had closed them.
func (l *Listener) closeSurplus() {
	for _, id := range l.sessions.surplus() {
		r, err := http.NewRequestWithContext(l.ending, http.MethodDelete, pathMCP, nil)
		if err != nil {
			return
		}
		r.Header.Set(library.HeaderKeySessionID, id)
		l.streamable.ServeHTTP(&discard{header: http.Header{}}, r)
	}
}

// discard is a response that nobody reads.
type discard struct{ header http.Header }

// Header returns headers that are not sent.
func (d *discard) Header() http.Header { return d.header }

// Write drops b.
func (d *discard) Write(b []byte) (int, error) { return len(b), nil }

// WriteHeader drops the status.
func (d *discard) WriteHeader(int) {}

// notAllowed answers a request of a method that the endpoint does not take.
func notAllowed(w http.ResponseWriter, allowed ...string) {
	w.Header().Set("Allow", strings.Join(allowed, ", "))
	http.Error(w, "Method not allowed", http.StatusMethodNotAllowed)
}

// writeFault answers with a JSON-RPC error. version is the protocol version that the request's header names.
func writeFault(w http.ResponseWriter, status int, version string, f *fault) {
	var body bytes.Buffer
	out := newOutbox(&body)
	out.omitID.Store(version >= mcp.ProtocolVersion20251125)
	out.sendFault(f)
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Content-Length", strconv.Itoa(body.Len()))
	w.WriteHeader(status)
	_, _ = w.Write(body.Bytes()) // a client that is gone needs no answer
}
