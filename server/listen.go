package server

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	library "github.com/mark3labs/mcp-go/server"

	"writ/gate"
)

// A client is told of changes on a stream of its own: since 2026-07-28 that of its subscriptions/listen, before that the
// stdio pipe, the stream that GET opens in an HTTP session, or that of HTTP+SSE.

// isListen tells whether a request is a subscriptions/listen that is answered here.
func (s *Server) isListen(q *request) bool {
	return s.library != nil && q.method == methodListen && q.isModern()
}

// hears begins to listen for what a subscriptions/listen names, and returns what of that can be served.
func (s *Server) hears(ctx context.Context, caller string, q *request) (*listener, []string, *fault) {
	var params mcp.SubscriptionsListenParams
	o := &offer{request: q, server: s}
	if f := o.into(&params); f != nil {
		return nil, nil, f
	}
	l := s.hub.newListener(caller)
	served := []string{}
	for _, uri := range params.Notifications.ResourceSubscriptions {
		if _, ok := parseAddress(uri); ok && l.add(ctx, uri) {
			served = append(served, uri)
		}
	}
	return l, served, nil
}

// follow sends what the listener hears of, until done. id is that of the subscriptions/listen, nil before 2026-07-28.
// alive is called now and then, so that nobody takes the stream for dead; nil: there is no need.
func (l *listener) follow(done <-chan struct{}, out *outbox, id []byte, alive func()) {
	ticker := time.NewTicker(keepAlive)
	defer ticker.Stop()
	for {
		select {
		case <-done:
			return
		case <-l.signal:
			for _, uri := range l.take() {
				out.sendUpdated(id, uri)
			}
		case <-ticker.C:
			if alive != nil {
				alive()
			}
		}
	}
}

func (o *outbox) sendUpdated(id []byte, uri string) {
	m := o.begin()
	m.add(`{"jsonrpc":"2.0","method":"notifications/resources/updated","params":{`)
	if id != nil {
		m.add(`"_meta":{"` + mcp.MetaKeySubscriptionID + `":`)
		m.addJSON(id)
		m.add(`},`)
	}
	m.add(`"uri":`)
	m.addValue(uri)
	m.add(`}}`)
	m.send()
}

// sendAcknowledged is the first message on the stream of a subscriptions/listen: what of it is served.
func (o *outbox) sendAcknowledged(id []byte, served []string) {
	m := o.begin()
	m.add(`{"jsonrpc":"2.0","method":"` + mcp.MethodNotificationSubscriptionsAcknowledged + `","params":{"_meta":{"` + mcp.MetaKeySubscriptionID + `":`)
	m.addJSON(id)
	m.add(`},"notifications":`)
	m.addValue(mcp.SubscriptionFilter{ResourceSubscriptions: served})
	m.add(`}}`)
	m.send()
}

// endOfListening is the result of a subscriptions/listen, which comes when the server ends the stream.
func (s *Server) endOfListening(q *request) []byte {
	id := append([]byte(`"`+mcp.MetaKeySubscriptionID+`":`), q.id...)
	return (&offer{request: q, server: s}).result(struct{}{}, id, unstated)
}

// listens are the open subscriptions/listen of a stdio client, and what it has subscribed to otherwise.
type listens struct {
	server *Server
	out    *outbox

	mu     sync.Mutex
	open   map[string]context.CancelFunc // by id as written
	ending context.Context
	end    context.CancelFunc
	ended  sync.WaitGroup
	subs   *listener // nil until the first resources/subscribe
}

func newListens(s *Server, out *outbox) *listens {
	l := &listens{server: s, out: out, open: map[string]context.CancelFunc{}}
	l.ending, l.end = context.WithCancel(context.Background())
	return l
}

// legacy returns where resources/subscribe is kept in mind.
func (l *listens) legacy() *listener {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.subs == nil {
		subs := l.server.hub.newListener(gate.CallerLocal)
		l.subs = subs
		l.ended.Go(func() {
			defer subs.close()
			subs.follow(l.ending.Done(), l.out, nil, nil)
		})
	}
	return l.subs
}

// listen opens a stream. It goes on in a goroutine of its own; the pipe is free for other messages.
func (l *listens) listen(q *request) {
	heard, served, f := l.server.hears(l.ending, gate.CallerLocal, q)
	if f != nil {
		l.out.sendFault(f)
		return
	}
	ctx, cancel := context.WithCancel(l.ending)
	l.mu.Lock()
	if l.open[string(q.id)] != nil || len(l.open) >= maxRunning {
		l.mu.Unlock()
		cancel()
		heard.close()
		l.out.sendFault(q.fault(mcp.INVALID_REQUEST, "There is an open request of that id, or there are too many"))
		return
	}
	l.open[string(q.id)] = cancel
	l.mu.Unlock()
	l.out.sendAcknowledged(q.id, served)
	l.ended.Go(func() {
		defer heard.close()
		if len(served) > 0 {
			heard.follow(ctx.Done(), l.out, q.id, nil)
		}
		if l.forget(string(q.id)) {
			l.out.sendResult(q.id, l.server.endOfListening(q))
		}
	})
}

