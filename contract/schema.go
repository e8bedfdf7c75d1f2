package contract

import (
	"encoding"
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"time"

	"writ/envelope"
)

// Schema is a JSON Schema in the small subset that every client takes: one type, no combinators, no references. The
// JSON tags give the order in which it is written.
type Schema struct {
	Type        string     `json:"type"`
	Nullable    bool       `json:"-"` // written as a second type; for changed_file alone
	Description string     `json:"description,omitempty"`
	Properties  []Property `json:"-"`
	Required    []string   `json:"-"`
	Items       *Schema    `json:"items,omitempty"`
	Enum        []string   `json:"enum,omitempty"`
	Default     any        `json:"default,omitempty"`
	Minimum     *int       `json:"minimum,omitempty"`
	Maximum     *int       `json:"maximum,omitempty"`
	MinLength   *int       `json:"minLength,omitempty"`
	MaxLength   *int       `json:"maxLength,omitempty"`
	MinItems    *int       `json:"minItems,omitempty"`
	MaxItems    *int       `json:"maxItems,omitempty"`
	Closed      bool       `json:"-"` // no other properties: arguments, not answers
	Aside       bool       `json:"-"` // left out of the published outline of an answer
}

// Property is one named part of an object.
type Property struct {
	Name string
	*Schema
}

// AppendJSON appends the schema as compact JSON, properties in their order.
func (s *Schema) AppendJSON(b []byte) []byte {
	if s.Nullable {
		return append(b, `{"type":["`+s.Type+`","null"]}`...)
	}
	plain := *s
	plain.Items = nil
	b = envelope.AppendValue(b, plain)
	b = b[:len(b)-1]
	if s.Items != nil {
		b = append(s.Items.AppendJSON(append(b, `,"items":`...)), '}')
		return b
	}
	if s.Type != "object" {
		return append(b, '}')
	}
	if s.Properties != nil || s.Closed {
		b = s.appendProperties(b)
	}
	if s.Closed {
		b = append(b, `,"additionalProperties":false`...)
	}
	return append(b, '}')
}

func (s *Schema) appendProperties(b []byte) []byte {
	b = append(b, `,"properties":{`...)
	for i, p := range s.Properties {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(envelope.AppendString(b, p.Name), ':')
		b = p.AppendJSON(b)
	}
	b = append(b, '}')
	if len(s.Required) > 0 {
		b = envelope.AppendValue(append(b, `,"required":`...), s.Required)
	}
	return b
}

// property returns the part of that name, or nil.
func (s *Schema) property(name string) *Schema {
	for _, p := range s.Properties {
		if p.Name == name {
			return p.Schema
		}
	}
	return nil
}

// schemaOf reads a schema off a Go struct. The tags of its fields are
//
//	json      the name on the wire; omitempty or omitzero make it optional
//	doc       what it is, with unit and base
//	min, max  bounds: of an integer its value, of a string its characters, of a list its items
//	default   what stands in for an absent one
//	enum      the allowed words, separated by commas
//	outline   "-" leaves it out of the published outline of an answer; of an embedded struct, all its fields
func schemaOf(t reflect.Type) *Schema {
	s := &Schema{Type: "object", Properties: []Property{}}
	for f := range t.Fields() {
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		if f.Anonymous && name == "" {
			from := len(s.Properties)
			s.embed(f.Type)
			for _, p := range s.Properties[from:] {
				p.Aside = p.Aside || f.Tag.Get("outline") == "-"
			}
			continue
		}
		if name == "-" || name == "" {
			continue
		}
		p := typeSchema(f.Type)
		p.annotate(f.Tag)
		if optional := strings.Contains(options, "omit"); optional {
			p.Nullable = false
		} else {
			s.Required = append(s.Required, name)
		}
		s.Properties = append(s.Properties, Property{name, p})
	}
	return s
}

// embed adds the properties of an embedded struct; all are optional where it is embedded as a pointer.
func (s *Schema) embed(t reflect.Type) {
	if t.Kind() == reflect.Pointer {
		s.Properties = append(s.Properties, schemaOf(t.Elem()).Properties...)
		return
	}
	part := schemaOf(t)
	s.Properties = append(s.Properties, part.Properties...)
	s.Required = append(s.Required, part.Required...)
}

var textAppender = reflect.TypeFor[encoding.TextAppender]()

func typeSchema(t reflect.Type) *Schema {
	switch {
	case t == reflect.TypeFor[Version]():
		return &Schema{Type: "string", MinLength: new(VersionDigits), MaxLength: new(VersionDigits)}
	case t == reflect.TypeFor[time.Time](), t.Implements(textAppender):
		if t.Kind() != reflect.Pointer {
			return &Schema{Type: "string"}
		}
	}
	switch t.Kind() {
	case reflect.String:
		return &Schema{Type: "string"}
	case reflect.Bool:
		return &Schema{Type: "boolean"}
	case reflect.Int, reflect.Int64, reflect.Uint64, reflect.Uint32:
		return &Schema{Type: "integer"}
	case reflect.Float64:
		return &Schema{Type: "number"}
	case reflect.Pointer:
		s := typeSchema(t.Elem())
		s.Nullable = s.Type == "string"
		return s
	case reflect.Slice:
		return &Schema{Type: "array", Items: typeSchema(t.Elem())}
	case reflect.Map:
		return &Schema{Type: "object"}
	case reflect.Struct:
		return schemaOf(t)
	}
	panic("contract: no schema for " + t.String())
}

func (s *Schema) annotate(tag reflect.StructTag) {
	s.Description = tag.Get("doc")
	s.Aside = tag.Get("outline") == "-"
	if words := tag.Get("enum"); words != "" {
		s.Enum = strings.Split(words, ",")
	}
	least, most := bound(tag, "min"), bound(tag, "max")
	switch s.Type {
	case "integer":
		s.Minimum, s.Maximum = least, most
	case "string":
		if least != nil || most != nil {
			s.MinLength, s.MaxLength = least, most
		}
	case "array":
		s.MinItems, s.MaxItems = least, most
	}
	switch d := tag.Get("default"); {
	case d == "":
	case s.Type == "boolean":
		s.Default = d == "true"
	case s.Type == "integer":
		s.Default = *bound(tag, "default")
	default:
		s.Default = d
	}
}

func bound(tag reflect.StructTag, key string) *int {
	text := tag.Get(key)
	if text == "" {
		return nil
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		panic(fmt.Sprintf("contract: %s:%q is no integer", key, text))
	}
	return &n
}
