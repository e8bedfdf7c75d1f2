package server

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"
)

// site is a server that listens on a loopback address.
type site struct {
	t        *testing.T
	gate     *fakeGate
	listener *Listener
	ended    chan error
	stop     context.CancelFunc
}

func listen(t *testing.T, o HTTPOptions, options ...func(*Server)) *site {
	t.Helper()
	gate := newFakeGate()
	x := listenFor(t, gate, o, options...)
	x.gate = gate
	return x
}

func listenFor(t *testing.T, gate Gate, o HTTPOptions, options ...func(*Server)) *site {
	t.Helper()
	s := New(gate, fakeInfo)
	s.drainGrace, s.cancelGrace = 5*time.Second, 5*time.Second
	for _, option := range options {
		option(s)
	}
	l, err := s.Listen("127.0.0.1:0", o)
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	x := &site{t: t, listener: l, ended: make(chan error, 1), stop: stop}
	finished := make(chan struct{})
	go func() {
		defer close(finished)
		x.ended <- l.Serve(ctx)
	}()
	t.Cleanup(func() { stop(); <-finished })
	return x
}

// exchange is a request, and its answer.
type exchange struct {
	method, path, body string
	header             map[string]string

	status  int
	answer  string
	headers http.Header
}

func (x *site) do(e exchange) exchange {
	x.t.Helper()
	r, err := http.NewRequestWithContext(x.t.Context(), e.method, strings.TrimSuffix(x.listener.URL(), pathMCP)+e.path, strings.NewReader(e.body))
	if err != nil {
		x.t.Fatal(err)
	}
	if e.body != "" {
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Accept", "application/json, text/event-stream")
	}
	for key, value := range e.header {
		if value == "" {
			r.Header.Del(key)
		} else {
			r.Header.Set(key, value)
		}
	}
	r.Host = r.Header.Get("Host")
	r.Header.Del("Host")
	w, err := http.DefaultClient.Do(r)
	if err != nil {
		x.t.Fatal(err)
	}
	defer w.Body.Close()
	answer, err := io.ReadAll(w.Body)
	if err != nil {
		x.t.Fatal(err)
	}
	e.status, e.answer, e.headers = w.StatusCode, strings.TrimSpace(string(answer)), w.Header
	return e
}

// session makes the handshake and returns the session's id.
func (x *site) session() string { return x.shakeHands(handshake) }

func (x *site) shakeHands(hello string) string {
	x.t.Helper()
	e := x.do(exchange{method: "POST", path: pathMCP, body: hello})
	id := e.headers.Get("Mcp-Session-Id")
	if e.status != 200 || id == "" {
		x.t.Fatalf("initialize: %d %s, session %q", e.status, e.answer, id)
	}
	return id
}

