package server

import (
	"context"
	"errors"
	"runtime/debug"

	"github.com/mark3labs/mcp-go/mcp"
)

const (
	methodInitialize = string(mcp.MethodInitialize)
	methodPing       = string(mcp.MethodPing)
	methodList       = string(mcp.MethodToolsList)
	methodCall       = string(mcp.MethodToolsCall)
	methodCancelled  = string(mcp.MethodNotificationCancelled)
)

// ready returns the result of a request that needs no work, nil for any other.
func (s *Server) ready(q *request, a audience) []byte {
	switch {
	case q.method == methodPing && !q.isModern():
		return []byte("{}")
	case q.method == methodList && q.cursor == nil:
		legacy, modern := s.listsFor(a)
		if q.isModern() {
			return modern
		}
		return legacy
	}
	return nil
}

// carryOut carries out a tools/call and sends its answer, unless the client has cancelled it.
func (s *Server) carryOut(run *call, c Call, q *request, out *outbox) {
	if !run.wait() {
		s.sendUnlessCancelled(run, q.fault(mcp.INTERNAL_ERROR, "The server ended before the call began; nothing was done"), out)
		return
	}
	var a *answer
	f := s.takeReply(run.ctx, &c, q)
	if f == nil {
		a, f = s.askWithProgress(run.ctx, c, q.meta.progressToken, out)
	}
	run.freeSlot()
	if f != nil {
		f.id = q.id
		s.sendUnlessCancelled(run, f, out)
		return
	}
	defer a.release()
	if !run.settle() {
		return
	}
	m := out.begin()
	m.head(q.id)
	if l, ok := c.Asker.(*later); ok && l.asked != nil {
		m.addInputRequired(s, l.asked)
	} else {
		m.addCallResult(s, q.isModern(), a)
	}
	m.add("}")
	m.send()
}

// askWithProgress lets the gate tell the client how far the call is, if the client has named a token for that.
func (s *Server) askWithProgress(ctx context.Context, c Call, token []byte, out *outbox) (*answer, *fault) {
	if token == nil || !validID(token) {
		return s.ask(ctx, c)
	}
	p := &progress{send: func(progress, total float64, message string) { out.sendProgress(token, progress, total, message) }}
	defer p.end()
	c.Progress = p.tell
	return s.ask(ctx, c)
}

func (s *Server) offerOf(q *request, from Call, subs *listener) *offer {
	return &offer{request: q, server: s, from: from, subs: subs}
}

// carryOutOffer carries out a request for what is offered beside tools, and sends its answer unless the client has
// cancelled it.
func (s *Server) carryOutOffer(run *call, o *offer, out *outbox) {
	result, f := s.answerOffer(run, o)
	run.freeSlot()
	switch {
	case f != nil:
		f.id = o.id
		s.sendUnlessCancelled(run, f, out)
	case run.settle():
		out.sendResult(o.id, result)
	}
}

// answerOffer has the request answered. A panic is answered as a fault of ours; its text stays here.
func (s *Server) answerOffer(run *call, o *offer) (result []byte, f *fault) {
	defer func() {
		if p := recover(); p != nil {
			s.log.Error("a request panicked", "method", o.method, "panic", p, "stack", string(debug.Stack()))
			result, f = nil, o.fault(mcp.INTERNAL_ERROR, "The server failed")
		}
	}()
	if !run.wait() {
		return nil, o.fault(mcp.INTERNAL_ERROR, "The server ended before the request was looked at")
	}
	return o.answer(run.ctx)
}

func (s *Server) sendUnlessCancelled(run *call, f *fault, out *outbox) {
	if run.settle() {
		out.sendFault(f)
	}
}

// askLibrary has the library answer a message; text is the whole of it. Without a result and a fault there is nothing to
// send. ctx holds the session.
func (s *Server) askLibrary(ctx context.Context, q *request, text []byte) (result any, f *fault) {
	defer func() {
		if p := recover(); p != nil {
			s.log.Error("a request panicked", "method", q.method, "panic", p, "stack", string(debug.Stack()))
			result, f = nil, q.fault(mcp.INTERNAL_ERROR, "The server failed")
		}
	}()
	if q.method == methodList && q.cursor != nil && string(q.cursor) != "null" {
		return nil, q.fault(mcp.INVALID_PARAMS, "There is one page of tools. Leave the cursor out")
	}
	switch response := s.mcp.HandleMessage(ctx, text).(type) {
	case mcp.JSONRPCResponse:
		return response.Result, nil
	case mcp.JSONRPCError:
		return nil, &fault{id: q.id, code: response.Error.Code, message: response.Error.Message, data: response.Error.Data}
	}
	return nil, nil
}

// letAsk lets the call put a question to a person, if it can come to that and the client can ask.
func (s *Server) letAsk(c *Call, q *request, can mcp.ClientCapabilities, w *waiter) {
	switch {
	case s.tools[c.Tool].ReadOnly || !canAsk(can):
	case q.isModern():
		c.Asker = &later{}
	default:
		c.Asker = w
	}
}

// notBegun answers a request that could not be begun.
func (r *request) notBegun(err error) *fault {
	code := mcp.INTERNAL_ERROR
	if errors.Is(err, errSameID) {
		code = mcp.INVALID_REQUEST
	}
	return r.fault(code, err.Error())
}
