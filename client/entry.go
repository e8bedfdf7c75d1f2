package client

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"reflect"
	"strconv"

	"writ/envelope"
)

// object is an entry of a configuration file: its fields in the order in which they are written.
type object []field

// field is one of them; its value is a string, a bool, an int, a []string or an object.
type field struct {
	key   string
	value any
}

// appendJSON appends the object over several lines, the first of them unindented; or on one line where eol is "".
func (o object) appendJSON(b []byte, eol, indent, unit string) []byte {
	if len(o) == 0 {
		return append(b, "{}"...)
	}
	b = append(b, '{')
	for i, f := range o {
		if i > 0 {
			b = append(b, ',')
		}
		if eol != "" {
			b = append(b, eol+indent+unit...)
		} else if i > 0 {
			b = append(b, ' ')
		}
		b = append(envelope.AppendString(b, f.key), ": "...)
		b = appendJSONValue(b, f.value, eol, indent+unit, unit)
	}
	if eol != "" {
		b = append(b, eol+indent...)
	}
	return append(b, '}')
}

func appendJSONValue(b []byte, value any, eol, indent, unit string) []byte {
	switch v := value.(type) {
	case object:
		return v.appendJSON(b, eol, indent, unit)
	case []string:
		return appendStrings(b, v)
	}
	return envelope.AppendValue(b, value)
}

// appendStrings appends a list on one line, which JSON and TOML write alike.
func appendStrings(b []byte, list []string) []byte {
	b = append(b, '[')
	for i, s := range list {
		if i > 0 {
			b = append(b, ", "...)
		}
		b = envelope.AppendString(b, s)
	}
	return append(b, ']')
}

// plain is the object as a decoder returns it.
func (o object) plain() map[string]any {
	m := make(map[string]any, len(o))
	for _, f := range o {
		switch v := f.value.(type) {
		case object:
			m[f.key] = v.plain()
		case []string:
			list := make([]any, len(v))
			for i, s := range v {
				list[i] = s
			}
			m[f.key] = list
		default:
			m[f.key] = alike(v)
		}
	}
	return m
}

// covers tells whether found has every field of o with the same value. What else it has, the client or a person added.
func (o object) covers(found any) bool {
	have, ok := alike(found).(map[string]any)
	for key, want := range o.plain() {
		ok = ok && reflect.DeepEqual(have[key], want)
	}
	return ok
}

// alike makes decoded values of the three formats comparable: numbers become their digits.
func alike(value any) any {
	switch v := value.(type) {
	case map[string]any:
		m := make(map[string]any, len(v))
		for key, item := range v {
			m[key] = alike(item)
		}
		return m
	case []any:
		list := make([]any, len(v))
		for i, item := range v {
			list[i] = alike(item)
		}
		return list
	case int, int64, uint64:
		return json.Number(fmt.Sprint(v))
	case float64:
		return json.Number(strconv.FormatUint(math.Float64bits(v), 16) + "f") // NaN too is equal to itself
	}
	return value
}

// orNil is the plain object, or nil for none.
func (o object) orNil() any {
	if o == nil {
		return nil
	}
	return o.plain()
}

// without returns a copy of a decoded document without the entry; a section that is empty is as good as none.
func without(document map[string]any, section, name string) map[string]any {
	changed := maps.Clone(document)
	entries, ok := changed[section].(map[string]any)
	if !ok && changed[section] != nil {
		return changed
	}
	entries = maps.Clone(entries)
	delete(entries, name)
	if changed[section] = entries; len(entries) == 0 {
		delete(changed, section)
	}
	return changed
}
