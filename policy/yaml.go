package policy

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"

	"writ/contract"
)

// The reader walks the tree of a YAML file and notes each mistake with its place instead of stopping at the first. It
// reads a plain subset: mappings, lists, text, whole numbers, true and false. Anchors, aliases, merge keys and tags are
// mistakes, so that what a policy says stands where a reader of the file looks for it.

type reader struct {
	file     string
	mistakes Mistakes
}

// fault notes a mistake at n.
func (r *reader) fault(n ast.Node, format string, args ...any) {
	r.faultAt(start(n), fmt.Sprintf(format, args...))
}

func (r *reader) faultAt(t *token.Token, message string) {
	m := Mistake{File: r.file, Message: message}
	if t != nil && t.Position != nil {
		m.Line, m.Column = max(t.Position.Line, 1), max(t.Position.Column, 1)
	}
	r.mistakes = append(r.mistakes, m)
}

// start returns the token that a person would point at for n: of a block mapping its first key, not its first colon.
func start(n ast.Node) *token.Token {
	if m, ok := n.(*ast.MappingNode); ok && len(m.Values) > 0 && !m.IsFlowStyle {
		return m.Values[0].Key.GetToken()
	}
	return n.GetToken()
}

// document returns the one document of the file, nil where it holds nothing but comments.
func (r *reader) document(data []byte) ast.Node {
	if at := invalidUTF8(data); at >= 0 {
		line := bytes.Count(data[:at], []byte("\n")) + 1
		column := utf8.RuneCount(data[bytes.LastIndexByte(data[:at], '\n')+1:at]) + 1
		r.mistakes = append(r.mistakes, Mistake{r.file, line, column, "A policy is UTF-8, and this character is not."})
		return nil
	}
	f, err := parser.ParseBytes(data, 0, parser.AllowDuplicateMapKey())
	if err != nil {
		r.syntax(err)
		return nil
	}
	var body ast.Node
	for _, d := range f.Docs {
		switch {
		case d.Body == nil:
		case body == nil:
			body = d.Body
		default:
			r.fault(d.Body, "A policy is one YAML document; remove what begins here.")
			return nil
		}
	}
	return body
}

// invalidUTF8 returns the index of the first byte that is not UTF-8, or -1.
func invalidUTF8(data []byte) int {
	for i := 0; i < len(data); {
		c, n := utf8.DecodeRune(data[i:])
		if c == utf8.RuneError && n == 1 {
			return i
		}
		i += n
	}
	return -1
}

// syntax notes that the file is not YAML, in our words where people often go wrong.
func (r *reader) syntax(err error) {
	e, ok := errors.AsType[yaml.Error](err)
	if !ok {
		r.faultAt(nil, "This is not YAML: "+oneLine(err.Error())+".")
		return
	}
	t, message := e.GetToken(), e.GetMessage()
	switch {
	case t != nil && (strings.HasPrefix(t.Value, "*") || t.Prev != nil && t.Prev.Value == "*"):
		r.faultAt(t, `A glob that begins with * stands in quotes, such as "**".`)
	case strings.Contains(message, "'\t'"):
		r.faultAt(t, "YAML is indented with spaces, not with tabs.")
	default:
		r.faultAt(t, "This is not YAML: "+oneLine(message)+".")
	}
}

func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

// field is a key of a mapping and what reads its value.
type field struct {
	key  string
	read func(n ast.Node)
}

// mapping reads the mapping n, which messages call what.
func (r *reader) mapping(n ast.Node, what string, fields []field) {
	known := make([]string, len(fields))
	for i, f := range fields {
		known[i] = f.key
	}
	r.entries(n, what, func(key string, at, value ast.Node) {
		i := slices.Index(known, key)
		switch meant := nearest(key, known); {
		case i >= 0:
			fields[i].read(value)
		case meant != "":
			r.fault(at, "There is no key %s in %s; did you mean %s?", contract.Quote(key), what, contract.Quote(meant))
		default:
			r.fault(at, "There is no key %s in %s, which takes %s.", contract.Quote(key), what, list(known))
		}
	})
}

// entries calls each for the keys of the mapping n that have a value, in the file's order.
func (r *reader) entries(n ast.Node, what string, each func(key string, at, value ast.Node)) {
	m, ok := n.(*ast.MappingNode)
	if !ok {
		r.fault(n, "Write %s as a mapping of keys to values, not as %s.", what, kindOf(n))
		return
	}
	seen := make(map[string]int, len(m.Values))
	for _, entry := range m.Values {
		name, ok := entry.Key.(*ast.StringNode)
		if !ok {
			r.fault(entry.Key, "A key of %s must be plain text, not %s.", what, kindOf(entry.Key))
			continue
		}
		key := name.Value
		if line, twice := seen[key]; twice {
			r.fault(name, "The key %s stands twice in %s, first on line %d.", contract.Quote(key), what, line)
			continue
		}
		seen[key] = name.GetToken().Position.Line
		if _, empty := entry.Value.(*ast.NullNode); empty || entry.Value == nil {
			r.fault(name, "The key %s of %s has no value; give it one or leave it out.", contract.Quote(key), what)
			continue
		}
		each(key, name, entry.Value)
	}
}

// items calls each for the entries of the list n.
func (r *reader) items(n ast.Node, what, example string, each func(n ast.Node)) {
	s, ok := n.(*ast.SequenceNode)
	if !ok {
		r.fault(n, "%s must be a list, such as %s, not %s.", what, example, kindOf(n))
		return
	}
	for _, entry := range s.Values {
		each(entry)
	}
}

// text reads the text n; example is what one looks like.
func (r *reader) text(n ast.Node, what, example string) (string, bool) {
	s, ok := n.(*ast.StringNode)
	if !ok {
		r.fault(n, "%s must be text in quotes, such as %q, not %s.", what, example, kindOf(n))
		return "", false
	}
	return s.Value, true
}

func (r *reader) truth(n ast.Node, what string) (value, ok bool) {
	b, ok := n.(*ast.BoolNode)
	if !ok {
		r.fault(n, "%s must be true or false, not %s.", what, kindOf(n))
		return false, false
	}
	return b.Value, true
}

// whole reads a whole number from 1 to most, 0 where it is none.
func (r *reader) whole(n ast.Node, what string, most int64) int64 {
	if _, ok := n.(*ast.IntegerNode); !ok {
		r.fault(n, "%s must be a whole number, such as 600, not %s.", what, kindOf(n))
		return 0
	}
	number, err := strconv.ParseInt(n.GetToken().Value, 10, 64)
	if err != nil || number < 1 || number > most {
		r.fault(n, "%s must be a whole number from 1 to %d.", what, most)
		return 0
	}
	return number
}

// kindOf names what stands where something else was wanted.
func kindOf(n ast.Node) string {
	switch n.(type) {
	case nil, *ast.NullNode:
		return "an empty value"
	case *ast.StringNode:
		return "text"
	case *ast.LiteralNode:
		return "text of several lines"
	case *ast.IntegerNode, *ast.FloatNode, *ast.InfinityNode, *ast.NanNode:
		return "a number"
	case *ast.BoolNode:
		return "true or false"
	case *ast.SequenceNode:
		return "a list"
	case *ast.MappingNode, *ast.MappingValueNode:
		return "a mapping"
	case *ast.AnchorNode, *ast.AliasNode, *ast.MergeKeyNode:
		return "an anchor or alias; write the value itself"
	case *ast.TagNode:
		return "a tagged value; leave the tag out"
	}
	return "this"
}
