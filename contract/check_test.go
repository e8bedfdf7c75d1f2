package contract

import (
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"

	"writ/envelope"
)

type sampleIn struct {
	Path   Path     `json:"path" doc:"a file"`
	Limit  int      `json:"limit,omitempty" min:"1" max:"100" doc:"lines"`
	Exact  bool     `json:"exact,omitempty" default:"true" doc:"as it stands"`
	Names  []string `json:"names,omitempty" min:"1" max:"2" doc:"names"`
	Word   string   `json:"word,omitempty" min:"1" max:"3" doc:"a word"`
	Seen   Version  `json:"observed_version,omitzero" doc:"a version"`
	Colour string   `json:"colour,omitempty" enum:"red,green" doc:"a colour"`
	Edits  []struct {
		Old string `json:"old" doc:"old"`
	} `json:"edits,omitempty" doc:"edits"`
}

type sampleOut struct {
	envelope.Notes
	List []string `json:"list"`
}

func sample() *Contract {
	c := &Contract{Name: "sample"}
	return c.Bind(reflect.TypeFor[sampleIn](), reflect.TypeFor[sampleOut]())
}

func TestCheckRefuses(t *testing.T) {
	c := sample()
	if err := c.Compile(); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		name, raw string
		code      envelope.Code
		mentions  string
	}{
		{"nothing", ``, envelope.Required, `"path"`},
		{"null", `null`, envelope.Required, `"path"`},
		{"an empty object", `{}`, envelope.Required, `"path"`},
		{"a required one that is null", `{"path":null}`, envelope.Required, `"path"`},
		{"a list", `["a"]`, envelope.Type, "must be an object"},
		{"a string", `"a"`, envelope.Type, "must be an object"},
		{"a number for text", `{"path":5}`, envelope.Type, `"path" must be a string, but is a number`},
		{"a list for text", `{"path":["a"]}`, envelope.Type, "but is an array"},
		{"an unknown parameter", `{"path":"a","reason":"r"}`, envelope.UnknownParameter, `"reason"`},
		{"a misspelt parameter", `{"path":"a","limmit":1}`, envelope.UnknownParameter, `Did you mean "limit"?`},
		{"another tool's parameter", `{"path":"a","file_path":"b"}`, envelope.UnknownParameter, `Did you mean "path"?`},
		{"too small", `{"path":"a","limit":0}`, envelope.Range, "at least 1"},
		{"too large", `{"path":"a","limit":101}`, envelope.Range, "at most 100"},
		{"far too large", `{"path":"a","limit":9007199254740993}`, envelope.Range, "at most 100"},
		{"larger than memory", `{"path":"a","limit":1e1000000000}`, envelope.Type, "/limit"},
		{"a fraction", `{"path":"a","limit":1.5}`, envelope.Type, "integer"},
		{"a word for a number", `{"path":"a","limit":"abc"}`, envelope.Type, `"limit" must be an integer`},
		{"the word null for a number", `{"path":"a","limit":"null"}`, envelope.Type, `"limit"`},
		{"a number with a space", `{"path":"a","limit":" 2"}`, envelope.Type, `"limit"`},
		{"a number with a sign", `{"path":"a","limit":"+2"}`, envelope.Type, `"limit"`},
		{"a number with a leading zero", `{"path":"a","limit":"02"}`, envelope.Type, `"limit"`},
		{"a word for true", `{"path":"a","exact":"true"}`, envelope.Type, `"exact" must be a boolean`},
		{"an empty word", `{"path":"a","word":""}`, envelope.Length, "It is empty"},
		{"a long word", `{"path":"a","word":"äöüß"}`, envelope.Length, "at most 3 characters, but has 4"},
		{"an empty list", `{"path":"a","names":[]}`, envelope.ItemCount, "at least 1"},
		{"a long list", `{"path":"a","names":["a","b","c"]}`, envelope.ItemCount, "at most 2"},
		{"a list that does not end", `{"path":"a","names":"[\"a\""}`, envelope.Type, `"names"`},
		{"a word that is not in the list", `{"path":"a","colour":"blue"}`, envelope.Range, `"red"`},
		{"a missing part of an item", `{"path":"a","edits":[{}]}`, envelope.Required, "/edits/0"},
		{"an unknown part of an item", `{"path":"a","edits":[{"old":"x","new":"y"}]}`, envelope.UnknownParameter, "/edits/0"},
		{"a key twice", `{"path":"a","path":"b"}`, envelope.DuplicateParameter, `"path"`},
		{"a key twice further down", `{"path":"a","edits":[{"old":"x","old":"y"}]}`, envelope.DuplicateParameter, "/edits/0/old"},
		{"a key twice in two spellings", `{"path":"a","p\u0061th":"b"}`, envelope.DuplicateParameter, `"path"`},
		{"half a pair, high", `{"path":"x\ud83dy"}`, envelope.BadEncoding, "/path"},
		{"half a pair, low", `{"path":"x\udc00y"}`, envelope.BadEncoding, "/path"},
		{"half a pair at the end", `{"path":"x\ud83d"}`, envelope.BadEncoding, "/path"},
		{"two high halves", `{"path":"\ud83d\ud83d"}`, envelope.BadEncoding, "/path"},
		{"bytes that are no text", "{\"path\":\"\xff\"}", envelope.BadEncoding, "UTF-8"},
		{"a surrogate in bytes", "{\"path\":\"\xed\xa0\x80\"}", envelope.BadEncoding, "UTF-8"},
		{"no JSON", `{"path":`, envelope.Type, "not valid JSON"},
		{"more than JSON", `{"path":"a"} x`, envelope.Type, "not valid JSON"},
		{"a deep nest", `{"path":` + strings.Repeat("[", 100) + strings.Repeat("]", 100) + `}`, envelope.Type, "deeply"},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, err := c.Check(json.RawMessage(test.raw))
			var causes envelope.Refusals
			if !errors.As(err, &causes) {
				cause, ok := errors.AsType[*envelope.Error](err)
				if !ok {
					t.Fatalf("error is %v", err)
				}
				causes = envelope.Refusals{cause}
			}
			for _, cause := range causes {
				if cause.Code == test.code && strings.Contains(cause.Message, test.mentions) {
					return
				}
			}
			t.Errorf("none of %v has the code %s and mentions %s", causes, test.code, test.mentions)
		})
	}
}

