package server

import (
	"context"
	"errors"
	"net/http"

	"github.com/mark3labs/mcp-go/mcp"

	"writ/callers"
	"writ/envelope"
	"writ/gate"
)

// Who comes in is asked once for each request, before anything of it is read but its headers. A session belongs to the
// caller who has opened it; for anybody else it is not there.

type callerKey struct{}

// CallerOf returns who sent a request that came through a [Listener]; false where nobody was asked.
func CallerOf(ctx context.Context) (callers.Caller, bool) {
	c, ok := ctx.Value(callerKey{}).(callers.Caller)
	return c, ok
}

// callerName is who sent a request, as the gate knows him.
func callerName(ctx context.Context) string {
	if c, ok := CallerOf(ctx); ok {
		return c.Name
	}
	return gate.CallerHTTP
}

// withCaller adds to ctx who sent the request.
func withCaller(ctx context.Context, r *http.Request) context.Context {
	if c, ok := CallerOf(r.Context()); ok {
		return context.WithValue(ctx, callerKey{}, c)
	}
	return ctx
}

// admit lets in requests of callers that the policy names. Where it names none, nobody is asked: then only programs of
// this machine can connect.
func (l *Listener) admit(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if l.callers == nil {
			next.ServeHTTP(w, r)
			return
		}
		c, err := l.callers.Identify(r.Context(), callers.Bearer(r.Header.Get("Authorization")))
		if err != nil {
			l.refuse(w, r, err)
			return
		}
		next.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), callerKey{}, c)))
	})
}

// refuse answers a request that may not come in.
func (l *Listener) refuse(w http.ResponseWriter, r *http.Request, err error) {
	f := &fault{code: mcp.INVALID_REQUEST, message: err.Error()}
	status := http.StatusUnauthorized
	refusal, ok := errors.AsType[*callers.Refusal](err)
	switch {
	case !ok:
		l.server.log.Warn("a caller could not be identified", "error", err)
		f.message, status = "The caller can't be identified at the moment", http.StatusServiceUnavailable
		w.Header().Set("Retry-After", "5")
	case refusal.Kind == callers.Unknown:
		status, f.data = http.StatusForbidden, map[string]any{"code": envelope.CallerNotAllowed}
	case refusal.Kind == callers.TooNarrow:
		status = http.StatusForbidden
		w.Header().Set("WWW-Authenticate", l.challenge("insufficient_scope"))
	case refusal.Kind == callers.Invalid:
		w.Header().Set("WWW-Authenticate", l.challenge("invalid_token"))
	default:
		w.Header().Set("WWW-Authenticate", l.challenge(""))
	}
	writeFault(w, status, r.Header.Get(mcp.HeaderProtocolVersion), f)
}
