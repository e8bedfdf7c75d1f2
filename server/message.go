package server

import (
	"encoding/base64"
	"encoding/json"
	"io"
	"strings"
	"sync"
	"sync/atomic"
	"unicode/utf8"

	"github.com/mark3labs/mcp-go/mcp"

	"writ/envelope"
)

// chunk is how much of a message is put together before it is written. A large text is escaped and written piece by
// piece, so that it is never held twice. Smaller pieces make the reader wake up more often.
const chunk = 256 << 10

// outbox is where messages go, each whole and one after the other.
type outbox struct {
	w             io.Writer
	before, after string         // framing of each message
	flush         func()         // called behind each message; nil: nothing to do
	openNotices   func() bool    // called before each notification: can it be sent? nil: yes
	refuses       func(code int) // called before each error; nil: nothing to do
	omitID        atomic.Bool    // the other side speaks 2025-11-25 or later

	mu     sync.Mutex
	err    error         // the first failure to write; nothing is written after it
	broken chan struct{} // closed with the first failure
}

func newOutbox(w io.Writer) *outbox { return &outbox{w: w, after: "\n", broken: make(chan struct{})} }

func (o *outbox) failure() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.err
}

// message is one message being written. Most fit into its buffer and are written at once; one that does not holds the
// outbox from its first chunk to its end.
type message struct {
	out  *outbox
	buf  []byte
	held bool
}

var messages = sync.Pool{New: func() any { return &message{buf: make([]byte, 0, 4<<10)} }}

func (o *outbox) begin() *message {
	m := messages.Get().(*message)
	m.out = o
	m.buf = append(m.buf[:0], o.before...)
	return m
}

// send writes what is left and ends the message.
func (m *message) send() {
	m.buf = append(m.buf, m.out.after...)
	m.write()
	if m.out.flush != nil && m.out.err == nil {
		m.out.flush()
	}
	m.out.mu.Unlock()
	m.out, m.held = nil, false
	if cap(m.buf) <= 4*chunk {
		messages.Put(m)
	}
}

func (m *message) write() {
	if !m.held {
		m.out.mu.Lock()
		m.held = true
	}
	if m.out.err == nil {
		if _, err := m.out.w.Write(m.buf); err != nil {
			m.out.err = err
			close(m.out.broken)
		}
	}
	m.buf = m.buf[:0]
}

func (m *message) writeFullChunk() {
	if len(m.buf) >= chunk {
		m.write()
	}
}

// add appends bytes as they are.
func (m *message) add(s string) { m.buf = append(m.buf, s...) }

// addJSON appends a JSON value as it is.
func (m *message) addJSON(b []byte) {
	m.buf = append(m.buf, b...)
	m.writeFullChunk()
}

// addValue appends v as encoding/json writes it.
func (m *message) addValue(v any) {
	b, err := json.Marshal(v)
	if err != nil { // only values of ours come here, and they all marshal
		b = []byte("null")
	}
	m.addJSON(b)
}

// addText appends s as the inside of a JSON string. Bytes that are not UTF-8 would break the message, so they become
// U+FFFD; texts that come from files are valid before they get here.
func (m *message) addText(s string) {
	if !utf8.ValidString(s) {
		s = strings.ToValidUTF8(s, "\uFFFD")
	}
	for len(s) > chunk {
		cut := chunk
		for !utf8.RuneStart(s[cut]) {
			cut--
		}
		m.buf = appendEscaped(m.buf, s[:cut])
		m.writeFullChunk()
		s = s[cut:]
	}
	m.buf = appendEscaped(m.buf, s)
	m.writeFullChunk()
}

// addEncoded appends JSON as the inside of a JSON string. b is valid UTF-8.
func (m *message) addEncoded(b []byte) {
	m.buf = appendEscaped(m.buf, b)
	m.writeFullChunk()
}

