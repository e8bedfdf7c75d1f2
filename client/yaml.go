package client

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
)

// yamlText is YAML in block style. It is edited line by line; the tree tells which lines.
type yamlText struct{}

func (yamlText) decode(text []byte) (map[string]any, error) {
	if isBlank(text) {
		return map[string]any{}, nil
	}
	file, err := parser.ParseBytes(unix(text), 0)
	if err != nil {
		return nil, err
	}
	if len(file.Docs) > 1 {
		return nil, errors.New("it holds several documents")
	}
	var document map[string]any
	if err := yaml.Unmarshal(unix(text), &document); err != nil {
		return nil, err
	}
	if document == nil {
		document = map[string]any{}
	}
	return document, nil
}

// unix is the text with lines that end in LF alone: the parser counts others wrongly.
func unix(text []byte) []byte { return bytes.ReplaceAll(text, []byte("\r\n"), []byte("\n")) }

func (yamlText) set(text []byte, section, name string, entry object) ([]byte, error) {
	d, err := openYAML(text)
	if err != nil {
		return nil, err
	}
	value := d.value(d.root, section)
	if value == nil {
		block, err := yamlBlock(object{{section, object{{name, entry}}}}, "", d.eol)
		return appended(text, block, d.eol), err
	}
	if entries := blockOf(value.Value); entries != nil {
		return d.setAmong(entries, name, entry)
	}
	if !isNothing(value.Value) {
		return nil, ErrForm
	}
	block, err := yamlBlock(object{{name, entry}}, "  ", d.eol)
	if err != nil {
		return nil, err
	}
	line := value.Start.Position.Line - 1
	if d.lines[line], err = d.onlyKey(value, ""); err != nil {
		return nil, err
	}
	return d.replaced(line+1, line+1, block), nil
}

// setAmong puts the entry in its place among the others of its section.
func (d *yamlDocument) setAmong(entries []*ast.MappingValueNode, name string, entry object) ([]byte, error) {
	first := entries[0].Key.GetToken().Position
	indent := strings.Repeat(" ", first.Column-1)
	block, err := yamlBlock(object{{name, entry}}, indent, d.eol)
	if err != nil {
		return nil, err
	}
	if old := d.value(entries, name); old != nil {
		from := old.Key.GetToken().Position.Line - 1
		return d.replaced(from, d.endOf(from, len(indent)), block), nil
	}
	last := d.endOf(entries[len(entries)-1].Key.GetToken().Position.Line-1, len(indent))
	return d.replaced(last, last, block), nil
}

func (yamlText) remove(text []byte, section, name string) ([]byte, error) {
	d, err := openYAML(text)
	if err != nil {
		return nil, err
	}
	value := d.value(d.root, section)
	if value == nil {
		return nil, ErrForm
	}
	entries := blockOf(value.Value)
	old := d.value(entries, name)
	if old == nil {
		return nil, ErrForm
	}
	key := old.Key.GetToken().Position
	from := key.Line - 1
	to := d.endOf(from, key.Column-1)
	if len(entries) == 1 {
		line := value.Start.Position.Line - 1
		if d.lines[line], err = d.onlyKey(value, " {}"); err != nil {
			return nil, err
		}
	}
	return d.replaced(from, to, ""), nil
}

type yamlDocument struct {
	lines []string // each with its ending
	root  []*ast.MappingValueNode
	eol   string
}

func openYAML(text []byte) (*yamlDocument, error) {
	d := &yamlDocument{eol: endingOf(text)}
	d.lines = slices.Collect(strings.Lines(string(text)))
	file, err := parser.ParseBytes(unix(text), 0)
	if err != nil {
		return nil, err
	}
	if len(file.Docs) == 0 || isNothing(file.Docs[0].Body) {
		return d, nil
	}
	if d.root = blockOf(file.Docs[0].Body); d.root == nil {
		return nil, ErrForm
	}
	return d, nil
}

// blockOf lists the entries of a mapping in block style; nil for anything else.
func blockOf(n ast.Node) []*ast.MappingValueNode {
	switch n := n.(type) {
	case *ast.MappingNode:
		if !n.IsFlowStyle {
			return n.Values
		}
	case *ast.MappingValueNode:
		return []*ast.MappingValueNode{n}
	}
	return nil
}

// isNothing tells whether n is absent, null or an empty mapping.
func isNothing(n ast.Node) bool {
	switch n := n.(type) {
	case nil, *ast.NullNode:
		return true
	case *ast.MappingNode:
		return n.IsFlowStyle && len(n.Values) == 0
	}
	return false
}

// value finds the entry of a mapping by its key; nil where there is none.
func (d *yamlDocument) value(entries []*ast.MappingValueNode, key string) *ast.MappingValueNode {
	for _, e := range entries {
		if e.Key.GetToken().Value == key {
			return e
		}
	}
	return nil
}

// endOf is the line behind the entry whose key stands on the line, indented by so many spaces. Empty lines and comments
// at its end that are indented no deeper belong to what follows.
func (d *yamlDocument) endOf(line, indent int) int {
	end := line + 1
	for i := end; i < len(d.lines); i++ {
		trimmed := strings.TrimLeft(d.lines[i], " ")
		deeper := len(d.lines[i])-len(trimmed) > indent
		switch {
		case strings.TrimSpace(trimmed) == "", strings.HasPrefix(trimmed, "#") && !deeper:
		case deeper:
			end = i + 1
		default:
			return end
		}
	}
	return end
}

// onlyKey is the line of an entry whose value is nothing, with another value in its place. A comment stays.
func (d *yamlDocument) onlyKey(e *ast.MappingValueNode, value string) (string, error) {
	line := []rune(d.lines[e.Start.Position.Line-1])
	colon := e.Start.Position.Column
	if colon > len(line) || line[colon-1] != ':' {
		return "", ErrForm
	}
	rest := string(line[colon:])
	for _, word := range []string{"{}", "null", "~"} {
		if trimmed := strings.TrimLeft(rest, " "); strings.HasPrefix(trimmed, word) {
			rest = trimmed[len(word):]
			break
		}
	}
	return string(line[:colon]) + value + rest, nil
}

// replaced is the text with a block in the place of the lines from one to before the other.
func (d *yamlDocument) replaced(from, to int, block string) []byte {
	before := strings.Join(d.lines[:from], "")
	after := strings.Join(d.lines[to:], "")
	if block != "" && before != "" && !strings.HasSuffix(before, "\n") {
		before, block = before+d.eol, strings.TrimSuffix(block, d.eol)
	}
	return []byte(before + block + after)
}

// yamlBlock writes an object in block style.
func yamlBlock(o object, indent, eol string) (string, error) {
	text, err := yaml.MarshalWithOptions(o.mapSlice(), yaml.Indent(2), yaml.IndentSequence(true))
	if err != nil {
		return "", fmt.Errorf("%w: %w", ErrForm, err)
	}
	var b strings.Builder
	for line := range strings.Lines(string(text)) {
		b.WriteString(indent + strings.TrimSuffix(line, "\n") + eol)
	}
	return b.String(), nil
}

func (o object) mapSlice() yaml.MapSlice {
	m := yaml.MapSlice{}
	for _, f := range o {
		if inner, ok := f.value.(object); ok {
			m = append(m, yaml.MapItem{Key: f.key, Value: inner.mapSlice()})
		} else {
			m = append(m, yaml.MapItem{Key: f.key, Value: f.value})
		}
	}
	return m
}
