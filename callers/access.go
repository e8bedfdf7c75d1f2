package callers

import (
	"context"
	"errors"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"

	"writ/policy"
)

// leeway is how far the issuer's clock may be from ours.
const leeway = 30 * time.Second

// accessTokens checks the access tokens of one issuer, as RFC 9068 says: they must be signed by one of its keys, be made
// for this server, and not be over.
type accessTokens struct {
	issuer, audience string
	algorithms       []jose.SignatureAlgorithm
	scopes           []string
	keys             *keySet
	now              func() time.Time
}

func newAccessTokens(o *policy.OAuth) *accessTokens {
	named := o.Algorithms
	if len(named) == 0 {
		named = policy.SignatureAlgorithms()
	}
	a := &accessTokens{issuer: o.Issuer, audience: o.Audience, scopes: o.Scopes, keys: newKeySet(o.Keys), now: time.Now}
	for _, name := range named {
		a.algorithms = append(a.algorithms, jose.SignatureAlgorithm(name))
	}
	return a
}

// subjectOf returns whose token it is, a [Refusal] of one that is not good, or another error where the issuer's keys
// can't be had.
func (a *accessTokens) subjectOf(ctx context.Context, token string) (string, error) {
	parsed, err := jwt.ParseSigned(token, a.algorithms)
	if err != nil || len(parsed.Headers) != 1 || !isAccessToken(parsed.Headers[0]) {
		return "", invalid
	}
	key, err := a.keys.find(ctx, parsed.Headers[0])
	switch {
	case errors.Is(err, errNoKey):
		return "", invalid
	case err != nil:
		return "", err
	}
	var claims jwt.Claims
	var granted struct {
		Scope string `json:"scope"`
	}
	if parsed.Claims(key, &claims, &granted) != nil || claims.Expiry == nil || claims.Subject == "" {
		return "", invalid
	}
	wanted := jwt.Expected{Issuer: a.issuer, AnyAudience: jwt.Audience{a.audience}, Time: a.now()}
	if claims.ValidateWithLeeway(wanted, leeway) != nil {
		return "", invalid
	}
	words := strings.Fields(granted.Scope)
	for _, scope := range a.scopes {
		if !slices.Contains(words, scope) {
			return "", &Refusal{Kind: TooNarrow, Message: "The token does not grant what this server needs: " + strings.Join(a.scopes, " ")}
		}
	}
	return claims.Subject, nil
}

// isAccessToken tells a token that grants access from others that the same key signs, such as those about a login.
func isAccessToken(h jose.Header) bool {
	kind, _ := h.ExtraHeaders[jose.HeaderType].(string)
	kind = strings.TrimPrefix(strings.ToLower(kind), "application/")
	return kind == "at+jwt"
}

// Resource is what clients are told of how to come in by OAuth.
type Resource struct {
	URL    string   // under which clients know this server
	Issuer string   // of tokens for it
	Scopes []string // that a token must grant
}

// Resource returns how to come in by OAuth, nil where that is no way.
func (r *Register) Resource() *Resource {
	if r == nil || r.access == nil {
		return nil
	}
	return &Resource{URL: r.access.audience, Issuer: r.access.issuer, Scopes: r.access.scopes}
}

// WellKnown is where RFC 9728 has a server say how to come in; of a resource with a path that comes behind it.
const WellKnown = "/.well-known/oauth-protected-resource"

// Metadata returns the URL and the path of the resource's metadata.
func (r *Resource) Metadata() (address, path string) {
	u, err := url.Parse(r.URL)
	if err != nil {
		return "", "" // the policy has looked at it
	}
	path = WellKnown + strings.TrimSuffix(u.EscapedPath(), "/")
	return u.Scheme + "://" + u.Host + path, path
}
