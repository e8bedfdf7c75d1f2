package client

import (
	"bytes"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

var small = object{{"command", "writ"}, {"args", []string{"serve"}}}

// What becomes of files that people write in their own ways. Taking the entry out again gives back the very bytes,
// unless gone says what else.
func TestWaysToWrite(t *testing.T) {
	for _, c := range []struct {
		name, before, after, gone string
		syntax                    syntax
	}{
		{"one line", `{"s":{"a":1}}`, `{"s":{"a":1, "writ": {"command": "writ", "args": ["serve"]}}}`, "", jsonc{}},
		{"one line, no section", `{}`, `{"s": {"writ": {"command": "writ", "args": ["serve"]}}}`, `{"s": {}}`, jsonc{}},
		{"an empty section", "{\n\t\"s\": {}\n}", "{\n\t\"s\": {\n\t\t\"writ\": {\n\t\t\t\"command\": \"writ\",\n\t\t\t\"args\": [\"serve\"]\n\t\t}\n\t}\n}", "", jsonc{}},
		{"lines that end in CRLF", "{\r\n  \"a\": 1\r\n}\r\n", "{\r\n  \"a\": 1,\r\n  \"s\": {\r\n    \"writ\": {\r\n      \"command\": \"writ\",\r\n      \"args\": [\"serve\"]\r\n    }\r\n  }\r\n}\r\n",
			"{\r\n  \"a\": 1,\r\n  \"s\": {}\r\n}\r\n", jsonc{}},
		{"a byte order mark", "\xef\xbb\xbf{}", "\xef\xbb\xbf{\"s\": {\"writ\": {\"command\": \"writ\", \"args\": [\"serve\"]}}}", "\xef\xbb\xbf{\"s\": {}}", jsonc{}},
		{"a comment after the last one", "{\n  \"s\": {\n    \"a\": 1 // one\n    // two\n  }\n}\n",
			"{\n  \"s\": {\n    \"a\": 1, // one\n    // two\n    \"writ\": {\n      \"command\": \"writ\",\n      \"args\": [\"serve\"]\n    }\n  }\n}\n", "", jsonc{}},
		{"a comment alone", "{\n  \"s\": {\n    // none yet\n  }\n}\n",
			"{\n  \"s\": {\n    // none yet\n    \"writ\": {\n      \"command\": \"writ\",\n      \"args\": [\"serve\"]\n    }\n  }\n}\n", "", jsonc{}},
		{"a section on one line", "{\n  \"s\": {\"a\": 1}\n}\n", "{\n  \"s\": {\"a\": 1, \"writ\": {\"command\": \"writ\", \"args\": [\"serve\"]}}\n}\n", "", jsonc{}},
		{"nothing but space", "\n", "{\n  \"s\": {\n    \"writ\": {\n      \"command\": \"writ\",\n      \"args\": [\"serve\"]\n    }\n  }\n}\n", "{\n  \"s\": {}\n}\n", jsonc{}},

		{"no section", "a = 1\n", "a = 1\n\n[s.writ]\ncommand = \"writ\"\nargs = [\"serve\"]\n", "", tomlText{}},
		{"no end of the last line", "a = 1", "a = 1\n\n[s.writ]\ncommand = \"writ\"\nargs = [\"serve\"]", "a = 1\n", tomlText{}},
		{"lines that end in CRLF", "a = 1\r\n", "a = 1\r\n\r\n[s.writ]\r\ncommand = \"writ\"\r\nargs = [\"serve\"]\r\n", "", tomlText{}},
		{"nothing but a comment", "# mine\n", "# mine\n\n[s.writ]\ncommand = \"writ\"\nargs = [\"serve\"]\n", "", tomlText{}},
		{"a byte order mark", "\xef\xbb\xbfa = 1\n", "\xef\xbb\xbfa = 1\n\n[s.writ]\ncommand = \"writ\"\nargs = [\"serve\"]\n", "", tomlText{}},

		{"no section", "a: 1\n", "a: 1\n\ns:\n  writ:\n    command: writ\n    args:\n      - serve\n", "a: 1\n\ns: {}\n", yamlText{}},
		{"a section of nothing", "s: # none\na: 1\n", "s: # none\n  writ:\n    command: writ\n    args:\n      - serve\na: 1\n", "s: {} # none\na: 1\n", yamlText{}},
		{"an empty section", "s: {}\na: 1\n", "s:\n  writ:\n    command: writ\n    args:\n      - serve\na: 1\n", "", yamlText{}},
		{"no end of the last line", "s:\n  b: 1", "s:\n  b: 1\n  writ:\n    command: writ\n    args:\n      - serve", "s:\n  b: 1\n", yamlText{}},
		{"lines that end in CRLF", "s:\r\n  b: 1\r\n", "s:\r\n  b: 1\r\n  writ:\r\n    command: writ\r\n    args:\r\n      - serve\r\n", "", yamlText{}},
		{"a text of several lines", "s:\n  b:\n    c: |\n      # no comment\n\n      x\n# end\n", "s:\n  b:\n    c: |\n      # no comment\n\n      x\n  writ:\n    command: writ\n    args:\n      - serve\n# end\n", "", yamlText{}},
		{"nothing but a comment", "# mine\n", "# mine\n\ns:\n  writ:\n    command: writ\n    args:\n      - serve\n", "# mine\n\ns: {}\n", yamlText{}},
	} {
		t.Run(fmt.Sprintf("%T %s", c.syntax, c.name), func(t *testing.T) {
			after, err := edit(c.syntax, []byte(c.before), "s", "writ", small)
			if string(after) != c.after || err != nil {
				t.Fatalf("with the entry it is %v\n%q, want\n%q", err, after, c.after)
			}
			if c.gone == "" {
				c.gone = c.before
			}
			if gone, err := edit(c.syntax, after, "s", "writ", nil); string(gone) != c.gone || err != nil {
				t.Errorf("without it again it is %v\n%q, want\n%q", err, gone, c.gone)
			}
		})
	}
}

// An entry that is there is replaced where it stands.
func TestReplacements(t *testing.T) {
	for _, c := range []struct {
		syntax        syntax
		before, after string
	}{
		{jsonc{}, "{\n  \"s\": {\n    // a\n    \"writ\": {\"url\": \"x\"}, // b\n    \"z\": 1\n  }\n}\n",
			"{\n  \"s\": {\n    // a\n    \"writ\": {\n      \"command\": \"writ\",\n      \"args\": [\"serve\"]\n    }, // b\n    \"z\": 1\n  }\n}\n"},
		{tomlText{}, "[s.writ]\nurl = \"x\"\n[s.writ.env]\nA = \"b\"\n\n# z\n[z]\na = 1\n", "[s.writ]\ncommand = \"writ\"\nargs = [\"serve\"]\n\n# z\n[z]\na = 1\n"},
		{tomlText{}, "[s.\"writ\"]\nurl = \"x\"\n[z]\na = 1\n[s.writ.env]\nA = \"b\"\n", "[s.writ]\ncommand = \"writ\"\nargs = [\"serve\"]\n[z]\na = 1\n"},
		{yamlText{}, "s:\n  writ:\n    url: x\n    args:\n    - a\n  # z\n  z: 1\n", "s:\n  writ:\n    command: writ\n    args:\n      - serve\n  # z\n  z: 1\n"},
	} {
		after, err := edit(c.syntax, []byte(c.before), "s", "writ", small)
		if string(after) != c.after || err != nil {
			t.Errorf("%T: it is %v\n%q, want\n%q", c.syntax, err, after, c.after)
		}
	}
}

// What can't be read, or edited without changing more, is refused.
func TestRefusals(t *testing.T) {
	for _, c := range []struct {
		syntax syntax
		text   string
		want   error
	}{
		{jsonc{}, `{"s": `, ErrUnreadable},
		{jsonc{}, `[]`, ErrUnreadable},
		{jsonc{}, `{"s": []}`, ErrForm},
		{jsonc{}, `{"s": {}, "s": {"a": 1}}`, ErrForm},
		{jsonc{}, "{\"a\": \"\xff\"}", ErrUnreadable},
		{tomlText{}, "s = \n", ErrUnreadable},
		{tomlText{}, "a = 1\na = 2\n", ErrUnreadable},
		{tomlText{}, "s = {a = {}}\n", ErrForm},
		{tomlText{}, "[s]\nwrit = {url = \"x\"}\n", ErrForm},
		{tomlText{}, "[[s]]\na = 1\n", ErrForm},
		{yamlText{}, "a: [\n", ErrUnreadable},
		{yamlText{}, "- a\n", ErrUnreadable},
		{yamlText{}, "a: 1\n---\nb: 1\n", ErrUnreadable},
		{yamlText{}, "{a: 1}\n", ErrForm},
		{yamlText{}, "s: {a: 1}\n", ErrForm},
		{yamlText{}, "s: text\n", ErrForm},
	} {
		if after, err := edit(c.syntax, []byte(c.text), "s", "writ", small); !errors.Is(err, c.want) || after != nil {
			t.Errorf("%T %q becomes %q, %v", c.syntax, c.text, after, err)
		}
	}
}

// Whatever a file of JSON looks like: the entry comes in and goes out, every comment stays, and nothing else changes.
func TestAnyJSON(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := []byte(anyJSON(t))
		document, err := jsonc{}.decode(text)
		if err != nil {
			t.Skip("no document")
		}
		had, err := find(jsonc{}, text, "s", "writ")
		if err != nil {
			t.Skip("no section")
		}
		after, err := edit(jsonc{}, text, "s", "writ", small)
		if err != nil {
			t.Fatalf("%v in %q", err, text)
		}
		gone, err := edit(jsonc{}, after, "s", "writ", nil)
		if err != nil {
			t.Fatalf("%v in %q", err, after)
		}
		if left, err := (jsonc{}).decode(gone); err != nil || !reflect.DeepEqual(without(left, "s", "writ"), without(document, "s", "writ")) {
			t.Fatalf("%q became %q", text, gone)
		}
		if inside := had != nil; !inside && bytes.Count(gone, []byte("/*")) != bytes.Count(text, []byte("/*")) {
			t.Fatalf("a comment of %q is lost in %q", text, gone)
		}
	})
}

