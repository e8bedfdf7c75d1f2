package server

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	library "github.com/mark3labs/mcp-go/server"
)

// serveMCP is the streamable HTTP endpoint. A stream to GET is there only where clients can subscribe to something.
func (l *Listener) serveMCP(w http.ResponseWriter, r *http.Request) {
	allowed := []string{http.MethodPost, http.MethodDelete}
	if l.server.hub != nil {
		allowed = append(allowed, http.MethodGet)
	}
	switch {
	case !slices.Contains(allowed, r.Method):
		notAllowed(w, allowed...)
	case r.Method == http.MethodPost:
		l.post(w, r)
	case r.Method == http.MethodDelete:
		l.closeSession(w, r)
	default:
		l.openStream(w, r)
	}
}

func (l *Listener) closeSession(w http.ResponseWriter, r *http.Request) {
	version := r.Header.Get(mcp.HeaderProtocolVersion)
	if mcp.IsModernProtocol(version) {
		notAllowed(w, http.MethodPost)
		return
	}
	if _, ok := l.enter(w, r, &request{}); !ok {
		return
	}
	defer l.sessions.leave(r.Header.Get(library.HeaderKeySessionID))
	l.streamable.ServeHTTP(w, r)
}

// post is a POST being answered.
type post struct {
	l    *Listener
	w    http.ResponseWriter
	r    *http.Request
	q    *request
	body []byte
}

func (l *Listener) post(w http.ResponseWriter, r *http.Request) {
	body, ok := l.readBody(w, r)
	if !ok {
		return
	}
	if isBatch(body) && l.takesBatches(r) {
		l.postBatch(w, r, body)
		return
	}
	version := r.Header.Get(mcp.HeaderProtocolVersion)
	q, f := parse(body)
	if f == nil {
		f = checkHeaders(r.Header, q)
	}
	if f != nil {
		writeFault(w, http.StatusBadRequest, version, f)
		return
	}
	p := &post{l, w, r, q, body}
	switch {
	case q.isModern() || isStateless(q, version):
		p.answerModern()
	case q.method == methodInitialize:
		p.initialize()
	default:
		p.answerInSession()
	}
}

// isStateless tells whether a message without a version of its own belongs to a modern client.
func isStateless(q *request, version string) bool {
	return mcp.IsModernProtocol(version) && (q.isNotification() || q.isResponse())
}

// readBody returns the whole body, or answers why not.
func (l *Listener) readBody(w http.ResponseWriter, r *http.Request) ([]byte, bool) {
	if kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || kind != "application/json" {
		http.Error(w, "The Content-Type must be application/json", http.StatusUnsupportedMediaType)
		return nil, false
	}
	control := http.NewResponseController(w)
	_ = control.SetReadDeadline(time.Now().Add(bodyTimeout)) // not every ResponseWriter can
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, l.maxBody))
	_ = control.SetReadDeadline(time.Time{})
	if tooLarge, ok := errors.AsType[*http.MaxBytesError](err); ok {
		http.Error(w, "The body is longer than "+strconv.FormatInt(tooLarge.Limit, 10)+" bytes", http.StatusRequestEntityTooLarge)
		return nil, false
	}
	if err != nil {
		http.Error(w, "The body could not be read", http.StatusBadRequest)
		return nil, false
	}
	return body, true
}

// checkHeaders refuses a version that nobody knows and, since 2026-07-28, headers that do not say what the body says.
func checkHeaders(h http.Header, q *request) *fault {
	header, version := h.Get(mcp.HeaderProtocolVersion), q.version()
	if isStateless(q, header) {
		return nil
	}
	if !mcp.IsModernProtocol(header) && !mcp.IsModernProtocol(version) {
		if header != "" && q.method != methodInitialize && !mcp.IsValidProtocolVersion(header) {
			return q.unsupported(header)
		}
		return q.checkVersion()
	}
	switch {
	case h.Get(mcp.HeaderLastEventID) != "":
		return q.fault(mcp.HEADER_MISMATCH, "Last-Event-ID is not supported: streams can't be resumed")
	case header == "":
		return q.fault(mcp.HEADER_MISMATCH, mcp.HeaderProtocolVersion+" header is required for requests carrying "+mcp.MetaKeyProtocolVersion)
	case version == "":
		return q.fault(mcp.INVALID_PARAMS, "missing or invalid _meta field "+mcp.MetaKeyProtocolVersion)
	case header != version:
		return q.fault(mcp.HEADER_MISMATCH, mcp.HeaderProtocolVersion+" header does not match "+mcp.MetaKeyProtocolVersion)
	}
	if f := q.checkVersion(); f != nil {
		return f
	}
	return checkStandardHeaders(h, q, version)
}

