package server

import (
	"bufio"
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"writ/gate"
	"writ/ledger"
	"writ/policy"
	"writ/tools"
	"writ/workspace"
)

// realGate serves a root with a few files, of which secret/ may not be read. A gate over the same state is another
// process's.
func realGate(t *testing.T) (g Gate, root string) {
	t.Helper()
	base := t.TempDir()
	root = filepath.Join(base, "root")
	for name, text := range map[string]string{
		"a.md": "# A\ntags: #garden\n", "docs/plan.md": "one\ntwo\n", "docs/play.txt": "x\n", "docs/ü &%.md": "odd\n",
		"docs/long.txt": strings.Repeat("a line of some length\n", 100), "secret/b.md": "secret\n", "bin": "\x00\x01\x02",
	} {
		file := filepath.Join(root, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	config := policy.FromFlags([]string{"*", "docs/**"}, []string{"docs/**"}, nil)
	config.Roots = []policy.Root{{Path: root}}
	config.Limits.ResultBytes = 1024
	rules, err := policy.Compile(config)
	if err != nil {
		t.Fatal(err)
	}
	state := filepath.Join(base, "state")
	files, err := workspace.Open(workspace.Options{Roots: []workspace.Root{{Dir: root}}, State: state, Secrets: gate.SecretsOf(rules)})
	if err != nil {
		t.Fatal(err)
	}
	book, err := ledger.Open(state, ledger.Options{})
	if err != nil {
		t.Fatal(err)
	}
	house := gate.New(gate.Options{Policy: rules, Files: files, Ledger: book, Tools: tools.All(), KeepAlways: true})
	t.Cleanup(func() { house.Close(); book.Close(); files.Close() })
	return OfGate(house), root
}

func requestLine(id, method, params string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"method":%q,"params":%s}`+"\n", id, method, params)
}

// modern makes params those of a client since 2026-07-28.
func modern(params string) string {
	if params == "{}" {
		return "{" + modernMeta + "}"
	}
	return "{" + modernMeta + "," + params[1:]
}

// ask sends a request and returns its answer.
func (c *client) ask(method, params string) map[string]any {
	c.t.Helper()
	c.send(requestLine("1", method, params))
	return decode(c.t, c.next())
}

// Each case is a request and what its answer holds, before 2026-07-28 and since.
func TestOffers(t *testing.T) {
	g, _ := realGate(t)
	c := connectTo(t, g)
	for _, x := range []struct {
		name, method, params string
		want                 map[string]any
		modernCode           string
	}{
		{"templates", "resources/templates/list", `{}`, map[string]any{"result.resourceTemplates.0.uriTemplate": "writ://files/{+path}{?offset}", "result.resourceTemplates.3.uriTemplate": "artifact:{name}{?offset}"}, ""},
		{"a further page", "resources/templates/list", `{"cursor":"x"}`, map[string]any{"error.code": "-32602"}, ""},
		{"the list", "resources/list", `{}`, map[string]any{"result.resources.0.uri": "writ://notes/a.md", "result.resources.0.mimeType": "text/markdown", "result.resources.1.uri": "writ://files/bin", "result.resources.2": nil}, ""},
		{"a file", "resources/read", `{"uri":"writ://files/docs/plan.md"}`, map[string]any{"result.contents.0.text": "one\ntwo\n", "result.contents.0.uri": "writ://files/docs/plan.md", "result.contents.0.mimeType": "text/markdown"}, ""},
		{"a file from a line on", "resources/read", `{"uri":"writ://files/docs/plan.md?offset=1"}`, map[string]any{"result.contents.0.text": "two\n"}, ""},
		{"an odd name", "resources/read", `{"uri":"writ://files/docs/%C3%BC%20%26%25.md"}`, map[string]any{"result.contents.0.text": "odd\n"}, ""},
		{"a note", "resources/read", `{"uri":"writ://notes/a.md"}`, map[string]any{"result.contents.0.text": "# A\ntags: #garden\n"}, ""},
		{"a file that is no note", "resources/read", `{"uri":"writ://notes/docs/play.txt"}`, map[string]any{"error.code": "-32002", "error.data.uri": "writ://notes/docs/play.txt"}, "-32602"},
		{"nothing there", "resources/read", `{"uri":"writ://files/docs/none"}`, map[string]any{"error.code": "-32002", "error.data.uri": "writ://files/docs/none", "error.data.answer.status": "not-found"}, "-32602"},
		{"no URI of ours", "resources/read", `{"uri":"file:///etc/passwd"}`, map[string]any{"error.code": "-32002"}, "-32602"},
		{"a way out", "resources/read", `{"uri":"writ://files/docs/%2e%2e/%2e%2e/etc/passwd"}`, map[string]any{"error.code": "-32602", "error.data.answer.status": "denied"}, ""},
		{"what may not be read", "resources/read", `{"uri":"writ://files/secret/b.md"}`, map[string]any{"error.code": "-32602", "error.data.answer.status": "denied"}, ""},
		{"what may not be read and is not there", "resources/read", `{"uri":"writ://files/secret/none"}`, map[string]any{"error.code": "-32602", "error.data.answer.status": "denied"}, ""},
		{"bytes", "resources/read", `{"uri":"writ://files/bin"}`, map[string]any{"error.code": "-32602", "error.data.answer.status": "failed"}, ""},
		{"no such artifact", "resources/read", `{"uri":"artifact:aaaaaaaaaaaaaaaaaaaaaaaaaa"}`, map[string]any{"error.code": "-32002"}, "-32602"},
		{"no such change", "resources/read", `{"uri":"writ://changes/chg_000000000000"}`, map[string]any{"error.code": "-32002"}, "-32602"},
		{"no URI", "resources/read", `{"url":"x"}`, map[string]any{"error.code": "-32002"}, "-32602"},
		{"a URI that is no text", "resources/read", `{"uri":7}`, map[string]any{"error.code": "-32602"}, ""},
		{"prompts", "prompts/list", `{}`, map[string]any{"result.prompts.0.name": "answer_from_notes", "result.prompts.2.name": "review_change", "result.prompts.2.arguments.0.required": "true"}, ""},
		{"a prompt", "prompts/get", `{"name":"edit_safely","arguments":{"change":"rename {path} to y"}}`, map[string]any{"result.messages.0.role": "user"}, ""},
		{"a prompt without what it needs", "prompts/get", `{"name":"edit_safely","arguments":{"path":"docs"}}`, map[string]any{"error.code": "-32602"}, ""},
		{"a prompt with a misspelt argument", "prompts/get", `{"name":"edit_safely","arguments":{"change":"x","paths":"docs"}}`, map[string]any{"error.code": "-32602"}, ""},
		{"a prompt with a number", "prompts/get", `{"name":"edit_safely","arguments":{"change":7}}`, map[string]any{"error.code": "-32602"}, ""},
		{"a prompt about no change", "prompts/get", `{"name":"review_change","arguments":{"change":"chg_000000000000"}}`, map[string]any{"error.code": "-32602"}, ""},
		{"no such prompt", "prompts/get", `{"name":"sing"}`, map[string]any{"error.code": "-32602"}, ""},
		{"a path", "completion/complete", `{"ref":{"type":"ref/resource","uri":"writ://files/{+path}{?offset}"},"argument":{"name":"path","value":"docs/pla"}}`, map[string]any{"result.completion.values.0": "docs/plan.md", "result.completion.values.1": "docs/play.txt", "result.completion.total": "2", "result.completion.hasMore": "false"}, ""},
		{"the path of a note", "completion/complete", `{"ref":{"type":"ref/resource","uri":"writ://notes/{+path}{?offset}"},"argument":{"name":"path","value":"docs/pla"}}`, map[string]any{"result.completion.values.0": "docs/plan.md", "result.completion.total": "1"}, ""},
		{"a path to what may not be read", "completion/complete", `{"ref":{"type":"ref/resource","uri":"writ://files/{+path}{?offset}"},"argument":{"name":"path","value":"secret/"}}`, map[string]any{"result.completion.total": "0"}, ""},
		{"a path that leads out", "completion/complete", `{"ref":{"type":"ref/resource","uri":"writ://files/{+path}{?offset}"},"argument":{"name":"path","value":"../"}}`, map[string]any{"result.completion.total": "0"}, ""},
		{"a tag", "completion/complete", `{"ref":{"type":"ref/prompt","name":"answer_from_notes"},"argument":{"name":"tag","value":"gar"}}`, map[string]any{"result.completion.values.0": "garden"}, ""},
		{"free text", "completion/complete", `{"ref":{"type":"ref/prompt","name":"answer_from_notes"},"argument":{"name":"question","value":"wh"}}`, map[string]any{"result.completion.total": "0"}, ""},
		{"of no prompt", "completion/complete", `{"ref":{"type":"ref/prompt","name":"sing"},"argument":{"name":"tag","value":""}}`, map[string]any{"error.code": "-32602"}, ""},
		{"of no template", "completion/complete", `{"ref":{"type":"ref/resource","uri":"file:///{path}"},"argument":{"name":"path","value":""}}`, map[string]any{"error.code": "-32602"}, ""},
		{"of no argument", "completion/complete", `{"ref":{"type":"ref/prompt","name":"sing"}}`, map[string]any{"error.code": "-32602"}, ""},
		{"subscribe to no URI of ours", "resources/subscribe", `{"uri":"file:///x"}`, map[string]any{"error.code": "-32002"}, "-32601"},
		{"unsubscribe from nothing", "resources/unsubscribe", `{"uri":"artifact:x"}`, map[string]any{"result": "map[]"}, "-32601"},
	} {
		t.Run(x.name, func(t *testing.T) {
			check := func(got map[string]any) {
				t.Helper()
				for path, want := range x.want {
					if value := at(got, path); fmt.Sprint(value) != fmt.Sprint(want) {
						t.Errorf("%s is %v, want %v, in %s", path, value, want, compact(t, got))
					}
				}
			}
			check(c.ask(x.method, x.params))
			if x.modernCode != "" {
				x.want = map[string]any{"error.code": x.modernCode}
			}
			got := c.ask(x.method, modern(x.params))
			check(got)
			if got["error"] == nil && (at(got, "result.resultType") != "complete" || at(got, "result._meta") == nil) {
				t.Errorf("not as it is since 2026-07-28: %s", compact(t, got))
			}
			cacheable := strings.HasPrefix(x.method, "resources/") || x.method == "prompts/list"
			if got["error"] == nil && (at(got, "result.cacheScope") == "private") != cacheable {
				t.Errorf("cacheScope is %v", at(got, "result.cacheScope"))
			}
		})
	}
	_, err := c.rest()
	if err != nil {
		t.Error(err)
	}
}

func TestPromptsAreFilled(t *testing.T) {
	p := promptNamed("edit_safely")
	text := p.fill(map[string]string{"change": "rename {path} to y"})
	if !strings.Contains(text, "rename {path} to y") || strings.Contains(text, "Stay within") {
		t.Errorf("got %s", text)
	}
	text = p.fill(map[string]string{"change": "x", "path": "docs"})
	if !strings.Contains(text, "Stay within docs;") {
		t.Errorf("got %s", text)
	}
}

// A change can be reviewed as a resource and by its prompt, and what an answer had no room for is one too.
func TestChangesAndArtifactsAreResources(t *testing.T) {
	g, root := realGate(t)
	c := connectTo(t, g)
	c.send(callLine("1", "create_file", `{"path":"docs/new.md","content":"first\n"}`))
	created := decode(t, c.next())
	change := at(created, "result.structuredContent.change_id")
	uri := fmt.Sprintf(`{"uri":"writ://changes/%v"}`, change)
	text, _ := at(c.ask("resources/read", uri), "result.contents.0.text").(string)
	facts, diff, _ := strings.Cut(text, "\n")
	if at(decode(t, facts), "path") != "docs/new.md" || diff != "--- a/docs/new.md\n+++ b/docs/new.md\n@@ -0,0 +1 @@\n+first\n" {
		t.Errorf("the change reads %q", text)
	}
	prompt := c.ask("prompts/get", fmt.Sprintf(`{"name":"review_change","arguments":{"change":"%v"}}`, change))
	if at(prompt, "result.messages.1.content.resource.text") != text {
		t.Errorf("the prompt is %v", prompt)
	}
	if got := c.ask("completion/complete", `{"ref":{"type":"ref/resource","uri":"writ://changes/{change}"},"argument":{"name":"change","value":"chg_"}}`); at(got, "result.completion.values.0") != change {
		t.Errorf("completed to %v", got)
	}
	if err := os.WriteFile(filepath.Join(root, "docs/new.md"), []byte("other\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	text, _ = at(c.ask("resources/read", uri), "result.contents.0.text").(string)
	if !strings.Contains(text, "changed since") || strings.Contains(text, "first") {
		t.Errorf("after another's change it reads %q", text)
	}

	c.send(callLine("2", "read_files", `{"paths":["docs/long.txt"]}`))
	cut := decode(t, at(decode(t, c.next()), "result.content.0.text").(string))
	artifact := at(cut, "files.0.truncated.artifact")
	next := fmt.Sprint(at(cut, "files.0.truncated.next_offset"))
	got := c.ask("resources/read", fmt.Sprintf(`{"uri":"%v"}`, artifact))
	if text, _ := at(got, "result.contents.0.text").(string); !strings.HasPrefix(text, "a line of some length\n") || next == "<nil>" {
		t.Errorf("the artifact %v from line %s on reads %v", artifact, next, got)
	}
	if more := fmt.Sprint(at(got, "result._meta.writ/answer.truncated.next_offset")); more == "<nil>" {
		t.Errorf("nothing tells how to go on: %v", got)
	} else if got = c.ask("resources/read", fmt.Sprintf(`{"uri":"%v?offset=%s"}`, artifact, more)); at(got, "result.contents.0.text") == nil {
		t.Errorf("it can't be gone on with: %v", got)
	}
	if list := compact(t, c.ask("resources/list", `{}`)); !strings.Contains(list, fmt.Sprint(artifact)) || !strings.Contains(list, fmt.Sprintf("writ://changes/%v", change)) {
		t.Errorf("the list lacks them: %s", list)
	}
}

// fast has the hub look often, so that what others write is noticed soon.
func fast(s *Server) { s.hub.pause = 10 * time.Millisecond }

// idle leaves it to our own writes to be noticed.
func idle(s *Server) { s.hub.pause = time.Hour }

func write(t *testing.T, root, name, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(root, filepath.FromSlash(name)), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

const updatedPlan = `{"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"uri":"writ://files/docs/plan.md"}}`

func TestStdioSubscription(t *testing.T) {
	g, root := realGate(t)
	c := connectTo(t, g, fast)
	c.send(handshake)
	if capabilities := compact(t, at(decode(t, c.next()), "result.capabilities")); capabilities != `{"completions":{},"prompts":{},"resources":{"subscribe":true},"tools":{}}` {
		t.Errorf("declares %s", capabilities)
	}
	if got := compact(t, c.ask("resources/subscribe", `{"uri":"writ://files/docs/plan.md"}`)); got != `{"id":1,"jsonrpc":"2.0","result":{}}` {
		t.Fatalf("subscribed: %s", got)
	}
	write(t, root, "docs/plan.md", "by another program\n")
	if got := c.next(); got != updatedPlan {
		t.Errorf("told %s", got)
	}
	if err := os.Remove(filepath.Join(root, "docs/plan.md")); err != nil {
		t.Fatal(err)
	}
	if got := c.next(); got != updatedPlan {
		t.Errorf("told of the removal: %s", got)
	}
	c.ask("resources/unsubscribe", `{"uri":"writ://files/docs/plan.md"}`)
	c.ask("resources/subscribe", `{"uri":"writ://files/docs/play.txt"}`)
	write(t, root, "docs/plan.md", "again\n")
	write(t, root, "docs/play.txt", "marks the end\n")
	if got := c.next(); !strings.Contains(got, "docs/play.txt") {
		t.Errorf("told of what is not subscribed to: %s", got)
	}
	if rest, err := c.rest(); len(rest) > 0 || err != nil {
		t.Errorf("at the end: %v, %v", rest, err)
	}
}

func TestOwnWritesAreToldAtOnce(t *testing.T) {
	g, _ := realGate(t)
	c := connectTo(t, g, idle)
	c.ask("resources/subscribe", `{"uri":"writ://files/docs/new.md"}`)
	c.send(callLine("7", "create_file", `{"path":"docs/new.md","content":"x"}`))
	told, answered := false, false
	for !told || !answered {
		line := c.next()
		told = told || strings.Contains(line, "resources/updated") && strings.Contains(line, "docs/new.md")
		answered = answered || strings.Contains(line, `"id":7`)
	}
}

const tag = `"_meta":{"io.modelcontextprotocol/subscriptionId":"L"}`

func listenParams(uris string) string {
	return modern(`{"notifications":{"toolsListChanged":true,"resourceSubscriptions":[` + uris + `]}}`)
}

func TestStdioListen(t *testing.T) {
	g, root := realGate(t)
	c := connectTo(t, g, fast)
	c.send(requestLine(`"L"`, "subscriptions/listen", listenParams(`"writ://files/docs/plan.md","http://example.com/x"`)))
	if got := c.next(); got != `{"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{`+tag+`,"notifications":{"resourceSubscriptions":["writ://files/docs/plan.md"]}}}` {
		t.Errorf("acknowledged %s", got)
	}
	write(t, root, "docs/plan.md", "by another program\n")
	if got := c.next(); got != `{"jsonrpc":"2.0","method":"notifications/resources/updated","params":{`+tag+`,"uri":"writ://files/docs/plan.md"}}` {
		t.Errorf("told %s", got)
	}
	c.send(requestLine(`9007199254740993`, "subscriptions/listen", listenParams(`"writ://files/docs/play.txt"`)))
	if got := c.next(); !strings.Contains(got, `"io.modelcontextprotocol/subscriptionId":9007199254740993`) {
		t.Errorf("acknowledged %s", got)
	}
	c.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{` + modernMeta + `,"requestId":"L"}}` + "\n")
	write(t, root, "docs/play.txt", "the other stream goes on\n")
	if got := c.next(); !strings.Contains(got, "9007199254740993") || !strings.Contains(got, "play.txt") {
		t.Errorf("told %s", got)
	}
	c.send(requestLine(`"empty"`, "subscriptions/listen", listenParams("")))
	if ack, end := c.next(), c.next(); !strings.Contains(ack, `"notifications":{}`) || !strings.Contains(end, `"id":"empty"`) || !strings.Contains(end, `"resultType":"complete"`) {
		t.Errorf("a stream of nothing: %s, %s", ack, end)
	}
	rest, err := c.rest()
	if len(rest) != 1 || err != nil || at(decode(t, rest[0]), "result._meta.io") != nil ||
		!strings.Contains(rest[0], `"id":9007199254740993,"result":{"resultType":"complete","_meta":{"io.modelcontextprotocol/serverInfo":{"name":"test","version":"1.2.3"},"io.modelcontextprotocol/subscriptionId":9007199254740993}}`) {
		t.Errorf("at the end: %v, %v", rest, err)
	}
}

// stream opens a stream of events and returns them as they come; it is closed with the stream.
func (x *site) stream(method, body string, header map[string]string) (events chan string, end context.CancelFunc) {
	x.t.Helper()
	ctx, cancel := context.WithCancel(x.t.Context())
	r, err := http.NewRequestWithContext(ctx, method, x.listener.URL(), strings.NewReader(body))
	if err != nil {
		x.t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "text/event-stream")
	for key, value := range header {
		r.Header.Set(key, value)
	}
	w, err := http.DefaultClient.Do(r)
	if err != nil {
		x.t.Fatal(err)
	}
	if kind := w.Header.Get("Content-Type"); w.StatusCode != 200 || kind != "text/event-stream" {
		x.t.Fatalf("the stream is %d %s", w.StatusCode, kind)
	}
	events = make(chan string, 100)
	go func() {
		defer close(events)
		defer w.Body.Close()
		for lines := bufio.NewScanner(w.Body); lines.Scan(); {
			if data, ok := strings.CutPrefix(lines.Text(), "data: "); ok {
				events <- data
			}
		}
	}()
	x.t.Cleanup(cancel)
	return events, cancel
}

func nextEvent(t *testing.T, events chan string) string {
	t.Helper()
	select {
	case e := <-events:
		return e
	case <-time.After(20 * time.Second):
		t.Fatal("no event")
	}
	return ""
}

func TestHTTPSubscription(t *testing.T) {
	g, root := realGate(t)
	x := listenFor(t, g, HTTPOptions{}, fast)
	session := map[string]string{"Mcp-Session-Id": x.session()}
	if e := x.do(exchange{method: "GET", path: pathMCP, header: session}); e.status != 406 {
		t.Errorf("a GET that takes no stream: %d %s", e.status, e.answer)
	}
	if e := x.do(exchange{method: "GET", path: pathMCP, header: map[string]string{"Accept": "text/event-stream"}}); e.status != 400 {
		t.Errorf("a GET without session: %d %s", e.status, e.answer)
	}
	if e := x.do(exchange{method: "GET", path: pathMCP, header: map[string]string{"Accept": "text/event-stream", "Mcp-Protocol-Version": "2026-07-28"}}); e.status != 405 {
		t.Errorf("a GET of the later era: %d %s", e.status, e.answer)
	}
	events, _ := x.stream("GET", "", session)
	e := x.do(exchange{method: "POST", path: pathMCP, header: session, body: requestLine("1", "resources/subscribe", `{"uri":"writ://files/docs/plan.md"}`)})
	if e.status != 200 || e.answer != `{"jsonrpc":"2.0","id":1,"result":{}}` {
		t.Errorf("subscribed: %d %s", e.status, e.answer)
	}
	write(t, root, "docs/plan.md", "by another program\n")
	if got := nextEvent(t, events); got != updatedPlan {
		t.Errorf("told %s", got)
	}
	x.stop()
	if _, open := <-events; open {
		t.Error("the stream outlives the server")
	}
	if err := <-x.ended; err != nil {
		t.Error(err)
	}
}

func TestHTTPListen(t *testing.T) {
	g, root := realGate(t)
	x := listenFor(t, g, HTTPOptions{}, fast)
	header := map[string]string{"Mcp-Protocol-Version": "2026-07-28", "Mcp-Method": "subscriptions/listen"}
	body := requestLine(`"L"`, "subscriptions/listen", listenParams(`"writ://files/docs/plan.md"`))
	gone, leave := x.stream("POST", body, header)
	events, _ := x.stream("POST", body, header)
	for _, stream := range []chan string{gone, events} {
		if got := nextEvent(t, stream); !strings.Contains(got, "notifications/subscriptions/acknowledged") {
			t.Errorf("acknowledged %s", got)
		}
	}
	leave()
	write(t, root, "docs/plan.md", "by another program\n")
	if got := nextEvent(t, events); !strings.Contains(got, tag) || !strings.Contains(got, "docs/plan.md") {
		t.Errorf("told %s", got)
	}
	x.stop()
	if got := nextEvent(t, events); !strings.Contains(got, `"id":"L","result":{"resultType":"complete"`) {
		t.Errorf("ended with %s", got)
	}
	if err := <-x.ended; err != nil {
		t.Error(err)
	}
}

func TestHTTPOffers(t *testing.T) {
	g, _ := realGate(t)
	x := listenFor(t, g, HTTPOptions{})
	session := map[string]string{"Mcp-Session-Id": x.session()}
	read := func(id, params string, header map[string]string) exchange {
		return x.do(exchange{method: "POST", path: pathMCP, header: header, body: requestLine(id, "resources/read", params)})
	}
	if e := read("9007199254740993", `{"uri":"writ://files/docs/plan.md"}`, session); e.status != 200 || at(decode(t, e.answer), "result.contents.0.text") != "one\ntwo\n" || !strings.Contains(e.answer, `"id":9007199254740993`) {
		t.Errorf("got %d %s", e.status, e.answer)
	}
	later := map[string]string{"Mcp-Protocol-Version": "2026-07-28", "Mcp-Method": "resources/read", "Mcp-Name": "writ://files/none"}
	if e := read("1", modern(`{"uri":"writ://files/none"}`), later); e.status != 400 || !strings.Contains(e.answer, "-32602") {
		t.Errorf("got %d %s", e.status, e.answer)
	}
}

func TestSSEOffers(t *testing.T) {
	g, root := realGate(t)
	x := listenFor(t, g, HTTPOptions{}, fast)
	s := openSSE(t, x)
	post := func(body string) {
		t.Helper()
		if e := x.do(exchange{method: "POST", path: s.message, body: body}); e.status != 202 {
			t.Fatalf("%d %s", e.status, e.answer)
		}
	}
	post(handshake)
	s.event()
	post(requestLine("5", "resources/read", `{"uri":"writ://notes/a.md"}`))
	if got := decode(t, s.event()); at(got, "result.contents.0.text") != "# A\ntags: #garden\n" {
		t.Errorf("read %v", got)
	}
	post(requestLine("6", "resources/subscribe", `{"uri":"writ://files/docs/plan.md"}`))
	s.event()
	write(t, root, "docs/plan.md", "by another program\n")
	if got := s.event(); got != updatedPlan {
		t.Errorf("told %s", got)
	}
	if e := x.do(exchange{method: "POST", path: pathMessage + "?sessionId=none", body: requestLine("5", "prompts/list", `{}`)}); e.status != 404 {
		t.Errorf("a session that is not: %d %s", e.status, e.answer)
	}
}
