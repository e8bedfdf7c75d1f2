package server

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"writ/envelope"
	"writ/gate"
)

// fakeGate has a few tools, each good for one thing.
type fakeGate struct {
	started chan string   // told of each call to slow
	release chan struct{} // lets one call to slow or deaf end
	text    string        // what read answers
}

func newFakeGate() *fakeGate {
	return &fakeGate{started: make(chan string, 2000), release: make(chan struct{}), text: "one\ntwo \"quoted\" \\ \u2028 <é>\r\n"}
}

var emptySchema = json.RawMessage(`{"type":"object","properties":{},"additionalProperties":false}`)

var fakeTools = []Definition{
	{Name: "echo", Title: "Echo", Description: "Returns its arguments <as they came> & \"quoted\".", InputSchema: emptySchema, OutputSchema: json.RawMessage(`{"type":"object"}`), ReadOnly: true, Idempotent: true},
	{Name: "read", Description: "Returns text.", InputSchema: emptySchema, ReadOnly: true},
	{Name: "picture", Description: "Returns a picture.", InputSchema: emptySchema, OutputSchema: json.RawMessage(`{"type":"object"}`), ReadOnly: true},
	{Name: "sound", Description: "Returns a sound.", InputSchema: emptySchema, OutputSchema: json.RawMessage(`{"type":"object"}`), ReadOnly: true},
	{Name: "refuse", Description: "Refuses.", InputSchema: emptySchema, OutputSchema: json.RawMessage(`{"type":"object"}`), Destructive: true},
	{Name: "slow", Description: "Waits for its release or its end.", InputSchema: emptySchema, OutputSchema: json.RawMessage(`{"type":"object"}`), ReadOnly: true},
	{Name: "deaf", Description: "Waits for its release alone.", InputSchema: emptySchema, OutputSchema: json.RawMessage(`{"type":"object"}`), ReadOnly: true},
	{Name: "progress", Description: "Tells how far it is.", InputSchema: emptySchema, OutputSchema: json.RawMessage(`{"type":"object"}`), ReadOnly: true},
	{Name: "panic", Description: "Panics.", InputSchema: emptySchema, OutputSchema: json.RawMessage(`{"type":"object"}`), ReadOnly: true},
	{Name: "ask", Description: "Asks a person.", InputSchema: emptySchema, OutputSchema: json.RawMessage(`{"type":"object"}`)},
	{Name: "hidden", Description: "Was there once.", InputSchema: emptySchema, ReadOnly: true},
}

func (g *fakeGate) Definitions() []Definition { return fakeTools }

func (g *fakeGate) Has(_, tool string) bool {
	return tool != "hidden" && slices.ContainsFunc(fakeTools, func(d Definition) bool { return d.Name == tool })
}

type fakeBody struct {
	Arguments string `json:"arguments"`
	Client    string `json:"client,omitempty"`
}

func (g *fakeGate) Call(ctx context.Context, c Call) envelope.Envelope {
	e := envelope.Envelope{RequestID: "r1", Status: envelope.OK, RetrySafe: true, Next: envelope.NextNone}
	switch c.Tool {
	case "echo":
		e.Body = fakeBody{string(c.Arguments), c.Client}
	case "read":
		e.Texts = []string{g.text, ""}
	case "picture":
		e.Media = &envelope.Media{Type: "image/png", Data: []byte("\x89PNG")}
	case "sound":
		e.Media = &envelope.Media{Type: "audio/wav", Data: []byte("RIFF")}
	case "refuse":
		e.Status, e.Next = envelope.Denied, envelope.AskUser
		e.Errors = []envelope.Problem{{Code: envelope.OutsideScope, Stage: envelope.StagePolicy, Message: "No."}}
	case "slow":
		g.started <- string(c.Arguments)
		select {
		case <-g.release:
		case <-ctx.Done():
			e.Status, e.Next = envelope.Unavailable, envelope.Wait
		}
	case "deaf":
		g.started <- string(c.Arguments)
		<-g.release
	case "progress":
		if c.Progress != nil {
			c.Progress(1, 3, "first")
			c.Progress(1, 3, "not more")
		}
	case "ask":
		e.Body = fakeBody{Arguments: g.ask(ctx, c)}
	case "panic":
		panic("secret text")
	}
	return e
}

