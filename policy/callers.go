package policy

import (
	"encoding/hex"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/goccy/go-yaml/ast"

	"writ/contract"
)

// Caller is somebody who may come in over HTTP, known by a token or by the subject of an OAuth access token.
type Caller struct {
	Name    string // as it stands in the audit and in approvals
	Token   string // [TokenPrefix] and the SHA-256 of the token in hexadecimal; "": none
	Subject string // of access tokens; "": none
	Scope   *Scope // what of the policy's scope is open; nil: all
	Limits  Limits // those that are lower than the policy's hold; zero fields: the policy's
}

// OAuth says whose access tokens are good here.
type OAuth struct {
	Issuer     string
	Audience   string   // the URL under which clients know this server: what tokens must be made for
	Keys       string   // the URL of the issuer's JSON Web Key Set
	Algorithms []string // of signatures; nil: [SignatureAlgorithms]
	Scopes     []string // what a token must grant, all of them; nil: nothing
}

// TokenPrefix stands before the hash of a token.
const TokenPrefix = "sha256:"

// SignatureAlgorithms lists those that may sign an access token: with a key of which only one half is known here. One
// whose key is a shared secret would let whoever knows how to check tokens make some.
func SignatureAlgorithms() []string {
	return []string{"ES256", "ES384", "ES512", "EdDSA", "PS256", "PS384", "PS512", "RS256", "RS384", "RS512"}
}

// Names that calls have where nobody is asked who they are.
var reservedCallers = []string{"local", "http"}

const maxCallers = 1000