// Each case is one POST to /mcp: in a session if it names {session}, and what comes back.
func TestHTTPPost(t *testing.T) {
	x := listen(t, HTTPOptions{MaxBody: 10_000})
	session := x.session()
	const ping, pong = `{"jsonrpc":"2.0","id":1,"method":"ping"}`, `{"jsonrpc":"2.0","id":1,"result":{}}`
	modern := func(method, rest string) string {
		return `{"jsonrpc":"2.0","id":1,"method":"` + method + `","params":{` + rest + modernMeta + `}}`
	}
	modernHeaders := func(more ...string) map[string]string {
		h := map[string]string{"Mcp-Protocol-Version": "2026-07-28"}
		for i := 0; i < len(more); i += 2 {
			h[more[i]] = more[i+1]
		}
		return h
	}
	in := func(more ...string) map[string]string {
		h := map[string]string{"Mcp-Session-Id": session}
		for i := 0; i < len(more); i += 2 {
			h[more[i]] = more[i+1]
		}
		return h
	}
	unknownVersion := func(version string) string {
		return `{"jsonrpc":"2.0","id":1,"error":{"code":-32022,"message":"The protocol version is not supported","data":{"supported":["2026-07-28","2025-11-25","2025-06-18","2025-03-26","2024-11-05"],"requested":"` + version + `"}}}`
	}
	for name, c := range map[string]struct {
		body   string
		header map[string]string
		status int
		answer string // with * before it a part, with ~ before it a part that is not there
	}{
		"a handshake":                           {handshake, nil, 200, `*"protocolVersion":"2025-11-25"`},
		"a handshake with an old session":       {handshake, map[string]string{"Mcp-Session-Id": "stale"}, 200, `*"serverInfo":{"name":"test","version":"1.2.3"}`},
		"Accept in another order":               {handshake, map[string]string{"Accept": "text/event-stream, application/json"}, 200, "*result"},
		"Accept of anything":                    {handshake, map[string]string{"Accept": "*/*"}, 200, "*result"},
		"Accept of JSON alone":                  {handshake, map[string]string{"Accept": "application/json"}, 200, "*result"},
		"no Accept":                             {handshake, map[string]string{"Accept": ""}, 200, "*result"},
		"a handshake with an id above 2^53":     {strings.Replace(handshake, `"id":0`, `"id":9007199254740993`, 1), nil, 400, "*" + inexactID},
		"a ping":                                {ping, in(), 200, pong},
		"an id above 2^53":                      {strings.Replace(ping, "1,", "9007199254740993,", 1), in(), 200, `{"jsonrpc":"2.0","id":9007199254740993,"result":{}}`},
		"no session":                            {ping, nil, 400, "*Mcp-Session-Id header is required"},
		"a session that never was":              {ping, map[string]string{"Mcp-Session-Id": "stale"}, 404, "*The session has ended"},
		"a notification":                        {`{"jsonrpc":"2.0","method":"notifications/initialized"}`, in(), 202, ""},
		"a notification without a session":      {`{"jsonrpc":"2.0","method":"notifications/initialized"}`, nil, 400, "*Mcp-Session-Id header is required"},
		"a response":                            {`{"jsonrpc":"2.0","id":1,"result":{}}`, in(), 202, ""},
		"a list":                                {`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`, in(), 200, `*"tools":[{"name":"echo","title":"Echo"`},
		"an unknown method":                     {`{"jsonrpc":"2.0","id":1,"method":"no/such"}`, in(), 200, failure("1", -32601, "Method no/such not found")},
		"a call":                                {callLine("1", "echo", `{"a" : 1}`), in(), 200, `*"structuredContent":` + envelopeJSON + `,"arguments":"{\"a\" : 1}","client":"probe/9"}}}`},
		"a call that is refused":                {callLine("1", "refuse", "{}"), in(), 200, `*"isError":true`},
		"a call of an unknown tool":             {callLine("1", "no_such", "{}"), in(), 200, failure("1", -32602, `Unknown tool: "no_such"`)},
		"a call that panics":                    {callLine("1", "panic", "{}"), in(), 200, failure("1", -32603, "The server failed; nothing is known about what was done")},
		"a call with progress, as a stream":     {`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"progress","_meta":{"progressToken":7}}}`, in(), 200, "*event: message\ndata: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\",\"params\":{\"progressToken\":7,\"progress\":1,\"total\":3,\"message\":\"first\"}}\n\nevent: message\ndata: {\"jsonrpc\":\"2.0\",\"id\":1,\"result\":"},
		"a call with progress, no stream taken": {`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"progress","_meta":{"progressToken":7}}}`, in("Accept", "application/json"), 200, "~notifications/progress"},
		"no JSON":                               {`{`, in(), 400, failure("null", -32700, "The message is not valid JSON")},
		"no JSON, 2025-11-25":                   {`{`, in("Mcp-Protocol-Version", "2025-11-25"), 400, failure("", -32700, "The message is not valid JSON")},
		"a batch":                               {"[" + ping + "]", in(), 400, failure("null", -32600, "Batches are not supported: send one message at a time")},
		"a method given twice":                  {`{"jsonrpc":"2.0","id":1,"method":"ping","method":"ping"}`, in(), 400, failure("1", -32600, "The member method is given twice")},
		"another content type":                  {ping, in("Content-Type", "text/plain"), 415, "*application/json"},
		"no content type":                       {ping, in("Content-Type", ""), 415, "*application/json"},
		"a content type with a charset":         {ping, in("Content-Type", "application/json; charset=utf-8"), 200, pong},
		"a body over the limit":                 {callLine("1", "echo", `{"a":"`+strings.Repeat("x", 10_000)+`"}`), in(), 413, "*10000 bytes"},
		"a header version of 1900":              {ping, in("Mcp-Protocol-Version", "1900-01-01"), 400, unknownVersion("1900-01-01")},
		"a header version of old":               {ping, in("Mcp-Protocol-Version", "2025-06-18"), 200, pong},
		"a body version of 1900":                {strings.ReplaceAll(modern("ping", ""), "2026-07-28", "1900-01-01"), in(), 400, unknownVersion("1900-01-01")},
		"both versions of 1900":                 {strings.ReplaceAll(modern("ping", ""), "2026-07-28", "1900-01-01"), in("Mcp-Protocol-Version", "1900-01-01"), 400, unknownVersion("1900-01-01")},
		"both versions of 2099":                 {strings.ReplaceAll(modern("ping", ""), "2026-07-28", "2099-01-01"), map[string]string{"Mcp-Protocol-Version": "2099-01-01"}, 400, unknownVersion("2099-01-01")},

		"modern: discover":                    {modern("server/discover", ""), modernHeaders("Mcp-Method", "server/discover"), 200, `*"supportedVersions":["2026-07-28"`},
		"modern: list":                        {modern("tools/list", ""), modernHeaders("Mcp-Method", "tools/list"), 200, `*"ttlMs":300000,"cacheScope":"private","tools":[`},
		"modern: a call":                      {modern("tools/call", `"name":"echo","arguments":{"a":1},`), modernHeaders("Mcp-Method", "tools/call", "Mcp-Name", "echo"), 200, `*{"resultType":"complete","_meta":{"io.modelcontextprotocol/serverInfo":{"name":"test","version":"1.2.3"}},"content":[`},
		"modern: a call of an unknown tool":   {modern("tools/call", `"name":"no_such",`), modernHeaders("Mcp-Method", "tools/call", "Mcp-Name", "no_such"), 400, failure("1", -32602, `Unknown tool: "no_such"`)},
		"modern: a call of another name":      {modern("tools/call", `"name":"echo",`), modernHeaders("Mcp-Method", "tools/call", "Mcp-Name", "read"), 400, `*"code":-32020`},
		"modern: no name":                     {modern("tools/call", `"name":"echo",`), modernHeaders("Mcp-Method", "tools/call"), 400, `*"code":-32020`},
		"modern: no method header":            {modern("tools/list", ""), modernHeaders(), 400, `*"code":-32020`},
		"modern: no version header":           {modern("tools/list", ""), map[string]string{"Mcp-Method": "tools/list"}, 400, `*"code":-32020`},
		"modern: another version header":      {modern("tools/list", ""), map[string]string{"Mcp-Protocol-Version": "2025-11-25", "Mcp-Method": "tools/list"}, 400, `*"code":-32020`},
		"modern: no version in the body":      {`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`, modernHeaders("Mcp-Method", "tools/list"), 400, `*"code":-32602`},
		"modern: no capabilities":             {strings.Replace(modern("tools/list", ""), `"io.modelcontextprotocol/clientCapabilities":{},`, "", 1), modernHeaders("Mcp-Method", "tools/list"), 400, `*"code":-32602`},
		"modern: Last-Event-ID":               {modern("tools/list", ""), modernHeaders("Mcp-Method", "tools/list", "Last-Event-ID", "3"), 400, `*"code":-32020`},
		"modern: ping":                        {modern("ping", ""), modernHeaders("Mcp-Method", "ping"), 404, `*"code":-32601`},
		"modern: initialize":                  {modern("initialize", ""), modernHeaders("Mcp-Method", "initialize"), 404, `*"code":-32601`},
		"modern: listen":                      {modern("subscriptions/listen", `"notifications":{"toolsListChanged":true},`), modernHeaders("Mcp-Method", "subscriptions/listen"), 200, "*event: message\ndata: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/subscriptions/acknowledged\",\"params\":{\"_meta\":{\"io.modelcontextprotocol/subscriptionId\":1},\"notifications\":{}}}\n\nevent: message\ndata: {\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{"},
		"modern: a notification without meta": {`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`, modernHeaders("Mcp-Method", "notifications/cancelled"), 202, ""},
	} {
		t.Run(name, func(t *testing.T) {
			e := x.do(exchange{method: "POST", path: pathMCP, body: c.body, header: c.header})
			if e.status != c.status {
				t.Errorf("status %d, want %d", e.status, c.status)
			}
			part, partly := strings.CutPrefix(c.answer, "*")
			absent, negated := strings.CutPrefix(c.answer, "~")
			switch {
			case partly && !strings.Contains(e.answer, part):
				t.Errorf("got\n%s\nwithout\n%s", e.answer, part)
			case negated && strings.Contains(e.answer, absent):
				t.Errorf("got\n%s\nwith\n%s", e.answer, absent)
			case !partly && !negated && e.answer != c.answer:
				t.Errorf("got\n%s\nwant\n%s", e.answer, c.answer)
			}
			if e.headers.Get("X-Accel-Buffering") != "no" {
				t.Error("a proxy may hold the answer back")
			}
		})
	}
}