// checkStandardHeaders compares Mcp-Method and Mcp-Name with the body. The library's check reads all params, so of a
// call it is shown the name alone.
func checkStandardHeaders(h http.Header, q *request, version string) *fault {
	params := q.params
	if q.method == methodCall && q.name != nil {
		params = append(append([]byte(`{"name":`), q.name...), '}')
	}
	if err := mcp.ValidateStandardHeaders(h.Get, version, mcp.MCPMethod(q.method), params); err != nil {
		return q.fault(mcp.HEADER_MISMATCH, err.Error())
	}
	return nil
}

// answerModern answers a request that stands alone. Its end is the end of the connection, and notifications are not
// acted upon: whoever sent one can't show that the request it names is its own.
func (p *post) answerModern() {
	if p.q.isNotification() || p.q.isResponse() {
		p.w.WriteHeader(http.StatusAccepted)
		return
	}
	p.answer(p.r.Context(), introduction{callerName(p.r.Context()), clientName(p.q.meta.client), "", decodeCapabilities(p.q.meta.capabilities)}, "")
}

// initialize has the library open a session, whatever session the client had before.
func (p *post) initialize() {
	if !p.passToLibrary() {
		return
	}
	var params struct {
		Version      string          `json:"protocolVersion"`
		ClientInfo   json.RawMessage `json:"clientInfo"`
		Capabilities json.RawMessage `json:"capabilities"`
	}
	if id := p.w.Header().Get(library.HeaderKeySessionID); id != "" && json.Unmarshal(p.q.params, &params) == nil {
		p.l.sessions.setClient(id, introduction{callerName(p.r.Context()), clientName(params.ClientInfo), params.Version, decodeCapabilities(params.Capabilities)})
	}
	p.l.closeSurplus()
}

// answerInSession answers a message of a client that has made the handshake. A client that goes away has not cancelled
// its call.
func (p *post) answerInSession() {
	from, ok := p.l.enter(p.w, p.r, p.q)
	if !ok {
		return
	}
	session := p.r.Header.Get(library.HeaderKeySessionID)
	defer p.l.sessions.leave(session)
	switch {
	case p.q.method == methodCancelled && p.q.isNotification():
		if id := p.q.cancelledID(); id != "" {
			p.l.calls.cancelNamed(session + " " + id)
		}
		p.w.WriteHeader(http.StatusAccepted)
	case p.q.isNotification():
		p.passToLibrary()
	case p.q.isResponse():
		p.l.asked.take(session, p.q)
		p.w.WriteHeader(http.StatusAccepted)
	default:
		p.answer(context.WithoutCancel(p.r.Context()), from, session+" "+string(p.q.id))
	}
}

// enter finds the session that the request names, or answers that there is none.
func (l *Listener) enter(w http.ResponseWriter, r *http.Request, q *request) (c introduction, ok bool) {
	id, version := r.Header.Get(library.HeaderKeySessionID), r.Header.Get(mcp.HeaderProtocolVersion)
	if id == "" {
		writeFault(w, http.StatusBadRequest, version, q.fault(mcp.INVALID_REQUEST, library.HeaderKeySessionID+" header is required after initialize"))
		return introduction{}, false
	}
	if c, ok = l.sessions.enter(id, callerName(r.Context())); !ok {
		writeFault(w, http.StatusNotFound, version, q.fault(mcp.INVALID_REQUEST, "The session has ended; initialize a new one"))
	}
	return c, ok
}

// answer answers a request. name is what the client can cancel it by, "" for nothing.
func (p *post) answer(ctx context.Context, from introduction, name string) {
	switch {
	case suite{}.answers(ctx, p, from, name):
		return
	case p.q.method == methodCall:
		p.call(ctx, from, name)
		return
	case p.l.server.offers(p.q):
		p.offer(ctx, from.name, name)
		return
	case p.l.server.isListen(p.q):
		p.listen(ctx)
		return
	}
	if result := p.l.server.ready(p.q, audience{callerName(ctx), showsViews(from.capabilities)}); result != nil {
		newReply(p.w, p.r).outbox().sendResult(p.q.id, result)
		return
	}
	session := newPeer("http")
	result, f := p.l.server.askLibrary(p.l.server.mcp.WithContext(ctx, session), p.q, p.body)
	if f != nil {
		p.sendFault(f)
		return
	}
	out := newReply(p.w, p.r).outbox()
	out.sendNotices(session.takeNotices())
	out.sendValue(p.q.id, result)
}

// begin opens a call, or answers why it can't be.
func (p *post) begin(ctx context.Context, name string) (run *call, ok bool) {
	run, err := p.l.calls.begin(ctx, name)
	switch {
	case errors.Is(err, errSameID):
		writeFault(p.w, http.StatusBadRequest, "", p.q.notBegun(err))
	case err != nil:
		p.w.Header().Set("Retry-After", "1")
		writeFault(p.w, http.StatusServiceUnavailable, "", p.q.notBegun(err))
	}
	return run, err == nil
}

