package envelope

import (
	"encoding"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"
)

// AppendJSON appends the envelope as compact JSON, without the bulk texts.
func (e *Envelope) AppendJSON(b []byte) []byte {
	b = append(b, `{"request_id":`...)
	b = AppendString(b, e.RequestID)
	b = append(b, `,"status":"`...)
	b = append(b, e.Status...)
	if e.Changed != "" {
		b = append(b, `","changed":"`...)
		b = append(b, e.Changed...)
	}
	b = append(b, `","retry_safe":`...)
	b = strconv.AppendBool(b, e.RetrySafe)
	b = append(b, `,"next":"`...)
	b = append(b, e.Next...)
	b = append(b, `","errors":`...)
	b = AppendValue(b, e.Errors)
	b = append(b, `,"warnings":`...)
	b = AppendValue(b, e.Warnings)
	b = append(b, `,"normalizations":`...)
	b = AppendValue(b, e.Normalizations)
	b = appendFields(b, e.Body)
	return append(b, '}')
}

// AppendStructured appends the envelope as compact JSON with the bulk texts in their places.
func (e *Envelope) AppendStructured(b []byte) []byte {
	whole := *e
	if bulk, ok := e.Body.(Bulk); ok && len(e.Texts) > 0 {
		whole.Body = bulk.WithTexts(e.Texts)
	}
	return whole.AppendJSON(b)
}

// MarshalJSON makes encoding/json write an envelope the way [Envelope.AppendJSON] does.
func (e *Envelope) MarshalJSON() ([]byte, error) { return e.AppendJSON(nil), nil }

// appendFields appends the fields of body, a struct or a pointer to one, each with a comma before it.
func appendFields(b []byte, body any) []byte {
	if body == nil {
		return b
	}
	from := len(b)
	b = AppendValue(b, body)
	if string(b[from:]) == "{}" {
		return b[:from]
	}
	if b[from] != '{' {
		panic(fmt.Sprintf("envelope: a body is a struct, not %T", body))
	}
	b[from] = ','
	return b[:len(b)-1]
}

// AppendValue appends v as JSON by the rules of the contract, which encoding/json has no way to promise: a nil slice
// or map is empty and not null, null stands only for a nil pointer without omitempty, keys of maps are sorted, nothing
// is escaped that need not be, and text that is not valid UTF-8 becomes valid. Tags are those of encoding/json.
// A value of a kind that JSON does not have panics: it is a fault of the program that every test shows.
func AppendValue(b []byte, v any) []byte {
	if v == nil {
		return append(b, "null"...)
	}
	value := reflect.ValueOf(v)
	return encoderOf(value.Type())(b, value)
}

type encoder func(b []byte, v reflect.Value) []byte

var encoders sync.Map // reflect.Type → encoder

func encoderOf(t reflect.Type) encoder {
	if e, ok := encoders.Load(t); ok {
		return e.(encoder)
	}
	e := newEncoder(t)
	encoders.Store(t, e)
	return e
}

var (
	textAppender = reflect.TypeFor[encoding.TextAppender]()
	rawMessage   = reflect.TypeFor[json.RawMessage]()
)

func newEncoder(t reflect.Type) encoder {
	switch {
	case t == rawMessage:
		return func(b []byte, v reflect.Value) []byte { return append(b, v.Bytes()...) }
	case t.Implements(textAppender) && t.Kind() != reflect.Pointer: // a nil pointer has no text to append
		return appendText
	}
	switch t.Kind() {
	case reflect.String:
		return func(b []byte, v reflect.Value) []byte { return AppendString(b, v.String()) }
	case reflect.Bool:
		return func(b []byte, v reflect.Value) []byte { return strconv.AppendBool(b, v.Bool()) }
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return func(b []byte, v reflect.Value) []byte { return strconv.AppendInt(b, v.Int(), 10) }
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return func(b []byte, v reflect.Value) []byte { return strconv.AppendUint(b, v.Uint(), 10) }
	case reflect.Float64, reflect.Float32:
		return func(b []byte, v reflect.Value) []byte { return strconv.AppendFloat(b, v.Float(), 'g', -1, 64) }
	case reflect.Pointer, reflect.Interface:
		return appendPointed
	case reflect.Slice, reflect.Array:
		return sliceEncoder(t)
	case reflect.Map:
		return appendMap
	case reflect.Struct:
		return structEncoder(t)
	}
	panic("envelope: JSON has no " + t.String())
}

func appendText(b []byte, v reflect.Value) []byte {
	text, err := v.Interface().(encoding.TextAppender).AppendText(nil)
	if err != nil {
		panic(fmt.Sprintf("envelope: %v of a %s", err, v.Type()))
	}
	return AppendString(b, string(text))
}

