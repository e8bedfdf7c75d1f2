package client

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/iotest"

	"pgregory.net/rapid"

	"writ/envelope"
	"writ/gate"
)

// echo is a gate whose one tool answers with its arguments, in the order opposite to the one they came in where it is
// told to wait for others.
type echo struct {
	mu    sync.Mutex
	calls []string
	meet  *sync.WaitGroup // nil: it does not wait
}

func (*echo) Has(tool string) bool { return tool == "echo" || tool == "read" }

func (e *echo) Call(_ context.Context, c gate.Call) envelope.Envelope {
	e.mu.Lock()
	e.calls = append(e.calls, string(c.Arguments))
	e.mu.Unlock()
	if e.meet != nil {
		e.meet.Done()
		e.meet.Wait()
	}
	if c.Tool == "read" {
		return envelope.Envelope{RequestID: "r", Status: envelope.OK, Texts: []string{"a \"b\"\n"}, Media: &envelope.Media{Type: "image/png", Data: []byte{1}}}
	}
	return envelope.Envelope{RequestID: string(c.Arguments), Status: envelope.OK}
}

// bridged returns the lines out of these lines in, sorted, and the arguments of the calls that were made.
func bridged(t *testing.T, e *echo, lines ...string) []string {
	t.Helper()
	var out bytes.Buffer
	b := Bridge{Gate: e, Out: &out, longest: 100 << 10}
	if err := b.Run(t.Context(), strings.NewReader(strings.Join(lines, "\n"))); err != nil {
		t.Fatal(err)
	}
	var got []string
	for line := range strings.Lines(out.String()) {
		var v struct {
			Type   string `json:"type"`
			CallID string `json:"call_id"`
			Output any    `json:"output"`
			Line   int    `json:"line"`
		}
		if err := json.Unmarshal([]byte(line), &v); err != nil {
			t.Fatalf("%v in %s", err, line)
		}
		if text, ok := v.Output.(string); ok && strings.HasPrefix(text, "{") {
			var answer map[string]any
			if err := json.Unmarshal([]byte(text), &answer); err != nil {
				t.Fatal(err)
			}
			v.Output = answer["request_id"]
		}
		if v.Type == "error" {
			got = append(got, fmt.Sprintf("error %d %s", v.Line, v.CallID))
		} else {
			got = append(got, fmt.Sprintf("%s %v", v.CallID, v.Output))
		}
	}
	slices.Sort(got)
	return got
}

func callItem(id, arguments string) string {
	text, _ := json.Marshal(arguments)
	return fmt.Sprintf(`{"type":"function_call","call_id":%q,"name":"echo","arguments":%s}`, id, text)
}