// ask tells what a person said.
func (g *fakeGate) ask(ctx context.Context, c Call) string {
	switch {
	case c.Reply != nil:
		return "replied " + said(c.Reply.Answer)
	case c.Asker == nil:
		return "nobody to ask"
	}
	answer, err := c.Asker.Ask(ctx, gate.Question{Message: "May \"it\"?\n    <diff>", State: fakeState})
	if err != nil {
		return "failed: " + err.Error()
	}
	return "said " + said(answer)
}

func said(a gate.Answer) string {
	return map[gate.Answer]string{gate.Approved: "yes", gate.Declined: "no", gate.Dismissed: "nothing"}[a]
}

const fakeState = "state.signature"

func (g *fakeGate) CheckState(_ context.Context, state string) error {
	if state != fakeState {
		return errors.New("forged")
	}
	return nil
}

var fakeInfo = Info{Name: "test", Version: "1.2.3", Instructions: "Be kind."}

// client speaks to a server over pipes, line by line.
type client struct {
	t     *testing.T
	gate  *fakeGate
	in    *io.PipeWriter
	lines chan string
	ended chan error // what Stdio returned
	stop  context.CancelFunc
}

func connect(t *testing.T, options ...func(*Server)) *client {
	t.Helper()
	gate := newFakeGate()
	c := connectTo(t, gate, options...)
	c.gate = gate
	return c
}

func connectTo(t *testing.T, gate Gate, options ...func(*Server)) *client {
	t.Helper()
	s := New(gate, fakeInfo)
	s.drainGrace, s.cancelGrace = 5*time.Second, 5*time.Second
	for _, option := range options {
		option(s)
	}
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	ctx, stop := context.WithCancel(t.Context())
	c := &client{t: t, in: inW, lines: make(chan string, 5000), ended: make(chan error, 1), stop: stop}
	go func() {
		c.ended <- s.Stdio(ctx, inR, outW)
		outW.Close()
	}()
	go func() {
		defer close(c.lines)
		r := newLineReader(outR, MaxMessage)
		for {
			line, err := r.next()
			if err != nil {
				return
			}
			c.lines <- string(line)
		}
	}()
	t.Cleanup(func() { inW.Close(); outR.Close(); stop() })
	return c
}

func (c *client) send(text string) {
	c.t.Helper()
	if _, err := io.WriteString(c.in, text); err != nil {
		c.t.Fatal(err)
	}
}

// next returns the next line, "" after the last.
func (c *client) next() string {
	c.t.Helper()
	select {
	case line := <-c.lines:
		return line
	case <-time.After(20 * time.Second):
		c.t.Fatal("no answer")
	}
	return ""
}

// rest ends the input and returns all further lines, and what the server returned.
func (c *client) rest() ([]string, error) {
	c.t.Helper()
	c.in.Close()
	var lines []string
	for line := c.next(); line != ""; line = c.next() {
		lines = append(lines, line)
	}
	return lines, <-c.ended
}

func (c *client) waitStarted() string {
	c.t.Helper()
	select {
	case arguments := <-c.gate.started:
		return arguments
	case <-time.After(20 * time.Second):
		c.t.Fatal("the call did not start")
	}
	return ""
}

// decode reads JSON exactly: numbers keep their digits.
func decode(t *testing.T, text string) map[string]any {
	t.Helper()
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	var m map[string]any
	if err := d.Decode(&m); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	return m
}

// at follows a path such as "result.content.0.text"; nil where there is nothing. A step may not hold a dot.
func at(m any, path string) any {
	for step := range strings.SplitSeq(path, ".") {
		switch v := m.(type) {
		case map[string]any:
			m = v[step]
		case []any:
			if step == "" || int(step[0]-'0') >= len(v) {
				return nil
			}
			m = v[step[0]-'0']
		default:
			return nil
		}
	}
	return m
}

func compact(t *testing.T, v any) string {
	t.Helper()
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(b.String())
}
