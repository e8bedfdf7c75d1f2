package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"reflect"
	"slices"
	"sync"
	"testing"

	"writ/contract"
	"writ/envelope"
	"writ/server"
	"writ/tools"
)

// mcpClient speaks to a server of its own over stdio, in this process.
type mcpClient struct {
	in    io.WriteCloser
	out   *bufio.Reader
	id    int
	once  sync.Once
	end   func(t *testing.T)
	house *house
}

// answered is the answer to one call.
type answered struct {
	tool     string
	envelope map[string]any
	texts    []string // of the blocks after the first
	blocks   []any
	isError  bool
}

// startClient serves the directories as `writ serve` would and returns a client that has shaken hands. Every answer is
// held against its contract.
func startClient(t *testing.T, o options, directories ...string) *mcpClient {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	o.keepAlways = true
	h, err := o.open(directories)
	if err != nil {
		t.Fatal(err)
	}
	toServer, in, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	out, fromServer, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	s := server.New(server.OfGate(h.gate), server.Info{Name: "writ", Version: "test", StructuredReads: o.structured, Log: h.log})
	done := make(chan error, 1)
	go func() {
		done <- s.Stdio(ctx, toServer, fromServer)
		fromServer.Close()
	}()
	c := &mcpClient{house: h, in: in, out: bufio.NewReader(out), end: func(t *testing.T) {
		in.Close()
		if err := <-done; err != nil {
			t.Errorf("the server ended with %v", err)
		}
		cancel()
		if err := h.close(); err != nil {
			t.Error(err)
		}
		out.Close()
		toServer.Close()
	}}
	t.Cleanup(func() { c.stop(t) })
	c.shakeHands(t)
	return c
}

// stop ends the server, and waits until it has.
func (c *mcpClient) stop(t *testing.T) { c.once.Do(func() { c.end(t) }) }

func (c *mcpClient) shakeHands(t *testing.T) {
	t.Helper()
	c.request(t, "initialize", `{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"test","version":"1"}}`)
}

// request sends one request and returns its result.
func (c *mcpClient) request(t *testing.T, method, params string) map[string]any {
	t.Helper()
	var result map[string]any
	if err := json.Unmarshal(c.raw(t, method, params), &result); err != nil {
		t.Fatalf("%s: %v", method, err)
	}
	return result
}

// raw sends one request and returns its result as it was written.
func (c *mcpClient) raw(t *testing.T, method, params string) json.RawMessage {
	t.Helper()
	m := c.exchange(t, method, params)
	if m.Error != nil {
		t.Fatalf("%s was answered %s", method, compact(m))
	}
	return m.Result
}

// message is an answer of the server.
type message struct {
	ID     int
	Result json.RawMessage
	Error  *struct {
		Code    int
		Message string
	}
}

// exchange sends one request and returns its answer.
func (c *mcpClient) exchange(t *testing.T, method, params string) message {
	t.Helper()
	c.id++
	if _, err := fmt.Fprintf(c.in, `{"jsonrpc":"2.0","id":%d,"method":%q,"params":%s}`+"\n", c.id, method, params); err != nil {
		t.Fatal(err)
	}
	m := c.next(t)
	if m.ID != c.id {
		t.Fatalf("%s, request %d, was answered %s", method, c.id, compact(m))
	}
	return m
}

// next reads the next message of the server.
func (c *mcpClient) next(t *testing.T) message {
	t.Helper()
	line, err := c.out.ReadBytes('\n')
	if err != nil {
		t.Fatalf("no answer: %v", err)
	}
	var m message
	if err := json.Unmarshal(line, &m); err != nil {
		t.Fatalf("%v in %s", err, line)
	}
	return m
}

// call makes one call.
func (c *mcpClient) call(t *testing.T, tool, arguments string) *answered {
	t.Helper()
	return readAnswer(t, tool, c.raw(t, "tools/call", fmt.Sprintf(`{"name":%q,"arguments":%s}`, tool, arguments)))
}

// readAnswer reads the result of a call and checks what must hold for every one.
func readAnswer(t *testing.T, tool string, result json.RawMessage) *answered {
	t.Helper()
	var r struct {
		Content           []any
		StructuredContent any
		IsError           bool
	}
	if err := json.Unmarshal(result, &r); err != nil || len(r.Content) == 0 {
		t.Fatalf("%s: %v in %.300s", tool, err, result)
	}
	a := &answered{tool: tool, blocks: r.Content, isError: r.IsError}
	for i, block := range r.Content {
		text, _ := block.(map[string]any)["text"].(string)
		if i > 0 {
			a.texts = append(a.texts, text)
			continue
		}
		if err := json.Unmarshal([]byte(text), &a.envelope); err != nil {
			t.Fatalf("%s: the first block is no envelope: %v", tool, err)
		}
	}
	if r.StructuredContent != nil && !reflect.DeepEqual(r.StructuredContent, any(a.envelope)) {
		t.Errorf("%s: structuredContent differs from the first block", tool)
	}
	a.check(t)
	return a
}

// check holds the answer against what is true of every one: its codes are the contract's and its status's.
func (a *answered) check(t *testing.T) {
	t.Helper()
	status, codes := a.status(), a.codes()
	done := status == envelope.OK || status == envelope.Succeeded
	if a.isError == done || done != (len(codes) == 0) {
		t.Errorf("%s: status %s, isError %v and %d errors do not agree", a.tool, status, a.isError, len(codes))
	}
	for _, code := range codes {
		if !slices.Contains(contractOf(a.tool).AllCodes(), code) {
			t.Errorf("%s answers with %s, which its contract does not name: %s", a.tool, code, compact(a.envelope))
		}
	}
	if len(codes) > 0 && status != envelope.Partial && codes[0].Status() != status {
		t.Errorf("%s: the code %s belongs to %s, the status is %s", a.tool, codes[0], codes[0].Status(), status)
	}
}

func (a *answered) status() envelope.Status {
	s, _ := a.envelope["status"].(string)
	return envelope.Status(s)
}

// codes lists the codes of the answer's errors.
func (a *answered) codes() []envelope.Code {
	var list []envelope.Code
	problems, _ := a.envelope["errors"].([]any)
	for _, p := range problems {
		code, _ := p.(map[string]any)["code"].(string)
		list = append(list, envelope.Code(code))
	}
	return list
}

func contractOf(tool string) *contract.Contract {
	for _, t := range tools.All() {
		if t.Name == tool {
			return t.Contract
		}
	}
	panic("there is no tool " + tool)
}

func allTools() []string {
	var names []string
	for _, t := range tools.All() {
		names = append(names, t.Name)
	}
	return names
}
