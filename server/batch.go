package server

import (
	"context"
	"net/http"

	"github.com/mark3labs/mcp-go/mcp"
	library "github.com/mark3labs/mcp-go/server"
)

// A batch is a JSON array of messages. Of all protocol versions only 2025-03-26 has them, and wants them taken; the one
// before says nothing of them, and the ones after have taken them out again. So they are taken from clients that have
// settled on that version, and refused otherwise.
//
// Each message is answered as if it had come alone: over stdio on a line of its own, over HTTP as an element of one array.
// Over HTTP they are carried out one after the other, and nothing is told or asked in between.

// maxBatch is how many messages a batch may hold.
const maxBatch = 100

const batchVersion = mcp.ProtocolVersion20250326

// isBatch tells whether a text, which may be no JSON, is a batch if it is anything.
func isBatch(text []byte) bool { return (&scanner{b: text}).peek() == '[' }

// splitBatch returns the messages of a batch as they were written.
func splitBatch(text []byte) ([][]byte, *fault) {
	p := scanner{b: text}
	if _, ok := p.raw(); !ok || !p.end() {
		return nil, notJSON
	}
	p = scanner{b: text}
	p.take('[')
	var messages [][]byte
	for p.peek() != ']' {
		message, _ := p.raw()
		if messages = append(messages, message); len(messages) > maxBatch {
			return nil, &fault{code: mcp.INVALID_REQUEST, message: "The batch holds too many messages"}
		}
		p.take(',')
	}
	if len(messages) == 0 {
		return nil, &fault{code: mcp.INVALID_REQUEST, message: "The batch is empty"}
	}
	return messages, nil
}

// parseInBatch reads one message of a batch.
func parseInBatch(text []byte) (*request, *fault) {
	q, f := parse(text)
	switch {
	case f != nil:
		return nil, f
	case q.method == methodInitialize:
		return nil, q.fault(mcp.INVALID_REQUEST, "The handshake is not part of a batch")
	case q.version() != "" && q.version() != batchVersion:
		return nil, q.fault(mcp.INVALID_REQUEST, "This protocol version has no batches")
	}
	return q, nil
}

// batch takes a batch apart, and has its messages read like the lines that come after.
func (l *loop) batch(line []byte) {
	messages, f := splitBatch(line)
	if f != nil {
		l.out.sendFault(f)
		return
	}
	for _, message := range messages {
		if _, f := parseInBatch(message); f != nil {
			l.out.sendFault(f)
			continue
		}
		l.in.put(message)
	}
}

// takesBatches tells whether the request is in a session of the version that has batches, and does not claim another one.
func (l *Listener) takesBatches(r *http.Request) bool {
	if claimed := r.Header.Get(mcp.HeaderProtocolVersion); claimed != "" && claimed != batchVersion {
		return false
	}
	return l.sessions.version(r.Header.Get(library.HeaderKeySessionID)) == batchVersion
}

// postBatch answers a batch. Where none of it is a request, there is nothing to answer.
func (l *Listener) postBatch(w http.ResponseWriter, r *http.Request, body []byte) {
	messages, f := splitBatch(body)
	if f != nil {
		writeFault(w, http.StatusBadRequest, batchVersion, f)
		return
	}
	r = r.WithContext(context.WithoutCancel(r.Context())) // a client that goes away has cancelled nothing
	r.Header.Set("Accept", "application/json")
	answers := &array{w: w}
	for _, message := range messages {
		part := &element{array: answers, header: http.Header{}}
		q, f := parseInBatch(message)
		if f != nil {
			writeFault(part, http.StatusBadRequest, batchVersion, f)
			continue
		}
		(&post{l, part, r, q, message}).answerInSession()
	}
	answers.end()
}

// array is the JSON array that a batch is answered with.
type array struct {
	w     http.ResponseWriter
	begun bool
}

// end closes the array; one without elements is no body at all.
func (a *array) end() {
	if !a.begun {
		a.w.WriteHeader(http.StatusAccepted)
		return
	}
	_, _ = a.w.Write([]byte("]")) // a client that is gone needs no answer
}

// element is the answer to one message.
type element struct {
	array  *array
	header http.Header
	begun  bool
}

// Header returns headers that are not sent.
func (e *element) Header() http.Header { return e.header }

// WriteHeader drops the status: the array has one of its own.
func (e *element) WriteHeader(int) {}

// Write writes a part of the answer.
func (e *element) Write(b []byte) (int, error) {
	before := ""
	switch {
	case !e.array.begun:
		e.array.w.Header().Set("Content-Type", "application/json")
		before = "["
	case !e.begun:
		before = ","
	}
	e.array.begun, e.begun = true, true
	if _, err := e.array.w.Write([]byte(before)); err != nil {
		return 0, err
	}
	return e.array.w.Write(b)
}
