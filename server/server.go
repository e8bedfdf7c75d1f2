// Package server is MCP in and out: it reads messages from stdio, streamable HTTP and HTTP+SSE, hands tool calls to the
// gate, and writes what the gate answers. It is the only room that knows the protocol library.
//
// One server serves every protocol version from 2024-11-05 to 2026-07-28: each request says to which era it belongs.
// The library decides what the protocol says. Three things are done here, because they are most of the work and must be
// fast and exact: tools/call goes to the gate with its arguments as the bytes that came, tools/list is made once, and
// ids are echoed as they were written. Over SSE, which is for old clients only, the library does it all.
//
// Beside tools it offers resources (files, notes, artifacts, changes), completion of their names, and prompts, where the
// gate is a [Library] too. They are answered here, over every transport. Questions to a person go by way of the client, in
// the way of its era; see question.go.
//
// Not here on purpose: logging, tasks, lists that change, and other requests to the client. What is not served is not
// declared.
package server

import (
	"context"
	"encoding/json"
	"log/slog"
	"slices"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	library "github.com/mark3labs/mcp-go/server"

	"writ/envelope"
	"writ/gate"
)

// Gate is the way to the tools.
type Gate interface {
	// Call carries one call through. It never fails: the envelope says what happened. It is called from many goroutines
	// at once, and ends soon after ctx does.
	Call(ctx context.Context, c Call) envelope.Envelope
	// Has tells whether a tool is there for the caller.
	Has(caller, tool string) bool
	// Definitions lists the tools in the order in which clients see them. It is asked once.
	Definitions() []Definition
	// CheckState returns an error unless the state of a reply is one that was given out with a question.
	CheckState(ctx context.Context, state string) error
}

// Call is one call of a tool as it came.
type Call struct {
	Caller    string          // who calls: "local" over stdio; over HTTP as the policy names him, or "http"
	Client    string          // what the client calls itself, "name/version"; "" where it does not say
	Tool      string          // a tool that the gate has
	Arguments json.RawMessage // as written, well-formed JSON of any kind; nil where absent. Not to be changed
	// Progress tells the client how far the call is; total 0 means that nobody knows. Values that do not grow, and those
	// that follow each other too fast, are dropped. nil where the client did not ask.
	Progress func(progress, total float64, message string)
	Asker    gate.Asker  // nil: nobody can be asked by way of the client
	Reply    *gate.Reply // what a person said to a question of an earlier call; nil: nothing
}

// Definition is a tool as clients see it.
type Definition struct {
	Name, Title, Description string
	InputSchema              json.RawMessage
	OutputSchema             json.RawMessage // nil for a tool that returns its texts as blocks of their own
	ReadOnly                 bool
	Destructive              bool
	Idempotent               bool

	hasView bool // it is told of the view of its answers
}

// Info is what the server says about itself, and how it answers.
type Info struct {
	Name         string
	Version      string
	Instructions string // for the model; "" means [Instructions]
	// StructuredReads adds structuredContent, texts and all, to the answers of tools without an output schema.
	StructuredReads bool
	Log             *slog.Logger // told of faults of ours; nil: nobody is
}

const (
	// MaxMessage is the size of the longest message that is taken, in bytes.
	MaxMessage = 64 << 20

	// listTTL is how long clients may keep a list. It never changes while the server runs.
	listTTL = 5 * time.Minute

	// drainGrace is how long calls may go on after the end of input; then they are cancelled, and waited for this long.
	drainGrace, cancelGrace = 10 * time.Second, 5 * time.Second
)

// Server serves one gate to any number of clients.
type Server struct {
	gate        Gate
	library     Library // nil: tools alone
	hub         *hub    // nil with it
	info        Info
	log         *slog.Logger
	mcp         *library.MCPServer
	definitions []Definition
	tools       map[string]*Definition
	modernHead  []byte // what stands first in each result since 2026-07-28
	inputHead   []byte // in one that requires input
	lists       lists

	noteCall func(tool, status string, took time.Duration) // counts the calls; nil: nobody does

	maxMessage              int
	drainGrace, cancelGrace time.Duration
}

// New returns a server of the gate's tools.
func New(gate Gate, info Info) *Server {
	if info.Instructions == "" {
		info.Instructions = Instructions
	}
	s := &Server{gate: gate, info: info, log: info.Log, maxMessage: MaxMessage, drainGrace: drainGrace, cancelGrace: cancelGrace}
	if s.log == nil {
		s.log = slog.New(slog.DiscardHandler)
	}
	if s.library, _ = gate.(Library); s.library != nil {
		s.hub = newHub(s.library.StateOf)
	}
	definitions := append(gate.Definitions(), suite{}.tools()...)
	s.tools = make(map[string]*Definition, len(definitions))
	for i := range definitions {
		s.tools[definitions[i].Name] = &definitions[i]
	}
	s.modernHead, s.inputHead = modernHead(mcp.ResultTypeComplete, info), modernHead(mcp.ResultTypeInputRequired, info)
	s.definitions = definitions
	s.mcp = s.newLibrary(definitions)
	return s
}

// newLibrary sets up the library's server. It declares what is served here, and answers none but the handshake and
// tools/call over SSE.
func (s *Server) newLibrary(definitions []Definition) *library.MCPServer {
	options := []library.ServerOption{
		library.WithInstructions(s.info.Instructions),
		library.WithToolCapabilities(false),
		library.WithToolFilter(s.offered),
		library.WithCacheHints(listTTL.Milliseconds(), mcp.CacheScopePrivate),
	}
	if s.library != nil {
		options = append(options, library.WithResourceCapabilities(true, false), library.WithPromptCapabilities(false), library.WithCompletions())
	}
	options = append(options, suite{}.options()...)
	m := library.NewMCPServer(s.info.Name, s.info.Version, options...)
	tools := make([]library.ServerTool, len(definitions))
	for i := range definitions {
		tools[i] = library.ServerTool{Tool: definitions[i].forLibrary(), Handler: s.handleForLibrary}
	}
	m.AddTools(tools...)
	return m
}

// offered are those of tools that the caller may use.
func (s *Server) offered(ctx context.Context, tools []mcp.Tool) []mcp.Tool {
	caller := callerName(ctx)
	return slices.DeleteFunc(slices.Clone(tools), func(t mcp.Tool) bool { return !s.isOffered(caller, t.Name) })
}

func (s *Server) isOffered(caller, tool string) bool {
	return suite{}.has(tool) || s.gate.Has(caller, tool)
}

func (d *Definition) forLibrary() mcp.Tool {
	t := mcp.NewToolWithRawSchema(d.Name, d.Description, d.InputSchema)
	t.Title = d.Title
	t.RawOutputSchema = d.OutputSchema
	t.Annotations = mcp.ToolAnnotation{
		ReadOnlyHint:    new(d.ReadOnly),
		DestructiveHint: new(d.Destructive),
		IdempotentHint:  new(d.Idempotent),
		OpenWorldHint:   new(false),
	}
	return t
}

// modernHead returns the members that each result has since 2026-07-28, with a comma behind them.
func modernHead(kind mcp.ResultType, info Info) []byte {
	b := append([]byte(`"resultType":"`), kind...)
	b = append(append(b, `","_meta":{"`...), mcp.MetaKeyServerInfo...)
	b = envelope.AppendString(append(b, `":{"name":`...), info.Name)
	b = envelope.AppendString(append(b, `,"version":`...), info.Version)
	return append(b, `}},`...)
}
