package server

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"
)

const (
	handshake     = `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"probe","version":"9"}}}` + "\n"
	modernMeta    = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{},"io.modelcontextprotocol/clientInfo":{"name":"new","version":"2"}}`
	envelopeStart = `{\"request_id\":\"r1\",\"status\":\"ok\",\"retry_safe\":true,\"next\":\"none\",\"errors\":[],\"warnings\":[],\"normalizations\":[]`
	envelopeJSON  = `{"request_id":"r1","status":"ok","retry_safe":true,"next":"none","errors":[],"warnings":[],"normalizations":[]`
)

func callLine(id, tool, arguments string) string {
	return `{"jsonrpc":"2.0","id":` + id + `,"method":"tools/call","params":{"name":"` + tool + `","arguments":` + arguments + `}}` + "\n"
}

func failure(id string, code int, message string) string {
	if id != "" {
		id = `"id":` + id + `,`
	}
	return fmt.Sprintf(`{"jsonrpc":"2.0",%s"error":{"code":%d,"message":%q}}`, id, code, message)
}

// Each case is what goes in and, line for line, what comes out.
func TestStdioWire(t *testing.T) {
	const ping, pong = `{"jsonrpc":"2.0","id":1,"method":"ping"}` + "\n", `{"jsonrpc":"2.0","id":1,"result":{}}`
	const unknownVersion = `{"jsonrpc":"2.0","id":1,"error":{"code":-32022,"message":"The protocol version is not supported","data":{"supported":["2026-07-28","2025-11-25","2025-06-18","2025-03-26","2024-11-05"],"requested":"%s"}}}`
	withVersion := func(method, version string) string {
		return `{"jsonrpc":"2.0","id":1,"method":"` + method + `","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"` + version + `","io.modelcontextprotocol/clientCapabilities":{}}}}` + "\n"
	}
	for name, c := range map[string]struct {
		in  string
		out []string
	}{
		"nothing":                             {"", nil},
		"a ping":                              {ping, []string{pong}},
		"a last line without an end":          {strings.TrimSpace(ping), []string{pong}},
		"an end of line of Windows":           {strings.TrimSpace(ping) + "\r\n", []string{pong}},
		"blank lines":                         {"\n  \n\t\r\n" + ping + "\n", []string{pong}},
		"no JSON, then a ping":                {"hello\n" + ping, []string{failure("null", -32700, "The message is not valid JSON"), pong}},
		"half an object":                      {`{"jsonrpc":"2.0","id":1,"method":"ping"` + "\n", []string{failure("null", -32700, "The message is not valid JSON")}},
		"two objects on a line":               {strings.TrimSpace(ping) + ping, []string{failure("null", -32700, "The message is not valid JSON")}},
		"a byte order mark":                   {"\ufeff" + ping, []string{failure("null", -32700, "The message is not valid JSON")}},
		"no JSON in the arguments":            {callLine("1", "echo", `{"a":tru}`), []string{failure("null", -32700, "The message is not valid JSON")}},
		"no JSON after 2025-11-25 was chosen": {handshake + "x\n", []string{"*", failure("", -32700, "The message is not valid JSON")}},
		"no JSON after 2025-06-18 was chosen": {strings.Replace(handshake, "2025-11-25", "2025-06-18", 1) + "x\n", []string{"*", failure("null", -32700, "The message is not valid JSON")}},
		"no JSON from a modern client":        {withVersion("server/discover", "2026-07-28") + "x\n", []string{"*", failure("", -32700, "The message is not valid JSON")}},
		"a batch":                             {"[" + strings.TrimSpace(ping) + "]\n", []string{failure("null", -32600, "Batches are not supported: send one message at a time")}},
		"an empty batch":                      {"[]\n", []string{failure("null", -32600, "Batches are not supported: send one message at a time")}},
		"half a batch":                        {"[\n", []string{failure("null", -32700, "The message is not valid JSON")}},
		"a number":                            {"42\n", []string{failure("null", -32600, "A message is a JSON object")}},
		"an id of null":                       {`{"jsonrpc":"2.0","id":null,"method":"ping"}` + "\n", []string{failure("null", -32600, "An id is a string or a number")}},
		"an id that is an object":             {`{"jsonrpc":"2.0","id":{},"method":"ping"}` + "\n", []string{failure("null", -32600, "An id is a string or a number")}},
		"an id that is a string":              {`{"jsonrpc":"2.0","id":"a\"é","method":"ping"}` + "\n", []string{`{"jsonrpc":"2.0","id":"a\"é","result":{}}`}},
		"an id that is not UTF-8":             {"{\"jsonrpc\":\"2.0\",\"id\":\"\xff\",\"method\":\"ping\"}\n", []string{failure("null", -32600, "An id is a string or a number")}},
		"an id above 2^53":                    {`{"jsonrpc":"2.0","id":9007199254740993,"method":"ping"}` + "\n", []string{`{"jsonrpc":"2.0","id":9007199254740993,"result":{}}`}},
		"an id above 2^53 for a call":         {callLine("12345678901234567890", "picture", "{}"), []string{"*12345678901234567890,"}},
		"an id above 2^53 for the library":    {`{"jsonrpc":"2.0","id":9007199254740993,"method":"no/such"}` + "\n", []string{failure("9007199254740993", -32601, "Method no/such not found")}},
		"a fractional id":                     {`{"jsonrpc":"2.0","id":1.50,"method":"ping"}` + "\n", []string{`{"jsonrpc":"2.0","id":1.50,"result":{}}`}},
		"a method given twice":                {`{"jsonrpc":"2.0","id":1,"method":"ping","method":"tools/list"}` + "\n", []string{failure("1", -32600, "The member method is given twice")}},
		"an id given twice":                   {`{"jsonrpc":"2.0","id":1,"id":2,"method":"ping"}` + "\n", []string{failure("2", -32600, "The member id is given twice")}},
		"params given twice":                  {`{"jsonrpc":"2.0","id":1,"method":"ping","params":{},"params":{}}` + "\n", []string{failure("1", -32600, "The member params is given twice")}},
		"arguments given twice":               {`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","arguments":{},"arguments":{}}}` + "\n", []string{failure("1", -32600, "The member arguments is given twice")}},
		"a method given twice, once escaped":  {`{"jsonrpc":"2.0","id":1,"method":"ping","m\u0065thod":"ping"}` + "\n", []string{failure("1", -32600, "The member method is given twice")}},
		"a method in another case":            {`{"jsonrpc":"2.0","id":1,"Method":"ping"}` + "\n", []string{failure("1", -32600, "The message has no method")}},
		"arguments in another case":           {`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","ARGUMENTS":{"a":1}}}` + "\n", []string{`*"arguments":""`}},
		"a method with an escape":             {`{"jsonrpc":"2.0","id":1,"method":"p\u0069ng"}` + "\n", []string{pong}},
		"a method that is a number":           {`{"jsonrpc":"2.0","id":1,"method":7}` + "\n", []string{failure("1", -32600, "The method must be a string that is not empty")}},
		"another JSON-RPC":                    {`{"jsonrpc":"1.0","id":1,"method":"ping"}` + "\n", []string{failure("1", -32600, `The member jsonrpc must be "2.0"`)}},
		"params that are a list":              {`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":["echo"]}` + "\n", []string{failure("1", -32602, "The params must be an object")}},
		"_meta that is a list":                {`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","_meta":[]}}` + "\n", []string{failure("1", -32602, "The member _meta must be an object")}},
		"a response to nothing":               {`{"jsonrpc":"2.0","id":1,"result":{}}` + "\n" + ping, []string{pong}},
		"an error response to nothing":        {`{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"x"}}` + "\n" + ping, []string{pong}},
		"notifications":                       {`{"jsonrpc":"2.0","method":"notifications/initialized"}` + "\n" + `{"jsonrpc":"2.0","method":"no/such"}` + "\n" + ping, []string{pong}},
		"an unknown method":                   {`{"jsonrpc":"2.0","id":1,"method":"no/such"}` + "\n", []string{failure("1", -32601, "Method no/such not found")}},
		"a method of what is not offered":     {`{"jsonrpc":"2.0","id":1,"method":"resources/list"}` + "\n", []string{failure("1", -32601, "resources not supported")}},
		"nesting without end":                 {`{"jsonrpc":"2.0","id":1,"method":"ping","params":{"a":` + strings.Repeat("[", 20_000) + "\n", []string{failure("null", -32700, "The message is not valid JSON")}},

		"a call before the handshake": {callLine("1", "echo", `{"a": 9007199254740993}`), []string{
			`{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"` + envelopeStart + `,\"arguments\":\"{\\\"a\\\": 9007199254740993}\"}"}],"structuredContent":` + envelopeJSON + `,"arguments":"{\"a\": 9007199254740993}"}}}`}},
		"a call without arguments":       {`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo"}}` + "\n", []string{`*"arguments":""`}},
		"a call with arguments of null":  {callLine("1", "echo", `null`), []string{`*"arguments":"null"`}},
		"a call with a list":             {callLine("1", "echo", `[1 , 2]`), []string{`*"arguments":"[1 , 2]"`}},
		"a call after the handshake":     {handshake + callLine("1", "echo", `{}`), []string{"*", `*"client":"probe/9"`}},
		"a call of file text":            {callLine("1", "read", `{}`), []string{`{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"` + envelopeStart + `}"},{"type":"text","text":"one\ntwo \"quoted\" \\ \u2028 <é>\r\n"},{"type":"text","text":""}]}}`}},
		"a call of a picture":            {callLine("1", "picture", `{}`), []string{`{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"` + envelopeStart + `}"},{"type":"image","data":"iVBORw==","mimeType":"image/png"}],"structuredContent":` + envelopeJSON + `}}}`}},
		"a call of a sound":              {callLine("1", "sound", `{}`), []string{`*{"type":"audio","data":"UklGRg==","mimeType":"audio/wav"}`}},
		"a call that is refused":         {callLine("1", "refuse", `{}`), []string{`*,"isError":true}}`}},
		"a call of an unknown tool":      {callLine("1", "no_such", `{}`), []string{failure("1", -32602, `Unknown tool: "no_such"`)}},
		"a call of a tool that went":     {callLine("1", "hidden", `{}`), []string{failure("1", -32602, `Unknown tool: "hidden"`)}},
		"a call of no tool":              {`{"jsonrpc":"2.0","id":1,"method":"tools/call"}` + "\n", []string{failure("1", -32602, "The params of tools/call must name a tool")}},
		"a call of a tool with a number": {`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":7}}` + "\n", []string{failure("1", -32602, "The params of tools/call must name a tool")}},
		"a call that panics":             {callLine("1", "panic", `{}`), []string{failure("1", -32603, "The server failed; nothing is known about what was done")}},
		"a call with progress": {`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"progress","_meta":{"progressToken":"p1"}}}` + "\n", []string{
			`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"p1","progress":1,"total":3,"message":"first"}}`, `*"id":1,"result"`}},

		"a version of 1900":                  {withVersion("tools/list", "1900-01-01"), []string{fmt.Sprintf(unknownVersion, "1900-01-01")}},
		"a version of 2099":                  {withVersion("server/discover", "2099-01-01"), []string{fmt.Sprintf(unknownVersion, "2099-01-01")}},
		"a version of 2099 for a call":       {`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","_meta":{"io.modelcontextprotocol/protocolVersion":"2099-01-01"}}}` + "\n", []string{fmt.Sprintf(unknownVersion, "2099-01-01")}},
		"a modern call without capabilities": {`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}}` + "\n", []string{failure("1", -32602, "missing or invalid _meta field io.modelcontextprotocol/clientCapabilities")}},
		"a modern call": {`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo",` + modernMeta + `}}` + "\n", []string{
			`{"jsonrpc":"2.0","id":1,"result":{"resultType":"complete","_meta":{"io.modelcontextprotocol/serverInfo":{"name":"test","version":"1.2.3"}},"content":[{"type":"text","text":"` + envelopeStart + `,\"arguments\":\"\",\"client\":\"new/2\"}"}],"structuredContent":` + envelopeJSON + `,"arguments":"","client":"new/2"}}}`}},
		"a modern ping":       {`{"jsonrpc":"2.0","id":1,"method":"ping","params":{` + modernMeta + `}}` + "\n", []string{`*"code":-32601`}},
		"a modern initialize": {`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{` + modernMeta + `}}` + "\n", []string{`*"code":-32601`}},
		"a modern listen": {`{"jsonrpc":"2.0","id":"l","method":"subscriptions/listen","params":{"notifications":{"toolsListChanged":true},` + modernMeta + `}}` + "\n", []string{
			`{"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{"_meta":{"io.modelcontextprotocol/subscriptionId":"l"},"notifications":{}}}`, `*"id":"l","result":{`}},
		"a discovery of old times": {`{"jsonrpc":"2.0","id":1,"method":"server/discover"}` + "\n", []string{`*"code":-32601`}},
	} {
		t.Run(name, func(t *testing.T) {
			client := connect(t)
			client.send(c.in)
			out, err := client.rest()
			if err != nil {
				t.Error(err)
			}
			for i, want := range c.out {
				if part, partly := strings.CutPrefix(want, "*"); i >= len(out) || out[i] != want && (!partly || !strings.Contains(out[i], part)) {
					t.Errorf("line %d is\n%s\nwant\n%s", i, strings.Join(out[min(i, len(out)):], "\n"), want)
				}
			}
			if len(out) > len(c.out) {
				t.Errorf("more than wanted: %q", out[len(c.out):])
			}
		})
	}
}