func TestCheckAccepts(t *testing.T) {
	c := sample()
	type rules = []envelope.Normalization
	for _, test := range []struct {
		name, raw string
		want      sampleIn
		rules     rules
	}{
		{"the least", `{"path":"a"}`, sampleIn{Path: Path{"a"}, Exact: true}, nil},
		{"false for a true default", `{"path":"a","exact":false}`, sampleIn{Path: Path{"a"}}, nil},
		{"null for an optional one", `{"path":"a","limit":null}`, sampleIn{Path: Path{"a"}, Exact: true}, rules{{Parameter: "limit", Rule: "null-as-absent"}}},
		{"a number as text", `{"path":"a","limit":"12"}`, sampleIn{Path: Path{"a"}, Exact: true, Limit: 12}, rules{{Parameter: "limit", Rule: "integer-from-string"}}},
		{"a number with an empty fraction", `{"path":"a","limit":2.0}`, sampleIn{Path: Path{"a"}, Exact: true, Limit: 2}, nil},
		{"a list as text", `{"path":"a","names":"[\"x\", \"y\"]"}`, sampleIn{Path: Path{"a"}, Exact: true, Names: []string{"x", "y"}}, rules{{Parameter: "names", Rule: "array-from-string"}}},
		{"text that looks like a number", `{"path":"12"}`, sampleIn{Path: Path{"12"}, Exact: true}, nil},
		{"text that looks like a list", `{"path":"[1]"}`, sampleIn{Path: Path{"[1]"}, Exact: true}, nil},
		{"escapes", `{"path":"\u00e9\ud83d\ude00\/\"\\\b"}`, sampleIn{Path: Path{"é😀/\"\\\b"}, Exact: true}, nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			args, err := c.Check(json.RawMessage(test.raw))
			if err != nil {
				t.Fatal(err)
			}
			var got sampleIn
			if err := args.Into(&got); err != nil {
				t.Fatal(err)
			}
			if !reflect.DeepEqual(got, test.want) {
				t.Errorf("got %+v, want %+v", got, test.want)
			}
			if !reflect.DeepEqual(args.Normalizations, []envelope.Normalization(test.rules)) {
				t.Errorf("normalizations are %v, want %v", args.Normalizations, test.rules)
			}
		})
	}
}

// The same arguments have one canonical form, whatever the order and spelling they were sent in.
func TestCanonical(t *testing.T) {
	c := sample()
	a, err1 := c.Check(json.RawMessage(`{"path":"a","limit":1}`))
	b, err2 := c.Check(json.RawMessage(` { "limit" : "1" , "p\u0061th" : "a" } `))
	if err1 != nil || err2 != nil {
		t.Fatal(err1, err2)
	}
	if string(a.Canonical()) != string(b.Canonical()) {
		t.Errorf("%s differs from %s", a.Canonical(), b.Canonical())
	}
}

func TestKeep(t *testing.T) {
	c := sample()
	good := `{"request_id":"r","status":"ok","retry_safe":true,"next":"none","errors":[],"warnings":[],"normalizations":[],"list":[]}`
	if err := c.Keep([]byte(good)); err != nil {
		t.Error(err)
	}
	for _, bad := range []string{
		strings.Replace(good, `"list":[]`, `"list":null`, 1),
		strings.Replace(good, `"status":"ok"`, `"status":"fine"`, 1),
		strings.Replace(good, `"warnings":[],`, ``, 1),
		strings.Replace(good, `"errors":[]`, `"errors":[{"code":"io"}]`, 1),
	} {
		if err := c.Keep([]byte(bad)); err == nil {
			t.Errorf("%s was taken for an answer that keeps the contract", bad)
		}
	}
}

// The strict reader accepts nothing that encoding/json does not, and what it accepts means the same.
func FuzzParseStrict(f *testing.F) {
	for _, s := range []string{`{"a":[1,2.5e3,"x\u00e9\ud83d\ude00",true,false,null]}`, `[]`, `"\ud83d"`, `{"a":1,"a":2}`, ` 1 `, `-`, `01`, `tru`, "\"\xff\"", `{"a"}`, `[1,]`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		got, err := parseStrict(raw)
		if err != nil {
			return
		}
		var want any
		d := json.NewDecoder(strings.NewReader(string(raw)))
		d.UseNumber()
		if err := d.Decode(&want); err != nil {
			t.Fatalf("encoding/json refuses %q: %v", raw, err)
		}
		if !reflect.DeepEqual(got, want) {
			t.Fatalf("%q is %#v, encoding/json says %#v", raw, got, want)
		}
	})
}

func BenchmarkCheck(b *testing.B) {
	c := sample()
	raw := json.RawMessage(`{"path":"docs/notes/plan.md","limit":20}`)
	for b.Loop() {
		args, err := c.Check(raw)
		if err != nil {
			b.Fatal(err)
		}
		var in sampleIn
		if err := args.Into(&in); err != nil {
			b.Fatal(err)
		}
	}
}