func TestHTTPMethods(t *testing.T) {
	x := listen(t, HTTPOptions{})
	modern := map[string]string{"Mcp-Protocol-Version": "2026-07-28"}
	for name, c := range map[string]struct {
		method, path string
		header       map[string]string
		status       int
		allow        string
	}{
		"GET /mcp":           {"GET", pathMCP, nil, 405, "POST, DELETE"},
		"PUT /mcp":           {"PUT", pathMCP, nil, 405, "POST, DELETE"},
		"OPTIONS /mcp":       {"OPTIONS", pathMCP, nil, 405, "POST, DELETE"},
		"HEAD /mcp":          {"HEAD", pathMCP, nil, 405, "POST, DELETE"},
		"DELETE no session":  {"DELETE", pathMCP, nil, 400, ""},
		"DELETE old session": {"DELETE", pathMCP, map[string]string{"Mcp-Session-Id": "stale"}, 404, ""},
		"DELETE modern":      {"DELETE", pathMCP, modern, 405, "POST"},
		"POST /sse":          {"POST", pathSSE, nil, 405, "GET"},
		"GET /message":       {"GET", pathMessage, nil, 405, "POST"},
		"GET /healthz":       {"GET", pathHealth, nil, 200, ""},
		"GET /":              {"GET", "/", nil, 404, ""},
	} {
		t.Run(name, func(t *testing.T) {
			e := x.do(exchange{method: c.method, path: c.path, header: c.header})
			if e.status != c.status || e.headers.Get("Allow") != c.allow {
				t.Errorf("%d, Allow %q, want %d, %q", e.status, e.headers.Get("Allow"), c.status, c.allow)
			}
		})
	}
}

