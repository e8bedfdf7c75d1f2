// Package callers tells who comes in over HTTP. A caller shows a bearer token: one that `writ token new` made, of which
// the policy holds the hash, or an OAuth 2.1 access token of the issuer that the policy names. What a caller may do is the
// policy's to say; here is only who it is.
//
// A token of our own has 256 random bits, so its plain SHA-256 can be kept: there is nothing to guess. Hashes are compared
// in constant time, and no answer tells why a token is not good.
package callers

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"encoding/hex"
	"strings"

	"writ/policy"
)

// Caller is who sent a request.
type Caller struct{ Name string }

// Refusal is why a request may not come in.
type Refusal struct {
	Kind    Kind
	Message string // for the client; it says nothing that a stranger may not know
}

// Error returns the message.
func (r *Refusal) Error() string { return r.Message }

// Kind says what is wrong with a request.
type Kind uint8

// The kinds.
const (
	Missing   Kind = iota // no token was shown
	Invalid               // the token is not good, or not any more
	TooNarrow             // the token grants less than is needed
	Unknown               // the token is good, and the policy names no caller of its subject
)

// Register knows the callers of a policy. It may be used from many goroutines.
type Register struct {
	hashed   []hashed
	subjects map[string]Caller
	access   *accessTokens // nil: none are good
}

type hashed struct {
	sum    [sha256.Size]byte
	caller Caller
}

// New returns the callers of the policy, nil where it names none.
func New(p *policy.Policy) *Register {
	named := p.Callers()
	if len(named) == 0 {
		return nil
	}
	r := &Register{subjects: map[string]Caller{}}
	if o := p.OAuth(); o != nil {
		r.access = newAccessTokens(o)
	}
	for _, c := range named {
		caller := Caller{Name: c.Name}
		if sum, err := hex.DecodeString(strings.TrimPrefix(c.Token, policy.TokenPrefix)); err == nil && len(sum) == sha256.Size {
			r.hashed = append(r.hashed, hashed{[sha256.Size]byte(sum), caller})
		}
		if c.Subject != "" {
			r.subjects[c.Subject] = caller
		}
	}
	return r
}

// tokenPrefix lets people, and programs that look for secrets, see what a token is.
const tokenPrefix = "writ_"

// NewToken returns a new token, and its hash as a policy takes it.
func NewToken() (token, hash string) {
	secret := make([]byte, 32)
	_, _ = rand.Read(secret) // it never fails
	token = tokenPrefix + base64.RawURLEncoding.EncodeToString(secret)
	sum := sha256.Sum256([]byte(token))
	return token, policy.TokenPrefix + hex.EncodeToString(sum[:])
}

// maxToken is the length of the longest token that is looked at, in bytes.
const maxToken = 16 << 10

// Identify returns whose token that is, or a [Refusal].
func (r *Register) Identify(ctx context.Context, token string) (Caller, error) {
	switch {
	case token == "":
		return Caller{}, &Refusal{Kind: Missing, Message: "This server wants a bearer token"}
	case len(token) > maxToken:
		return Caller{}, invalid
	}
	if caller, ok := r.byHash(token); ok {
		return caller, nil
	}
	if r.access == nil || strings.HasPrefix(token, tokenPrefix) {
		return Caller{}, invalid
	}
	subject, err := r.access.subjectOf(ctx, token)
	if err != nil {
		return Caller{}, err
	}
	caller, ok := r.subjects[subject]
	if !ok {
		return Caller{}, &Refusal{Kind: Unknown, Message: "The policy of this server names the callers that may come in, and the subject of this token is none of them"}
	}
	return caller, nil
}

var invalid = &Refusal{Kind: Invalid, Message: "The bearer token is not good here, or not any more"}

// byHash looks at every hash, so that the time tells nothing.
func (r *Register) byHash(token string) (found Caller, ok bool) {
	sum := sha256.Sum256([]byte(token))
	for i := range r.hashed {
		if subtle.ConstantTimeCompare(sum[:], r.hashed[i].sum[:]) == 1 {
			found, ok = r.hashed[i].caller, true
		}
	}
	return found, ok
}

// Bearer returns the token of an Authorization header; "" where it has none.
func Bearer(header string) string {
	scheme, token, _ := strings.Cut(header, " ")
	if !strings.EqualFold(scheme, "Bearer") {
		return ""
	}
	return strings.TrimSpace(token)
}
