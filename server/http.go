package server

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	library "github.com/mark3labs/mcp-go/server"

	"github.com/mark3labs/mcp-go/mcp"
)

const (
	pathMCP     = "/mcp"     // streamable HTTP
	pathSSE     = "/sse"     // HTTP+SSE: the stream
	pathMessage = "/message" // HTTP+SSE: what the client sends
	pathHealth  = "/healthz"

	headerTimeout = 10 * time.Second
	bodyTimeout   = time.Minute
	idleTimeout   = 2 * time.Minute
	maxHeader     = 64 << 10
	keepAlive     = 20 * time.Second // between signs of life on a stream; proxies cut silent ones
	sweepPause    = time.Minute
	// streamSettle is how long SSE streams stay open after the last call: the library writes its answer a little later.
	streamSettle = 50 * time.Millisecond
)

// HTTPOptions says who may come in over HTTP. The zero value lets in programs of this machine alone.
type HTTPOptions struct {
	// AnyAddress allows to listen where other machines can connect. Nothing asks them who they are. They come in under
	// one of Hosts.
	AnyAddress bool
	// Hosts are further names, without port, under which the server may be addressed. The loopback names and the host
	// listened on always are.
	Hosts []string
	// Origins are web origins, such as https://example.com, whose pages may send requests.
	Origins []string
	// MaxBody is the size of the longest request body in bytes; 0 means [MaxMessage].
	MaxBody int64
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
	origins    *http.CrossOriginProtection
	hosts      []string
	maxBody    int64
	streams    atomic.Int64    // open SSE streams
	ending     context.Context // ends the streams
	end        context.CancelFunc
}

// Listen opens a TCP address, host:port, for HTTP clients; port 0 chooses one. Only [Listener.Serve] answers them.
func (s *Server) Listen(addr string, o HTTPOptions) (*Listener, error) {
	tcp, err := net.ResolveTCPAddr("tcp", addr)
	if err != nil {
		return nil, fmt.Errorf("listen on %s: %w", addr, err)
	}
	if !o.AnyAddress && !tcp.IP.IsLoopback() {
		return nil, fmt.Errorf("listen on %s: other machines could connect, and nothing would ask them who they are: use 127.0.0.1", addr)
	}
	origins := http.NewCrossOriginProtection()
	for _, origin := range o.Origins {
		if err := origins.AddTrustedOrigin(origin); err != nil {
			return nil, fmt.Errorf("listen on %s: %w", addr, err)
		}
	}
	listener, err := net.ListenTCP("tcp", tcp)
	if err != nil {
		return nil, fmt.Errorf("listen on %s: %w", addr, err)
	}
	host, _, _ := net.SplitHostPort(addr)
	l := &Listener{
		server:   s,
		listener: listener,
		sessions: newSessions(),
		calls:    newCalls(context.Background()),
		asked:    newQuestions(),
		origins:  origins,
		hosts:    append(slices.Clone(o.Hosts), host),
		maxBody:  cmp.Or(o.MaxBody, MaxMessage),
	}
	l.ending, l.end = context.WithCancel(context.Background())
	l.setUp()
	return l, nil
}

// URL returns the address of the streamable HTTP endpoint.
func (l *Listener) URL() string { return "http://" + l.listener.Addr().String() + pathMCP }

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
		library.WithSSEContextFunc(func(ctx context.Context, _ *http.Request) context.Context {
			return context.WithValue(ctx, callsKey{}, l.calls)
		}),
	)
	mux := http.NewServeMux()
	mux.HandleFunc(pathMCP, l.serveMCP)
	mux.HandleFunc(pathSSE, l.serveSSE)
	mux.HandleFunc(pathMessage, l.serveMessage)
	mux.HandleFunc(pathHealth, func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "ok") })
	l.http = &http.Server{
		Handler:           l.guard(mux),
		ReadHeaderTimeout: headerTimeout,
		IdleTimeout:       idleTimeout,
		ConnState:         l.silent.note,
		MaxHeaderBytes:    maxHeader,
		ErrorLog:          slog.NewLogLogger(l.server.log.Handler(), slog.LevelWarn),
	}
}

// Serve answers clients until ctx ends. Then open calls are finished and answered; those that take too long are
// cancelled. The end of ctx is no error.
func (l *Listener) Serve(ctx context.Context) error {
	defer l.end()
	served := make(chan error, 1)
	go func() { served <- l.http.Serve(l.listener) }()
	go l.sweep()
	select {
	case err := <-served:
		return fmt.Errorf("serve HTTP: %w", err)
	case <-ctx.Done():
	}
	return l.shutDown()
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

// guard lets in requests that are addressed to this server and do not come from a foreign web page. A page can make a
// browser send requests to loopback addresses, and by renaming its own host to one even read the answers.
func (l *Listener) guard(next http.Handler) http.Handler {
	return http.HandlerFunc(func(plainWriter http.ResponseWriter, r *http.Request) {
		w := &response{ResponseWriter: plainWriter}
		defer l.recoverPanic(w, r)
		if !l.isHostAllowed(r.Host) {
			http.Error(w, "Forbidden: this server is not known by that host name", http.StatusForbidden)
			return
		}
		asWrite := r.WithContext(r.Context())
		asWrite.Method = http.MethodPost // reads are to be checked like writes
		if l.origins.Check(asWrite) != nil {
			http.Error(w, "Forbidden: requests from this web origin are not allowed", http.StatusForbidden)
			return
		}
		w.Header().Set("X-Accel-Buffering", "no")
		w.Header().Set("X-Content-Type-Options", "nosniff")
		next.ServeHTTP(w, r)
	})
}

func (l *Listener) isHostAllowed(hostport string) bool {
	host, _, err := net.SplitHostPort(hostport)
	if err != nil {
		host = strings.TrimSuffix(strings.TrimPrefix(hostport, "["), "]")
	}
	if strings.EqualFold(host, "localhost") {
		return true
	}
	if ip, err := netip.ParseAddr(host); err == nil && ip.IsLoopback() {
		return true
	}
	return host != "" && slices.ContainsFunc(l.hosts, func(h string) bool { return strings.EqualFold(h, host) })
}

// response is a response on its way out.
type response struct {
	http.ResponseWriter
	begun bool
}

// WriteHeader takes away the header by which the library opens its SSE stream to pages of every origin.
func (w *response) WriteHeader(status int) {
	w.begun = true
	w.Header().Del("Access-Control-Allow-Origin")
	w.ResponseWriter.WriteHeader(status)
}

// Write writes a part of the body.
func (w *response) Write(b []byte) (int, error) {
	if !w.begun {
		w.WriteHeader(http.StatusOK)
	}
	return w.ResponseWriter.Write(b)
}

// Flush sends what is written so far.
func (w *response) Flush() {
	if !w.begun {
		w.WriteHeader(http.StatusOK)
	}
	_ = http.NewResponseController(w.ResponseWriter).Flush() // an error shows in the next write
}

// Unwrap lets http.ResponseController reach what lies below.
func (w *response) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// recoverPanic answers a panic as a JSON-RPC error. Where the answer has begun already the connection is cut.
func (l *Listener) recoverPanic(w *response, r *http.Request) {
	p := recover()
	if p == nil {
		return
	}
	if p == http.ErrAbortHandler {
		panic(p)
	}
	l.server.log.Error("a request panicked", "path", r.URL.Path, "panic", p, "stack", string(debug.Stack()))
	if w.begun {
		panic(http.ErrAbortHandler)
	}
	writeFault(w, http.StatusInternalServerError, "", &fault{code: mcp.INTERNAL_ERROR, message: "The server failed"})
}

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
