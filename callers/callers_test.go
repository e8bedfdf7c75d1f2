package callers

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"

	"writ/policy"
)

// issuer makes access tokens, and hands out the keys to check them.
type issuer struct {
	*httptest.Server
	private map[string]crypto.Signer
	shown   []jose.JSONWebKey
	fetches atomic.Int64
	broken  atomic.Bool
}

func newIssuer(t *testing.T) *issuer {
	t.Helper()
	x := &issuer{private: map[string]crypto.Signer{}}
	x.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		x.fetches.Add(1)
		if x.broken.Load() {
			http.Error(w, "no", http.StatusInternalServerError)
			return
		}
		keys := []any{map[string]any{"kty": "OKP", "crv": "of another time", "kid": "strange"}, map[string]any{"kty": "oct", "kid": "secret", "k": "c2VjcmV0"}}
		for _, k := range x.shown {
			keys = append(keys, k)
		}
		_ = json.NewEncoder(w).Encode(map[string]any{"keys": keys})
	}))
	t.Cleanup(x.Close)
	return x
}

// add makes a key and shows its public half.
func (x *issuer) add(t *testing.T, kid, algorithm string) {
	t.Helper()
	var key crypto.Signer
	var err error
	switch algorithm {
	case "ES256":
		key, err = ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	case "EdDSA":
		_, key, err = ed25519.GenerateKey(rand.Reader)
	default:
		key, err = rsa.GenerateKey(rand.Reader, 2048)
	}
	if err != nil {
		t.Fatal(err)
	}
	x.private[kid] = key
	x.shown = append(x.shown, jose.JSONWebKey{Key: key.Public(), KeyID: kid, Algorithm: algorithm, Use: "sig"})
}

// sign makes a token.
func sign(t *testing.T, algorithm, kid, kind string, key any, claims map[string]any) string {
	t.Helper()
	options := (&jose.SignerOptions{}).WithType(jose.ContentType(kind))
	if kid != "" {
		options = options.WithHeader("kid", kid)
	}
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.SignatureAlgorithm(algorithm), Key: key}, options)
	if err != nil {
		t.Fatal(err)
	}
	token, err := jwt.Signed(signer).Claims(claims).Serialize()
	if err != nil {
		t.Fatal(err)
	}
	return token
}

const audience = "https://writ.example.com/mcp"

func (x *issuer) register(t *testing.T, callers ...policy.Caller) *Register {
	t.Helper()
	c := policy.Default()
	c.Callers = callers
	c.OAuth = &policy.OAuth{Issuer: x.URL, Audience: audience, Keys: x.URL + "/keys", Scopes: []string{"writ"}}
	p, err := policy.Compile(c)
	if err != nil {
		t.Fatal(err)
	}
	return New(p)
}

// kindOf tells how a token is received: "" for well, with the caller's name.
func kindOf(t *testing.T, r *Register, token string) (name, kind string) {
	t.Helper()
	c, err := r.Identify(t.Context(), token)
	if err == nil {
		return c.Name, ""
	}
	refusal, ok := errors.AsType[*Refusal](err)
	if !ok {
		return "", "unavailable"
	}
	if refusal.Message == "" || token != "" && strings.Contains(refusal.Message, token) {
		t.Errorf("refused with %q", refusal.Message)
	}
	return "", map[Kind]string{Missing: "missing", Invalid: "invalid", TooNarrow: "too narrow", Unknown: "unknown"}[refusal.Kind]
}

func TestTokensOfOurs(t *testing.T) {
	token, hash := NewToken()
	other, _ := NewToken()
	if token == other || len(token) < 40 {
		t.Fatalf("tokens %q and %q", token, other)
	}
	c := policy.Default()
	c.Callers = []policy.Caller{{Name: "ci", Token: strings.ToUpper(hash[:7]) + hash[7:]}}
	if _, err := policy.Compile(c); err == nil {
		t.Error("a hash of another name is taken")
	}
	c.Callers = []policy.Caller{{Name: "ci", Token: hash}, {Name: "anna", Token: policy.TokenPrefix + strings.Repeat("0", 64)}}
	p, err := policy.Compile(c)
	if err != nil {
		t.Fatal(err)
	}
	r := New(p)
	for _, x := range []struct{ what, token, name, kind string }{
		{"the token", token, "ci", ""},
		{"another one", other, "", "invalid"},
		{"none", "", "", "missing"},
		{"a part", token[:len(token)-1], "", "invalid"},
		{"more", token + "A", "", "invalid"},
		{"the hash", hash, "", "invalid"},
		{"a long one", strings.Repeat("x", 1<<20), "", "invalid"},
		{"something of OAuth", "a.b.c", "", "invalid"},
	} {
		if name, kind := kindOf(t, r, x.token); name != x.name || kind != x.kind {
			t.Errorf("%s: %q %q", x.what, name, kind)
		}
	}
	if New(func() *policy.Policy { p, _ := policy.Compile(policy.Default()); return p }()) != nil {
		t.Error("there are callers where none are named")
	}
}