func TestHTTPWhoMayComeIn(t *testing.T) {
	x := listen(t, HTTPOptions{Hosts: []string{"writ.test"}, Origins: []string{"https://friend.test"}})
	own := strings.TrimSuffix(x.listener.URL(), pathMCP)
	for name, c := range map[string]struct {
		header map[string]string
		status int
	}{
		"a program":                       {nil, 200},
		"localhost":                       {map[string]string{"Host": "localhost"}, 200},
		"LOCALHOST with a port":           {map[string]string{"Host": "LOCALHOST:1234"}, 200},
		"IPv6":                            {map[string]string{"Host": "[::1]:80"}, 200},
		"another loopback address":        {map[string]string{"Host": "127.9.9.9"}, 200},
		"a name that was allowed":         {map[string]string{"Host": "Writ.test:8080"}, 200},
		"another host":                    {map[string]string{"Host": "evil.example"}, 403},
		"another host with a port":        {map[string]string{"Host": "evil.example:80"}, 403},
		"a host that looks like loopback": {map[string]string{"Host": "127.0.0.1.evil.example"}, 403},
		"localhost as a part":             {map[string]string{"Host": "localhost.evil.example"}, 403},
		"another address":                 {map[string]string{"Host": "10.0.0.1"}, 403},
		"its own origin":                  {map[string]string{"Origin": own}, 200},
		"an origin that was allowed":      {map[string]string{"Origin": "https://friend.test"}, 200},
		"a foreign origin":                {map[string]string{"Origin": "https://evil.example"}, 403},
		"an origin of null":               {map[string]string{"Origin": "null"}, 403},
		"another port's origin":           {map[string]string{"Origin": "http://127.0.0.1:1"}, 403},
		"a page of another site":          {map[string]string{"Sec-Fetch-Site": "cross-site"}, 403},
		"a page of its own":               {map[string]string{"Sec-Fetch-Site": "same-origin"}, 200},
	} {
		t.Run(name, func(t *testing.T) {
			for _, e := range []exchange{
				{method: "POST", path: pathMCP, body: handshake},
				{method: "GET", path: pathHealth},
			} {
				e.header = c.header
				if e = x.do(e); e.status != c.status {
					t.Errorf("%s %s: %d, want %d", e.method, e.path, e.status, c.status)
				}
				want := "" // pages of its own origin need no leave
				if c.header["Origin"] == "https://friend.test" {
					want = "https://friend.test"
				}
				if got := e.headers.Get("Access-Control-Allow-Origin"); got != want {
					t.Errorf("opened to %q, want %q", got, want)
				}
			}
			if c.status == 403 {
				if e := x.do(exchange{method: "GET", path: pathSSE, header: c.header}); e.status != 403 {
					t.Errorf("the SSE stream: %d", e.status)
				}
			}
		})
	}
}