func TestStdioGoesOnAfterAPanic(t *testing.T) {
	c := connect(t)
	c.send(callLine("1", "panic", "{}"))
	c.next()
	c.send(`{"jsonrpc":"2.0","id":2,"method":"ping"}` + "\n")
	if got := c.next(); got != `{"jsonrpc":"2.0","id":2,"result":{}}` {
		t.Errorf("got %s", got)
	}
}

func TestStdioTooLongALine(t *testing.T) {
	c := connect(t, func(s *Server) { s.maxMessage = 1 << 20 })
	go func() { // what can't be sent is missed below
		_, _ = io.WriteString(c.in, strings.Repeat(" ", 10)+strings.Repeat("a", 1<<20)+"\n"+`{"jsonrpc":"2.0","id":1,"method":"ping"}`+"\n")
	}()
	if got, want := c.next(), failure("null", -32600, "The message is longer than 1048576 bytes"); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if got := c.next(); got != `{"jsonrpc":"2.0","id":1,"result":{}}` {
		t.Errorf("after it: %s", got)
	}
}

// A line without end must not fill the memory.
func TestLineReaderSkipsInPieces(t *testing.T) {
	r := newLineReader(io.MultiReader(io.LimitReader(endless('a'), 50<<20), strings.NewReader("\n{}\n")), 1<<20)
	if _, err := r.next(); !errors.Is(err, errTooLong) {
		t.Fatal(err)
	}
	if line, err := r.next(); string(line) != "{}" || err != nil {
		t.Errorf("then %q, %v", line, err)
	}
	if _, err := r.next(); err != io.EOF {
		t.Error(err)
	}
}

