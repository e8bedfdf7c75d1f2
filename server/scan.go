package server

import (
	"bytes"
	"encoding/json"
	"math/bits"
)

// maxDepth is how deep JSON may nest; the limit of encoding/json.
const maxDepth = 10_000

// scanner walks once over JSON text and checks its grammar on the way, without making values of it. Strings are not
// decoded, so their UTF-8 and their surrogates are left to whoever uses them.
type scanner struct {
	b     []byte
	i     int
	depth int
}

// peek skips white space and returns the next byte, 0 at the end.
func (s *scanner) peek() byte {
	for s.i < len(s.b) {
		switch c := s.b[s.i]; c {
		case ' ', '\t', '\r', '\n':
			s.i++
		default:
			return c
		}
	}
	return 0
}

// take skips white space and then c, if that is next.
func (s *scanner) take(c byte) bool {
	if s.peek() != c {
		return false
	}
	s.i++
	return true
}

// end tells whether nothing but white space is left.
func (s *scanner) end() bool {
	s.peek()
	return s.i == len(s.b)
}

// raw walks over a value and returns its bytes.
func (s *scanner) raw() ([]byte, bool) {
	s.peek()
	from := s.i
	ok := s.value()
	return s.b[from:s.i], ok
}

// value walks over a value of any kind.
func (s *scanner) value() bool {
	switch c := s.peek(); c {
	case '"':
		return s.text()
	case '{':
		return s.object(func([]byte) bool { return s.value() })
	case '[':
		return s.array()
	case 't':
		return s.word("true")
	case 'f':
		return s.word("false")
	case 'n':
		return s.word("null")
	default:
		return s.number()
	}
}

// object walks over an object. member is called behind the colon of each member with the key's bytes between the
// quotes, and walks over the value.
func (s *scanner) object(member func(key []byte) bool) bool {
	if !s.take('{') || !s.enter() {
		return false
	}
	defer s.leave()
	if s.take('}') {
		return true
	}
	for {
		s.peek()
		from := s.i + 1
		if !s.text() {
			return false
		}
		key := s.b[from : s.i-1]
		if !s.take(':') || !member(key) {
			return false
		}
		if s.take(',') {
			continue
		}
		return s.take('}')
	}
}

func (s *scanner) array() bool {
	if !s.take('[') || !s.enter() {
		return false
	}
	defer s.leave()
	if s.take(']') {
		return true
	}
	for {
		if !s.value() {
			return false
		}
		if s.take(',') {
			continue
		}
		return s.take(']')
	}
}

func (s *scanner) enter() bool { s.depth++; return s.depth <= maxDepth }
func (s *scanner) leave()      { s.depth-- }

// text walks over a string with its quotes.
func (s *scanner) text() bool {
	if s.i == len(s.b) || s.b[s.i] != '"' {
		return false
	}
	s.i++
	for {
		s.i += plain(s.b[s.i:])
		if s.i == len(s.b) {
			return false
		}
		switch s.b[s.i] {
		case '"':
			s.i++
			return true
		case '\\':
			if !s.escape() {
				return false
			}
		case lineSeparatorLead:
			s.i++
		default:
			return false
		}
	}
}

func (s *scanner) escape() bool {
	rest := s.b[s.i:]
	if len(rest) < 2 {
		return false
	}
	switch rest[1] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		s.i += 2
		return true
	case 'u':
		if len(rest) < 6 || !isHex(rest[2:6]) {
			return false
		}
		s.i += 6
		return true
	}
	return false
}

func isHex(b []byte) bool {
	for _, c := range b {
		if (c < '0' || c > '9') && (c|0x20 < 'a' || c|0x20 > 'f') {
			return false
		}
	}
	return true
}

func (s *scanner) word(w string) bool {
	if !bytes.HasPrefix(s.b[s.i:], []byte(w)) {
		return false
	}
	s.i += len(w)
	return true
}

func (s *scanner) number() bool {
	s.skip('-')
	if !s.skip('0') && s.digits() == 0 {
		return false
	}
	if s.skip('.') && s.digits() == 0 {
		return false
	}
	if s.skip('e') || s.skip('E') {
		if !s.skip('+') {
			s.skip('-')
		}
		return s.digits() > 0
	}
	return true
}

func (s *scanner) skip(c byte) bool {
	if s.i == len(s.b) || s.b[s.i] != c {
		return false
	}
	s.i++
	return true
}

func (s *scanner) digits() int {
	from := s.i
	for s.i < len(s.b) && s.b[s.i] >= '0' && s.b[s.i] <= '9' {
		s.i++
	}
	return s.i - from
}

// keyIs tells whether the bytes between a key's quotes spell name. Keys are compared exactly, case and all; one that is
// written with escapes is decoded first.
func keyIs(key []byte, name string) bool {
	if bytes.IndexByte(key, '\\') < 0 {
		return string(key) == name
	}
	text, ok := decodeText(append(append([]byte{'"'}, key...), '"'))
	return ok && text == name
}

// decodeText returns the value of a JSON string; ok is false where raw is something else.
func decodeText(raw []byte) (text string, ok bool) {
	if len(raw) < 2 || raw[0] != '"' {
		return "", false
	}
	inside := raw[1 : len(raw)-1]
	if bytes.IndexByte(inside, '\\') < 0 {
		return string(inside), true
	}
	return text, json.Unmarshal(raw, &text) == nil
}

// lineSeparatorLead is the first byte of U+2028 and U+2029 in UTF-8 (and of much that is harmless).
const lineSeparatorLead = 0xE2

const (
	lows  = 0x0101010101010101
	highs = 0x8080808080808080
)

// plain returns how many bytes b starts with that stand in a JSON string as they are: no quote, no backslash, no
// control character, and no lineSeparatorLead. It looks at eight bytes at a time: subtracting c from each byte of a
// word borrows where the byte is smaller; the lowest byte found is exact, which is the one that counts.
func plain[T ~string | ~[]byte](b T) int {
	i := 0
	for ; i+8 <= len(b); i += 8 {
		w := word(b[i : i+8])
		quote, slash, line := w^('"'*lows), w^('\\'*lows), w^(lineSeparatorLead*lows)
		found := (w - ' '*lows) &^ w
		found |= (quote - lows) &^ quote
		found |= (slash - lows) &^ slash
		found |= (line - lows) &^ line
		if found &= highs; found != 0 {
			return i + bits.TrailingZeros64(found)/8
		}
	}
	for ; i < len(b); i++ {
		if c := b[i]; c < ' ' || c == '"' || c == '\\' || c == lineSeparatorLead {
			break
		}
	}
	return i
}

func word[T ~string | ~[]byte](b T) uint64 {
	_ = b[7]
	return uint64(b[0]) | uint64(b[1])<<8 | uint64(b[2])<<16 | uint64(b[3])<<24 |
		uint64(b[4])<<32 | uint64(b[5])<<40 | uint64(b[6])<<48 | uint64(b[7])<<56
}
