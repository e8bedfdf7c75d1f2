package server

import (
	"encoding/json"
	"unicode/utf8"

	"github.com/mark3labs/mcp-go/mcp"
)

// request is one JSON-RPC message as it came. Its slices are parts of the line or body that it was read from.
type request struct {
	id     []byte // as written; nil where there is none
	method string // "" for a response
	params []byte // as written; nil where there are none

	// Those of params that are used here, as written; nil where absent.
	name, arguments, cursor, requestID, state []byte
	meta                                      meta

	action []byte // what a person said, in a response or in the inputResponses of params; as written, nil where absent
}

// meta is what a request says about itself in params._meta; the values are as written, nil where absent.
type meta struct {
	progressToken, version, capabilities, client []byte
}

// fault is a JSON-RPC error on its way out. id is nil where the message was too broken to have one.
type fault struct {
	id      []byte
	code    int
	message string
	data    any
}

func (r *request) fault(code int, message string) *fault {
	return &fault{id: r.id, code: code, message: message}
}

func (r *request) isNotification() bool { return r.id == nil && r.method != "" }
func (r *request) isResponse() bool     { return r.method == "" }

// version returns the protocol version that the request declares, "" where it declares none.
func (r *request) version() string {
	version, _ := decodeText(r.meta.version)
	return version
}

// isModern tells whether the request belongs to the era without a handshake. Versions are dates, so an unknown later
// one is modern too.
func (r *request) isModern() bool { return mcp.IsModernProtocol(r.version()) }

// parse reads one message. It refuses what two readers could read differently: a member given twice, an id that is
// null, a key in another case counts as another key.
func parse(text []byte) (*request, *fault) {
	p := parser{scanner: scanner{b: text}}
	if p.peek() == '[' {
		if _, ok := p.raw(); !ok || !p.end() {
			return nil, notJSON
		}
		return nil, &fault{code: mcp.INVALID_REQUEST, message: "Batches are not supported: send one message at a time"}
	}
	if p.peek() != '{' {
		if _, ok := p.raw(); !ok || !p.end() {
			return nil, notJSON
		}
		return nil, &fault{code: mcp.INVALID_REQUEST, message: "A message is a JSON object"}
	}
	if !p.object(p.message) || !p.end() {
		return nil, notJSON
	}
	if f := p.check(); f != nil {
		return nil, f
	}
	return &p.request, nil
}

var notJSON = &fault{code: mcp.PARSE_ERROR, message: "The message is not valid JSON"}

// parser collects a request while the scanner walks over it.
type parser struct {
	scanner
	request
	jsonrpc, methodText, answer []byte
	twice                       string // a member that was given twice
	paramsShape, metaShape      byte   // first byte of the value; 0 where absent
	resultShape, inputShape     byte
	input, reply                []byte // the inputResponses, and the one of them that is asked for
}

func (p *parser) message(key []byte) bool {
	switch {
	case keyIs(key, "jsonrpc"):
		return p.keep(&p.jsonrpc, "jsonrpc")
	case keyIs(key, "id"):
		return p.keep(&p.id, "id")
	case keyIs(key, "method"):
		return p.keep(&p.methodText, "method")
	case keyIs(key, "result"):
		return p.keepObject(&p.answer, "result", &p.resultShape, p.replyMember)
	case keyIs(key, "error"):
		return p.keep(&p.answer, "error")
	case keyIs(key, "params"):
		return p.keepObject(&p.params, "params", &p.paramsShape, p.param)
	}
	return p.value()
}

func (p *parser) param(key []byte) bool {
	switch {
	case keyIs(key, "name"):
		return p.keep(&p.name, "name")
	case keyIs(key, "arguments"):
		return p.keep(&p.arguments, "arguments")
	case keyIs(key, "cursor"):
		return p.keep(&p.cursor, "cursor")
	case keyIs(key, "requestId"):
		return p.keep(&p.requestID, "requestId")
	case keyIs(key, "requestState"):
		return p.keep(&p.state, "requestState")
	case keyIs(key, "inputResponses"):
		return p.keepObject(&p.input, "inputResponses", &p.inputShape, p.inputResponse)
	case keyIs(key, "_meta"):
		var raw []byte
		if p.metaShape != 0 {
			p.twice = "_meta"
		}
		return p.keepObject(&raw, "_meta", &p.metaShape, p.metaMember)
	}
	return p.value()
}

func (p *parser) metaMember(key []byte) bool {
	switch {
	case keyIs(key, "progressToken"):
		return p.keep(&p.meta.progressToken, "progressToken")
	case keyIs(key, mcp.MetaKeyProtocolVersion):
		return p.keep(&p.meta.version, mcp.MetaKeyProtocolVersion)
	case keyIs(key, mcp.MetaKeyClientCapabilities):
		return p.keep(&p.meta.capabilities, mcp.MetaKeyClientCapabilities)
	case keyIs(key, mcp.MetaKeyClientInfo):
		return p.keep(&p.meta.client, mcp.MetaKeyClientInfo)
	}
	return p.value()
}