type endless byte

func (e endless) Read(b []byte) (int, error) {
	for i := range b {
		b[i] = byte(e)
	}
	return len(b), nil
}

func TestLineReaderLineOfTheLimit(t *testing.T) {
	const most = 200_000
	exact := strings.Repeat("a", most-1)
	r := newLineReader(strings.NewReader(exact+"\n"+exact+"b\n"), most)
	if line, err := r.next(); string(line) != exact || err != nil {
		t.Errorf("%d bytes, %v", len(line), err)
	}
	if _, err := r.next(); !errors.Is(err, errTooLong) {
		t.Errorf("one byte more: %v", err)
	}
}

func TestStdioReadsOnDuringCalls(t *testing.T) {
	c := connect(t)
	for i := range maxRunning + 10 {
		c.send(callLine(fmt.Sprint(100+i), "slow", "{}"))
	}
	for range maxRunning {
		c.waitStarted()
	}
	c.send(`{"jsonrpc":"2.0","id":1,"method":"ping"}` + "\n")
	if got := c.next(); got != `{"jsonrpc":"2.0","id":1,"result":{}}` {
		t.Errorf("ping during %d calls: %s", maxRunning, got)
	}
	select {
	case <-c.gate.started:
		t.Error("more calls run than there are slots")
	default:
	}
	close(c.gate.release)
	out, err := c.rest()
	if len(out) != maxRunning+10 || err != nil {
		t.Errorf("%d answers, %v", len(out), err)
	}
}

