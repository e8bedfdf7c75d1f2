package server

import (
	"fmt"
	"strings"
	"testing"
)

const elicits = `"capabilities":{"elicitation":{}}`

var (
	askingHandshake = strings.Replace(handshake, `"capabilities":{}`, elicits, 1)
	askingMeta      = strings.Replace(modernMeta, `clientCapabilities":{}`, `clientCapabilities":{"elicitation":{"form":{}}}`, 1)
)

// question reads the request that asks a person and returns its id.
func (c *client) question() string {
	c.t.Helper()
	got := decode(c.t, c.next())
	if at(got, "method") != "elicitation/create" || compact(c.t, at(got, "params")) != `{"message":"May \"it\"?\n    <diff>","requestedSchema":{"properties":{},"type":"object"}}` {
		c.t.Fatalf("asks %v", got)
	}
	id, _ := at(got, "id").(string)
	return id
}

func responseLine(id, rest string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%q,%s}`+"\n", id, rest)
}

// In the older era the call waits for the response to a request of the server's.
func TestQuestionWaits(t *testing.T) {
	for rest, want := range map[string]string{
		`"result":{"action":"accept","content":{}}`:           "said yes",
		`"result":{"content":{"action":1},"action":"accept"}`: "said yes",
		`"result":{"action":"decline"}`:                       "said no",
		`"result":{"action":"cancel"}`:                        "said nothing",
		`"result":{"action":"Accept"}`:                        "failed: the client could not ask",
		`"result":{"ACTION":"accept"}`:                        "failed: the client could not ask",
		`"result":{}`:                                         "failed: the client could not ask",
		`"result":"accept"`:                                   "failed: the client could not ask",
		`"error":{"code":-32603,"message":"accept"}`:          "failed: the client could not ask",
	} {
		t.Run(rest, func(t *testing.T) {
			c := connect(t)
			c.send(askingHandshake)
			c.next()
			c.send(callLine("1", "ask", "{}"))
			id := c.question()
			c.send(`{"jsonrpc":"2.0","id":7,"method":"ping"}` + "\n")
			if got := decode(t, c.next()); fmt.Sprint(at(got, "id")) != "7" {
				t.Errorf("while it waits a ping is answered %v", got)
			}
			c.send(responseLine("ask_other", `"result":{"action":"accept"}`) + responseLine(id, rest))
			if got := at(decode(t, c.next()), "result.structuredContent.arguments"); got != want {
				t.Errorf("got %v, want %s", got, want)
			}
			c.send(responseLine(id, `"result":{"action":"accept"}`))
			if rest, err := c.rest(); len(rest) > 0 || err != nil {
				t.Errorf("a second response is answered %v, %v", rest, err)
			}
		})
	}
}

// A client that does not say that it can ask is not made to.
func TestQuestionNeedsTheCapability(t *testing.T) {
	for name, hello := range map[string]string{
		"none":     handshake,
		"url only": strings.Replace(handshake, `"capabilities":{}`, `"capabilities":{"elicitation":{"url":{}}}`, 1),
		"null":     strings.Replace(handshake, `"capabilities":{}`, `"capabilities":{"elicitation":null}`, 1),
	} {
		t.Run(name, func(t *testing.T) {
			c := connect(t)
			c.send(hello)
			c.next()
			c.send(callLine("1", "ask", "{}"))
			if got := at(decode(t, c.next()), "result.structuredContent.arguments"); got != "nobody to ask" {
				t.Errorf("got %v", got)
			}
		})
	}
}

// A question whose call was cancelled is taken back, and one whose client hangs up does not hold up the end.
func TestQuestionEndsWithItsCall(t *testing.T) {
	t.Run("cancelled", func(t *testing.T) {
		c := connect(t)
		c.send(askingHandshake)
		c.next()
		c.send(callLine("1", "ask", "{}"))
		id := c.question()
		c.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}` + "\n")
		got := decode(t, c.next())
		if at(got, "method") != "notifications/cancelled" || at(got, "params.requestId") != id {
			t.Errorf("got %v", got)
		}
		if rest, err := c.rest(); len(rest) > 0 || err != nil {
			t.Errorf("then it says %v, %v", rest, err)
		}
	})
	t.Run("hung up", func(t *testing.T) {
		c := connect(t)
		c.send(askingHandshake)
		c.next()
		c.send(callLine("1", "ask", "{}"))
		c.question()
		rest, err := c.rest()
		if err != nil || len(rest) != 1 || !strings.Contains(rest[0], errGone.Error()) {
			t.Errorf("it ends with %v, %v", rest, err)
		}
	})
}

// Questions that wait do not keep other calls from running.
func TestQuestionsLeaveRoom(t *testing.T) {
	c := connect(t)
	c.send(askingHandshake)
	c.next()
	ids := make([]string, maxRunning)
	for i := range ids {
		c.send(callLine(fmt.Sprint(i), "ask", "{}"))
		ids[i] = c.question()
	}
	c.send(callLine("1000", "echo", "{}"))
	if got := decode(t, c.next()); fmt.Sprint(at(got, "id")) != "1000" {
		t.Errorf("got %v", got)
	}
	for _, id := range ids {
		c.send(responseLine(id, `"result":{"action":"decline"}`))
		if got := at(decode(t, c.next()), "result.structuredContent.arguments"); got != "said no" {
			t.Errorf("got %v", got)
		}
	}
}

