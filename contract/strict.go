package contract

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"

	"writ/envelope"
)

// maxDepth bounds how deeply arguments may nest; no tool needs more than three levels.
const maxDepth = 32

// parseStrict reads one JSON value into nil, bool, json.Number, string, []any and map[string]any. It refuses what
// encoding/json would mend in silence, since the caller could not know what then became of its text: invalid UTF-8,
// half a surrogate pair, and a key that stands twice.
func parseStrict(raw []byte) (any, error) {
	if !utf8.Valid(raw) {
		return nil, envelope.Errorf(envelope.BadEncoding, "The arguments are not valid UTF-8. Send the text as UTF-8 or with \\u escapes.")
	}
	s := scanner{in: raw}
	v, err := s.value(0)
	if err != nil {
		return nil, err
	}
	if s.space(); s.at != len(raw) {
		return nil, s.malformed()
	}
	return v, nil
}

// StrictObject reads one JSON object, and refuses what encoding/json would mend in it or choose from: bad text, and a key
// that stands twice, at any depth.
func StrictObject(raw []byte) (map[string]any, error) {
	v, err := parseStrict(raw)
	object, ok := v.(map[string]any)
	if err == nil && !ok {
		err = &envelope.Error{Code: envelope.Type, Stage: envelope.StageDecode, Message: "This is no JSON object."}
	}
	return object, err
}

type scanner struct {
	in   []byte
	at   int
	path []string // keys and indices on the way, for a JSON pointer
}

func (s *scanner) malformed() error {
	return &envelope.Error{
		Code: envelope.Type, Stage: envelope.StageDecode,
		Message: fmt.Sprintf("The arguments are not valid JSON: something is wrong at byte %d.", s.at),
	}
}

func (s *scanner) space() {
	for s.at < len(s.in) {
		switch s.in[s.at] {
		case ' ', '\t', '\n', '\r':
			s.at++
		default:
			return
		}
	}
}

// next skips space and tells the next byte, 0 at the end.
func (s *scanner) next() byte {
	s.space()
	if s.at == len(s.in) {
		return 0
	}
	return s.in[s.at]
}

func (s *scanner) value(depth int) (any, error) {
	if depth > maxDepth {
		return nil, &envelope.Error{Code: envelope.Type, Stage: envelope.StageDecode, Message: "The arguments nest too deeply."}
	}
	switch c := s.next(); {
	case c == '{':
		return s.object(depth)
	case c == '[':
		return s.array(depth)
	case c == '"':
		return s.text()
	case c == '-' || c >= '0' && c <= '9':
		return s.number()
	}
	for word, v := range map[string]any{"true": true, "false": false, "null": nil} {
		if bytes.HasPrefix(s.in[s.at:], []byte(word)) {
			s.at += len(word)
			return v, nil
		}
	}
	return nil, s.malformed()
}

func (s *scanner) object(depth int) (any, error) {
	object := map[string]any{}
	s.at++
	for c := s.next(); c != '}'; c = s.next() {
		if len(object) > 0 {
			if c != ',' {
				return nil, s.malformed()
			}
			s.at++
		}
		if s.next() != '"' {
			return nil, s.malformed()
		}
		key, err := s.text()
		if err != nil {
			return nil, err
		}
		s.path = append(s.path, key)
		if _, twice := object[key]; twice {
			return nil, &envelope.Error{
				Code:    envelope.DuplicateParameter,
				Message: fmt.Sprintf("The parameter %s is given twice (at %s). Give it once.", Quote(key), pointer(s.path)),
			}
		}
		if s.next() != ':' {
			return nil, s.malformed()
		}
		s.at++
		if object[key], err = s.value(depth + 1); err != nil {
			return nil, err
		}
		s.path = s.path[:len(s.path)-1]
	}
	s.at++
	return object, nil
}

