package server

import (
	"context"
	"net/http"
	"strings"

	"github.com/mark3labs/mcp-go/mcp"

	"writ/callers"
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

// refuse answers a request that may not come in, as RFC 6750 says.
func (l *Listener) refuse(w http.ResponseWriter, r *http.Request, err error) {
	status, challenge := http.StatusUnauthorized, []string{}
	message, data := "The caller could not be identified", any(nil)
	if refusal, ok := err.(*callers.Refusal); ok {
		message = refusal.Message
		switch refusal.Kind {
		case callers.Missing:
		case callers.Invalid:
			challenge = append(challenge, `error="invalid_token"`)
		case callers.TooNarrow:
			status, challenge = http.StatusForbidden, append(challenge, `error="insufficient_scope"`, `scope="`+strings.Join(refusal.Scopes, " ")+`"`)
		case callers.Unknown:
			status, challenge, data = http.StatusForbidden, nil, struct {
				Code string `json:"code"`
			}{"caller-not-allowed"}
		}
	} else {
		status, challenge = http.StatusServiceUnavailable, nil
		w.Header().Set("Retry-After", "5")
	}
	if challenge != nil {
		w.Header().Set("WWW-Authenticate", strings.Join(append([]string{`Bearer realm="writ"`}, challenge...), ", "))
	}
	writeFault(w, status, r.Header.Get(mcp.HeaderProtocolVersion), &fault{code: mcp.INVALID_REQUEST, message: message, data: data})
}
