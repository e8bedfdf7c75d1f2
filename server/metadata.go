package server

import (
	"net/http"
	"strings"

	"writ/callers"
)

// protectedResource tells clients how to come in by OAuth, as RFC 9728 says. Nobody is asked who he is for that.
func protectedResource(resource *callers.Resource) http.Handler {
	_, path := resource.Metadata()
	document := encoded(struct {
		Resource string   `json:"resource"`
		Servers  []string `json:"authorization_servers"`
		Scopes   []string `json:"scopes_supported,omitempty"`
		Methods  []string `json:"bearer_methods_supported"`
		Name     string   `json:"resource_name"`
	}{resource.URL, []string{resource.Issuer}, resource.Scopes, []string{"header"}, "writ"})
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.URL.Path != callers.WellKnown && r.URL.EscapedPath() != path:
			http.NotFound(w, r)
		case r.Method != http.MethodGet && r.Method != http.MethodHead:
			notAllowed(w, http.MethodGet, http.MethodHead)
		default:
			w.Header().Set("Content-Type", "application/json")
			w.Header().Set("Cache-Control", "max-age=300")
			_, _ = w.Write(document) // a client that is gone needs none
		}
	})
}

// challenge is what the WWW-Authenticate header of a refusal says, as RFC 6750 and RFC 9728 want it.
func (l *Listener) challenge(code string) string {
	parts := []string{`Bearer realm="writ"`}
	if code != "" {
		parts = append(parts, `error="`+code+`"`)
	}
	if resource := l.callers.Resource(); resource != nil {
		address, _ := resource.Metadata()
		parts = append(parts, `resource_metadata="`+address+`"`)
		if len(resource.Scopes) > 0 {
			parts = append(parts, `scope="`+strings.Join(resource.Scopes, " ")+`"`)
		}
	}
	return strings.Join(parts, ", ")
}