func TestAccessTokens(t *testing.T) {
	x := newIssuer(t)
	for kid, algorithm := range map[string]string{"rsa": "RS256", "ec": "ES256", "ed": "EdDSA"} {
		x.add(t, kid, algorithm)
	}
	foreign, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	r := x.register(t, policy.Caller{Name: "anna", Subject: "auth0|1"})
	now := time.Now()
	with := func(changes map[string]any) map[string]any {
		claims := map[string]any{
			"iss": x.URL, "aud": audience, "sub": "auth0|1", "scope": "openid writ", "iat": now.Unix(), "exp": now.Add(time.Hour).Unix(),
		}
		for k, v := range changes {
			claims[k] = v
			if v == nil {
				delete(claims, k)
			}
		}
		return claims
	}
	const at = "at+jwt"
	ec := func(changes map[string]any) string { return sign(t, "ES256", "ec", at, x.private["ec"], with(changes)) }
	none := func() string {
		parts := strings.Split(ec(nil), ".")
		return "eyJhbGciOiJub25lIiwidHlwIjoiYXQrand0In0." + parts[1] + "."
	}
	tampered := func() string {
		parts := strings.Split(ec(nil), ".")
		return parts[0] + "." + parts[1] + "A." + parts[2]
	}
	rsaKey := x.private["rsa"].Public().(*rsa.PublicKey)
	for _, c := range []struct{ what, token, kind string }{
		{"ES256", ec(nil), ""},
		{"RS256", sign(t, "RS256", "rsa", at, x.private["rsa"], with(nil)), ""},
		{"EdDSA", sign(t, "EdDSA", "ed", at, x.private["ed"], with(nil)), ""},
		{"the long form of the type", sign(t, "ES256", "ec", "application/AT+JWT", x.private["ec"], with(nil)), ""},
		{"several audiences", ec(map[string]any{"aud": []string{"https://other.example", audience}}), ""},
		{"over, within the leeway", ec(map[string]any{"exp": now.Add(-10 * time.Second).Unix()}), ""},
		{"over", ec(map[string]any{"exp": now.Add(-time.Minute).Unix()}), "invalid"},
		{"never over", ec(map[string]any{"exp": nil}), "invalid"},
		{"not yet good", ec(map[string]any{"nbf": now.Add(time.Minute).Unix()}), "invalid"},
		{"made in the future", ec(map[string]any{"iat": now.Add(time.Hour).Unix()}), "invalid"},
		{"of another issuer", ec(map[string]any{"iss": "https://evil.example"}), "invalid"},
		{"without an issuer", ec(map[string]any{"iss": nil}), "invalid"},
		{"for another server", ec(map[string]any{"aud": "https://other.example"}), "invalid"},
		{"for nobody", ec(map[string]any{"aud": nil}), "invalid"},
		{"of nobody", ec(map[string]any{"sub": nil}), "invalid"},
		{"about a login", sign(t, "ES256", "ec", "JWT", x.private["ec"], with(nil)), "invalid"},
		{"of no type", sign(t, "ES256", "ec", "", x.private["ec"], with(nil)), "invalid"},
		{"of a foreign key", sign(t, "ES256", "ec", at, foreign, with(nil)), "invalid"},
		{"of a key that nobody knows", sign(t, "ES256", "new", at, foreign, with(nil)), "invalid"},
		{"without a key's name", sign(t, "ES256", "", at, x.private["ec"], with(nil)), "invalid"},
		{"signed otherwise than the key says", sign(t, "PS256", "rsa", at, x.private["rsa"], with(nil)), "invalid"},
		{"signed with the public key as a secret", sign(t, "HS256", "rsa", at, rsaKey.N.Bytes(), with(nil)), "invalid"},
		{"signed with a secret of the key set", sign(t, "HS256", "secret", at, []byte("secret-secret-secret-secret-secret"), with(nil)), "invalid"},
		{"not signed", none(), "invalid"},
		{"tampered with", tampered(), "invalid"},
		{"granting something else", ec(map[string]any{"scope": "openid writer"}), "too narrow"},
		{"granting nothing", ec(map[string]any{"scope": nil}), "too narrow"},
		{"of a stranger", ec(map[string]any{"sub": "auth0|2"}), "unknown"},
	} {
		name, kind := kindOf(t, r, c.token)
		if kind != c.kind || kind == "" && name != "anna" {
			t.Errorf("a token %s: %q %q, want %q", c.what, name, kind, c.kind)
		}
	}
	if n := x.fetches.Load(); n != 1 {
		t.Errorf("the keys were fetched %d times", n)
	}
}

