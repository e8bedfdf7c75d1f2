package server

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"io"
	"log/slog"
	"math/big"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"writ/callers"
	"writ/policy"
)

// registerOf names callers, and returns the token of each.
func registerOf(t *testing.T, change func(*policy.Config), names ...string) (*callers.Register, map[string]string) {
	t.Helper()
	c, tokens := policy.Default(), map[string]string{}
	for _, name := range names {
		token, hash := callers.NewToken()
		tokens[name] = token
		c.Callers = append(c.Callers, policy.Caller{Name: name, Token: hash})
	}
	if change != nil {
		change(&c)
	}
	p, err := policy.Compile(c)
	if err != nil {
		t.Fatal(err)
	}
	return callers.New(p), tokens
}

func bearer(token string, more ...string) map[string]string {
	h := map[string]string{"Authorization": "Bearer " + token}
	for i := 0; i < len(more); i += 2 {
		h[more[i]] = more[i+1]
	}
	return h
}

// Without a good token nothing is answered but what tells nothing, and nothing of a request is read.
func TestHTTPCallersAreAsked(t *testing.T) {
	register, tokens := registerOf(t, nil, "ci", "anna")
	x := listen(t, HTTPOptions{Callers: register, Mounts: []Mount{
		{Pattern: "/hello/", Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			c, _ := CallerOf(r.Context())
			_, _ = io.WriteString(w, "hello "+c.Name)
		})},
		{Pattern: "/login/", AsksItself: true, Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "who?") })},
	}})
	big := strings.Repeat(" ", 1000)
	for _, path := range []string{pathMCP, pathSSE, pathMessage, pathMetrics, "/hello/"} {
		for _, token := range []string{"", "writ_wrong", tokens["ci"] + "x"} {
			header := bearer(token)
			if token == "" {
				delete(header, "Authorization")
			}
			e := x.do(exchange{method: "POST", path: path, body: handshake + big, header: header})
			challenge := e.headers.Get("WWW-Authenticate")
			if e.status != 401 || !strings.HasPrefix(challenge, "Bearer ") || strings.Contains(challenge, "invalid_token") != (token != "") {
				t.Errorf("%s with %q: %d %q", path, token, e.status, challenge)
			}
		}
	}
	for path, want := range map[string]string{pathHealth: "ok", pathReady: "ok", "/login/": "who?"} {
		if e := x.do(exchange{method: "GET", path: path}); e.status != 200 || e.answer != want {
			t.Errorf("%s: %d %s", path, e.status, e.answer)
		}
	}
	if e := x.do(exchange{method: "GET", path: "/hello/", header: bearer(tokens["ci"])}); e.status != 200 || e.answer != "hello ci" {
		t.Errorf("a handler beside: %d %s", e.status, e.answer)
	}
	if e := x.do(exchange{method: "GET", path: pathMCP + "?access_token=" + tokens["ci"]}); e.status != 401 {
		t.Errorf("a token in the address: %d", e.status)
	}
}

// A session, of either kind, is there for nobody but its owner.
func TestHTTPSessionsBelongToTheirCallers(t *testing.T) {
	register, tokens := registerOf(t, nil, "ci", "anna")
	x := listen(t, HTTPOptions{Callers: register})
	e := x.do(exchange{method: "POST", path: pathMCP, body: handshake, header: bearer(tokens["ci"])})
	session := e.headers.Get("Mcp-Session-Id")
	if e.status != 200 || session == "" {
		t.Fatalf("%d %s", e.status, e.answer)
	}
	const ping = `{"jsonrpc":"2.0","id":1,"method":"ping"}`
	for name, want := range map[string]int{"ci": 200, "anna": 404} {
		if e := x.do(exchange{method: "POST", path: pathMCP, body: ping, header: bearer(tokens[name], "Mcp-Session-Id", session)}); e.status != want {
			t.Errorf("%s: %d %s", name, e.status, e.answer)
		}
	}
	if e := x.do(exchange{method: "DELETE", path: pathMCP, header: bearer(tokens["anna"], "Mcp-Session-Id", session)}); e.status != 404 {
		t.Errorf("another one ends the session: %d", e.status)
	}
	id, _ := x.listener.newStream(context.WithValue(t.Context(), callerKey{}, callers.Caller{Name: "ci"}))
	x.listener.sseStreams.Store(id, sseClient{ctx: t.Context(), caller: "ci"})
	if e := x.do(exchange{method: "POST", path: pathMessage + "?sessionId=" + id, body: ping, header: bearer(tokens["anna"])}); e.status != 404 {
		t.Errorf("another one's stream: %d %s", e.status, e.answer)
	}
}

