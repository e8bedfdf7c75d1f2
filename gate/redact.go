package gate

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"sync"

	"writ/envelope"
	"writ/workspace"
)

// The workspace keeps secrets back where it shows text, since only there the text around them is known: what the bulk
// texts hold comes from it. Here is the last look at what leaves. What was kept back is told, and a secret that a tool
// shows all the same is replaced.
//
// For that a tool tags the fields of its output, strings and lists of them, that hold text of files:
//
//	text:"file"  text of a file
//	text:"line"  the same, from that line on which a field Line beside it names

// redact replaces the secrets that are still in the answer, and warns of all that was replaced.
func (g *Gate) redact(e *envelope.Envelope) {
	if !g.policy.Redact() {
		return
	}
	var kept keptBack
	for i, text := range e.Texts {
		kept.count(text, textPlace(e.Body, i))
	}
	if e.Body != nil {
		kept.visit(reflect.ValueOf(e.Body), tagged{})
	}
	if kept.total > 0 {
		e.Warnings = append(e.Warnings, kept.warning())
	}
}

// bulk is the output of a tool that returns bulk texts. TextPlace tells where the text of that index starts: the path,
// "" where there is only one, and the line.
type bulk interface {
	TextPlace(i int) (path string, line int)
}

func textPlace(body any, i int) secretPlace {
	if b, ok := body.(bulk); ok {
		path, line := b.TextPlace(i)
		return secretPlace{Path: path, Line: line}
	}
	return secretPlace{}
}

// secretPlace tells where a secret is kept back.
type secretPlace struct {
	Path string `json:"path,omitempty"` // "" where the answer is about one file
	Line int    `json:"line,omitempty"` // 0 where it is not known
	Kind string `json:"kind"`
}

// maxSecretPlaces is how many places a warning names.
const maxSecretPlaces = 20

// keptBack is what is kept back of one answer.
type keptBack struct {
	total  int
	kinds  map[string]int
	places []secretPlace
}

// tagged is what is known of a value by the fields that lead to it.
type tagged struct {
	text string // the tag; "" without one
	at   secretPlace
}

// visit looks at all text of files below v.
func (k *keptBack) visit(v reflect.Value, t tagged) {
	switch v.Kind() {
	case reflect.String:
		if t.text != "" {
			k.look(v, t)
		}
	case reflect.Pointer, reflect.Interface:
		if !v.IsNil() {
			k.visit(v.Elem(), t)
		}
	case reflect.Slice, reflect.Array:
		t.at.Line = 0
		for i := range v.Len() {
			k.visit(v.Index(i), t)
		}
	case reflect.Struct:
		k.visitFields(v, t)
	}
}

func (k *keptBack) visitFields(v reflect.Value, t tagged) {
	for _, i := range fieldsWithText(v.Type()) {
		f := v.Type().Field(i)
		under := tagged{f.Tag.Get(textTag), placeOf(v, t.at)}
		if under.text != lineText {
			under.at.Line = 0
		}
		k.visit(v.Field(i), under)
	}
}

// placeOf reads off a struct which path and line it tells of.
func placeOf(v reflect.Value, at secretPlace) secretPlace {
	at.Line = 0
	for i := range v.NumField() {
		f := v.Type().Field(i)
		switch {
		case f.Name == "Line" && f.Type.Kind() == reflect.Int:
			at.Line = int(v.Field(i).Int())
		case f.Name == "Path" && f.IsExported():
			at.Path = fmt.Sprint(v.Field(i).Interface())
		}
	}
	return at
}

const (
	textTag  = "text"
	fileText = "file"
	lineText = "line"
)

var knownFields sync.Map // reflect.Type to []int

// fieldsWithText lists the fields of a struct in which text of files can be.
func fieldsWithText(t reflect.Type) []int {
	if known, ok := knownFields.Load(t); ok {
		return known.([]int)
	}
	var fields []int
	for i := range t.NumField() {
		f := t.Field(i)
		if tag := f.Tag.Get(textTag); tag == fileText || tag == lineText || tag == "" && (f.IsExported() || f.Anonymous) && holdsText(f.Type) {
			fields = append(fields, i)
		}
	}
	knownFields.Store(t, fields)
	return fields
}

// holdsText tells whether a struct in the type has a field that is tagged.
func holdsText(t reflect.Type) bool {
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Array:
		return holdsText(t.Elem())
	case reflect.Struct:
		return len(fieldsWithText(t)) > 0
	}
	return false
}

// look replaces the secrets that are still in a string, and counts what is kept back.
func (k *keptBack) look(v reflect.Value, t tagged) {
	text := v.String()
	if clean := workspace.Redact(Secrets{}, text); clean != text && v.CanSet() {
		text = clean
		v.SetString(clean)
	}
	k.count(text, t.at)
}

const placeholderStart = "[redacted:"

// count notes the placeholders in a text.
func (k *keptBack) count(text string, at secretPlace) {
	first := at.Line
	for from := 0; ; {
		i := strings.Index(text[from:], placeholderStart)
		if i < 0 {
			return
		}
		start := from + i + len(placeholderStart)
		from = start
		kind, _, ended := strings.Cut(text[start:min(len(text), start+maxKind)], "]")
		if !ended || !loadSecretRules().kinds[kind] {
			continue // the file's own words
		}
		if first > 0 {
			at.Line = first + strings.Count(text[:start], "\n")
		}
		at.Kind = kind
		k.note(at)
	}
}

// maxKind is longer than the name of any kind.
const maxKind = 80

func (k *keptBack) note(at secretPlace) {
	if k.kinds == nil {
		k.kinds = map[string]int{}
	}
	k.total++
	k.kinds[at.Kind]++
	if len(k.places) < maxSecretPlaces {
		k.places = append(k.places, at)
	}
}

func (k *keptBack) warning() envelope.Warning {
	var told []string
	for _, kind := range slices.Sorted(maps.Keys(k.kinds)) {
		told = append(told, fmt.Sprintf("%d %s", k.kinds[kind], kind))
	}
	return envelope.Warning{
		Code: envelope.Redacted,
		Message: fmt.Sprintf("Secrets are kept back: each [redacted:…] stands for what a line of the file holds of one (%s). Leave them out of old_text; the version is that of the true bytes.",
			strings.Join(told, ", ")),
		Details: map[string]any{"count": k.total, "kinds": k.kinds, "places": k.places},
	}
}