// A new key is found when a token names it; the keys are not fetched for every name that somebody makes up; and where they
// can't be fetched old ones do for a day.
func TestKeysChange(t *testing.T) {
	x := newIssuer(t)
	x.add(t, "one", "ES256")
	r := x.register(t, policy.Caller{Name: "anna", Subject: "s"})
	now := time.Now()
	r.access.now = func() time.Time { return now }
	r.access.keys.now = r.access.now
	token := func(kid string, key crypto.Signer) string {
		return sign(t, "ES256", kid, "at+jwt", key, map[string]any{"iss": x.URL, "aud": audience, "sub": "s", "scope": "writ", "exp": now.Add(time.Hour).Unix()})
	}
	expect := func(what, kid, want string, fetches int64) {
		t.Helper()
		if _, kind := kindOf(t, r, token(kid, x.private[kid])); kind != want || x.fetches.Load() != fetches {
			t.Errorf("%s: %q after %d fetches, want %q after %d", what, kind, x.fetches.Load(), want, fetches)
		}
	}
	x.broken.Store(true)
	expect("without keys", "one", "unavailable", 1)
	expect("at once again", "one", "unavailable", 1)
	x.broken.Store(false)
	now = now.Add(retryPause)
	expect("a little later", "one", "", 2)
	x.add(t, "two", "ES256")
	expect("a key of which nobody knows yet", "two", "invalid", 2)
	now = now.Add(fetchPause)
	expect("a new key", "two", "", 3)
	expect("the old one", "one", "", 3)
	x.broken.Store(true)
	now = now.Add(keysFresh)
	expect("old keys, since there are no others", "one", "", 4)
	now = now.Add(keysKept)
	expect("keys that are too old", "one", "unavailable", 5)
	x.broken.Store(false)
	x.shown = x.shown[1:]
	now = now.Add(fetchPause)
	expect("a key that was withdrawn", "one", "invalid", 6)
	expect("the one that is left", "two", "", 6)
}

// While an issuer hangs, one token at a time waits for it; those of a key that is known come in.
func TestAnIssuerThatHangs(t *testing.T) {
	x := newIssuer(t)
	x.add(t, "one", "ES256")
	asked, letGo := make(chan struct{}), make(chan struct{})
	answers := x.Config.Handler
	var hangs atomic.Bool
	x.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if hangs.CompareAndSwap(true, false) {
			close(asked)
			<-letGo
		}
		answers.ServeHTTP(w, r)
	})
	r := x.register(t, policy.Caller{Name: "anna", Subject: "s"})
	var later atomic.Int64
	r.access.now = func() time.Time { return time.Now().Add(time.Duration(later.Load())) }
	r.access.keys.now = r.access.now
	token := sign(t, "ES256", "one", "at+jwt", x.private["one"], map[string]any{"iss": x.URL, "aud": audience, "sub": "s", "scope": "writ", "exp": time.Now().Add(time.Hour).Unix()})
	if name, err := r.Identify(t.Context(), token); err != nil {
		t.Fatal(name, err)
	}
	later.Store(int64(keysFresh))
	hangs.Store(true)
	first := make(chan error, 1)
	go func() {
		_, err := r.Identify(t.Context(), token)
		first <- err
	}()
	<-asked
	if _, err := r.Identify(t.Context(), token); err != nil {
		t.Error(err)
	}
	select {
	case err := <-first:
		t.Errorf("the one who fetches did not wait: %v", err)
	default:
	}
	close(letGo)
	if err := <-first; err != nil {
		t.Error(err)
	}
}

func TestKeysAreNotFetchedFromElsewhere(t *testing.T) {
	x := newIssuer(t)
	x.add(t, "one", "ES256")
	elsewhere := httptest.NewServer(http.RedirectHandler(x.URL, http.StatusFound))
	defer elsewhere.Close()
	endless := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write([]byte(strings.Repeat(" ", 2*maxKeyBytes)))
	}))
	defer endless.Close()
	for what, url := range map[string]string{"a redirect": elsewhere.URL, "more than there can be": endless.URL} {
		if keys, err := newKeySet(url).fetch(t.Context()); err == nil {
			t.Errorf("%s: %v", what, keys)
		}
	}
}

func TestBearer(t *testing.T) {
	for header, want := range map[string]string{
		"": "", "Bearer abc": "abc", "bearer  abc": "abc", "Basic abc": "", "Bearer": "", "abc": "", "Bearerabc": "",
	} {
		if got := Bearer(header); got != want {
			t.Errorf("%q: %q", header, got)
		}
	}
}

func TestMetadataIsWhereClientsLook(t *testing.T) {
	for url, want := range map[string]string{
		"https://writ.example.com/mcp":  "https://writ.example.com" + WellKnown + "/mcp",
		"https://writ.example.com":      "https://writ.example.com" + WellKnown,
		"https://writ.example.com/":     "https://writ.example.com" + WellKnown,
		"https://example.com:8443/a/b/": "https://example.com:8443" + WellKnown + "/a/b",
	} {
		if got, _ := (&Resource{URL: url}).Metadata(); got != want {
			t.Errorf("%s: %s", url, got)
		}
	}
}
