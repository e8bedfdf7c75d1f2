package server

import (
	"net"
	"net/http"
	"net/netip"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/mark3labs/mcp-go/mcp"
	library "github.com/mark3labs/mcp-go/server"
)

// guard lets in requests that are addressed to this server and do not come from a foreign web page. A page can make a
// browser send requests to loopback addresses, and by renaming its own host to one even read the answers.
func (l *Listener) guard(next http.Handler) http.Handler {
	return http.HandlerFunc(func(plainWriter http.ResponseWriter, r *http.Request) {
		w := &response{ResponseWriter: plainWriter}
		defer func() { l.metrics.noteRequest(r.URL.Path, w.status) }()
		defer l.recoverPanic(w, r)
		if !l.isLocalSocket && !l.isHostAllowed(r.Host) { // no browser can be led to a socket of the file system
			http.Error(w, "Forbidden: this server is not known by that host name", http.StatusForbidden)
			return
		}
		asWrite := r.WithContext(r.Context())
		asWrite.Method = http.MethodPost // reads are to be checked like writes
		if l.origins.Check(asWrite) != nil {
			http.Error(w, "Forbidden: requests from this web origin are not allowed", http.StatusForbidden)
			return
		}
		if origin := r.Header.Get("Origin"); slices.Contains(l.trusted, origin) {
			w.origin = origin
			if r.Method == http.MethodOptions {
				allowPage(w)
				return
			}
		}
		w.Header().Set("X-Accel-Buffering", "no")
		w.Header().Set("X-Content-Type-Options", "nosniff")
		next.ServeHTTP(w, r)
	})
}

// allowPage answers a browser that asks whether a page of an allowed origin may send what it wants to.
func allowPage(w http.ResponseWriter) {
	h := w.Header()
	h.Set("Access-Control-Allow-Methods", "GET, POST, DELETE")
	h.Set("Access-Control-Allow-Headers", "Authorization, Content-Type, Accept, "+strings.Join([]string{
		mcp.HeaderProtocolVersion, library.HeaderKeySessionID, mcp.HeaderMethod, mcp.HeaderName, mcp.HeaderLastEventID,
	}, ", "))
	h.Set("Access-Control-Max-Age", "600")
	w.WriteHeader(http.StatusNoContent)
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
	begun  bool
	status int    // 0: nothing was sent
	origin string // a web origin whose pages may read it; "": none
}

// WriteHeader opens the response to pages of the origin that is allowed, and takes away the header by which the library
// opens its SSE stream to those of every origin.
func (w *response) WriteHeader(status int) {
	w.begun, w.status = true, status
	h := w.Header()
	h.Del("Access-Control-Allow-Origin")
	if w.origin != "" {
		h.Set("Access-Control-Allow-Origin", w.origin)
		h.Set("Access-Control-Expose-Headers", library.HeaderKeySessionID+", WWW-Authenticate")
		h.Add("Vary", "Origin")
	}
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