func TestListenRefusesAddressesOfOthers(t *testing.T) {
	s := New(newFakeGate(), fakeInfo)
	for _, addr := range []string{":0", "0.0.0.0:0", "[::]:0", "192.0.2.1:0", "nonsense", "127.0.0.1:99999"} {
		if l, err := s.Listen(addr, HTTPOptions{}); err == nil {
			l.listener.Close()
			t.Errorf("listens on %q", addr)
		}
	}
	if _, err := s.Listen("127.0.0.1:0", HTTPOptions{Origins: []string{"no origin"}}); err == nil {
		t.Error("takes an origin that is none")
	}
}

// openRequests is how many requests are being answered in the session.
func (x *site) openRequests(session string) int {
	s := x.listener.sessions
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.byID[session].open
}

func TestHTTPSessions(t *testing.T) {
	x := listen(t, HTTPOptions{})
	ping := func(session string) int {
		return x.do(exchange{method: "POST", path: pathMCP, body: `{"jsonrpc":"2.0","id":1,"method":"ping"}`, header: map[string]string{"Mcp-Session-Id": session}}).status
	}
	first, second := x.session(), x.session()
	if first == second {
		t.Fatal("two handshakes, one session")
	}
	x.do(exchange{method: "DELETE", path: pathMCP, header: map[string]string{"Mcp-Session-Id": first, "Mcp-Protocol-Version": "1900-01-01"}})
	for range 200 { // the request ends a moment after its answer
		if x.openRequests(first) == 0 {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	if open := x.openRequests(first); open != 0 {
		t.Errorf("a DELETE that was refused left %d requests open", open)
	}
	if e := x.do(exchange{method: "DELETE", path: pathMCP, header: map[string]string{"Mcp-Session-Id": first}}); e.status != 200 {
		t.Errorf("DELETE: %d", e.status)
	}
	if got := ping(first); got != 404 {
		t.Errorf("after DELETE: %d", got)
	}
	if got := ping(second); got != 200 {
		t.Errorf("the other session: %d", got)
	}
	later := time.Now().Add(sessionTTL)
	x.listener.sessions.now = func() time.Time { return later }
	if got := ping(second); got != 404 {
		t.Errorf("after its time: %d", got)
	}
	x.listener.closeSurplus()
	if n := len(x.listener.sessions.byID); n != 0 {
		t.Errorf("%d sessions are kept", n)
	}
}

func TestSessionsAreBounded(t *testing.T) {
	x := listen(t, HTTPOptions{})
	now := time.Now()
	x.listener.sessions.now = func() time.Time { now = now.Add(time.Millisecond); return now }
	oldest := x.listener.sessions.Generate()
	busy := x.listener.sessions.Generate()
	x.listener.sessions.setClient(busy, introduction{caller: "http"})
	if _, ok := x.listener.sessions.enter(busy, "http"); !ok {
		t.Fatal("the session is not there")
	}
	for range maxSessions {
		x.listener.sessions.Generate()
		x.listener.closeSurplus()
	}
	if n := len(x.listener.sessions.byID); n != maxSessions {
		t.Errorf("%d sessions", n)
	}
	if _, err := x.listener.sessions.Validate(oldest); err == nil {
		t.Error("the oldest is still there")
	}
	if _, err := x.listener.sessions.Validate(busy); err != nil {
		t.Error("a session with an open request is gone")
	}
}

// start sends a call to slow and returns its answer later.
func (x *site) start(body string, header map[string]string) <-chan exchange {
	answer := make(chan exchange, 1)
	go func() { answer <- x.do(exchange{method: "POST", path: pathMCP, body: body, header: header}) }()
	<-x.gate.started
	return answer
}

func TestHTTPCancelInOneSession(t *testing.T) {
	x := listen(t, HTTPOptions{})
	mine, other := map[string]string{"Mcp-Session-Id": x.session()}, map[string]string{"Mcp-Session-Id": x.session()}
	cancel := exchange{method: "POST", path: pathMCP, body: `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":77}}`}
	answer := x.start(callLine("77", "slow", "{}"), mine)
	cancel.header = other
	if e := x.do(cancel); e.status != 202 {
		t.Errorf("cancel: %d", e.status)
	}
	select {
	case e := <-answer:
		t.Fatalf("another client cancelled the call: %s", e.answer)
	case <-time.After(50 * time.Millisecond):
	}
	cancel.header = mine
	x.do(cancel)
	if e := <-answer; e.status != 202 || e.answer != "" {
		t.Errorf("the cancelled call: %d %s", e.status, e.answer)
	}
}

func TestHTTPModernCancelByAnotherIsNone(t *testing.T) {
	x := listen(t, HTTPOptions{})
	header := map[string]string{"Mcp-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/call", "Mcp-Name": "slow"}
	answer := x.start(`{"jsonrpc":"2.0","id":77,"method":"tools/call","params":{"name":"slow",`+modernMeta+`}}`, header)
	for _, version := range []string{"2026-07-28", ""} {
		e := x.do(exchange{method: "POST", path: pathMCP, header: map[string]string{"Mcp-Protocol-Version": version, "Mcp-Method": "notifications/cancelled"},
			body: `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":77,` + modernMeta + `}}`})
		if want := map[string]int{"2026-07-28": 202, "": 400}[version]; e.status != want {
			t.Errorf("cancel: %d %s", e.status, e.answer)
		}
	}
	close(x.gate.release)
	if e := <-answer; e.status != 200 || !strings.Contains(e.answer, `"status":"ok"`) {
		t.Errorf("%d %s", e.status, e.answer)
	}
}

// A modern client cancels by hanging up; an older one that hangs up has not cancelled.
func TestHTTPHangUp(t *testing.T) {
	for name, c := range map[string]struct {
		body   string
		header map[string]string
		ends   bool
	}{
		"modern": {`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"slow",` + modernMeta + `}}`, map[string]string{"Mcp-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/call", "Mcp-Name": "slow"}, true},
		"older":  {callLine("1", "slow", "{}"), nil, false},
	} {
		t.Run(name, func(t *testing.T) {
			x := listen(t, HTTPOptions{})
			ctx, hangUp := context.WithCancel(t.Context())
			r, err := http.NewRequestWithContext(ctx, "POST", x.listener.URL(), strings.NewReader(c.body))
			if err != nil {
				t.Fatal(err)
			}
			r.Header.Set("Content-Type", "application/json")
			for key, value := range c.header {
				r.Header.Set(key, value)
			}
			if !c.ends {
				r.Header.Set("Mcp-Session-Id", x.session())
			}
			go http.DefaultClient.Do(r) //nolint:bodyclose // it never answers
			<-x.gate.started
			hangUp()
			if c.ends {
				waitIdle(t, x.listener.calls)
				return
			}
			time.Sleep(50 * time.Millisecond)
			select {
			case x.gate.release <- struct{}{}:
			case <-time.After(20 * time.Second):
				t.Error("the call did not go on")
			}
		})
	}
}

// waitIdle waits until no call is open.
func waitIdle(t *testing.T, c *calls) {
	t.Helper()
	for range 20_000 {
		c.mu.Lock()
		open := c.open
		c.mu.Unlock()
		if open == 0 {
			return
		}
		time.Sleep(time.Millisecond)
	}
	t.Error("a call is open")
}

func TestHTTPShutDown(t *testing.T) {
	t.Run("the call is finished", func(t *testing.T) {
		x := listen(t, HTTPOptions{})
		answer := x.start(callLine("1", "slow", "{}"), map[string]string{"Mcp-Session-Id": x.session()})
		x.stop()
		time.AfterFunc(50*time.Millisecond, func() { close(x.gate.release) })
		if e := <-answer; !strings.Contains(e.answer, `"status":"ok"`) {
			t.Errorf("%d %s", e.status, e.answer)
		}
		if err := <-x.ended; err != nil {
			t.Error(err)
		}
	})
	t.Run("a call that takes too long is cancelled and answered", func(t *testing.T) {
		x := listen(t, HTTPOptions{}, func(s *Server) { s.drainGrace = time.Millisecond })
		answer := x.start(callLine("1", "slow", "{}"), map[string]string{"Mcp-Session-Id": x.session()})
		x.stop()
		if e := <-answer; !strings.Contains(e.answer, `"status":"unavailable"`) {
			t.Errorf("%d %s", e.status, e.answer)
		}
		if err := <-x.ended; err != nil {
			t.Error(err)
		}
	})
	t.Run("an SSE stream ends", func(t *testing.T) {
		x := listen(t, HTTPOptions{})
		stream := openSSE(t, x)
		x.stop()
		if err := <-x.ended; err != nil {
			t.Error(err)
		}
		if rest, err := io.ReadAll(stream.r); err != nil || strings.TrimSpace(string(rest)) != "" {
			t.Errorf("the stream ended with %q, %v", rest, err)
		}
	})
}

// sseStream is the stream of a client of the first protocol version.
type sseStream struct {
	t       *testing.T
	x       *site
	r       *bufio.Reader
	message string // path for what the client sends
	header  http.Header
}

func openSSE(t *testing.T, x *site) *sseStream {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), "GET", strings.TrimSuffix(x.listener.URL(), pathMCP)+pathSSE, nil)
	if err != nil {
		t.Fatal(err)
	}
	w, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { w.Body.Close() })
	s := &sseStream{t: t, x: x, r: bufio.NewReader(w.Body), header: w.Header}
	s.message = s.event()
	return s
}