func (p *post) call(ctx context.Context, from introduction, name string) {
	c, f := p.l.server.toolCall(p.q, callerName(ctx))
	if f != nil {
		p.sendFault(f)
		return
	}
	run, ok := p.begin(ctx, name)
	if !ok {
		return
	}
	defer run.done()
	c.Client = from.name
	reply := newReply(p.w, p.r)
	out := reply.outbox()
	if p.q.isModern() {
		out.refuses = func(code int) { reply.status = statusOf(code) }
	}
	p.l.server.letAsk(&c, p.q, from.capabilities, &waiter{
		questions: p.l.asked, session: p.r.Header.Get(library.HeaderKeySessionID), run: run, out: out, gone: p.r.Context().Done(),
	})
	p.l.server.carryOut(run, c, p.q, out)
	reply.end()
}

// offer is call for what is offered beside tools.
func (p *post) offer(ctx context.Context, client, name string) {
	run, ok := p.begin(ctx, name)
	if !ok {
		return
	}
	defer run.done()
	o := p.l.server.offerOf(p.q, p.l.callerOver(ctx, client), nil)
	if session := p.r.Header.Get(library.HeaderKeySessionID); session != "" && !p.q.isModern() {
		o.subs = p.l.sessions.subscriptions(session, p.l.server.hub.newListener)
	}
	result, f := p.l.server.answerOffer(run, o)
	switch settled := run.settle(); {
	case !settled:
		p.w.WriteHeader(http.StatusAccepted)
	case f != nil:
		f.id = p.q.id
		p.sendFault(f)
	default:
		newReply(p.w, p.r).outbox().sendResult(p.q.id, result)
	}
}

// callerOver is who calls over HTTP.
func (l *Listener) callerOver(ctx context.Context, client string) Call {
	return Call{Caller: callerName(ctx), Client: client}
}

// sendFault answers with an error. Since 2026-07-28 the status tells intermediaries what kind it is.
func (p *post) sendFault(f *fault) {
	status := http.StatusOK
	if p.q.isModern() {
		status = statusOf(f.code)
	}
	writeFault(p.w, status, "", f)
}

func statusOf(code int) int {
	switch code {
	case mcp.METHOD_NOT_FOUND:
		return http.StatusNotFound
	case mcp.HEADER_MISMATCH, mcp.MISSING_REQUIRED_CLIENT_CAPABILITY, mcp.UNSUPPORTED_PROTOCOL_VERSION,
		mcp.INVALID_REQUEST, mcp.INVALID_PARAMS, mcp.PARSE_ERROR:
		return http.StatusBadRequest
	}
	return http.StatusOK
}

// passToLibrary has the library's HTTP server answer. The library reads ids as floating-point numbers, so an id that
// would come back as another one is refused.
func (p *post) passToLibrary() bool {
	if !isExact(p.q.id) {
		writeFault(p.w, http.StatusBadRequest, "", p.q.fault(mcp.INVALID_REQUEST, inexactID))
		return false
	}
	p.r.Body = io.NopCloser(bytes.NewReader(p.body))
	p.l.streamable.ServeHTTP(p.w, p.r)
	return true
}

const inexactID = "The id of this request must be a string or an integer below 2^53"

// isExact tells whether an id keeps its value as a floating-point number.
func isExact(id []byte) bool {
	if len(id) == 0 || id[0] == '"' {
		return true
	}
	n, err := strconv.ParseInt(string(id), 10, 64)
	return err == nil && -1<<53 < n && n < 1<<53
}

// reply is the answer to a call: JSON, or a stream of events once there is something to say before the result.
type reply struct {
	w       http.ResponseWriter
	streams bool // the client takes a stream
	begun   bool
	status  int // what an error begins with; 0 for 200
}

func newReply(w http.ResponseWriter, r *http.Request) *reply {
	return &reply{w: w, streams: strings.Contains(r.Header.Get("Accept"), "text/event-stream")}
}

func (r *reply) outbox() *outbox {
	out := newOutbox(r)
	out.after = ""
	out.openNotices = func() bool { return r.stream(out) }
	return out
}

// Write writes a part of the answer.
func (r *reply) Write(b []byte) (int, error) {
	if !r.begun {
		r.begun = true
		r.w.Header().Set("Content-Type", "application/json")
		if r.status != 0 {
			r.w.WriteHeader(r.status)
		}
	}
	return r.w.Write(b)
}

// stream turns the answer into a stream, if the client takes one. It is called before each notification.
func (r *reply) stream(out *outbox) bool {
	if !r.streams || r.begun {
		return r.streams
	}
	r.begun = true
	r.w.Header().Set("Content-Type", "text/event-stream")
	r.w.Header().Set("Cache-Control", "no-cache")
	out.before, out.after = "event: message\ndata: ", "\n\n"
	out.flush = func() { _ = http.NewResponseController(r.w).Flush() } // an error shows in the next write
	return true
}

// end answers a call that the client has cancelled, which gets no result.
func (r *reply) end() {
	if !r.begun {
		r.w.WriteHeader(http.StatusAccepted)
	}
}