func (s *scanner) array(depth int) (any, error) {
	array := []any{}
	s.at++
	for c := s.next(); c != ']'; c = s.next() {
		if len(array) > 0 {
			if c != ',' {
				return nil, s.malformed()
			}
			s.at++
		}
		s.path = append(s.path, strconv.Itoa(len(array)))
		v, err := s.value(depth + 1)
		if err != nil {
			return nil, err
		}
		s.path = s.path[:len(s.path)-1]
		array = append(array, v)
	}
	s.at++
	return array, nil
}

func (s *scanner) number() (any, error) {
	from := s.at
	for s.at < len(s.in) {
		c := s.in[s.at]
		if (c < '0' || c > '9') && c != '-' && c != '+' && c != '.' && c != 'e' && c != 'E' {
			break
		}
		s.at++
	}
	literal := s.in[from:s.at]
	if !json.Valid(literal) {
		s.at = from
		return nil, s.malformed()
	}
	if len(literal) > maxNumber || hugeExponent(literal) {
		return nil, &envelope.Error{
			Code: envelope.Type, Stage: envelope.StageDecode,
			Message: fmt.Sprintf("The number at %s is far too large for any parameter.", pointer(s.path)),
		}
	}
	return json.Number(literal), nil
}

// maxNumber bounds the literal of a number, in bytes.
const maxNumber = 64

// hugeExponent tells whether the number's exponent has more than three digits: worked out exactly, such a number takes
// more memory than the machine has.
func hugeExponent(literal []byte) bool {
	i := bytes.IndexAny(literal, "eE")
	return i >= 0 && len(bytes.TrimLeft(literal[i+1:], "+-0")) > 3
}

// text reads a string. The input is known to be valid UTF-8.
func (s *scanner) text() (string, error) {
	s.at++
	from := s.at
	var out []byte
	for s.at < len(s.in) {
		switch c := s.in[s.at]; {
		case c == '"':
			chunk := s.in[from:s.at]
			s.at++
			if out == nil {
				return string(chunk), nil
			}
			return string(append(out, chunk...)), nil
		case c < ' ':
			return "", s.malformed()
		case c == '\\':
			out = append(out, s.in[from:s.at]...)
			var err error
			if out, err = s.escape(out); err != nil {
				return "", err
			}
			from = s.at
		default:
			s.at++
		}
	}
	return "", s.malformed()
}

func (s *scanner) escape(out []byte) ([]byte, error) {
	if s.at+1 >= len(s.in) {
		return nil, s.malformed()
	}
	c := s.in[s.at+1]
	if c == 'u' {
		return s.unicodeEscape(out)
	}
	i := bytes.IndexByte([]byte(`"\/bfnrt`), c)
	if i < 0 {
		return nil, s.malformed()
	}
	s.at += 2
	return append(out, "\"\\/\b\f\n\r\t"[i]), nil
}

func (s *scanner) unicodeEscape(out []byte) ([]byte, error) {
	r, ok := s.hex4(s.at)
	if !ok {
		return nil, s.malformed()
	}
	if !utf16.IsSurrogate(r) {
		s.at += 6
		return utf8.AppendRune(out, r), nil
	}
	low, ok := s.hex4(s.at + 6)
	pair := utf16.DecodeRune(r, low)
	if !ok || pair == utf8.RuneError {
		return nil, envelope.Errorf(envelope.BadEncoding,
			"The text at %s holds half a surrogate pair (\\u%04x), which is no character and can't be stored. Send the whole character.", pointer(s.path), r)
	}
	s.at += 12
	return utf8.AppendRune(out, pair), nil
}

// hex4 reads the \uXXXX that starts at byte i.
func (s *scanner) hex4(i int) (rune, bool) {
	if i+6 > len(s.in) || s.in[i] != '\\' || s.in[i+1] != 'u' {
		return 0, false
	}
	n, err := strconv.ParseUint(string(s.in[i+2:i+6]), 16, 16)
	return rune(n), err == nil
}