func TestBridge(t *testing.T) {
	one := callItem("c1", `{"a":1}`)
	incomplete := strings.Replace(one, `{"type"`, `{"status":"incomplete","type"`, 1)
	for _, c := range []struct {
		name string
		in   []string
		want []string
	}{
		{"a call", []string{one}, []string{`c1 {"a":1}`}},
		{"calls of one list", []string{"[" + one + "," + callItem("c2", "2") + "]"}, []string{`c1 {"a":1}`, "c2 2"}},
		{"a whole response", []string{`{"object":"response","status":"completed","output":[{"type":"reasoning"},` + one + `]}`}, []string{`c1 {"a":1}`}},
		{"the same call, as item, event and response", []string{
			`{"type":"response.output_item.done","item":` + one + `}`, one, `{"type":"response.completed","response":{"object":"response","status":"completed","output":[` + one + `]}}`,
		}, []string{`c1 {"a":1}`}},
		{"fragments", []string{
			`{"type":"response.created","response":{"object":"response","status":"in_progress","output":[]}}`,
			`{"type":"response.output_item.added","item":{"type":"function_call","status":"in_progress","call_id":"c1","name":"echo","arguments":""}}`,
			`{"type":"response.function_call_arguments.delta","delta":"{\"a\":1}","item_id":"i"}`,
			`{"type":"response.function_call_arguments.done","arguments":"{\"a\":1}","item_id":"i"}`,
			`{"type":"function_call","status":"in_progress","call_id":"c1","name":"echo","arguments":"{"}`,
		}, nil},
		{"text that looks like a call", []string{`{"type":"message","role":"assistant","content":[{"type":"output_text","text":` + string(outputText(one)) + `}]}`}, nil},
		{"a call within a text's event", []string{`{"type":"response.output_text.done","item":` + one + `}`}, nil},
		{"a call that was cut short", []string{incomplete}, []string{"error 1 c1"}},
		{"a response that was cut short", []string{`{"object":"response","status":"incomplete","output":[` + one + `]}`}, []string{"error 1 c1"}},
		{"another call of the same id", []string{one, callItem("c1", "2")}, []string{`c1 {"a":1}`, "error 2 c1"}},
		{"an unknown tool", []string{strings.Replace(one, "echo", "ehco", 1)}, []string{`c1 There is no tool "ehco" here.`}},
		{"no id", []string{callItem("", "1")}, []string{"error 1 "}},
		{"half a character", []string{strings.Replace(callItem("c1", "X"), "X", `\ud800`, 1)}, []string{"error 1 c1"}},
		{"arguments that are no text", []string{`{"type":"function_call","call_id":"c1","name":"echo","arguments":{}}`}, []string{"error 1 c1"}},
		{"keys in other letters", []string{strings.Replace(one, "arguments", "Arguments", 1), strings.Replace(one, "call_id", "Call_ID", 1)}, []string{"error 1 c1", "error 2 "}},
		{"a key that stands twice", []string{strings.Replace(one, `"name"`, `"arguments":"2","name"`, 1)}, []string{"error 1 c1"}},
		{"an id with half a character", []string{strings.Replace(one, "c1", `\ud800`, 1)}, []string{"error 1 "}},
		{"an id that is no text", []string{strings.Replace(one, `"c1"`, `1`, 1)}, []string{"error 1 "}},
		{"bytes that are no text", []string{callItem("c1", "\"X\""), strings.Replace(callItem("c2", "\"X\""), "X", "\xff", 1)}, []string{`c1 "X"`, "error 2 c2"}},
		{"bad lines among good ones", []string{"{", "", "7", `{"a":1}`, one}, []string{`c1 {"a":1}`, "error 1 ", "error 3 ", "error 4 "}},
	} {
		t.Run(c.name, func(t *testing.T) {
			e := &echo{}
			if got := bridged(t, e, c.in...); !reflect.DeepEqual(got, c.want) {
				t.Errorf("out come %q, want %q", got, c.want)
			}
			if n := len(slices.DeleteFunc(slices.Clone(c.want), func(s string) bool { return !strings.HasPrefix(s, "c") || strings.Contains(s, "no tool") })); len(e.calls) != n {
				t.Errorf("%d calls were made: %q", len(e.calls), e.calls)
			}
		})
	}
}

// Calls run side by side, and each answer bears the id of its own call. The end of input waits for all.
func TestBridgeBindsAnswersToCalls(t *testing.T) {
	e := &echo{meet: &sync.WaitGroup{}}
	e.meet.Add(maxRunning)
	var lines, want []string
	for i := range maxRunning {
		lines = append(lines, callItem(fmt.Sprintf("c%02d", i), fmt.Sprint(i)))
		want = append(want, fmt.Sprintf("c%02d %d", i, i))
	}
	if got := bridged(t, e, lines...); !reflect.DeepEqual(got, want) {
		t.Errorf("out come %q", got)
	}
}

// Texts and pictures stand in blocks of their own, as they are.
func TestBridgeOutputsInBlocks(t *testing.T) {
	e := envelope.Envelope{RequestID: "r", Status: envelope.OK, Texts: []string{"a \"b\"\n"}, Media: &envelope.Media{Type: "image/png", Data: []byte{1}}}
	var blocks []map[string]string
	if err := json.Unmarshal(output(&e), &blocks); err != nil || len(blocks) != 3 {
		t.Fatalf("%v: %s", err, output(&e))
	}
	if blocks[0]["type"] != "input_text" || !strings.Contains(blocks[0]["text"], `"request_id":"r"`) ||
		blocks[1]["text"] != "a \"b\"\n" || blocks[2]["image_url"] != "data:image/png;base64,AQ==" {
		t.Errorf("the blocks are %v", blocks)
	}
}

