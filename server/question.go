package server

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"sync"

	"github.com/mark3labs/mcp-go/mcp"

	"writ/envelope"
	"writ/gate"
)

// A question goes to a person by way of the client, as an elicitation in form mode. Before 2026-07-28 the server sends a
// request of its own while the call waits. Since then the answer to the call is that input is required, and the client
// calls again with what the person said and with the state that it was given. The form has nothing to fill in: to accept
// it is the yes.

// questionName is what the one question of a call is known by since 2026-07-28.
const questionName = "approval"

var emptyForm = json.RawMessage(`{"type":"object","properties":{}}`)

func formOf(q gate.Question) mcp.ElicitationParams {
	return mcp.ElicitationParams{Message: q.Message, RequestedSchema: emptyForm}
}

// canAsk tells whether a client can put a form to its user. One that names no mode means this one.
func canAsk(c mcp.ClientCapabilities) bool {
	return c.Elicitation != nil && (c.Elicitation.Form != nil || c.Elicitation.URL == nil)
}

// decodeCapabilities reads what a client says that it can do; nothing where it can't be read.
func decodeCapabilities(raw []byte) (c mcp.ClientCapabilities) {
	if len(raw) > len("{}") && json.Unmarshal(raw, &c) != nil {
		return mcp.ClientCapabilities{}
	}
	return c
}

// answerOf reads an action as clients spell it. ok is false where it is none.
func answerOf(action []byte) (a gate.Answer, ok bool) {
	switch string(action) {
	case `"accept"`:
		return gate.Approved, true
	case `"decline"`:
		return gate.Declined, true
	case `"cancel"`:
		return gate.Dismissed, true
	}
	return gate.Dismissed, false
}

// later has the client call again with the answer.
type later struct{ asked *gate.Question }

// Ask keeps the question, which is then the answer to the call.
func (l *later) Ask(_ context.Context, q gate.Question) (gate.Answer, error) {
	l.asked = &q
	return gate.Dismissed, gate.ErrAnswersLater
}

// addInputRequired appends the result that asks for an answer.
func (m *message) addInputRequired(s *Server, q *gate.Question) {
	m.add("{")
	m.addJSON(s.inputHead)
	m.add(`"inputRequests":`)
	m.addValue(mcp.InputRequests{questionName: mcp.NewElicitationInputRequest(formOf(*q))})
	m.add(`,"requestState":"`)
	m.addText(q.State)
	m.add(`"}`)
}

// takeReply hands on what a person said to the question of an earlier call. A state that nobody here has given out is a
// fault; an answer that can't be read counts as none.
func (s *Server) takeReply(ctx context.Context, c *Call, q *request) *fault {
	if q.state == nil || !q.isModern() {
		return nil
	}
	state, ok := decodeText(q.state)
	if !ok || s.gate.CheckState(ctx, state) != nil {
		return q.fault(mcp.INVALID_PARAMS, "The requestState is not one that this server has given out. Call without it")
	}
	if answer, ok := answerOf(q.action); ok {
		c.Reply = &gate.Reply{State: state, Answer: answer}
	}
	return nil
}

var (
	errGone      = errors.New("the client can't answer any more")
	errNoStream  = errors.New("the client takes no requests")
	errNoAnswers = errors.New("the client could not ask")
)

// questions are the requests to the clients of one connection or listener that wait for their responses.
type questions struct {
	mu     sync.Mutex
	open   map[string]chan<- *request // by session and id
	closed chan struct{}
	once   sync.Once
}

func newQuestions() *questions {
	return &questions{open: map[string]chan<- *request{}, closed: make(chan struct{})}
}

// take gives a response to whoever waits for it; one that nobody waits for is dropped.
func (qs *questions) take(session string, response *request) {
	id, _ := decodeText(response.id)
	qs.mu.Lock()
	defer qs.mu.Unlock()
	name := session + " " + id
	if waiting := qs.open[name]; waiting != nil {
		delete(qs.open, name)
		waiting <- response
	}
}

// close ends the waiting: no response can come any more.
func (qs *questions) close() { qs.once.Do(func() { close(qs.closed) }) }

func (qs *questions) begin(name string) <-chan *request {
	response := make(chan *request, 1)
	qs.mu.Lock()
	defer qs.mu.Unlock()
	qs.open[name] = response
	return response
}

func (qs *questions) end(name string) {
	qs.mu.Lock()
	defer qs.mu.Unlock()
	delete(qs.open, name)
}

// waiter puts questions to a client of the older era, and waits.
type waiter struct {
	questions *questions
	session   string // only responses that come in it count; "" where there is one client
	run       *call  // others may run in its place while a person thinks
	out       *outbox
	gone      <-chan struct{} // closed when the client has left; nil: never
}

// Ask sends the question and waits for the response.
func (w *waiter) Ask(ctx context.Context, q gate.Question) (gate.Answer, error) {
	response, err := w.request(ctx, mcp.MethodElicitationCreate, formOf(q))
	if err != nil {
		return gate.Dismissed, err
	}
	answer, ok := answerOf(response.action)
	if !ok {
		return gate.Dismissed, errNoAnswers
	}
	return answer, nil
}

// request sends a request to the client and waits for the response.
func (w *waiter) request(ctx context.Context, method mcp.MCPMethod, params any) (*request, error) {
	id := "ask_" + rand.Text()
	name := w.session + " " + id
	waiting := w.questions.begin(name)
	defer w.questions.end(name)
	if !w.out.sendRequest(id, method, params) {
		return nil, errNoStream
	}
	w.run.freeSlot()
	response, err := w.await(ctx, id, waiting)
	if !w.run.wait() && err == nil {
		err = context.Cause(w.run.ctx)
	}
	return response, err
}

func (w *waiter) await(ctx context.Context, id string, waiting <-chan *request) (*request, error) {
	select {
	case response := <-waiting:
		return response, nil
	case <-ctx.Done():
		w.out.sendWithdrawal(id)
		return nil, ctx.Err()
	case <-w.gone:
	case <-w.questions.closed:
	}
	return nil, errGone
}

// sendRequest sends a request to the client, if it takes any.
func (o *outbox) sendRequest(id string, method mcp.MCPMethod, params any) bool {
	if o.openNotices != nil && !o.openNotices() {
		return false
	}
	m := o.begin()
	m.add(`{"jsonrpc":"2.0","id":`)
	m.buf = envelope.AppendString(m.buf, id)
	m.add(`,"method":"` + string(method) + `","params":`)
	m.addValue(params)
	m.add("}")
	m.send()
	return true
}

// sendWithdrawal tells the client that nobody waits for the answer any more.
func (o *outbox) sendWithdrawal(id string) {
	m := o.begin()
	m.add(`{"jsonrpc":"2.0","method":"` + methodCancelled + `","params":{"requestId":`)
	m.buf = envelope.AppendString(m.buf, id)
	m.add("}}")
	m.send()
}