func TestHTTPTellsHowToComeInByOAuth(t *testing.T) {
	register, _ := registerOf(t, func(c *policy.Config) {
		c.OAuth = &policy.OAuth{Issuer: "https://login.example.com", Audience: "https://writ.example.com/mcp", Keys: "https://login.example.com/keys", Scopes: []string{"writ"}}
	}, "ci")
	x := listen(t, HTTPOptions{Callers: register})
	e := x.do(exchange{method: "POST", path: pathMCP, body: handshake})
	const want = `Bearer realm="writ", resource_metadata="https://writ.example.com/.well-known/oauth-protected-resource/mcp", scope="writ"`
	if got := e.headers.Get("WWW-Authenticate"); e.status != 401 || got != want {
		t.Errorf("%d %s", e.status, got)
	}
	const document = `{"resource":"https://writ.example.com/mcp","authorization_servers":["https://login.example.com"],"scopes_supported":["writ"],"bearer_methods_supported":["header"],"resource_name":"writ"}`
	for path, status := range map[string]int{callers.WellKnown: 200, callers.WellKnown + "/mcp": 200, callers.WellKnown + "/other": 404} {
		e := x.do(exchange{method: "GET", path: path})
		if e.status != status || status == 200 && (e.answer != document || e.headers.Get("Content-Type") != "application/json") {
			t.Errorf("%s: %d %s", path, e.status, e.answer)
		}
	}
}

// Pages of an origin that is allowed can read what they get; those of others can't even ask.
func TestHTTPPagesOfAllowedOrigins(t *testing.T) {
	register, tokens := registerOf(t, nil, "ci")
	x := listen(t, HTTPOptions{Callers: register, Origins: []string{"https://friend.test"}})
	asks := map[string]string{"Origin": "https://friend.test", "Access-Control-Request-Method": "POST", "Sec-Fetch-Site": "cross-site"}
	e := x.do(exchange{method: "OPTIONS", path: pathMCP, header: asks})
	if e.status != 204 || e.headers.Get("Access-Control-Allow-Origin") != "https://friend.test" || !strings.Contains(e.headers.Get("Access-Control-Allow-Headers"), "Authorization") {
		t.Errorf("%d %v", e.status, e.headers)
	}
	if e := x.do(exchange{method: "POST", path: pathMCP, body: handshake, header: bearer(tokens["ci"], "Origin", "https://friend.test")}); e.status != 200 || e.headers.Get("Access-Control-Expose-Headers") == "" {
		t.Errorf("%d %v", e.status, e.headers)
	}
	asks["Origin"] = "https://evil.test"
	if e := x.do(exchange{method: "OPTIONS", path: pathMCP, header: asks}); e.status != 403 {
		t.Errorf("a foreign page: %d", e.status)
	}
}