// event returns the data of the next event.
func (s *sseStream) event() string {
	s.t.Helper()
	for {
		line, err := s.r.ReadString('\n')
		if err != nil {
			s.t.Fatal(err)
		}
		if data, ok := strings.CutPrefix(line, "data: "); ok {
			return strings.TrimSpace(data)
		}
	}
}

func TestSSE(t *testing.T) {
	x := listen(t, HTTPOptions{MaxBody: 10_000})
	s := openSSE(t, x)
	if got := s.header.Get("Access-Control-Allow-Origin"); got != "" {
		t.Errorf("the stream is open to %q", got)
	}
	post := func(body string) exchange { return x.do(exchange{method: "POST", path: s.message, body: body}) }
	for name, c := range map[string]struct {
		body   string
		status int
		answer string
	}{
		"no JSON":                 {"{", 400, "*-32700"},
		"a batch":                 {"[]", 400, "*-32600"},
		"a method given twice":    {`{"jsonrpc":"2.0","id":1,"method":"ping","method":"ping"}`, 400, "*given twice"},
		"a version of 1900":       {`{"jsonrpc":"2.0","id":1,"method":"ping","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"1900-01-01"}}}`, 400, "*-32022"},
		"an id above 2^53":        {`{"jsonrpc":"2.0","id":9007199254740993,"method":"ping"}`, 400, "*" + inexactID},
		"a body over the limit":   {callLine("1", "echo", `"`+strings.Repeat("x", 10_000)+`"`), 413, "*10000 bytes"},
		"a response":              {`{"jsonrpc":"2.0","id":1,"result":{}}`, 202, ""},
		"a notification":          {`{"jsonrpc":"2.0","method":"notifications/initialized"}`, 202, ""},
		"a session that is not":   {"", 404, "*There is no such session"},
		"a call, answered beside": {callLine("8", "refuse", "{}"), 202, ""},
	} {
		t.Run(name, func(t *testing.T) {
			e := post(c.body)
			if c.body == "" {
				e = x.do(exchange{method: "POST", path: pathMessage + "?sessionId=none", body: handshake})
			}
			part, _ := strings.CutPrefix(c.answer, "*")
			if e.status != c.status || !strings.Contains(e.answer, part) {
				t.Errorf("%d %s", e.status, e.answer)
			}
		})
	}
	if got := s.event(); !strings.Contains(got, `"id":8`) || !strings.Contains(got, `"isError":true`) {
		t.Errorf("the call was answered with %s", got)
	}
	post(handshake)
	if got := s.event(); !strings.Contains(got, `"protocolVersion":"2025-11-25"`) {
		t.Errorf("the handshake was answered with %s", got)
	}
	post(callLine("9", "echo", `{"n" : 9007199254740993}`))
	got := decode(t, s.event())
	if at(got, "result.structuredContent.arguments") != `{"n" : 9007199254740993}` || at(got, "result.structuredContent.client") != "probe/9" {
		t.Errorf("the call was answered with %v", got)
	}
	if text := at(got, "result.content.0.text").(string); compact(t, decode(t, text)) != compact(t, at(got, "result.structuredContent")) {
		t.Errorf("text and structuredContent differ: %v", got)
	}
	post(callLine("10", "read", `{}`))
	if got := decode(t, s.event()); at(got, "result.content.1.text") != x.gate.text || at(got, "result.structuredContent") != nil {
		t.Errorf("file text came as %v", got)
	}
}

