package server

import (
	"context"
	"fmt"
	"runtime/debug"
	"strconv"
	"sync"
	"time"

	"github.com/mark3labs/mcp-go/mcp"

	"writ/contract"
	"writ/envelope"
)

// makeLists returns the results of tools/list for clients before and since 2026-07-28.
func (s *Server) makeLists(definitions []Definition) (legacy, modern []byte) {
	tools := []byte(`"tools":[`)
	for i := range definitions {
		if i > 0 {
			tools = append(tools, ',')
		}
		tools = definitions[i].appendJSON(tools)
	}
	tools = append(tools, "]}"...)
	legacy = append([]byte("{"), tools...)
	modern = append([]byte("{"), s.modernHead...)
	modern = fmt.Appendf(modern, `"ttlMs":%d,"cacheScope":"%s",`, listTTL.Milliseconds(), mcp.CacheScopePrivate)
	return legacy, append(modern, tools...)
}

// appendJSON appends the definition, the name first. Nothing is escaped that need not be: a model reads every byte.
func (d *Definition) appendJSON(b []byte) []byte {
	b = envelope.AppendString(append(b, `{"name":`...), d.Name)
	if d.Title != "" {
		b = envelope.AppendString(append(b, `,"title":`...), d.Title)
	}
	b = envelope.AppendString(append(b, `,"description":`...), d.Description)
	b = append(append(b, `,"inputSchema":`...), d.InputSchema...)
	if d.OutputSchema != nil {
		b = append(append(b, `,"outputSchema":`...), d.OutputSchema...)
	}
	b = strconv.AppendBool(append(b, `,"annotations":{"readOnlyHint":`...), d.ReadOnly)
	b = strconv.AppendBool(append(b, `,"destructiveHint":`...), d.Destructive)
	b = strconv.AppendBool(append(b, `,"idempotentHint":`...), d.Idempotent)
	b = append(b, `,"openWorldHint":false}`...)
	if d.hasView {
		b = append(b, viewMember...)
	}
	return append(b, '}')
}

// toolCall turns a request of method tools/call into a Call.
func (s *Server) toolCall(q *request, caller string) (Call, *fault) {
	tool, ok := decodeText(q.name)
	if !ok {
		return Call{}, q.fault(mcp.INVALID_PARAMS, "The params of tools/call must name a tool")
	}
	if s.tools[tool] == nil || !s.gate.Has(caller, tool) {
		return Call{}, q.fault(mcp.INVALID_PARAMS, "Unknown tool: "+contract.Quote(tool))
	}
	return Call{Caller: caller, Tool: tool, Arguments: q.arguments}, nil
}

// answer is what the gate said, ready to be sent.
type answer struct {
	envelope     envelope.Envelope
	envelopeJSON []byte // the envelope without its bulk texts
	structured   []byte // nil where none is sent; else JSON, most often envelopeJSON itself
	buf          *[]byte
}

// buffers hold envelopes while they are sent.
var buffers = sync.Pool{New: func() any { return new([]byte) }}

// ask has the gate carry out a call. A panic behind the gate is answered as a fault of ours; its text stays here.
func (s *Server) ask(ctx context.Context, c Call) (a *answer, f *fault) {
	defer func() {
		if p := recover(); p != nil {
			s.log.Error("a call panicked", "tool", c.Tool, "panic", p, "stack", string(debug.Stack()))
			a, f = nil, &fault{code: mcp.INTERNAL_ERROR, message: "The server failed; nothing is known about what was done"}
		}
	}()
	began := time.Now()
	a = &answer{envelope: s.gate.Call(ctx, c), buf: buffers.Get().(*[]byte)}
	if s.noteCall != nil {
		s.noteCall(c.Tool, string(a.envelope.Status), time.Since(began))
	}
	a.envelopeJSON = a.envelope.AppendJSON((*a.buf)[:0])
	if s.hub != nil && a.envelope.Changed != "" && a.envelope.Changed != envelope.No {
		s.hub.poke()
	}
	if s.tools[c.Tool].OutputSchema != nil {
		a.structured = a.envelopeJSON
	} else if s.info.StructuredReads {
		a.structured = a.envelope.AppendStructured(nil)
	}
	return a, nil
}

// release gives the answer's buffer back; a large one is left to the collector.
func (a *answer) release() {
	if cap(a.envelopeJSON) <= 4*chunk {
		*a.buf = a.envelopeJSON
		buffers.Put(a.buf)
	}
}