// Metrics name tools and endpoints, and nothing that a caller chose.
func TestHTTPMetrics(t *testing.T) {
	x := listen(t, HTTPOptions{})
	session := x.session()
	x.do(exchange{method: "POST", path: pathMCP, body: callLine("1", "refuse", "{}"), header: map[string]string{"Mcp-Session-Id": session}})
	x.do(exchange{method: "POST", path: pathMCP, body: callLine("2", "no-such-tool", "{}"), header: map[string]string{"Mcp-Session-Id": session}})
	x.do(exchange{method: "GET", path: "/evil-path"})
	e := x.do(exchange{method: "GET", path: pathMetrics})
	for _, want := range []string{
		`writ_calls_total{status="denied",tool="refuse"} 1`, `writ_http_requests_total{code="404",endpoint="other"} 1`,
		`writ_http_requests_total{code="200",endpoint="mcp"} 3`, "writ_sessions 1", `writ_call_seconds_count{tool="refuse"} 1`, "go_goroutines",
	} {
		if !strings.Contains(e.answer, want) {
			t.Errorf("%s is missing in\n%s", want, e.answer)
		}
	}
	for _, bad := range []string{"no-such-tool", "evil-path", session} {
		if strings.Contains(e.answer, bad) {
			t.Errorf("the metrics tell %q", bad)
		}
	}
}

func TestHTTPReady(t *testing.T) {
	var broken error
	x := listen(t, HTTPOptions{Ready: func(context.Context) error { return broken }})
	for _, c := range []struct {
		err    error
		status int
	}{{nil, 200}, {errors.New("secret place"), 503}, {nil, 200}} {
		broken = c.err
		if e := x.do(exchange{method: "GET", path: pathReady}); e.status != c.status || strings.Contains(e.answer, "secret") {
			t.Errorf("%v: %d %s", c.err, e.status, e.answer)
		}
	}
}

// Other machines can connect only where they are asked who they are, over a line that nobody reads along.
func TestListenWhereOthersCanConnect(t *testing.T) {
	register, _ := registerOf(t, nil, "ci")
	for name, c := range map[string]struct {
		options HTTPOptions
		ok      bool
	}{
		"nothing":                {HTTPOptions{}, false},
		"callers alone":          {HTTPOptions{Callers: register}, false},
		"TLS alone":              {HTTPOptions{TLS: &tls.Config{}}, false},
		"a proxy alone":          {HTTPOptions{BehindProxy: true}, false},
		"callers and TLS":        {HTTPOptions{Callers: register, TLS: &tls.Config{}}, true},
		"callers behind a proxy": {HTTPOptions{Callers: register, BehindProxy: true}, true},
	} {
		l, err := New(newFakeGate(), fakeInfo).Listen("0.0.0.0:0", c.options)
		if (err == nil) != c.ok {
			t.Errorf("%s: %v", name, err)
		}
		if err == nil {
			l.listener.Close()
		}
	}
}

// writePair makes a certificate for 127.0.0.1 and writes it and its key.
func writePair(t *testing.T, dir string, serial int64) (certificate, key string) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(serial), NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, private.Public(), private)
	if err != nil {
		t.Fatal(err)
	}
	secret, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	certificate, key = filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	for name, block := range map[string]*pem.Block{certificate: {Type: "CERTIFICATE", Bytes: der}, key: {Type: "PRIVATE KEY", Bytes: secret}} {
		if err := os.WriteFile(name, pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return certificate, key
}

// Of all addresses of a machine none is one that the server lets itself be called by; what it says of itself must be.
func TestTheURLOfAllAddresses(t *testing.T) {
	for _, c := range []struct {
		hosts []string
		want  string
	}{{nil, "http://localhost:"}, {[]string{"writ.example.com", "other.example.com"}, "http://writ.example.com:"}} {
		register, _ := registerOf(t, nil, "ci")
		l, err := New(newFakeGate(), fakeInfo).Listen("0.0.0.0:0", HTTPOptions{Callers: register, BehindProxy: true, Hosts: c.hosts})
		if err != nil {
			t.Fatal(err)
		}
		defer l.listener.Close()
		u, err := url.Parse(l.URL())
		if err != nil || !strings.HasPrefix(l.URL(), c.want) || !l.isHostAllowed(u.Host) {
			t.Errorf("%v: %s, %v", c.hosts, l.URL(), err)
		}
	}
}

func TestHTTPOverTLS(t *testing.T) {
	certificate, key := writePair(t, t.TempDir(), 1)
	config, err := TLSFromFiles(certificate, key, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	x := listen(t, HTTPOptions{TLS: config})
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, ForceAttemptHTTP2: true}} //nolint:gosec // the certificate is our own
	defer client.CloseIdleConnections()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, x.listener.URL(), strings.NewReader(handshake))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	w, err := client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Body.Close()
	if w.StatusCode != 200 || w.ProtoMajor != 2 {
		t.Errorf("%s over %s", w.Status, w.Proto)
	}
}

