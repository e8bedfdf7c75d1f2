package client

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/tailscale/hujson"

	"writ/envelope"
)

// jsonc is JSON, with comments and trailing commas where a file has them.
type jsonc struct{}

func (jsonc) decode(text []byte) (map[string]any, error) {
	if isBlank(text) {
		return map[string]any{}, nil
	}
	value, err := hujson.Parse(bytes.Clone(text))
	if err != nil {
		return nil, err
	}
	value.Standardize()
	decoder := json.NewDecoder(bytes.NewReader(value.Pack()))
	decoder.UseNumber()
	var document any
	if err := decoder.Decode(&document); err != nil {
		return nil, err
	}
	object, ok := document.(map[string]any)
	if !ok {
		return nil, errors.New("it holds no JSON object")
	}
	return object, nil
}

func (jsonc) set(text []byte, section, name string, entry object) ([]byte, error) {
	if isBlank(text) {
		return append(object{{section, object{{name, entry}}}}.appendJSON(nil, "\n", "", "  "), '\n'), nil
	}
	d, entries, err := openJSON(text, section)
	if err != nil {
		return nil, err
	}
	if entries == nil {
		return d.insert(&d.root, field{section, object{{name, entry}}}), nil
	}
	parts := entries.Value.(*hujson.Object)
	i := indexOf(parts, name)
	if i < 0 {
		return d.insert(entries, field{name, entry}), nil
	}
	old := parts.Members[i].Value
	eol := d.eol
	if !bytes.Contains(text[old.StartOffset:old.EndOffset], []byte("\n")) && d.inline(entries) {
		eol = ""
	}
	indent, _ := d.indentAt(parts.Members[i].Name.StartOffset)
	return apply(text, splice{old.StartOffset, old.EndOffset, string(entry.appendJSON(nil, eol, indent, d.unit))}), nil
}

func (jsonc) remove(text []byte, section, name string) ([]byte, error) {
	d, entries, err := openJSON(text, section)
	if err != nil {
		return nil, err
	}
	if entries == nil || indexOf(entries.Value.(*hujson.Object), name) < 0 {
		return nil, ErrForm
	}
	return d.cut(entries, indexOf(entries.Value.(*hujson.Object), name)), nil
}

// jsonDocument is a text with its syntax tree, whose offsets are into the text.
type jsonDocument struct {
	text      []byte
	root      hujson.Value
	eol, unit string // how lines end, and one step of indentation
}

// openJSON parses the text and finds the value of the section, an object; nil where there is none.
func openJSON(text []byte, section string) (d *jsonDocument, entries *hujson.Value, err error) {
	d = &jsonDocument{text: text, eol: endingOf(text), unit: "  "}
	if d.root, err = hujson.Parse(bytes.Clone(text)); err != nil {
		return nil, nil, err
	}
	top, ok := d.root.Value.(*hujson.Object)
	if !ok {
		return nil, nil, ErrForm
	}
	if len(top.Members) > 0 {
		if indent, first := d.indentAt(top.Members[0].Name.StartOffset); first && indent != "" {
			d.unit = indent
		}
	}
	i := indexOf(top, section)
	if i < 0 {
		return d, nil, nil
	}
	entries = &top.Members[i].Value
	if _, ok := entries.Value.(*hujson.Object); !ok {
		return nil, nil, fmt.Errorf("%w: %q holds no entries", ErrForm, section)
	}
	return d, entries, nil
}

// indexOf finds a member; -1 where there is none.
func indexOf(o *hujson.Object, name string) int {
	for i, m := range o.Members {
		if literal, ok := m.Name.Value.(hujson.Literal); ok && literal.String() == name {
			return i
		}
	}
	return -1
}

// indentAt is the space at the start of the line that holds the offset; first tells whether nothing else stands before
// the offset.
func (d *jsonDocument) indentAt(offset int) (indent string, first bool) {
	line := d.text[bytes.LastIndexByte(d.text[:offset], '\n')+1 : offset]
	rest := bytes.TrimLeft(line, " \t")
	return string(line[:len(line)-len(rest)]), len(rest) == 0
}

