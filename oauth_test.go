package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"
)

// The program fetches the issuer's keys, behind its walls too, and lets in whom an access token and the policy name.
func TestOAuthThroughTheProgram(t *testing.T) {
	t.Parallel()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	issuer := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_ = json.NewEncoder(w).Encode(jose.JSONWebKeySet{Keys: []jose.JSONWebKey{{Key: key.Public(), KeyID: "k", Algorithm: "ES256", Use: "sig"}}})
	}))
	defer issuer.Close()
	const audience = "https://writ.example.com/mcp"
	file := filepath.Join(t.TempDir(), "writ.yaml")
	text := fmt.Sprintf("roots: [{path: %q}]\ncallers: [{name: anna, subject: s1}]\noauth: {issuer: %q, audience: %q, keys: %q}\n",
		vault(t, "a.md", "one\n"), issuer.URL, audience, issuer.URL+"/keys")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	s := startHTTP(t, "--policy", file, "--state", t.TempDir())
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.ES256, Key: key}, (&jose.SignerOptions{}).WithType("at+jwt").WithHeader("kid", "k"))
	if err != nil {
		t.Fatal(err)
	}
	connections := &http.Transport{}
	defer connections.CloseIdleConnections()
	for subject, want := range map[string]int{"s1": http.StatusOK, "s2": http.StatusForbidden} {
		token, err := jwt.Signed(signer).Claims(jwt.Claims{
			Issuer: issuer.URL, Audience: jwt.Audience{audience}, Subject: subject, Expiry: jwt.NewNumericDate(time.Now().Add(time.Hour)),
		}).Serialize()
		if err != nil {
			t.Fatal(err)
		}
		o, err := caller{&http.Client{Transport: connections}, s.url, token}.call(t.Context(), "read_file", map[string]any{"path": "a.md"})
		if o.http != want || want == http.StatusOK && o.text != "one\n" {
			t.Errorf("%s: %d %q, %v", subject, o.http, o.text, err)
		}
	}
}
