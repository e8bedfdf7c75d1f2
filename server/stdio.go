package server

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os/signal"
	"sync/atomic"
	"syscall"

	"github.com/mark3labs/mcp-go/mcp"

	"writ/gate"
)

// Stdio serves one client with newline-delimited messages until in ends, ctx ends, or out fails. Then open calls are
// finished and answered; those that take too long are cancelled. The end of in or ctx is no error.
//
// SIGPIPE is ignored from then on, so that a client that goes away does not kill the process in the middle of a write.
// A Read of in that is still waiting when ctx ends is left behind.
func (s *Server) Stdio(ctx context.Context, in io.Reader, out io.Writer) error {
	signal.Ignore(syscall.SIGPIPE)
	l := &loop{
		server: s,
		in:     newLineReader(in, s.maxMessage),
		out:    newOutbox(out),
		calls:  newCalls(ctx),
		asked:  newQuestions(),
		peer:   newPeer("stdio"),
		ended:  make(chan struct{}),
		baton:  make(chan struct{}),
		over:   make(chan struct{}),
	}
	defer close(l.over)
	l.listens = newListens(s, l.out)
	go l.read()
	select {
	case <-ctx.Done():
	case <-l.ended:
	case <-l.out.broken:
	}
	l.asked.close()
	l.calls.drain(s.drainGrace, s.cancelGrace)
	l.listens.close()
	return l.result()
}

// loop reads and answers. Whoever has read a call carries it out itself, and another goroutine goes on reading: the call
// does not wait for another thread to wake up, and holds up nothing. The other is one that has carried out its call, if
// one waits: its stack has the size that calls need, and a new one would have to grow there.
type loop struct {
	server  *Server
	in      *lineReader // used by one goroutine at a time
	out     *outbox
	calls   *calls
	asked   *questions
	peer    *peer
	ended   chan struct{}
	baton   chan struct{} // handed to whoever shall read on
	over    chan struct{} // closed when all has been answered
	waiting atomic.Int32  // for the baton
	listens *listens
	inErr   error // why the input ended; set before ended is closed
}

func (l *loop) result() error {
	if err := l.out.failure(); err != nil {
		return fmt.Errorf("write to the client: %w", err)
	}
	select {
	case <-l.ended:
		if !errors.Is(l.inErr, io.EOF) {
			return fmt.Errorf("read from the client: %w", l.inErr)
		}
	default:
	}
	return nil
}

// maxWaiting is how many goroutines wait to read on; more would only keep their stacks.
const maxWaiting = 4

// handOn has another goroutine read the next line.
func (l *loop) handOn() {
	select {
	case l.baton <- struct{}{}:
	default:
		go l.read()
	}
}

// waitForBaton waits until this goroutine shall read on. It is false where that will not be.
func (l *loop) waitForBaton() bool {
	defer l.waiting.Add(-1)
	if l.waiting.Add(1) > maxWaiting {
		return false
	}
	select {
	case <-l.baton:
		return true
	case <-l.over:
		return false
	}
}

func (l *loop) read() {
	for {
		line, err := l.in.next()
		if errors.Is(err, errTooLong) {
			l.out.sendFault(&fault{code: mcp.INVALID_REQUEST, message: fmt.Sprintf("The message is longer than %d bytes", l.in.most)})
			continue
		}
		if err != nil {
			l.inErr = err
			close(l.ended)
			return
		}
		if l.calls.isClosed() {
			return
		}
		if l.handle(line) == handedOn && !l.waitForBaton() {
			return
		}
	}
}

// reader says who reads the next line.
type reader int

const (
	same     reader = iota // the goroutine that read the last one
	handedOn               // another one
)

func (l *loop) handle(line []byte) reader {
	if isBatch(line) && l.peer.ProtocolVersion() == batchVersion {
		l.batch(line)
		return same
	}
	q, f := parse(line)
	if f == nil {
		f = q.checkVersion()
	}
	if f != nil {
		l.refuse(q, f)
		return same
	}
	if q.isModern() {
		l.out.omitID.Store(true)
	}
	switch {
	case q.isResponse():
		l.asked.take("", q)
		return same
	case q.isNotification():
		l.notice(q, line)
		return same
	case q.method == methodCall:
		return l.call(q)
	case l.server.offers(q):
		return l.offer(q)
	case l.server.isListen(q):
		l.listens.listen(q)
		return same
	}
	if result := l.server.ready(q, audience{gate.CallerLocal, showsViews(l.capabilitiesOf(q))}); result != nil {
		l.out.sendResult(q.id, result)
		return same
	}
	l.askLibrary(q, line)
	if q.method == methodInitialize {
		l.out.omitID.Store(l.peer.ProtocolVersion() >= mcp.ProtocolVersion20251125)
	}
	return same
}

// refuse answers a message that is none; a notification is never answered.
func (l *loop) refuse(q *request, f *fault) {
	if q == nil || !q.isNotification() {
		l.out.sendFault(f)
	}
}

func (l *loop) notice(q *request, line []byte) {
	if q.method == methodCancelled {
		if id := q.cancelledID(); id != "" {
			l.calls.cancelNamed(id)
			l.listens.forget(id)
		}
		return
	}
	l.askLibrary(q, line)
}

func (l *loop) call(q *request) reader {
	c, f := l.server.toolCall(q, gate.CallerLocal)
	if f != nil {
		l.out.sendFault(f)
		return same
	}
	run, err := l.calls.begin(l.calls.ctx, string(q.id))
	if err != nil {
		l.out.sendFault(q.notBegun(err))
		return same
	}
	defer run.done()
	l.handOn()
	c.Client = l.clientOf(q)
	l.server.letAsk(&c, q, l.capabilitiesOf(q), &waiter{questions: l.asked, run: run, out: l.out})
	l.server.carryOut(run, c, q, l.out)
	return handedOn
}

// offer is call for what is offered beside tools.
func (l *loop) offer(q *request) reader {
	run, err := l.calls.begin(l.calls.ctx, string(q.id))
	if err != nil {
		l.out.sendFault(q.notBegun(err))
		return same
	}
	defer run.done()
	l.handOn()
	o := l.server.offerOf(q, Call{Caller: gate.CallerLocal, Client: l.clientOf(q)}, nil)
	if q.method == methodSubscribe || q.method == methodUnsubscribe {
		o.subs = l.listens.legacy()
	}
	l.server.carryOutOffer(run, o, l.out)
	return handedOn
}

func (l *loop) clientOf(q *request) string {
	if q.isModern() {
		return clientName(q.meta.client)
	}
	return l.peer.name()
}

func (l *loop) capabilitiesOf(q *request) mcp.ClientCapabilities {
	if q.isModern() {
		return decodeCapabilities(q.meta.capabilities)
	}
	return l.peer.GetClientCapabilities()
}

// askLibrary sends what the library answers, its notifications first. None of what it is asked takes time: with tools
// alone even subscriptions/listen ends at once, since there is nothing to subscribe to.
func (l *loop) askLibrary(q *request, line []byte) {
	result, f := l.server.askLibrary(l.server.mcp.WithContext(l.calls.ctx, l.peer), q, line)
	l.out.sendNotices(l.peer.takeNotices())
	switch {
	case f != nil:
		l.out.sendFault(f)
	case result != nil:
		l.out.sendValue(q.id, result)
	}
}