// inline tells whether the object keeps to one line, as a whole document on one line does.
func (d *jsonDocument) inline(v *hujson.Value) bool {
	if !bytes.Contains(bytes.TrimSpace(d.text), []byte("\n")) {
		return true
	}
	return len(v.Value.(*hujson.Object).Members) > 0 && !bytes.Contains(d.text[v.StartOffset:v.EndOffset], []byte("\n"))
}

// insert adds a member at the end of an object. Comments that stand there stay before it.
func (d *jsonDocument) insert(v *hujson.Value, f field) []byte {
	o := v.Value.(*hujson.Object)
	brace := v.EndOffset - 1
	end := len(bytes.TrimRight(d.text[:brace], " \t\r\n")) // of what stands before the brace
	outer, _ := d.indentAt(v.StartOffset)
	eol, inner := d.eol, outer+d.unit
	if d.inline(v) {
		eol, inner = "", ""
	} else if len(o.Members) > 0 {
		if indent, first := d.indentAt(o.Members[0].Name.StartOffset); first {
			inner = indent
		}
	}
	var splices []splice
	comma := false
	if n := len(o.Members); n > 0 {
		last := o.Members[n-1].Value
		if comma = last.AfterExtra != nil; !comma {
			splices = append(splices, splice{last.EndOffset, last.EndOffset, ","})
		}
	}
	text := eol + inner
	if eol == "" && len(o.Members) > 0 {
		text = " "
	}
	text += string(envelope.AppendString(nil, f.key)) + ": "
	text += string(appendJSONValue(nil, f.value, eol, inner, d.unit))
	if comma {
		text += ","
	}
	if eol != "" && !bytes.Contains(d.text[end:brace], []byte("\n")) {
		return apply(d.text, append(splices, splice{end, brace, text + eol + outer})...)
	}
	return apply(d.text, append(splices, splice{end, end, text})...)
}

// cut takes a member out of an object, with its comma and its line. Comments stay.
func (d *jsonDocument) cut(v *hujson.Value, i int) []byte {
	o := v.Value.(*hujson.Object)
	m, n := o.Members[i], len(o.Members)
	from, to := m.Name.StartOffset, m.Value.EndOffset
	comma := to + len(m.Value.AfterExtra)
	if i < n-1 { // the next one takes its place
		after := comma + 1
		after += len(d.text[after:]) - len(bytes.TrimLeft(d.text[after:], " \t"))
		if rest := bytes.TrimLeft(d.text[after:], "\r"); bytes.HasPrefix(rest, []byte("\n")) {
			after = len(d.text) - len(bytes.TrimLeft(rest[1:], " \t"))
		}
		return apply(d.text, splice{from, to, ""}, splice{comma, after, ""})
	}
	var splices []splice
	if i > 0 && m.Value.AfterExtra == nil { // no trailing comma: the one before has one too many
		before := o.Members[i-1].Value
		at := before.EndOffset + len(before.AfterExtra)
		splices = append(splices, splice{at, at + 1, ""})
	}
	brace := v.EndOffset - 1
	start := len(bytes.TrimRight(d.text[:from], " \t\r\n"))
	if last := len(splices) - 1; last >= 0 {
		start = max(start, splices[last].to)
	}
	if bytes.Contains(d.text[start:from], []byte("\n")) && !bytes.Contains(d.text[to:brace], []byte("\n")) {
		start = from // a comment before it may need its end of line
	}
	if m.Value.AfterExtra != nil {
		splices = append(splices, splice{start, to, ""}, splice{comma, comma + 1, ""})
	} else {
		splices = append(splices, splice{start, to, ""})
	}
	if n == 1 && isBlank(d.text[v.StartOffset+1:from]) && isBlank(o.AfterExtra) && isBlank(m.Value.AfterExtra) {
		splices = []splice{{v.StartOffset + 1, brace, ""}}
	}
	return apply(d.text, splices...)
}