func TestSSEAnswersOpenCallsAtTheEnd(t *testing.T) {
	x := listen(t, HTTPOptions{})
	s := openSSE(t, x)
	x.do(exchange{method: "POST", path: s.message, body: callLine("1", "slow", "{}")})
	<-x.gate.started
	x.stop()
	time.AfterFunc(20*time.Millisecond, func() { close(x.gate.release) })
	if got := s.event(); !strings.Contains(got, `\"status\":\"ok\"`) {
		t.Errorf("got %s", got)
	}
}

func TestHTTPTooManyCalls(t *testing.T) {
	x := listen(t, HTTPOptions{})
	for range maxOpen {
		if _, err := x.listener.calls.begin(t.Context(), ""); err != nil {
			t.Fatal("refused too early")
		}
	}
	e := x.do(exchange{method: "POST", path: pathMCP, body: callLine("1", "echo", "{}"), header: map[string]string{"Mcp-Session-Id": x.session()}})
	if e.status != 503 || e.headers.Get("Retry-After") == "" || !strings.Contains(e.answer, errTooMany.Error()) {
		t.Errorf("%d %s", e.status, e.answer)
	}
	x.listener.calls.mu.Lock()
	x.listener.calls.open = 0
	x.listener.calls.mu.Unlock()
}