func TestStdioRefusesCallsWithoutEnd(t *testing.T) {
	c := connect(t)
	for i := range maxOpen + 1 {
		c.send(callLine(fmt.Sprint(i), "slow", "{}"))
	}
	if got, want := c.next(), failure(fmt.Sprint(maxOpen), -32603, errTooMany.Error()); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	close(c.gate.release)
	if out, _ := c.rest(); len(out) != maxOpen {
		t.Errorf("%d answers", len(out))
	}
}

func TestStdioParallelCallsAnswerEachID(t *testing.T) {
	c := connect(t)
	const n = 500
	go func() {
		for i := range n {
			c.send(callLine(fmt.Sprint(i), "echo", fmt.Sprintf(`{"n":%d}`, i)))
		}
	}()
	seen := map[string]bool{}
	for range n {
		m := decode(t, c.next())
		id := fmt.Sprint(m["id"])
		if got, want := at(m, "result.structuredContent.arguments"), `{"n":`+id+`}`; got != want {
			t.Errorf("call %s was answered with %v", id, got)
		}
		seen[id] = true
	}
	if len(seen) != n {
		t.Errorf("%d of %d ids", len(seen), n)
	}
}

func TestStdioCancelledCallIsNotAnswered(t *testing.T) {
	for name, id := range map[string]string{"number": "7", "string": `"7"`} {
		t.Run(name, func(t *testing.T) {
			c := connect(t)
			c.send(callLine(id, "slow", "{}"))
			c.waitStarted()
			c.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":` + id + `,"reason":"enough"}}` + "\n")
			if out, err := c.rest(); len(out) != 0 || err != nil {
				t.Errorf("got %q, %v", out, err)
			}
		})
	}
}

