package server

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/mark3labs/mcp-go/mcp"

	"writ/contract"
	"writ/envelope"
)

// Library is a gate to what a server can offer beside tools: resources, and completions of their names. A [Gate] that is
// none serves tools alone.
type Library interface {
	// Serve is Gate.Call for one of tools.Inner.
	Serve(ctx context.Context, c Call) envelope.Envelope
	// StateOf names the state of what a caller sees at a path, so that a change of it can be noticed.
	StateOf(ctx context.Context, caller string, path contract.Path) string
}

const (
	methodResources   = string(mcp.MethodResourcesList)
	methodTemplates   = string(mcp.MethodResourcesTemplatesList)
	methodRead        = string(mcp.MethodResourcesRead)
	methodSubscribe   = string(mcp.MethodResourcesSubscribe)
	methodUnsubscribe = string(mcp.MethodResourcesUnsubscribe)
	methodListen      = string(mcp.MethodSubscriptionsListen)
	methodPrompts     = string(mcp.MethodPromptsList)
	methodPrompt      = string(mcp.MethodPromptsGet)
	methodComplete    = string(mcp.MethodCompletionComplete)
)

// offers tells whether a request is for what is offered beside tools. subscriptions/listen, which does not end, is not
// among that.
func (s *Server) offers(q *request) bool {
	if s.library == nil {
		return false
	}
	switch q.method {
	case methodResources, methodTemplates, methodRead, methodPrompts, methodPrompt, methodComplete:
		return true
	case methodSubscribe, methodUnsubscribe:
		return !q.isModern()
	}
	return false
}

// offer is one such request on its way.
type offer struct {
	*request
	server *Server
	from   Call      // caller and client
	subs   *listener // where a client before 2026-07-28 keeps what it has subscribed to; nil: nowhere
}

// answer carries the request out.
func (o *offer) answer(ctx context.Context) (result []byte, f *fault) {
	switch o.method {
	case methodResources:
		return o.listResources(ctx)
	case methodTemplates:
		return o.onePage(templateList)
	case methodRead:
		return o.readResource(ctx)
	case methodSubscribe:
		return o.subscribe(ctx)
	case methodUnsubscribe:
		return o.unsubscribe()
	case methodPrompts:
		return o.onePage(promptList)
	case methodPrompt:
		return o.prompt(ctx)
	default:
		return o.complete(ctx)
	}
}

// serve has the gate carry out what is no tool.
func (o *offer) serve(ctx context.Context, name string, arguments any) envelope.Envelope {
	c := o.from
	c.Tool, c.Arguments = name, encoded(arguments)
	return o.server.library.Serve(ctx, c)
}

// onePage answers with a list that never changes and has one page.
func (o *offer) onePage(list any) ([]byte, *fault) {
	if o.asksForPage() {
		return nil, o.fault(mcp.INVALID_PARAMS, "There is one page. Leave the cursor out")
	}
	return o.result(list, nil, listTTL), nil
}

func (r *request) asksForPage() bool { return r.cursor != nil && string(r.cursor) != "null" }

// Results that may not be kept by clients, and those of which nothing is said.
const (
	notKept  time.Duration = 0
	unstated time.Duration = -1
)

// result puts together a result. extra is what stands in its _meta beside what the server says about itself; nil:
// nothing.
func (o *offer) result(body any, extra []byte, ttl time.Duration) []byte {
	fields := encoded(body)[1:]
	b := []byte("{")
	switch {
	case o.isModern() && extra != nil:
		head := o.server.modernHead
		b = append(append(append(append(b, head[:len(head)-2]...), ','), extra...), "},"...)
	case o.isModern():
		b = append(b, o.server.modernHead...)
	case extra != nil:
		b = append(append(append(b, `"_meta":{`...), extra...), "},"...)
	}
	if o.isModern() && ttl >= 0 {
		b = fmt.Appendf(b, `"ttlMs":%d,"cacheScope":"%s",`, ttl.Milliseconds(), mcp.CacheScopePrivate)
	}
	if len(fields) == 1 { // nothing but the end
		b = bytes.TrimSuffix(b, []byte(","))
	}
	return append(b, fields...)
}

// encoded returns a value of ours as JSON.
func encoded(v any) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil { // all values that come here can be encoded
		return []byte("{}")
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}

// refusal is what becomes of an answer that is none: there is no place for an envelope but the error's data.
func (o *offer) refusal(uri string, e *envelope.Envelope) *fault {
	code := mcp.INVALID_PARAMS
	switch {
	case e.Status == envelope.NotFound && !o.isModern() && uri != "":
		code = mcp.RESOURCE_NOT_FOUND
	case e.Status == envelope.Unavailable, e.Errors[0].Code == envelope.Internal:
		code = mcp.INTERNAL_ERROR
	}
	f := o.fault(code, e.Errors[0].Message)
	f.data = struct {
		URI    string          `json:"uri,omitempty"`
		Answer json.RawMessage `json:"answer"`
	}{uri, e.AppendJSON(nil)}
	return f
}

// params reads the parameters of the request.
func (o *offer) into(params any) *fault {
	if len(o.params) == 0 || json.Unmarshal(o.params, params) != nil {
		return o.fault(mcp.INVALID_PARAMS, "The params of "+o.method+" are missing, or of the wrong kind")
	}
	return nil
}