func TestHTTPPanicIsAnswered(t *testing.T) {
	var log strings.Builder
	s := New(newFakeGate(), Info{Log: slog.New(slog.NewTextHandler(&log, nil))})
	l, err := s.Listen("127.0.0.1:0", HTTPOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer l.listener.Close()
	l.http.Handler = l.guard(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic("secret text") }))
	go l.http.Serve(l.listener) //nolint:errcheck // ends with the listener
	w, err := http.Get(strings.TrimSuffix(l.URL(), pathMCP))
	if err != nil {
		t.Fatal(err)
	}
	defer w.Body.Close()
	answer, _ := io.ReadAll(w.Body)
	if w.StatusCode != 500 || strings.TrimSpace(string(answer)) != failure("null", -32603, "The server failed") {
		t.Errorf("%d %s", w.StatusCode, answer)
	}
	if !strings.Contains(log.String(), "secret text") {
		t.Error("the log does not know why")
	}
}

// A client that sends its headers and then nothing does not hold up the end.
func TestHTTPBodyThatNeverComes(t *testing.T) {
	x := listen(t, HTTPOptions{}, func(s *Server) { s.drainGrace, s.cancelGrace = 10*time.Millisecond, 10*time.Millisecond })
	conn, err := net.Dial("tcp", x.listener.listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	fmt.Fprintf(conn, "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n")
	time.Sleep(20 * time.Millisecond)
	x.stop()
	if err := <-x.ended; err != nil {
		t.Error(err)
	}
}
