package callers

import (
	"context"
	"crypto/rsa"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync"
	"time"

	"github.com/go-jose/go-jose/v4"
)

const (
	keysFresh   = 15 * time.Minute // after that they are fetched again
	keysKept    = 24 * time.Hour   // as long are old ones taken where they can't be fetched
	fetchPause  = time.Minute      // between two fetches, so that tokens with made-up keys cause no more
	retryPause  = 5 * time.Second  // the same after one that failed
	fetchTime   = 5 * time.Second
	maxKeyBytes = 256 << 10 // of a key set
	minRSABits  = 2048
)

var errNoKey = errors.New("the issuer has no such key")

// keySet is the keys of an issuer, fetched when they are needed.
type keySet struct {
	url    string
	client *http.Client
	now    func() time.Time

	mu      sync.Mutex
	keys    []jose.JSONWebKey
	fetched time.Time

	fetching sync.Mutex // is held by who fetches
	tried    time.Time
	err      error // of the last fetch
}

// newKeySet also reads what this system trusts, which may lie beyond our reach later.
func newKeySet(url string) *keySet {
	roots, _ := x509.SystemCertPool() // without it none is trusted, and the fetch says so
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.TLSClientConfig = &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}
	return &keySet{url: url, now: time.Now, client: &http.Client{
		Timeout:   fetchTime,
		Transport: transport,
		CheckRedirect: func(*http.Request, []*http.Request) error {
			return errors.New("the keys are said to be elsewhere, and the policy names their place")
		},
	}}
}

// find returns the key that the header of a token names, or errNoKey. Other errors say that the keys can't be had.
func (s *keySet) find(ctx context.Context, h jose.Header) (*jose.JSONWebKey, error) {
	key, fresh := s.known(h)
	if key != nil && fresh {
		return key, nil
	}
	err := s.renew(ctx, key == nil)
	if key, _ = s.known(h); key != nil {
		return key, nil
	}
	if err != nil {
		return nil, err
	}
	return nil, errNoKey
}

// known returns the key if it is at hand, and whether the keys were fetched lately.
func (s *keySet) known(h jose.Header) (key *jose.JSONWebKey, fresh bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	age := s.now().Sub(s.fetched)
	if age > keysKept {
		return nil, false
	}
	for i := range s.keys {
		k := &s.keys[i]
		fits := k.KeyID == h.KeyID || h.KeyID == "" && len(s.keys) == 1
		if fits && (k.Algorithm == "" || k.Algorithm == h.Algorithm) {
			return k, age < keysFresh
		}
	}
	return nil, age < keysFresh
}

// renew fetches the keys, unless that was done just now. Where they are being fetched already it waits for that, if the
// caller has to: one who has a key that is old must not wait for an issuer that hangs.
func (s *keySet) renew(ctx context.Context, mustWait bool) error {
	if !s.fetching.TryLock() {
		if !mustWait {
			return nil
		}
		s.fetching.Lock()
	}
	defer s.fetching.Unlock()
	pause := fetchPause
	if s.err != nil {
		pause = retryPause
	}
	if s.now().Sub(s.tried) < pause {
		return s.err
	}
	s.tried = s.now()
	var keys []jose.JSONWebKey
	keys, s.err = s.fetch(context.WithoutCancel(ctx)) // others wait for it too
	if s.err != nil {
		return s.err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.keys, s.fetched = keys, s.tried
	return nil
}

func (s *keySet) fetch(ctx context.Context) ([]jose.JSONWebKey, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, s.url, nil)
	if err != nil {
		return nil, err
	}
	w, err := s.client.Do(r)
	if err != nil {
		return nil, fmt.Errorf("fetch the issuer's keys: %w", err)
	}
	defer w.Body.Close()
	body, err := io.ReadAll(io.LimitReader(w.Body, maxKeyBytes+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("fetch the issuer's keys: %w", err)
	case w.StatusCode != http.StatusOK || len(body) > maxKeyBytes:
		return nil, fmt.Errorf("fetch the issuer's keys: the answer has status %d and %d bytes or more", w.StatusCode, len(body))
	}
	return parseKeys(body)
}

// parseKeys reads a key set. Keys of a kind that is not known here are left out, as are secrets and weak ones.
func parseKeys(body []byte) ([]jose.JSONWebKey, error) {
	var set struct {
		Keys []json.RawMessage `json:"keys"`
	}
	if err := json.Unmarshal(body, &set); err != nil {
		return nil, fmt.Errorf("read the issuer's keys: %w", err)
	}
	var keys []jose.JSONWebKey
	for _, raw := range set.Keys {
		var k jose.JSONWebKey
		if k.UnmarshalJSON(raw) == nil && isSound(&k) {
			keys = append(keys, k)
		}
	}
	return keys, nil
}

func isSound(k *jose.JSONWebKey) bool {
	if !k.Valid() || !k.IsPublic() || k.Use != "" && k.Use != "sig" {
		return false
	}
	weak, isRSA := k.Key.(*rsa.PublicKey)
	return !isRSA || weak.N.BitLen() >= minRSABits
}