func appendPointed(b []byte, v reflect.Value) []byte {
	if v.IsNil() {
		return append(b, "null"...)
	}
	v = v.Elem()
	return encoderOf(v.Type())(b, v)
}

func sliceEncoder(t reflect.Type) encoder {
	item := lazily(t.Elem())
	return func(b []byte, v reflect.Value) []byte {
		b = append(b, '[')
		for i := range v.Len() {
			if i > 0 {
				b = append(b, ',')
			}
			b = item(b, v.Index(i))
		}
		return append(b, ']')
	}
}

func appendMap(b []byte, v reflect.Value) []byte {
	keys := v.MapKeys()
	slices.SortFunc(keys, func(x, y reflect.Value) int { return strings.Compare(x.String(), y.String()) })
	b = append(b, '{')
	for i, key := range keys {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(AppendString(b, key.String()), ':')
		value := v.MapIndex(key)
		b = encoderOf(value.Type())(b, value)
	}
	return append(b, '}')
}

type field struct {
	index []int
	name  []byte // "name": with its quotes and colon
	omit  func(reflect.Value) bool
	write encoder
}

func structEncoder(t reflect.Type) encoder {
	fields := fieldsOf(t, nil)
	return func(b []byte, v reflect.Value) []byte {
		b = append(b, '{')
		first := true
		for i := range fields {
			f := &fields[i]
			value, err := v.FieldByIndexErr(f.index)
			if err != nil || f.omit != nil && f.omit(value) {
				continue // an error means that the struct it is embedded from is nil
			}
			if !first {
				b = append(b, ',')
			}
			first = false
			b = f.write(append(b, f.name...), value)
		}
		return append(b, '}')
	}
}

// fieldsOf lists the JSON fields of a struct type; those of embedded structs stand where these are embedded, and are
// left out where an embedded pointer is nil.
func fieldsOf(t reflect.Type, at []int) []field {
	var fields []field
	for i := range t.NumField() {
		f := t.Field(i)
		index := append(slices.Clone(at), i)
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		if f.Anonymous && name == "" {
			embedded := f.Type
			if embedded.Kind() == reflect.Pointer {
				embedded = embedded.Elem()
			}
			fields = append(fields, fieldsOf(embedded, index)...)
			continue
		}
		if name == "-" || !f.IsExported() {
			continue
		}
		if name == "" {
			panic("envelope: " + t.String() + "." + f.Name + " has no JSON name")
		}
		fields = append(fields, field{index, []byte(`"` + name + `":`), omission(options), lazily(f.Type)})
	}
	return fields
}

// lazily defers the look-up of t's encoder to its first use, so that a type may hold itself.
func lazily(t reflect.Type) encoder {
	var once sync.Once
	var e encoder
	return func(b []byte, v reflect.Value) []byte {
		once.Do(func() { e = encoderOf(t) })
		return e(b, v)
	}
}

func omission(options string) func(reflect.Value) bool {
	switch options {
	case "omitempty":
		return func(v reflect.Value) bool {
			if k := v.Kind(); k == reflect.Slice || k == reflect.Map {
				return v.Len() == 0
			}
			return v.IsZero()
		}
	case "omitzero":
		return reflect.Value.IsZero
	}
	return nil
}

var escaped = func() (t [utf8.RuneSelf]bool) {
	for i := range ' ' {
		t[i] = true
	}
	t['"'], t['\\'] = true, true
	return t
}()

// AppendString appends s as a JSON string. In text that is not valid UTF-8 each run of bad bytes becomes one U+FFFD.
func AppendString(b []byte, s string) []byte {
	if !utf8.ValidString(s) {
		s = strings.ToValidUTF8(s, "\uFFFD")
	}
	b = append(slices.Grow(b, len(s)+len(s)/16+2), '"')
	from := 0
	for i := 0; i < len(s); i++ {
		c := s[i]
		if c >= utf8.RuneSelf || !escaped[c] {
			continue
		}
		b = append(b, s[from:i]...)
		from = i + 1
		b = AppendEscape(b, c)
	}
	return append(append(b, s[from:]...), '"')
}

// AppendEscape appends a quote, a backslash or a control character as it stands in a JSON string.
func AppendEscape(b []byte, c byte) []byte {
	switch c {
	case '"', '\\':
		return append(b, '\\', c)
	case '\n':
		return append(b, '\\', 'n')
	case '\r':
		return append(b, '\\', 'r')
	case '\t':
		return append(b, '\\', 't')
	}
	const hex = "0123456789abcdef"
	return append(b, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
}