func TestStdioCancelOfAnotherIDIsNone(t *testing.T) {
	c := connect(t)
	c.send(callLine("7", "slow", "{}"))
	c.waitStarted()
	for _, id := range []string{`"7"`, "8", "null", "{}", "07"} {
		c.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":` + id + `}}` + "\n")
	}
	c.send(`{"jsonrpc":"2.0","method":"notifications/cancelled"}` + "\n")
	close(c.gate.release)
	out, _ := c.rest()
	if last := decode(t, out[len(out)-1]); at(last, "result.structuredContent.status") != "ok" {
		t.Errorf("got %q", out)
	}
}

// A call that waits for its turn is cancelled without ever having begun.
func TestStdioCancelOfAWaitingCall(t *testing.T) {
	c := connect(t)
	for i := range maxRunning {
		c.send(callLine(fmt.Sprint(i), "slow", "{}"))
		c.waitStarted()
	}
	c.send(callLine("1000", "echo", "{}"))
	c.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1000}}` + "\n" + `{"jsonrpc":"2.0","id":2000,"method":"ping"}` + "\n")
	c.next() // the ping is answered, so the cancel is read
	close(c.gate.release)
	out, _ := c.rest()
	if len(out) != maxRunning || strings.Contains(strings.Join(out, ""), `"id":1000,`) {
		t.Errorf("%d answers", len(out))
	}
}

func TestStdioDrain(t *testing.T) {
	t.Run("end of input: the call is finished", func(t *testing.T) {
		c := connect(t)
		c.send(callLine("1", "slow", "{}"))
		c.waitStarted()
		time.AfterFunc(50*time.Millisecond, func() { close(c.gate.release) })
		out, err := c.rest()
		if len(out) != 1 || !strings.Contains(out[0], `"status":"ok"`) || err != nil {
			t.Errorf("got %q, %v", out, err)
		}
	})
	t.Run("end of ctx: the call is finished", func(t *testing.T) {
		c := connect(t)
		c.send(callLine("1", "slow", "{}"))
		c.waitStarted()
		c.stop()
		time.AfterFunc(50*time.Millisecond, func() { close(c.gate.release) })
		if got := c.next(); !strings.Contains(got, `"status":"ok"`) {
			t.Errorf("got %s", got)
		}
		if err := <-c.ended; err != nil {
			t.Error(err)
		}
	})
	t.Run("a call that takes too long is cancelled and answered", func(t *testing.T) {
		c := connect(t, func(s *Server) { s.drainGrace = time.Millisecond })
		c.send(callLine("1", "slow", "{}"))
		c.waitStarted()
		out, err := c.rest()
		if len(out) != 1 || !strings.Contains(out[0], `"status":"unavailable"`) || err != nil {
			t.Errorf("got %q, %v", out, err)
		}
	})
	t.Run("a call that never ends is left behind", func(t *testing.T) {
		c := connect(t, func(s *Server) { s.drainGrace, s.cancelGrace = time.Millisecond, time.Millisecond })
		c.send(callLine("1", "deaf", "{}"))
		c.waitStarted()
		if out, err := c.rest(); len(out) != 0 || err != nil {
			t.Errorf("got %q, %v", out, err)
		}
		close(c.gate.release)
	})
}

// brokenPipe takes a few bytes and then fails.
type brokenPipe struct{ left int }

func (b *brokenPipe) Write(p []byte) (int, error) {
	if len(p) > b.left {
		return b.left, io.ErrClosedPipe
	}
	b.left -= len(p)
	return len(p), nil
}

// A client that no longer reads ends the loop, but the calls that run are let finish first.
func TestStdioBrokenPipe(t *testing.T) {
	gate := newFakeGate()
	s := New(gate, fakeInfo)
	in, feed := io.Pipe()
	ended := make(chan error, 1)
	go func() { ended <- s.Stdio(t.Context(), in, &brokenPipe{left: 10}) }()
	io.WriteString(feed, callLine("1", "slow", "{}"))
	<-gate.started
	io.WriteString(feed, `{"jsonrpc":"2.0","id":2,"method":"ping"}`+"\n")
	select {
	case err := <-ended:
		t.Fatalf("the loop ended before the call: %v", err)
	case <-time.After(50 * time.Millisecond):
	}
	gate.release <- struct{}{} // nobody would take it if the call had been cancelled
	if err := <-ended; !errors.Is(err, io.ErrClosedPipe) {
		t.Errorf("ended with %v", err)
	}
}

func TestStdioInputThatFails(t *testing.T) {
	failed := errors.New("cable cut")
	var out bytes.Buffer
	err := New(newFakeGate(), fakeInfo).Stdio(context.Background(), io.MultiReader(strings.NewReader(callLine("1", "echo", "{}")), &failing{failed}), &out)
	if !errors.Is(err, failed) || !strings.Contains(out.String(), `"id":1,"result"`) {
		t.Errorf("%v, %s", err, out.String())
	}
}

type failing struct{ err error }

func (f *failing) Read([]byte) (int, error) { return 0, f.err }

// Large texts are written piece by piece; the pieces must be the whole, wherever they are cut.
func TestStdioLargeText(t *testing.T) {
	for name, unit := range map[string]string{
		"plain": "abcdefg\n", "quotes": `"\`, "Chinese": "漢字かな", "lines": "x\u2028\u2029\u201c", "controls": "\x00\x01\x1f\x7f", "bad UTF-8": "a\xffb",
	} {
		t.Run(name, func(t *testing.T) {
			c := connect(t)
			c.gate.text = strings.Repeat(unit, 3*chunk/len(unit)+1)
			c.send(callLine("1", "read", "{}"))
			line := c.next()
			if got, want := at(decode(t, line), "result.content.1.text"), strings.ToValidUTF8(c.gate.text, "\uFFFD"); got != want {
				t.Errorf("the text of %d bytes came back otherwise", len(want))
			}
			if strings.ContainsAny(line, "\u2028\u2029") {
				t.Error("a line separator stands unescaped")
			}
		})
	}
}

func TestStdioTwoLargeTextsDoNotMix(t *testing.T) {
	c := connect(t)
	c.gate.text = strings.Repeat("0123456789", 100_000)
	const n = 8
	for i := range n {
		c.send(callLine(fmt.Sprint(i), "read", "{}"))
	}
	for range n {
		if at(decode(t, c.next()), "result.content.1.text") != c.gate.text {
			t.Error("a text came back otherwise")
		}
	}
}