func modernCall(meta, more string) string {
	return `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"ask","arguments":{},` + more + meta + "}}\n"
}

// Since 2026-07-28 the client calls again with the answer and the state that came with the question.
func TestQuestionIsAnsweredByAnotherCall(t *testing.T) {
	c := connect(t)
	c.send(modernCall(modernMeta, ""))
	if got := at(decode(t, c.next()), "result.structuredContent.arguments"); got != "nobody to ask" {
		t.Errorf("a client that can't ask: %v", got)
	}
	c.send(modernCall(askingMeta, ""))
	want := `{"_meta":{"io.modelcontextprotocol/serverInfo":{"name":"test","version":"1.2.3"}},"inputRequests":{"approval":{"method":"elicitation/create","params":{"message":"May \"it\"?\n    <diff>","requestedSchema":{"properties":{},"type":"object"}}}},"requestState":"state.signature","resultType":"input_required"}`
	if got := compact(t, at(decode(t, c.next()), "result")); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	const state = `"requestState":"state.signature",`
	for more, want := range map[string]string{
		state + `"inputResponses":{"approval":{"action":"accept","content":{}}},`:                 "replied yes",
		state + `"inputResponses":{"other":{"action":"accept"},"approval":{"action":"decline"}},`: "replied no",
		state + `"inputResponses":{"approval":{"action":"cancel"}},`:                              "replied nothing",
		state: "",
		state + `"inputResponses":{"approval":{"action":true}},`:                                                        "",
		state + `"inputResponses":{"other":{"action":"accept"}},`:                                                       "",
		state + `"inputResponses":["accept"],`:                                                                          "",
		`"inputResponses":{"approval":{"action":"accept"}},`:                                                            "",
		`"requestState":"state.signaturf","inputResponses":{"approval":{"action":"accept"}},`:                           "fault",
		`"requestState":7,"inputResponses":{"approval":{"action":"accept"}},`:                                           "fault",
		state + `"inputResponses":{"approval":{"action":"decline","action":"accept"}},`:                                 "fault",
		state + `"inputResponses":{"approval":{"action":"decline"},"approval":{"action":"accept"}},`:                    "fault",
		state + `"inputResponses":{"approval":{"action":"decline"}},"inputResponses":{"approval":{"action":"accept"}},`: "fault",
	} {
		c.send(modernCall(askingMeta, more))
		got := decode(t, c.next())
		switch {
		case want == "fault":
			if at(got, "error.code") == nil {
				t.Errorf("%s: %v", more, got)
			}
		case want == "":
			if at(got, "result.resultType") != "input_required" {
				t.Errorf("%s: %v", more, got)
			}
		case at(got, "result.structuredContent.arguments") != want:
			t.Errorf("%s: got %v, want %s", more, got, want)
		}
	}
}

// Over HTTP the question comes in the stream of the call, and only a response in the same session answers it.
func TestQuestionOverHTTP(t *testing.T) {
	x := listen(t, HTTPOptions{})
	mine, other := x.shakeHands(askingHandshake), x.shakeHands(askingHandshake)
	plain := x.do(exchange{method: "POST", path: pathMCP, body: callLine("1", "ask", "{}"), header: map[string]string{"Mcp-Session-Id": mine, "Accept": "application/json"}})
	if !strings.Contains(plain.answer, errNoStream.Error()) {
		t.Errorf("a client that takes no stream is answered %s", plain.answer)
	}
	events, _ := x.stream("POST", callLine("2", "ask", "{}"), map[string]string{"Mcp-Session-Id": mine})
	id, _ := at(decode(t, nextEvent(t, events)), "id").(string)
	for _, response := range []struct{ session, action string }{{other, "accept"}, {mine, "decline"}} {
		e := x.do(exchange{method: "POST", path: pathMCP, body: responseLine(id, `"result":{"action":"`+response.action+`"}`), header: map[string]string{"Mcp-Session-Id": response.session}})
		if e.status != 202 {
			t.Errorf("a response is answered %d %s", e.status, e.answer)
		}
	}
	if got := decode(t, nextEvent(t, events)); at(got, "result.structuredContent.arguments") != "said no" {
		t.Errorf("got %v", got)
	}
}

// A client that leaves in the midst of a question ends it.
func TestQuestionOverHTTPEndsWithItsClient(t *testing.T) {
	x := listen(t, HTTPOptions{})
	events, hangUp := x.stream("POST", callLine("1", "ask", "{}"), map[string]string{"Mcp-Session-Id": x.shakeHands(askingHandshake)})
	nextEvent(t, events)
	hangUp()
	waitIdle(t, x.listener.calls)
}