var callerName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._@+-]{0,63}$`)

// NameFault says what is wrong with the name of a caller, "" if nothing is.
func NameFault(name string) string {
	switch {
	case !callerName.MatchString(name):
		return "The name of a caller has 1 to 64 letters, digits, dots, dashes, @ and +, and begins with a letter or digit; " + contract.Quote(name) + " does not."
	case slices.Contains(reservedCallers, strings.ToLower(name)):
		return "The name " + contract.Quote(name) + " is what callers are called that nobody asks who they are; choose another."
	}
	return ""
}

func (r *reader) callers(n ast.Node) []Caller {
	var callers []Caller
	var places []ast.Node
	r.items(n, "callers", "[{name: ci, token: "+TokenPrefix+"…}]", func(n ast.Node) {
		before := len(r.mistakes)
		c := r.caller(n)
		if len(r.mistakes) == before {
			callers, places = append(callers, c), append(places, n)
		}
	})
	for i, fault := range callerFaults(callers) {
		if fault != "" {
			r.fault(places[i], "%s", fault)
		}
	}
	return callers
}

func (r *reader) caller(n ast.Node) Caller {
	var c Caller
	before := len(r.mistakes)
	r.mapping(n, "a caller", []field{
		{"name", func(n ast.Node) { c.Name, _ = r.text(n, "The name of a caller", "ci") }},
		{"token", func(n ast.Node) { c.Token, _ = r.text(n, "The token of a caller", TokenPrefix+"…") }},
		{"subject", func(n ast.Node) { c.Subject, _ = r.text(n, "The subject of a caller", "auth0|1234") }},
		{"scope", func(n ast.Node) { c.Scope = r.scope(n) }},
		{"limits", func(n ast.Node) { c.Limits = r.callerLimits(n) }},
	})
	if len(r.mistakes) == before {
		if fault := c.fault(); fault != "" {
			r.fault(n, "%s", fault)
		}
	}
	return c
}

// fault says what is wrong with the caller alone, "" if nothing is.
func (c Caller) fault() string {
	digest, isHash := strings.CutPrefix(c.Token, TokenPrefix)
	sum, err := hex.DecodeString(digest)
	fault := NameFault(c.Name)
	switch {
	case c.Name == "":
		return "A caller needs a name."
	case fault != "":
		return fault
	case c.Token == "" && c.Subject == "":
		return "The caller " + contract.Quote(c.Name) + " needs a token or a subject to be known by; `writ token new` makes a token."
	case c.Token != "" && (!isHash || err != nil || len(sum) != 32):
		return "The token of a caller is " + TokenPrefix + " and 64 hexadecimal digits, as `writ token new` prints them, and never the token itself."
	}
	return ""
}

// callerFaults says for each caller what is wrong with it beside the others, "" if nothing is.
func callerFaults(callers []Caller) []string {
	faults := make([]string, len(callers))
	seen := map[string]bool{}
	for i, c := range callers {
		name, token, subject := "name "+strings.ToLower(c.Name), strings.ToLower("token "+c.Token), "subject "+c.Subject
		switch {
		case i == maxCallers:
			faults[i] = "There are more callers than a policy can have."
		case seen[name]:
			faults[i] = "The caller's name " + contract.Quote(c.Name) + " is taken by a caller before it; letters of another case make no other name."
		case c.Token != "" && seen[token]:
			faults[i] = "The caller " + contract.Quote(c.Name) + " has the token of a caller before it, so nobody could tell them apart."
		case c.Subject != "" && seen[subject]:
			faults[i] = "The caller " + contract.Quote(c.Name) + " has the subject of a caller before it, so nobody could tell them apart."
		}
		seen[name], seen[token], seen[subject] = true, true, true
	}
	return faults
}

// subjectFault says which caller can't be known, "" if all can.
func subjectFault(callers []Caller, o *OAuth) string {
	for _, c := range callers {
		if c.Subject != "" && o == nil {
			return "The caller " + contract.Quote(c.Name) + " has a subject, and there is no oauth that could show it."
		}
	}
	return ""
}

// callerLimits reads the limits that can be set for one caller: those of a single call, and of calls a minute and at once.
func (r *reader) callerLimits(n ast.Node) Limits {
	var l Limits
	r.mapping(n, "the limits of a caller", r.perCaller(&l, "callers.limits."))
	return l
}

func (r *reader) oauth(n ast.Node) *OAuth {
	var o OAuth
	before := len(r.mistakes)
	r.mapping(n, "oauth", []field{
		{"issuer", func(n ast.Node) { o.Issuer, _ = r.text(n, "oauth.issuer", "https://login.example.com") }},
		{"audience", func(n ast.Node) { o.Audience, _ = r.text(n, "oauth.audience", "https://writ.example.com/mcp") }},
		{"keys", func(n ast.Node) { o.Keys, _ = r.text(n, "oauth.keys", "https://login.example.com/jwks.json") }},
		{"algorithms", func(n ast.Node) { o.Algorithms = r.words(n, "oauth.algorithms", "ES256") }},
		{"scopes", func(n ast.Node) { o.Scopes = r.words(n, "oauth.scopes", "writ") }},
	})
	if len(r.mistakes) == before {
		if fault := o.fault(); fault != "" {
			r.fault(n, "%s", fault)
		}
	}
	return &o
}

func (r *reader) words(n ast.Node, what, example string) []string {
	var words []string
	r.items(n, what, "["+example+"]", func(n ast.Node) {
		if word, ok := r.text(n, "An entry of "+what, example); ok {
			words = append(words, word)
		}
	})
	return words
}

var scopeToken = regexp.MustCompile(`^[!#-\[\]-~]+$`) // RFC 6749, 3.3

// fault says what is wrong with it, "" if nothing is.
func (o OAuth) fault() string {
	for _, u := range []struct{ name, url string }{{"issuer", o.Issuer}, {"audience", o.Audience}, {"keys", o.Keys}} {
		if !isSafeURL(u.url) {
			return "oauth." + u.name + " must be an https URL without query and fragment, such as https://login.example.com; http will do for this machine alone."
		}
	}
	for _, a := range o.Algorithms {
		if !slices.Contains(SignatureAlgorithms(), a) {
			return "oauth.algorithms can be " + list(SignatureAlgorithms()) + ", not " + contract.Quote(a) + "."
		}
	}
	for _, s := range o.Scopes {
		if !scopeToken.MatchString(s) {
			return "A scope of oauth.scopes is one word of visible ASCII characters; " + contract.Quote(s) + " is not."
		}
	}
	return ""
}

// isSafeURL tells whether what is fetched from the URL comes from its host, whoever listens in between.
func isSafeURL(text string) bool {
	u, err := url.Parse(text)
	if err != nil || u.Host == "" || u.User != nil || u.RawQuery != "" || u.ForceQuery || strings.Contains(text, "#") {
		return false
	}
	isHere := slices.Contains([]string{"localhost", "127.0.0.1", "::1"}, u.Hostname())
	return u.Scheme == "https" || u.Scheme == "http" && isHere
}