// addBase64 appends data in base64.
func (m *message) addBase64(data []byte) {
	const piece = chunk / 4 * 3 // a multiple of 3, so that no padding stands in the middle
	for len(data) > piece {
		m.buf = base64.StdEncoding.AppendEncode(m.buf, data[:piece])
		m.writeFullChunk()
		data = data[piece:]
	}
	m.buf = base64.StdEncoding.AppendEncode(m.buf, data)
	m.writeFullChunk()
}

// appendEscaped appends s, which is valid UTF-8, as the inside of a JSON string. U+2028 and U+2029 are escaped too:
// some clients end a line there.
func appendEscaped[T ~string | ~[]byte](b []byte, s T) []byte {
	for {
		n := plain(s)
		b = append(b, s[:n]...)
		if n == len(s) {
			return b
		}
		size := 1
		switch c := s[n]; {
		case c != lineSeparatorLead:
			b = envelope.AppendEscape(b, c)
		case len(s) > n+2 && s[n+1] == 0x80 && s[n+2]&^1 == 0xA8:
			b = append(b, '\\', 'u', '2', '0', '2', '8'+s[n+2]&1)
			size = 3
		default:
			b = append(b, c)
		}
		s = s[n+size:]
	}
}

// sendFault sends a JSON-RPC error. One for a message without a readable id has the id null, as JSON-RPC wants, or none,
// as MCP wants since 2025-11-25.
func (o *outbox) sendFault(f *fault) {
	if o.refuses != nil {
		o.refuses(f.code)
	}
	m := o.begin()
	m.add(`{"jsonrpc":"2.0"`)
	switch {
	case f.id != nil:
		m.add(`,"id":`)
		m.addJSON(f.id)
	case !o.omitID.Load():
		m.add(`,"id":null`)
	}
	m.add(`,"error":`)
	m.addValue(struct {
		Code    int    `json:"code"`
		Message string `json:"message"`
		Data    any    `json:"data,omitempty"`
	}{f.code, f.message, f.data})
	m.add("}")
	m.send()
}

// sendResult sends a result that is JSON already.
func (o *outbox) sendResult(id, result []byte) {
	m := o.begin()
	m.head(id)
	m.addJSON(result)
	m.add("}")
	m.send()
}

// sendValue sends a result of the library's.
func (o *outbox) sendValue(id []byte, result any) {
	m := o.begin()
	m.head(id)
	m.addValue(result)
	m.add("}")
	m.send()
}

// sendNotices sends the library's notifications, if the other side takes any before the result.
func (o *outbox) sendNotices(notices []mcp.JSONRPCNotification) {
	for _, notice := range notices {
		if o.openNotices != nil && !o.openNotices() {
			return
		}
		m := o.begin()
		m.addValue(notice)
		m.send()
	}
}

func (m *message) head(id []byte) {
	m.add(`{"jsonrpc":"2.0","id":`)
	m.addJSON(id)
	m.add(`,"result":`)
}

// addCallResult appends the result of tools/call.
func (m *message) addCallResult(s *Server, modern bool, a *answer) {
	m.add("{")
	if modern {
		m.addJSON(s.modernHead)
	}
	m.add(`"content":[{"type":"text","text":"`)
	m.addEncoded(a.envelopeJSON)
	m.add(`"}`)
	m.addBulk(&a.envelope)
	m.add("]")
	if a.structured != nil {
		m.add(`,"structuredContent":`)
		m.addJSON(a.structured)
	}
	if a.envelope.IsError() {
		m.add(`,"isError":true`)
	}
	m.add("}")
}

// addBulk appends the blocks that stand behind the envelope.
func (m *message) addBulk(e *envelope.Envelope) {
	if e.Media != nil {
		m.add(`,{"type":"` + mediaBlock(e.Media) + `","data":"`)
		m.addBase64(e.Media.Data)
		m.add(`","mimeType":"`)
		m.addText(e.Media.Type)
		m.add(`"}`)
	}
	for _, text := range e.Texts {
		m.add(`,{"type":"text","text":"`)
		m.addText(text)
		m.add(`"}`)
	}
}

func mediaBlock(media *envelope.Media) string {
	if strings.HasPrefix(media.Type, "audio/") {
		return "audio"
	}
	return "image"
}