// anyJSON draws an object with members named s, writ and others, and comments, commas and space in all places.
func anyJSON(t *rapid.T) string {
	var b strings.Builder
	space := func() {
		b.WriteString(rapid.SampledFrom([]string{"", " ", "\n  ", "\n\t", "\r\n", "/* c */", " // l\n", "\n /* d */\n"}).Draw(t, "space"))
	}
	var object func(depth int)
	object = func(depth int) {
		keys := rapid.Permutation([]string{"s", "writ", "a"}).Draw(t, "keys")[:rapid.IntRange(0, 3).Draw(t, "members")]
		b.WriteString("{")
		for i, key := range keys {
			space()
			fmt.Fprintf(&b, "%q", key)
			space()
			b.WriteString(":")
			space()
			if depth > 0 && key != "a" {
				object(depth - 1)
			} else {
				b.WriteString("1.0")
			}
			space()
			if i < len(keys)-1 || rapid.Bool().Draw(t, "comma") {
				b.WriteString(",")
			}
		}
		space()
		b.WriteString("}")
	}
	object(2)
	space()
	return b.String()
}

func FuzzEdit(f *testing.F) {
	f.Add("{\"s\": {\"a\": 1,}, // c\n}")
	f.Add("a = 1\n[s.writ]\nx = [1,\n2]\n")
	f.Add("s:\n  a: |\n    x\n  writ: {}\n")
	f.Fuzz(func(t *testing.T, text string) {
		for _, s := range []syntax{jsonc{}, tomlText{}, yamlText{}} {
			after, err := edit(s, []byte(text), "s", "writ", small)
			if err != nil {
				continue
			}
			if found, err := find(s, after, "s", "writ"); err != nil || !small.covers(found) {
				t.Errorf("%T: %q became %q, which holds %v, %v", s, text, after, found, err)
			}
		}
	})
}
