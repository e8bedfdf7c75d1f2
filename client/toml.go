package client

import (
	"bytes"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"
	"github.com/pelletier/go-toml/v2/unstable"

	"writ/envelope"
)

// tomlText is TOML whose entries are tables of their own, [section.name], as its clients write them.
type tomlText struct{}

func (tomlText) decode(text []byte) (map[string]any, error) {
	document := map[string]any{}
	err := toml.Unmarshal(text, &document)
	return document, err
}

func (tomlText) set(text []byte, section, name string, entry object) ([]byte, error) {
	eol := endingOf(text)
	block := string(appendTOML(nil, section+"."+name, entry, eol))
	tables, err := tablesOf(text, section, name)
	if err != nil {
		return nil, err
	}
	if len(tables) == 0 {
		return appended(text, block, eol), nil
	}
	tables[0].text = block
	if tables[0].to == len(text) && !bytes.HasSuffix(text, []byte("\n")) {
		tables[0].text = strings.TrimSuffix(block, eol)
	}
	return apply(text, tables...), nil
}

func (tomlText) remove(text []byte, section, name string) ([]byte, error) {
	tables, err := tablesOf(text, section, name)
	if err != nil || len(tables) == 0 {
		return nil, ErrForm
	}
	first := &tables[0]
	if head := text[:first.from]; first.to == len(text) { // nothing follows: no empty line before it
		first.from = len(bytes.TrimRight(head, "\r\n"))
		first.from += len(firstLine(head[first.from:]))
	}
	return apply(text, tables...), nil
}

func firstLine(text []byte) []byte {
	return text[:bytes.IndexByte(text, '\n')+1]
}

// tablesOf finds the stretches of lines that hold the table of the entry and those below it. Empty lines and comments
// before the next table belong to that one.
func tablesOf(text []byte, section, name string) ([]splice, error) {
	var found []splice
	open := false
	closeAt := func(offset int) {
		if open {
			last := &found[len(found)-1]
			last.to = last.from + len(withoutTail(text[last.from:offset]))
			open = false
		}
	}
	parser := unstable.Parser{}
	parser.Reset(text)
	for parser.NextExpression() {
		e := parser.Expression()
		if e.Kind != unstable.Table && e.Kind != unstable.ArrayTable {
			continue
		}
		var key []string
		start := -1
		for part := e.Key(); part.Next(); {
			if start < 0 {
				start = bytes.LastIndexByte(text[:part.Node().Raw.Offset], '\n') + 1
			}
			key = append(key, string(part.Node().Data))
		}
		closeAt(start)
		if len(key) >= 2 && slices.Equal(key[:2], []string{section, name}) {
			found = append(found, splice{from: start})
			open = true
		}
	}
	closeAt(len(text))
	return found, parser.Error()
}

// withoutTail is a stretch of whole lines without the empty ones and the comments at its end.
func withoutTail(text []byte) []byte {
	end := 0
	at := 0
	for line := range bytes.Lines(text) {
		at += len(line)
		if trimmed := bytes.TrimSpace(line); len(trimmed) > 0 && trimmed[0] != '#' {
			end = at
		}
	}
	return text[:end]
}

// appendTOML appends a table, and its objects as tables below it.
func appendTOML(b []byte, path string, o object, eol string) []byte {
	b = append(b, "["+path+"]"+eol...)
	for _, f := range o {
		switch v := f.value.(type) {
		case object:
			continue
		case []string:
			b = appendStrings(append(b, f.key+" = "...), v)
		default:
			b = envelope.AppendValue(append(b, f.key+" = "...), v)
		}
		b = append(b, eol...)
	}
	for _, f := range o {
		if inner, ok := f.value.(object); ok {
			b = appendTOML(append(b, eol...), path+"."+f.key, inner, eol)
		}
	}
	// TOML wants the one control character escaped that JSON does not.
	return bytes.ReplaceAll(b, []byte("\x7f"), []byte(`\u007f`))
}