func (p *parser) inputResponse(key []byte) bool {
	if keyIs(key, questionName) {
		var shape byte
		return p.keepObject(&p.reply, questionName, &shape, p.replyMember)
	}
	return p.value()
}

// replyMember is one of what a client says that a person has said.
func (p *parser) replyMember(key []byte) bool {
	if keyIs(key, "action") {
		return p.keep(&p.action, "action")
	}
	return p.value()
}

// keep walks over a member's value and stores it in field.
func (p *parser) keep(field *[]byte, name string) bool {
	if *field != nil {
		p.twice = name
	}
	raw, ok := p.raw()
	*field = raw
	return ok
}

// keepObject does the same and shows the members of an object to member.
func (p *parser) keepObject(field *[]byte, name string, shape *byte, member func(key []byte) bool) bool {
	*shape = p.peek()
	if *shape != '{' {
		return p.keep(field, name)
	}
	if *field != nil {
		p.twice = name
	}
	from := p.i
	ok := p.object(member)
	*field = p.b[from:p.i]
	return ok
}

// check refuses JSON that is no message.
func (p *parser) check() *fault {
	if p.id != nil && !validID(p.id) {
		p.id = nil
		return p.fault(mcp.INVALID_REQUEST, "An id is a string or a number")
	}
	if p.twice != "" {
		return p.fault(mcp.INVALID_REQUEST, "The member "+p.twice+" is given twice")
	}
	if string(p.jsonrpc) != `"2.0"` {
		return p.fault(mcp.INVALID_REQUEST, `The member jsonrpc must be "2.0"`)
	}
	if p.methodText == nil {
		if p.answer == nil || p.id == nil {
			return p.fault(mcp.INVALID_REQUEST, "The message has no method")
		}
		return nil
	}
	var ok bool
	if p.method, ok = decodeText(p.methodText); !ok || p.method == "" {
		return p.fault(mcp.INVALID_REQUEST, "The method must be a string that is not empty")
	}
	if p.paramsShape != 0 && p.paramsShape != '{' && string(p.params) != "null" {
		return p.fault(mcp.INVALID_PARAMS, "The params must be an object")
	}
	if p.metaShape != 0 && p.metaShape != '{' && p.metaShape != 'n' {
		return p.fault(mcp.INVALID_PARAMS, "The member _meta must be an object")
	}
	return nil
}

// validID tells whether an id can be echoed: a string or number of valid UTF-8. null stands for no id at all, which is
// not what a request may have.
func validID(id []byte) bool {
	c := id[0]
	return (c == '"' || c == '-' || c >= '0' && c <= '9') && utf8.Valid(id)
}

// checkVersion refuses a protocol version that nobody knows, and a modern request that does not say what its client
// can do.
func (r *request) checkVersion() *fault {
	version := r.version()
	if version == "" {
		return nil
	}
	if !mcp.IsValidProtocolVersion(version) {
		return r.unsupported(version)
	}
	if mcp.IsModernProtocol(version) && !validCapabilities(r.meta.capabilities) {
		return r.fault(mcp.INVALID_PARAMS, "missing or invalid _meta field "+mcp.MetaKeyClientCapabilities)
	}
	return nil
}

func (r *request) unsupported(version string) *fault {
	f := r.fault(mcp.UNSUPPORTED_PROTOCOL_VERSION, "The protocol version is not supported")
	f.data = mcp.UnsupportedProtocolVersionData{Supported: mcp.ValidProtocolVersions, Requested: version}
	return f
}

func validCapabilities(raw []byte) bool {
	if len(raw) == 2 && raw[0] == '{' { // the usual {}
		return true
	}
	if len(raw) == 0 || raw[0] != '{' {
		return false
	}
	var capabilities mcp.ClientCapabilities
	return json.Unmarshal(raw, &capabilities) == nil
}

// cancelledID returns the id that a notifications/cancelled names, as written; "" where it names none.
func (r *request) cancelledID() string {
	if r.requestID == nil || !validID(r.requestID) {
		return ""
	}
	return string(r.requestID)
}

// clientName returns "name/version" of an implementation as clients describe themselves, "" where raw is none. It is
// the client's own claim.
func clientName(raw []byte) string {
	if len(raw) == 0 {
		return ""
	}
	var info struct{ Name, Version string }
	if json.Unmarshal(raw, &info) != nil {
		return ""
	}
	return nameOf(info.Name, info.Version)
}

func nameOf(name, version string) string {
	const most = 200
	if name != "" && version != "" {
		name += "/" + version
	}
	for len(name) > most {
		_, size := utf8.DecodeLastRuneInString(name)
		name = name[:len(name)-size]
	}
	return name
}
