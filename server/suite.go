//go:build conformance

package server

import (
	"bytes"
	"context"
	"encoding/json"
	"strings"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	library "github.com/mark3labs/mcp-go/server"
)

// The official conformance suite calls tools, prompts and resources by names of its own. Where it can be, they are other
// names for ours, which then answer through the gate like any call; what is asked for and not served here (samples of a
// model, roots, log messages, forms with fields) is made in suite_made.go. All of it passes through the same listener,
// sessions, streams, questions and writers as the program's own.
//
// The directory that is served holds text.txt, text.json, pixel.png and beep.wav, and asks before it writes below asked.
type suite struct{}

// ourTools are tools of ours under other names.
var ourTools = map[string]struct{ tool, arguments string }{
	"test_simple_text":                         {"read_file", `{"path":"text.txt"}`},
	"test_image_content":                       {"read_media", `{"path":"pixel.png"}`},
	"test_audio_content":                       {"read_media", `{"path":"beep.wav"}`},
	"test_error_handling":                      {"read_file", `{"path":"absent.txt"}`},
	"test_elicitation":                         {"create_file", `{"path":"asked/waits.txt","content":"x"}`},
	"test_streaming_elicitation":               {"create_file", `{"path":"asked/streams.txt","content":"x"}`},
	"test_input_required_result_request_state": {"create_file", `{"path":"asked/state.txt","content":"x"}`},
	"test_input_required_result_tampered_state": {"create_file",
		`{"path":"asked/tampered.txt","content":"x"}`},
}

// ourResources are resources of ours under other names.
var ourResources = map[string]string{
	"test://static-text":       "writ://files/text.txt",
	"test://static-binary":     "writ://files/pixel.png",
	"test://template/123/data": "writ://files/123.json",
	"test://watched-resource":  "writ://files/text.txt",
}

// tools lists the tools of the suite.
func (suite) tools() []Definition {
	schema := func(name string) json.RawMessage {
		if name == "json_schema_2020_12_tool" {
			return json.RawMessage(schema2020)
		}
		return json.RawMessage(`{"type":"object","properties":{}}`)
	}
	var all []Definition
	for name := range ourTools {
		all = append(all, Definition{Name: name, Description: "A tool of ours by a name of the suite's.", InputSchema: schema(name)})
	}
	for name := range madeTools {
		all = append(all, Definition{Name: name, Description: "A tool for the suite alone.", InputSchema: schema(name)})
	}
	return all
}

// has tells whether a tool is one of the suite's.
func (suite) has(tool string) bool {
	_, ours := ourTools[tool]
	return ours || madeTools[tool] != nil
}

// options declares what is not served otherwise.
func (suite) options() []library.ServerOption {
	return []library.ServerOption{library.WithLogging()}
}

// answers answers a request, if it is one of the suite's own.
func (s suite) answers(ctx context.Context, p *post, from introduction, name string) bool {
	work := s.workOf(p.q)
	if work == nil {
		return false
	}
	run, ok := p.begin(ctx, name)
	if !ok {
		return true
	}
	defer run.done()
	reply := newReply(p.w, p.r)
	x := &suiteCall{post: p, run: run, out: reply.outbox(), can: from.capabilities}
	_ = json.Unmarshal(p.q.params, &x.params) // what can't be read is absent
	result, f := work(x)
	switch {
	case f != nil:
		p.sendFault(f)
	case run.settle():
		x.out.sendResult(p.q.id, x.encoded(result))
	}
	return true
}

// encoded puts the result together with what each has since 2026-07-28.
func (x *suiteCall) encoded(result any) []byte {
	if _, ok := result.(needed); ok {
		return append(append([]byte("{"), x.l.server.inputHead...), encoded(result)[1:]...)
	}
	return x.l.server.offerOf(x.q, Call{}, nil).result(result, nil, unstated)
}

// workOf returns what answers a request that is made for the suite. One that has another name for something of ours is
// given that instead.
func (suite) workOf(q *request) work {
	var params struct {
		Name, URI string
		Ref       struct{ Name string }
	}
	_ = json.Unmarshal(q.params, &params)
	switch q.method {
	case methodCall:
		if ours, ok := ourTools[params.Name]; ok {
			q.name, q.arguments = encoded(ours.tool), []byte(ours.arguments)
		}
		return madeTools[params.Name]
	case methodRead, methodSubscribe, methodUnsubscribe:
		if uri, ok := ourResources[params.URI]; ok {
			q.params = bytes.Replace(q.params, encoded(params.URI), encoded(uri), 1)
		}
	case methodComplete:
		q.params = bytes.Replace(q.params, []byte(`"test_prompt_with_arguments"`), []byte(`"answer_from_notes"`), 1)
		q.params = bytes.Replace(q.params, []byte(`"arg1"`), []byte(`"tag"`), 1)
	case methodPrompt:
		return madePrompts[params.Name]
	case string(mcp.MethodSetLogLevel):
		if !q.isModern() {
			return setLevel
		}
	}
	return nil
}

// work answers one request of the suite.
type work func(x *suiteCall) (result any, f *fault)

// suiteCall is a request of the suite on its way.
type suiteCall struct {
	*post
	run    *call
	out    *outbox
	can    mcp.ClientCapabilities
	params struct {
		Arguments      map[string]string          `json:"arguments"`
		InputResponses map[string]json.RawMessage `json:"inputResponses"`
		RequestState   string                     `json:"requestState"`
		Meta           struct {
			LogLevel string `json:"io.modelcontextprotocol/logLevel"`
		} `json:"_meta"`
	}
}

// request puts a request to a client of the older era, and waits.
func (x *suiteCall) request(method mcp.MCPMethod, params any) (any, *fault) {
	w := &waiter{questions: x.l.asked, session: x.r.Header.Get(library.HeaderKeySessionID), run: x.run, out: x.out, gone: x.r.Context().Done()}
	x.run.wait()
	response, err := w.request(x.run.ctx, method, params)
	if err != nil {
		return nil, x.q.fault(mcp.INTERNAL_ERROR, err.Error())
	}
	return saying("The client answered: " + string(response.action)), nil
}

// notify sends a notification before the result.
func (x *suiteCall) notify(method string, params map[string]any) {
	x.out.sendNotices([]mcp.JSONRPCNotification{{
		JSONRPC:      mcp.JSONRPC_VERSION,
		Notification: mcp.Notification{Method: method, Params: mcp.NotificationParams{AdditionalFields: params}},
	}})
}

// has tells whether the client has answered a request for input with an object.
func (x *suiteCall) has(name string) bool {
	return strings.HasPrefix(string(x.params.InputResponses[name]), "{")
}

func setLevel(*suiteCall) (any, *fault) { return struct{}{}, nil }

// tellProgress goes through the same rules as that of every tool: not too often, and only forward.
func tellProgress(x *suiteCall) (any, *fault) {
	if token := x.q.meta.progressToken; token != nil {
		p := &progress{send: func(progress, total float64, message string) { x.out.sendProgress(token, progress, total, message) }}
		defer p.end()
		for _, at := range []float64{0, 50, 100} {
			p.tell(at, 100, "")
			time.Sleep(progressPause + 10*time.Millisecond)
		}
	}
	return saying("done"), nil
}
