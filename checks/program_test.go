package checks_test

import (
	"reflect"
	"testing"

	"writ/checks"
)

func TestSaid(t *testing.T) {
	const file = "/state/run-1/copy/a+b.py"
	for name, c := range map[string]struct {
		output string
		want   []checks.Problem
	}{
		"a compiler":       {file + ":3:7: error: no ; here\n" + file + ":12: unused\n", []checks.Problem{{3, 7, "error: no ; here"}, {12, 0, "unused"}}},
		"a base name":      {"In all\na+b.py:3:7 no such name\r\n", []checks.Problem{{3, 7, "no such name"}}},
		"tsc":              {file + "(2,5): error TS1005: ';' expected.", []checks.Problem{{2, 5, "error TS1005: ';' expected."}}},
		"Python":           {"  File \"" + file + "\", line 4\n    def f(\n         ^\nSyntaxError: '(' was never closed\n", []checks.Problem{{4, 0, "SyntaxError: '(' was never closed"}}},
		"a shell":          {file + ": 2: Syntax error: end of file unexpected\n", []checks.Problem{{2, 0, "Syntax error: end of file unexpected"}}},
		"Node":             {file + ":1\nlet (\n    ^\n\nSyntaxError: Unexpected end of input\n    at wrap (node:1)\n\nNode.js v18\n", []checks.Problem{{1, 0, "SyntaxError: Unexpected end of input"}}},
		"a place alone":    {file + ":1\nbad\n", []checks.Problem{{1, 0, "bad"}}},
		"no place":         {"cannot read " + file + "\n", []checks.Problem{{0, 0, "cannot read a+b.py"}}},
		"another file":     {"/lib/other.py:3:7: deprecated\n", []checks.Problem{{0, 0, "/lib/other.py:3:7: deprecated"}}},
		"a number too big": {file + ":99999999999999999999: x\n", []checks.Problem{{0, 0, "a+b.py:99999999999999999999: x"}}},
		"nothing":          {" \n", []checks.Problem{{0, 0, "The check failed and said nothing."}}},
	} {
		if got := checks.Said(file, c.output); !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: %+v, want %+v", name, got, c.want)
		}
	}
	if got := checks.Said("/x/\xff.py", "/x/\xff.py:1: bad"); len(got) != 1 {
		t.Errorf("a name that is no text: %+v", got)
	}
}