// A renewed certificate is taken into use, and one that is half written is not.
func TestCertificateIsRenewed(t *testing.T) {
	dir := t.TempDir()
	certificate, key := writePair(t, dir, 1)
	c := &certificates{files: [2]string{certificate, key}, log: slog.New(slog.DiscardHandler)}
	now := time.Now()
	c.now = func() time.Time { return now }
	if err := c.load(); err != nil {
		t.Fatal(err)
	}
	serial := func() int64 {
		t.Helper()
		now = now.Add(certificatePause)
		pair, err := c.get(nil)
		if err != nil {
			t.Fatal(err)
		}
		leaf, err := x509.ParseCertificate(pair.Certificate[0])
		if err != nil {
			t.Fatal(err)
		}
		return leaf.SerialNumber.Int64()
	}
	if got := serial(); got != 1 {
		t.Errorf("at first %d", got)
	}
	if err := os.WriteFile(certificate, []byte("half"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := serial(); got != 1 {
		t.Errorf("half written: %d", got)
	}
	writePair(t, dir, 2)
	if got := serial(); got != 2 {
		t.Errorf("renewed: %d", got)
	}
	if _, err := TLSFromFiles(filepath.Join(dir, "none"), key, slog.New(slog.DiscardHandler)); err == nil {
		t.Error("a certificate that is not there is taken")
	}
}

// A socket in the file system is this user's alone. One that is left over is replaced; one in use, and a file, are not.
func TestHTTPOverASocketInTheFileSystem(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("modes are another thing there")
	}
	dir, err := os.MkdirTemp("", "w") // a socket's path is short
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	name := filepath.Join(dir, "s")
	left, err := net.ListenUnix("unix", &net.UnixAddr{Name: name, Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	left.SetUnlinkOnClose(false)
	left.Close()
	s := New(newFakeGate(), fakeInfo)
	l, err := s.Listen("unix:"+name, HTTPOptions{})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- l.Serve(ctx) }()
	if info, err := os.Stat(name); err != nil || info.Mode().Perm() != 0o600 || l.URL() != "unix:"+name {
		t.Errorf("%v, %v at %s", info, err, l.URL())
	}
	if _, err := s.Listen("unix:"+name, HTTPOptions{}); err == nil {
		t.Error("listens where another one does")
	}
	client := &http.Client{Transport: &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "unix", name)
	}}}
	w, err := client.Get("http://writ" + pathHealth)
	if err != nil {
		t.Fatal(err)
	}
	w.Body.Close()
	if w.StatusCode != 200 {
		t.Errorf("it is answered %s", w.Status)
	}
	client.CloseIdleConnections()
	stop()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 0 {
		t.Errorf("left over: %v, %v", entries, err)
	}
	if err := os.WriteFile(name, []byte("precious"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Listen("unix:"+name, HTTPOptions{}); err == nil {
		t.Error("a file is taken for a socket")
	}
}

// Further connections wait until one ends.
func TestConnectionsAreBounded(t *testing.T) {
	inner, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	b := newBounded(inner, 1)
	accepted := make(chan net.Conn, 2)
	go func() {
		defer close(accepted)
		for {
			conn, err := b.Accept()
			if err != nil {
				return
			}
			accepted <- conn
		}
	}()
	for range 2 {
		conn, err := net.Dial("tcp", inner.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
	}
	first := <-accepted
	select {
	case <-accepted:
		t.Error("both were let in")
	case <-time.After(20 * time.Millisecond): // nobody can be shown never to come
	}
	first.Close()
	first.Close() // a second time gives no second place
	(<-accepted).Close()
	b.Close()
	if _, ok := <-accepted; ok || b.count() != 0 {
		t.Errorf("%d places are taken at the end", b.count())
	}
}