// forget removes an open stream; it is false where that was done already.
func (l *listens) forget(id string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	cancel := l.open[id]
	if cancel == nil {
		return false
	}
	delete(l.open, id)
	cancel()
	return true
}

// close ends all streams, each with its result.
func (l *listens) close() {
	l.end()
	l.ended.Wait()
}

// listen answers a subscriptions/listen over HTTP, for as long as the client stays or the server runs.
func (p *post) listen(ctx context.Context) {
	reply := newReply(p.w, p.r)
	if !reply.streams {
		p.sendFault(p.q.fault(mcp.INVALID_REQUEST, "The answer is a stream: accept text/event-stream"))
		return
	}
	heard, served, f := p.l.server.hears(ctx, callerName(ctx), p.q)
	if f != nil {
		p.sendFault(f)
		return
	}
	defer heard.close()
	out := reply.outbox()
	reply.stream(out)
	out.sendAcknowledged(p.q.id, served)
	if len(served) > 0 {
		p.l.follow(ctx, heard, out, p.q.id)
	}
	if ctx.Err() == nil {
		out.sendResult(p.q.id, p.l.server.endOfListening(p.q))
	}
}

// follow is [listener.follow] over HTTP.
func (l *Listener) follow(ctx context.Context, heard *listener, out *outbox, id []byte) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(l.ending, cancel)()
	heard.follow(ctx.Done(), out, id, func() {
		if out.comment() != nil {
			cancel()
		}
	})
}

// comment sends what no reader of events takes for a message.
func (o *outbox) comment() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.err == nil {
		_, o.err = o.w.Write([]byte(": here\n\n"))
	}
	if o.err == nil && o.flush != nil {
		o.flush()
	}
	return o.err
}

// openStream is the stream of an HTTP session, on which its client is told of what it has subscribed to.
func (l *Listener) openStream(w http.ResponseWriter, r *http.Request) {
	if mcp.IsModernProtocol(r.Header.Get(mcp.HeaderProtocolVersion)) {
		notAllowed(w, http.MethodPost)
		return
	}
	if !strings.Contains(r.Header.Get("Accept"), "text/event-stream") {
		http.Error(w, "The answer is a stream: accept text/event-stream", http.StatusNotAcceptable)
		return
	}
	if _, ok := l.enter(w, r, &request{}); !ok {
		return
	}
	id := r.Header.Get(library.HeaderKeySessionID)
	defer l.sessions.leave(id)
	reply := newReply(w, r)
	out := reply.outbox()
	reply.stream(out)
	out.flush()
	if subs := l.sessions.subscriptions(id, l.server.hub.newListener); subs != nil {
		l.follow(r.Context(), subs, out, nil)
	}
}

// sseClient is the stream of an HTTP+SSE client.
type sseClient struct {
	ctx    context.Context // ends with the stream
	caller string          // whose it is
	subs   *listener       // nil where nothing is offered beside tools
}

type sseID struct{}

// newStream prepares a stream of HTTP+SSE, so that answers and notifications of ours find it.
func (l *Listener) newStream(ctx context.Context) (id string, stream sseClient) {
	id, stream = rand.Text(), sseClient{ctx: ctx, caller: callerName(ctx)}
	if l.server.hub != nil {
		stream.subs = l.server.hub.newListener(stream.caller)
		go func() {
			defer stream.subs.close()
			stream.subs.follow(ctx.Done(), l.sseOutbox(id), nil, nil)
		}()
	}
	return id, stream
}

// sseOutbox sends messages over a stream of HTTP+SSE. One that is gone, or whose client does not read, loses them.
func (l *Listener) sseOutbox(id string) *outbox {
	w := &sseWriter{sse: l.sse, id: id}
	out := newOutbox(&w.message)
	out.after, out.flush = "", w.send
	return out
}

// sseWriter gathers a message, since the library takes it whole.
type sseWriter struct {
	sse     *library.SSEServer
	id      string
	message bytes.Buffer
}

func (w *sseWriter) send() {
	_ = w.sse.SendEventToSession(w.id, json.RawMessage(bytes.Clone(w.message.Bytes()))) // nobody is there to be told
	w.message.Reset()
}

// offerOverSSE carries out a request for what is offered beside tools.
func (l *Listener) offerOverSSE(w http.ResponseWriter, id string, stream sseClient, q *request) {
	run, ok := (&post{l: l, w: w, q: q}).begin(stream.ctx, "sse "+id+" "+string(q.id))
	if !ok {
		return
	}
	w.WriteHeader(http.StatusAccepted)
	go func() {
		defer run.done()
		o := l.server.offerOf(q, l.callerOver(stream.ctx, ""), stream.subs)
		l.server.carryOutOffer(run, o, l.sseOutbox(id))
	}()
}
