package server

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

func valid(b []byte) bool {
	s := scanner{b: b}
	return s.value() && s.end()
}

var jsonSamples = []string{
	``, ` `, `{}`, `[]`, `[ ]`, `{ }`, `{"a":1}`, `{"a" : [1 , 2.5e-3, -0, true,false , null]}`, `"\u00e9\n\"\\\/"`, "\"\u2028\"", "\"\xff\"",
	`01`, `-`, `1.`, `.5`, `1e`, `1e+`, `+1`, `0x1`, `NaN`, `tru`, `truex`, `nul`, `{"a"}`, `{"a":}`, `{"a":1,}`, `{,}`, `[1,]`, `[,1]`, `{a:1}`,
	`{"a":1 "b":2}`, `[1 2]`, `"`, `"a`, `"\`, `"\x"`, `"\u12"`, `"\u12g4"`, "\"\n\"", "\"\x00\"", "\x00", "\ufeff{}", `{}{}`, `{} x`, `'a'`, `"a"b`, `]`, `}`, `{"a":[}]`,
	`{"a":{"b":{"c":[[[[]]]]}}}`, `"12345678"`, `"1234567\"9"`, `"1234567`, "\"1234567\t\"",
}

func TestScannerAgreesWithEncodingJSON(t *testing.T) {
	samples := append([]string{
		strings.Repeat("[", maxDepth) + strings.Repeat("]", maxDepth),
		strings.Repeat("[", maxDepth+1) + strings.Repeat("]", maxDepth+1),
	}, jsonSamples...)
	for _, text := range samples {
		if got, want := valid([]byte(text)), json.Valid([]byte(text)); got != want {
			t.Errorf("%.60q: %t, encoding/json says %t", text, got, want)
		}
	}
}

func FuzzScanner(f *testing.F) {
	for _, text := range jsonSamples {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		if got, want := valid(b), json.Valid(b); got != want {
			t.Errorf("%q: %t, encoding/json says %t", b, got, want)
		}
	})
}

// Whatever is read as a request, encoding/json reads the same out of.
func FuzzParse(f *testing.F) {
	for _, text := range append([]string{
		handshake, callLine("1", "echo", `{"a":"b"}`), `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"x",` + modernMeta + `}}`,
		`{"jsonrpc":"2.0","id":"x","method":"m\u0065","params":null}`, `{"jsonrpc":"2.0","method":"n","params":{"_meta":null,"cursor":"c"}}`, `{"jsonrpc":"2.0","id":1,"error":{}}`,
		`{"jsonrpc":"2.0","id":1,"method":"ping","params":{"_meta":{"progressToken":1},"_meta":{}}}`,
	}, jsonSamples...) {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		q, fault := parse(b)
		if fault != nil {
			if fault.code == notJSON.code && json.Valid(b) {
				t.Errorf("%q is taken for no JSON", b)
			}
			return
		}
		q.checkVersion()
		var want map[string]json.RawMessage // keys exactly as they are, unlike a struct's
		if err := json.Unmarshal(b, &want); err != nil {
			t.Fatalf("%q: %v", b, err)
		}
		var method string
		if raw, ok := want["method"]; ok && utf8.Valid(b) {
			if err := json.Unmarshal(raw, &method); err != nil || method != q.method {
				t.Errorf("%q has the method %q, want %q, %v", b, q.method, method, err)
			}
		}
		if !bytes.Equal(want["id"], q.id) {
			t.Errorf("%q has the id %q, want %q", b, q.id, want["id"])
		}
		if !bytes.Equal(want["params"], q.params) {
			t.Errorf("%q has the params %q, want %q", b, q.params, want["params"])
		}
	})
}

func TestPlainFindsTheFirst(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b := rapid.SliceOf(rapid.Byte()).Draw(t, "b")
		want := 0
		for ; want < len(b); want++ {
			if c := b[want]; c < ' ' || c == '"' || c == '\\' || c == lineSeparatorLead {
				break
			}
		}
		if got := plain(b); got != want {
			t.Fatalf("%q: %d, want %d", b, got, want)
		}
		if got := plain(string(b)); got != want {
			t.Fatalf("%q as a string: %d, want %d", b, got, want)
		}
	})
}

func TestEscapedTextComesBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.String().Draw(t, "s") + rapid.SampledFrom([]string{"", "\u2028", "\u2029", "\u2027", "\u202a", "\x00\x1f\x7f", `"\`, "\xe2\x80"}).Draw(t, "end")
		s = strings.ToValidUTF8(s, "?")
		b := append(appendEscaped([]byte{'"'}, s), '"')
		var back string
		if err := json.Unmarshal(b, &back); err != nil || back != s {
			t.Fatalf("%q became %s, %v", s, b, err)
		}
		if bytes.Contains(b, []byte("\u2028")) || bytes.Contains(b, []byte("\u2029")) {
			t.Fatalf("%s holds a line separator", b)
		}
	})
}