// A line that is too long is told of, and what follows is read.
func TestBridgeOfLongLines(t *testing.T) {
	got := bridged(t, &echo{}, strings.Repeat("x", 300<<10), callItem("c1", "1"))
	if want := []string{"c1 1", "error 1 "}; !reflect.DeepEqual(got, want) {
		t.Errorf("out come %q", got)
	}
}

// A stream of any shape: each call is carried out once, when it is whole, with its own arguments, and answered under its
// own id, whatever comes between, in however many pieces it comes, and wherever it ends.
func TestAnyStream(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var lines []string
		want := map[string]string{} // arguments by call_id
		for range rapid.IntRange(0, 12).Draw(t, "steps") {
			id := fmt.Sprintf("c%d", rapid.IntRange(0, 4).Draw(t, "id"))
			arguments := rapid.SampledFrom([]string{"1", `{"a":"é \" \\ 🙂"}`, strings.Repeat("7", 70_000)}).Draw(t, "arguments")
			line, whole := delivery(t, callItem(id, arguments))
			if _, known := want[id]; whole && !known {
				want[id] = arguments
			}
			lines = append(lines, line)
		}
		text := strings.Join(lines, rapid.SampledFrom([]string{"\n", "\r\n", "\n\n"}).Draw(t, "end"))
		if cut := callItem("cut", "1"); rapid.Bool().Draw(t, "cut") {
			text += "\n" + cut[:rapid.IntRange(0, len(cut)-1).Draw(t, "at")]
		}
		e, out := &echo{}, &bytes.Buffer{}
		b := Bridge{Gate: e, Out: out}
		if err := b.Run(t.Context(), iotest.HalfReader(strings.NewReader(text))); err != nil {
			t.Fatal(err)
		}
		got := map[string]string{}
		for line := range strings.Lines(out.String()) {
			var v struct {
				Type   string
				CallID string `json:"call_id"`
				Output string
			}
			if err := json.Unmarshal([]byte(line), &v); err != nil {
				t.Fatal(err)
			}
			if v.Type != "function_call_output" {
				continue
			}
			var answer map[string]any
			if err := json.Unmarshal([]byte(v.Output), &answer); err != nil || got[v.CallID] != "" {
				t.Fatalf("%v, or %s is answered twice", err, v.CallID)
			}
			got[v.CallID], _ = answer["request_id"].(string)
		}
		if !reflect.DeepEqual(got, want) || len(e.calls) != len(want) {
			t.Fatalf("%d calls, answers %v, want %v of\n%s", len(e.calls), got, want, text)
		}
	})
}

// delivery is a line that holds the call, whole or not.
func delivery(t *rapid.T, call string) (line string, whole bool) {
	quoted := string(outputText(call))
	state := func(s string) string { return strings.Replace(call, `{"type"`, `{"status":"`+s+`","type"`, 1) }
	switch rapid.IntRange(0, 11).Draw(t, "delivery") {
	case 0:
		return call, true
	case 1:
		return "[" + call + "]", true
	case 2:
		return `{"type":"response.output_item.done","item":` + state("completed") + `}`, true
	case 3:
		return `{"type":"response.completed","response":{"object":"response","status":"completed","output":[{"type":"message"},` + call + `]}}`, true
	case 4:
		return `{"object":"response","status":"incomplete","output":[` + state("completed") + `]}`, true
	case 5:
		return `{"object":"response","status":"incomplete","output":[` + call + `]}`, false
	case 6:
		return state("incomplete"), false
	case 7:
		return `{"type":"response.output_item.added","item":` + state("in_progress") + `}`, false
	case 8:
		return `{"type":"response.function_call_arguments.done","arguments":` + quoted + `}`, false
	case 9:
		return `{"type":"message","content":[{"type":"output_text","text":` + quoted + `}]}`, false
	case 10:
		return `{"type":"function_call_output","call_id":"c0","output":` + quoted + `}`, false
	}
	return `{"type":"response.output_text.delta","delta":` + quoted + `,"item":` + call + `}`, false
}
