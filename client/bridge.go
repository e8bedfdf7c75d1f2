package client

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"

	"writ/contract"
	"writ/envelope"
	"writ/gate"
)

// Gate is the way to the tools.
type Gate interface {
	Call(ctx context.Context, c gate.Call) envelope.Envelope
	Has(tool string) bool
}

const (
	maxLine    = 64 << 20 // bytes of the longest line that is taken
	maxRunning = 16       // calls at once; the others wait
)

// Bridge answers function calls in the form of the Responses API. Each line in is one JSON value: an item of type
// function_call, a list of items, a whole response with its output, or an event of a stream. Only what is complete is
// carried out: fragments, calls that were not finished, and messages whose text looks like a call are passed over. Each
// line out is a function_call_output with the call_id of its call, as it gets ready, or an error about a line.
type Bridge struct {
	Gate Gate
	Out  io.Writer

	longest int // line that is taken, in bytes; 0: maxLine

	ctx     context.Context
	mu      sync.Mutex // of Out and its failure
	err     error
	running sync.WaitGroup
	slots   chan struct{}
	seen    map[string]string // the calls by their call_id
}

// Run reads lines until the end of input, answers what came, and returns the first failure to read or write. Once ctx
// ends no more lines are taken.
func (b *Bridge) Run(ctx context.Context, in io.Reader) error {
	b.ctx, b.slots, b.seen = ctx, make(chan struct{}, maxRunning), map[string]string{}
	reader := bufio.NewReaderSize(in, 64<<10)
	var err error
	for n := 1; err == nil && ctx.Err() == nil; n++ {
		var line []byte
		line, err = readLine(reader, cmp.Or(b.longest, maxLine))
		switch {
		case errors.Is(err, errLongLine):
			b.fault(n, "", "the line is too long")
			err = nil
		case len(bytes.TrimSpace(line)) > 0:
			b.take(n, line)
		}
	}
	b.running.Wait()
	if errors.Is(err, io.EOF) {
		err = nil
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	return errors.Join(err, b.err)
}

var errLongLine = errors.New("a line is too long")

// readLine reads a line; the last one need not end. One that is too long is read to its end and dropped.
func readLine(r *bufio.Reader, longest int) ([]byte, error) {
	var line []byte
	long := false
	for {
		part, err := r.ReadSlice('\n')
		if long = long || len(line)+len(part) > longest; !long {
			line = append(line, part...)
		}
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case long && (err == nil || errors.Is(err, io.EOF)):
			return nil, errLongLine
		}
		return line, err
	}
}

// item is what may come in: an item, a response, or an event that holds one of these. Only as much of it is read here as
// tells which it is.
type item struct {
	Type     string          `json:"type"`
	Object   string          `json:"object"`
	Status   string          `json:"status"`
	Output   json.RawMessage `json:"output"`
	Item     json.RawMessage `json:"item"`
	Response json.RawMessage `json:"response"`
}

// take carries out what a line asks for.
func (b *Bridge) take(n int, line []byte) {
	items := []json.RawMessage{line}
	var err error
	if line = bytes.TrimSpace(line); line[0] == '[' {
		err = json.Unmarshal(line, &items)
	}
	if err != nil {
		b.noItem(n, err)
		return
	}
	for _, raw := range items {
		b.takeOne(n, raw)
	}
}

func (b *Bridge) noItem(n int, err error) {
	b.fault(n, "", "the line is no JSON of an item, a response or an event: "+err.Error())
}

func (b *Bridge) takeOne(n int, raw json.RawMessage) {
	i, err := itemOf(raw)
	switch {
	case err != nil:
		b.noItem(n, err)
	case i.Type == "function_call":
		b.takeCall(n, raw, true)
	case i.Object == "response":
		b.takeResponse(n, i)
	case i.Type == "response.output_item.done" && i.Item != nil:
		if inner, err := itemOf(i.Item); err == nil && inner.Type == "function_call" {
			b.takeCall(n, i.Item, true)
		}
	case (i.Type == "response.completed" || i.Type == "response.done") && i.Response != nil:
		if response, err := itemOf(i.Response); err == nil {
			b.takeResponse(n, response)
		}
	case i.Type == "":
		b.fault(n, "", "there is no type")
	}
	// All else is a fragment, a message, or an item that is not for us.
}

func itemOf(raw json.RawMessage) (item, error) {
	var i item
	err := json.Unmarshal(raw, &i)
	return i, err
}

// takeResponse takes the calls of a whole response. Of one that did not end well, only those count that say that they
// are complete.
func (b *Bridge) takeResponse(n int, response item) {
	var items []json.RawMessage
	if len(response.Output) == 0 || json.Unmarshal(response.Output, &items) != nil {
		b.fault(n, "", "the response has no list of items as its output")
		return
	}
	for _, raw := range items {
		if i, err := itemOf(raw); err == nil && i.Type == "function_call" {
			b.takeCall(n, raw, response.Status == "" || response.Status == "completed")
		}
	}
}

