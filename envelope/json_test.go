package envelope

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"time"
)

func FuzzAppendString(f *testing.F) {
	for _, s := range []string{"", "plain", "a\"b\\c", "\x00\x1f\n\r\t\x7f", "é世😀\u2028", "half \xff\xc3", strings.Repeat("x\n", 100)} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		var got string
		if err := json.Unmarshal(AppendString(nil, s), &got); err != nil {
			t.Fatalf("%q: %v", s, err)
		}
		if want := strings.ToValidUTF8(s, "\uFFFD"); got != want {
			t.Fatalf("%q became %q", s, got)
		}
	})
}

func TestAppendValue(t *testing.T) {
	type inner struct {
		A int `json:"a"`
	}
	type outer struct {
		inner
		*Problem
		Text    string         `json:"text"`
		List    []string       `json:"list"`
		Maybe   []string       `json:"maybe,omitzero"`
		Empty   []string       `json:"empty,omitempty"`
		Null    *string        `json:"null"`
		Gone    *string        `json:"gone,omitempty"`
		Map     map[string]any `json:"map"`
		Time    time.Time      `json:"time"`
		Number  float64        `json:"number"`
		Hidden  string         `json:"-"`
		private int
	}
	noon := time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		name string
		in   any
		want string
	}{
		{"nothing set", outer{}, `{"a":0,"text":"","list":[],"null":null,"map":{},"time":"0001-01-01T00:00:00Z","number":0}`},
		{"all set", outer{inner: inner{7}, Problem: &Problem{Code: IO, Stage: StageExecute, Message: "m"}, Text: "<&>\"", List: []string{"x", "y"},
			Maybe: []string{}, Empty: []string{}, Null: new("n"), Gone: new("g"), Map: map[string]any{"b": 1, "a": []string(nil), "c": true},
			Time: noon, Number: 0.25, Hidden: "h", private: 1},
			`{"a":7,"code":"io","stage":"execute","message":"m","text":"<&>\"","list":["x","y"],"maybe":[],"null":"n","gone":"g",` +
				`"map":{"a":[],"b":1,"c":true},"time":"2026-01-02T12:00:00Z","number":0.25}`},
		{"a nil list", []string(nil), `[]`},
		{"nothing at all", nil, `null`},
		{"JSON as it stands", json.RawMessage(`{"x": 1}`), `{"x": 1}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := string(AppendValue(nil, c.in)); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}

// Every code has a class, so that none can reach the wire without a status.
func TestEveryCodeHasAStatus(t *testing.T) {
	for code, class := range classes {
		if code == "" || class.Status == "" || class.Next == "" || class.Stage == "" {
			t.Errorf("the class of %q is not complete: %+v", code, class)
		}
	}
	if got := Code("no-such-code").Status(); got != "" {
		t.Errorf("an unknown code has the status %q", got)
	}
}

func TestSeal(t *testing.T) {
	type out struct {
		Notes
		Version string `json:"version,omitempty"`
	}
	stale := Errorf(VersionChanged, "the file changed since it was read")
	for _, c := range []struct {
		name string
		meta Meta
		out  any
		err  error
		want string
	}{
		{"a read", Meta{RequestID: "r"}, &out{Version: "v"}, nil,
			`{"request_id":"r","status":"ok","retry_safe":true,"next":"none","errors":[],"warnings":[],"normalizations":[],"version":"v"}`},
		{"a write", Meta{RequestID: "r", Writes: true}, &out{Notes: Notes{Changed: Yes}}, nil,
			`{"request_id":"r","status":"succeeded","changed":"yes","retry_safe":false,"next":"none","errors":[],"warnings":[],"normalizations":[]}`},
		{"a write that was refused", Meta{RequestID: "r", Writes: true}, nil, stale,
			`{"request_id":"r","status":"conflict","changed":"no","retry_safe":true,"next":"reread","errors":[{"code":"version-changed","stage":"precondition",` +
				`"message":"the file changed since it was read"}],"warnings":[],"normalizations":[]}`},
		{"an outcome that nobody knows", Meta{RequestID: "r", Writes: true}, nil, Errorf(OutcomeUnknown, "m"),
			`{"request_id":"r","status":"unknown","changed":"unknown","retry_safe":false,"next":"check-outcome","errors":[{"code":"outcome-unknown","stage":"verify",` +
				`"message":"m"}],"warnings":[],"normalizations":[]}`},
		{"several refusals", Meta{RequestID: "r"}, nil, Refusals{Errorf(Required, "a"), Errorf(UnknownParameter, "b")},
			`{"request_id":"r","status":"invalid","retry_safe":true,"next":"fix-arguments","errors":[{"code":"required","stage":"schema","message":"a"},` +
				`{"code":"unknown-parameter","stage":"schema","message":"b"}],"warnings":[],"normalizations":[]}`},
		{"a batch of which one item failed", Meta{RequestID: "r"}, nil, &Items{Done: 1, Failed: []ItemError{{2, stale}}},
			`{"request_id":"r","status":"partial","retry_safe":true,"next":"reread","errors":[{"code":"version-changed","stage":"precondition",` +
				`"message":"the file changed since it was read","item":2}],"warnings":[],"normalizations":[]}`},
		{"a batch of which nothing was done", Meta{RequestID: "r", Writes: true}, nil, &Items{Failed: []ItemError{{0, stale}}},
			`{"request_id":"r","status":"conflict","changed":"no","retry_safe":true,"next":"reread","errors":[{"code":"version-changed","stage":"precondition",` +
				`"message":"the file changed since it was read","item":0}],"warnings":[],"normalizations":[]}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			e := Seal(c.meta, c.out, c.err)
			got := string(e.AppendJSON(nil))
			if got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
			if !json.Valid([]byte(got)) {
				t.Error("this is no JSON")
			}
		})
	}
	if e := Seal(Meta{}, nil, &time.ParseError{}); e.Errors[0].Code != Internal || reflect.DeepEqual(e.Errors[0].Message, "") {
		t.Errorf("an error of no contract became %+v", e.Errors)
	}
}
