package workspace

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/htmlindex"
	"golang.org/x/text/encoding/ianaindex"

	"writ/contract"
	"writ/envelope"
)

// codec maps between the bytes of a file and its text. Every codec here is free of state: the bytes of a text are the
// bytes of its characters one after the other, so a splice at a character boundary can't change the meaning of the
// bytes beside it.
type codec interface {
	// decode returns raw as UTF-8; false where raw is not what encode would write for it. It may return raw itself.
	decode(raw []byte) ([]byte, bool)
	// encode returns the bytes of s; false where s holds a character that the encoding lacks.
	encode(s string) ([]byte, bool)
	// width returns the number of bytes that encode would return for s, a text that decode returned.
	width(s []byte) int
}

// charset is a codec under its name on the wire.
type charset struct {
	name string // IANA's, in lower case
	codec
}

var (
	utf8Charset    = charset{"utf-8", utf8Codec{}}
	utf16LECharset = charset{"utf-16le", utf16Codec{binary.LittleEndian}}
	utf16BECharset = charset{"utf-16be", utf16Codec{binary.BigEndian}}
)

// sniff returns the charset that a byte order mark at the start of raw names, and the mark's length; 0 without a mark.
func sniff(raw []byte) (charset, int) {
	switch {
	case bytes.HasPrefix(raw, []byte("\xef\xbb\xbf")):
		return utf8Charset, 3
	case bytes.HasPrefix(raw, []byte("\xff\xfe")):
		return utf16LECharset, 2
	case bytes.HasPrefix(raw, []byte("\xfe\xff")):
		return utf16BECharset, 2
	}
	return charset{}, 0
}

// charsetOf takes IANA's names of encodings and, where IANA does not know one, the labels of the WHATWG. The error says
// what is wrong with an encoding that no path can have.
func charsetOf(named string) (charset, error) {
	enc, err := ianaindex.IANA.Encoding(named)
	if err != nil || enc == nil {
		enc, err = htmlindex.Get(named)
	}
	if err != nil {
		return charset{}, fmt.Errorf("the encoding %s is not known", contract.Quote(named))
	}
	name, err := ianaindex.MIME.Name(enc)
	if err != nil {
		name, err = htmlindex.Name(enc)
	}
	if err != nil {
		return charset{}, fmt.Errorf("the encoding %s has no name: %w", contract.Quote(named), err)
	}
	switch name = strings.ToLower(name); name {
	case utf8Charset.name:
		return utf8Charset, nil
	case utf16LECharset.name:
		return utf16LECharset, nil
	case utf16BECharset.name:
		return utf16BECharset, nil
	case "utf-16":
		return charset{}, fmt.Errorf("the encoding utf-16 does not say which byte comes first: name utf-16le or utf-16be")
	case "replacement":
		return charset{}, fmt.Errorf("the encoding %s is not supported", contract.Quote(named))
	case "iso-2022-jp", "hz-gb-2312":
		return charset{}, fmt.Errorf("the encoding %s can't be edited safely: what its bytes mean depends on those before them", name)
	}
	return charset{name, legacyCodec{enc}}, nil
}

type utf8Codec struct{}

func (utf8Codec) decode(raw []byte) ([]byte, bool) { return raw, utf8.Valid(raw) }
func (utf8Codec) encode(s string) ([]byte, bool)   { return []byte(s), true }
func (utf8Codec) width(s []byte) int               { return len(s) }

// utf16Codec is strict: half a surrogate pair or half a unit is no text.
type utf16Codec struct {
	order interface {
		binary.ByteOrder
		binary.AppendByteOrder
	}
}

func (c utf16Codec) decode(raw []byte) ([]byte, bool) {
	if len(raw)%2 != 0 {
		return nil, false
	}
	text := make([]byte, 0, len(raw)/2)
	for i := 0; i < len(raw); i += 2 {
		r := rune(c.order.Uint16(raw[i:]))
		if utf16.IsSurrogate(r) {
			i += 2
			if i == len(raw) {
				return nil, false
			}
			if r = utf16.DecodeRune(r, rune(c.order.Uint16(raw[i:]))); r == utf8.RuneError {
				return nil, false
			}
		}
		text = utf8.AppendRune(text, r)
	}
	return text, true
}

func (c utf16Codec) encode(s string) ([]byte, bool) {
	raw := make([]byte, 0, 2*len(s))
	for _, r := range s {
		if high, low := utf16.EncodeRune(r); high != utf8.RuneError {
			raw = c.order.AppendUint16(raw, uint16(high))
			r = low
		}
		raw = c.order.AppendUint16(raw, uint16(r))
	}
	return raw, true
}

// width counts one unit for each character and one more for those of four bytes in UTF-8, which are pairs.
func (utf16Codec) width(s []byte) int {
	units := 0
	for _, b := range s {
		if utf8.RuneStart(b) {
			units++
		}
		if b >= 0xf0 {
			units++
		}
	}
	return 2 * units
}

// legacyCodec is an encoding from before Unicode. The library's decoders mend what they can't read, so both directions
// are held against their inverse.
type legacyCodec struct{ encoding.Encoding }

func (c legacyCodec) decode(raw []byte) ([]byte, bool) {
	text, err := c.NewDecoder().Bytes(raw)
	if err != nil {
		return nil, false
	}
	again, err := c.NewEncoder().Bytes(text)
	return text, err == nil && bytes.Equal(again, raw)
}

func (c legacyCodec) encode(s string) ([]byte, bool) {
	raw, err := c.NewEncoder().Bytes([]byte(s))
	if err != nil {
		return nil, false
	}
	again, err := c.NewDecoder().Bytes(raw)
	return raw, err == nil && string(again) == s
}

func (c legacyCodec) width(s []byte) int {
	raw, _ := c.NewEncoder().Bytes(s) // decode has seen to it that this succeeds
	return len(raw)
}

// encodeText returns the bytes of s, or an Error of code not-encodable that names the first character that has none.
// NUL counts as one: a file with it would not be text again.
func encodeText(c charset, s string) ([]byte, error) {
	if !utf8.ValidString(s) {
		return nil, envelope.Errorf(envelope.BadEncoding, "The new text is not valid UTF-8.")
	}
	if strings.IndexByte(s, 0) >= 0 {
		return nil, envelope.Errorf(envelope.NotEncodable,
			"The new text holds a NUL character, which would turn the file into a binary one. Leave it out.")
	}
	raw, ok := c.encode(s)
	if ok {
		return raw, nil
	}
	for _, r := range s {
		if _, ok := c.encode(string(r)); !ok {
			return nil, envelope.Errorf(envelope.NotEncodable,
				"The file's encoding is %s, which has no character %s (U+%04X). Use characters that it has.",
				c.name, contract.Quote(string(r)), r)
		}
	}
	return nil, envelope.Errorf(envelope.NotEncodable, "The new text can't be written in the file's encoding, %s.", c.name)
}