// functionCall is a call as it was sent, read strictly: what another reader of the same bytes could take for another
// call is none.
type functionCall struct{ id, name, arguments, status string }

func callOf(raw json.RawMessage) (functionCall, error) {
	fields, err := contract.StrictObject(raw)
	if err != nil {
		return functionCall{id: soundID(raw)}, err
	}
	var c functionCall
	var kind string
	for _, field := range []struct {
		key string
		to  *string
	}{ // the id first, for what is wrong with the others to be about it
		{"call_id", &c.id}, {"status", &c.status}, {"type", &kind}, {"name", &c.name}, {"arguments", &c.arguments},
	} {
		value, given := fields[field.key]
		text, isText := value.(string)
		if given && value != nil && !isText || field.key == "arguments" && !isText {
			return c, fmt.Errorf("its %s is no text", field.key)
		}
		*field.to = text
	}
	if kind != "function_call" {
		return c, errors.New("it has no type of that name")
	}
	return c, nil
}

// soundID is the call_id of a call that is not sound in another place, for the answer to be about it; "" if there is none.
func soundID(raw json.RawMessage) string {
	var fields map[string]json.RawMessage
	if json.Unmarshal(raw, &fields) != nil {
		return ""
	}
	alone, err := contract.StrictObject(fmt.Appendf(nil, `{"id":%s}`, fields["call_id"]))
	if err != nil {
		return ""
	}
	id, _ := alone["id"].(string)
	return id
}

// takeCall begins a call, unless it was begun before. One that does not say itself whether it is complete is so if what
// it came in is.
func (b *Bridge) takeCall(n int, raw json.RawMessage, whole bool) {
	c, err := callOf(raw)
	switch {
	case c.status == "in_progress":
		return // the complete one follows
	case err != nil:
		b.fault(n, c.id, "the function call is not sound, and was not carried out: "+err.Error())
		return
	case c.id == "":
		b.fault(n, "", "the function call has no call_id")
		return
	case c.status != "" && c.status != "completed", c.status == "" && !whole:
		b.fault(n, c.id, "the function call is not complete, and was not carried out")
		return
	}
	call := c.name + "\x00" + c.arguments
	if before, ok := b.seen[c.id]; ok {
		if before != call {
			b.fault(n, c.id, "another function call had this call_id, and this one was not carried out")
		}
		return
	}
	b.seen[c.id] = call
	b.carry(c)
}

func (b *Bridge) carry(c functionCall) {
	if !b.Gate.Has(c.name) {
		b.answer(c.id, outputText("There is no tool "+contract.Quote(c.name)+" here."))
		return
	}
	b.slots <- struct{}{}
	b.running.Go(func() {
		defer func() { <-b.slots }()
		e := b.Gate.Call(b.ctx, gate.Call{Caller: gate.CallerLocal, Client: "writ bridge", Tool: c.name, Arguments: json.RawMessage(c.arguments)})
		b.answer(c.id, output(&e))
	})
}

// output is the value of a function_call_output: the envelope as text, or where there are texts or a picture too, a
// list with a block for each, so that they stand as they are.
func output(e *envelope.Envelope) []byte {
	first := string(e.AppendJSON(nil))
	if len(e.Texts) == 0 && e.Media == nil {
		return outputText(first)
	}
	b := appendBlock([]byte("["), "input_text", "text", first)
	for _, text := range e.Texts {
		b = appendBlock(append(b, ','), "input_text", "text", text)
	}
	if m := e.Media; m != nil && strings.HasPrefix(m.Type, "image/") {
		url := "data:" + m.Type + ";base64," + base64.StdEncoding.EncodeToString(m.Data)
		b = appendBlock(append(b, ','), "input_image", "image_url", url)
	}
	return append(b, ']')
}

func outputText(s string) []byte { return envelope.AppendString(nil, s) }

func appendBlock(b []byte, kind, key, value string) []byte {
	b = append(b, `{"type":"`+kind+`","`+key+`":`...)
	return append(envelope.AppendString(b, value), '}')
}

// answer writes the output of a call.
func (b *Bridge) answer(callID string, output []byte) {
	line := envelope.AppendString([]byte(`{"type":"function_call_output","call_id":`), callID)
	line = append(append(append(line, `,"output":`...), output...), "}\n"...)
	b.write(line)
}

// fault writes what is wrong with a line, and the call_id that it is about, if it is about one.
func (b *Bridge) fault(n int, callID, message string) {
	line := fmt.Appendf(nil, `{"type":"error","line":%d`, n)
	if callID != "" {
		line = envelope.AppendString(append(line, `,"call_id":`...), callID)
	}
	line = envelope.AppendString(append(line, `,"message":`...), message)
	b.write(append(line, "}\n"...))
}

func (b *Bridge) write(line []byte) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.err == nil {
		_, b.err = b.Out.Write(line)
	}
}
