package workspace

import (
	"bytes"
	"fmt"
	"unicode/utf8"
	"unsafe"

	"writ/contract"
	"writ/envelope"
)

// The line endings of a text, as answers name them.
const (
	EndingsLF    = "lf"
	EndingsCRLF  = "crlf"  // each LF has a CR before it, and there is at least one
	EndingsMixed = "mixed" // some LFs have a CR before them
	EndingsNone  = "none"  // no LF at all
)

// Text is the content of a text file, and the way back from it to the file's bytes. It shares memory with the data that
// it was decoded from, which must not change.
type Text struct {
	raw     []byte
	content []byte // UTF-8, without byte order mark
	charset charset
	bom     int // length of the byte order mark in raw
	endings string
	veil    *veil // nil: nothing is kept back
}

// DecodeText returns data as text, or an Error of code not-text. Without a byte order mark it is read in the encoding
// that the policy names for the file, or as UTF-8 where named is empty. A mark decides whatever is named. Data that the
// encoding would not write back byte for byte, and data with a NUL character, is no text.
//
// The text shows its secrets too. What a caller is to see comes from [Reader.Decode].
func DecodeText(data []byte, named string) (*Text, error) {
	charset, bom := sniff(data)
	if bom == 0 {
		charset = utf8Charset
		if named != "" {
			var err error
			if charset, err = charsetOf(named); err != nil {
				return nil, &envelope.Error{
					Code:    envelope.NotText,
					Message: "The policy names an encoding for this file that can't be used. A person must correct it: " + err.Error() + ".",
				}
			}
		}
	}
	content, ok := charset.decode(data[bom:])
	if !ok {
		return nil, notText(charset)
	}
	if bytes.IndexByte(content, 0) >= 0 {
		return nil, envelope.Errorf(envelope.NotText, "The file is binary: it holds NUL characters. Only text can be read and edited.")
	}
	return &Text{raw: data, content: content, charset: charset, bom: bom, endings: lineEndings(content)}, nil
}

func notText(c charset) error {
	if c.name == utf8Charset.name {
		return envelope.Errorf(envelope.NotText,
			"The file is not UTF-8 text. If it is text in another encoding, a person can name that encoding for its path in the policy.")
	}
	return envelope.Errorf(envelope.NotText,
		"The file is not valid text in %s, the encoding that its byte order mark or the policy names.", c.name)
}

// EncodeText returns content as the bytes of a new file, in the encoding that the policy names for it or, where named
// is empty, in UTF-8. A character that the encoding lacks is an Error of code not-encodable.
func EncodeText(content, named string) ([]byte, error) {
	charset := utf8Charset
	if named != "" {
		var err error
		if charset, err = charsetOf(named); err != nil {
			return nil, &envelope.Error{
				Code:    envelope.NotEncodable,
				Message: "The policy names an encoding for this file that can't be used. A person must correct it: " + err.Error() + ".",
				Next:    envelope.AskUser,
			}
		}
	}
	raw, err := encodeText(charset, content)
	if err != nil {
		return nil, err
	}
	return raw, checkHead(charset, 0, raw)
}

// lineEndings looks at no more than it must: in a file without CR it is two scans, in one of CRLFs a visit of each LF.
func lineEndings(content []byte) string {
	if bytes.IndexByte(content, '\n') < 0 {
		return EndingsNone
	}
	if !bytes.Contains(content, []byte("\r\n")) {
		return EndingsLF
	}
	for rest := content; ; {
		i := bytes.IndexByte(rest, '\n')
		if i < 0 {
			return EndingsCRLF
		}
		if i == 0 || rest[i-1] != '\r' {
			return EndingsMixed
		}
		rest = rest[i+1:]
	}
}

// String returns the content as UTF-8, without byte order mark. It makes no copy.
func (t *Text) String() string { return unsafe.String(unsafe.SliceData(t.content), len(t.content)) }

// Bytes returns what String returns. They must not be changed.
func (t *Text) Bytes() []byte { return t.content }

// Encoding returns the name that IANA gives the file's encoding, in lower case.
func (t *Text) Encoding() string { return t.charset.name }

// BOM tells whether the file starts with a byte order mark.
func (t *Text) BOM() bool { return t.bom > 0 }

// LineEndings returns lf, crlf, mixed or none.
func (t *Text) LineEndings() string { return t.endings }

// AllCRLF tells whether each LF has a CR before it and there is at least one. In such a text a lone LF of an argument
// stands for CRLF, see [Text.Adapt].
func (t *Text) AllCRLF() bool { return t.endings == EndingsCRLF }

// FinalNewline tells whether the last line has an end.
func (t *Text) FinalNewline() bool { return bytes.HasSuffix(t.content, []byte("\n")) }

// Lines returns the number of lines. They end at LF, the last one also at the end of the text; an empty text has none.
// It counts anew at each call.
func (t *Text) Lines() int {
	n := bytes.Count(t.content, []byte("\n"))
	if len(t.content) > 0 && !t.FinalNewline() {
		n++
	}
	return n
}

// MixedLineEndings returns the warning that a text with both LF and CRLF deserves; false for any other.
func MixedLineEndings(endings string) (envelope.Warning, bool) {
	if endings != EndingsMixed {
		return envelope.Warning{}, false
	}
	return envelope.Warning{
		Code:    envelope.MixedLineEndings,
		Message: "Some lines of the file end in LF and some in CRLF, so old_text and new_text are used exactly as given: write \\r\\n where the file has it.",
	}, true
}

// Splice returns the splice of the file's bytes that replaces the bytes start to end of the content by with; none where
// they are with already. The content is measured without byte order mark. A character that the encoding lacks is an
// Error of code not-encodable.
func (t *Text) Splice(start, end int, with string) ([]contract.Splice, error) {
	if start < 0 || start > end || end > len(t.content) || !t.atBoundary(start) || !t.atBoundary(end) {
		return nil, fmt.Errorf("splice %d:%d of a text of %d bytes is not at character boundaries", start, end, len(t.content))
	}
	if string(t.content[start:end]) == with {
		return nil, nil
	}
	raw, err := encodeText(t.charset, with)
	if err != nil {
		return nil, err
	}
	splices := []contract.Splice{{
		Offset: int64(t.bom + t.charset.width(t.content[:start])),
		Length: int64(t.charset.width(t.content[start:end])),
		New:    raw,
	}}
	return splices, checkHead(t.charset, t.bom, headAfter(t.raw, splices[0]))
}

func (t *Text) atBoundary(i int) bool { return i == len(t.content) || utf8.RuneStart(t.content[i]) }

// Overwrite returns the splices that put content in place of the text, in the same encoding and behind the same byte
// order mark; none where they are equal. What both start and end with is left alone, so that little has to be kept for
// undoing it. A character that the encoding lacks is an Error of code not-encodable.
func (t *Text) Overwrite(content string) ([]contract.Splice, error) {
	if !utf8.ValidString(content) {
		return t.Splice(0, len(t.content), content)
	}
	start := runeStart(t.content, commonPrefix(t.String(), content))
	tail := commonSuffix(t.String()[start:], content[start:])
	for tail > 0 && !t.atBoundary(len(t.content)-tail) {
		tail--
	}
	return t.Splice(start, len(t.content)-tail, content[start:len(content)-tail])
}

// longestBOM is the number of bytes that decide whether a file starts with a byte order mark.
const longestBOM = 3

// headAfter returns at least the first bytes of raw as the splice leaves them, where it has so many.
func headAfter(raw []byte, s contract.Splice) []byte {
	if s.Offset >= longestBOM {
		return raw[:longestBOM]
	}
	head := append(raw[:s.Offset:s.Offset], s.New[:min(len(s.New), longestBOM)]...)
	rest := raw[s.Offset+s.Length:]
	return append(head, rest[:min(len(rest), longestBOM)]...)
}

// checkHead refuses a change after which the first bytes would be read as the mark of another encoding, such as the
// characters "ÿþ" at the start of a file in windows-1252.
func checkHead(c charset, bom int, head []byte) error {
	if bom > 0 {
		return nil
	}
	if marked, n := sniff(head); n > 0 && marked.name != c.name {
		return envelope.Errorf(envelope.NotEncodable,
			"The file would start with bytes that say its encoding is %s, but it is %s. Start it with other characters.", marked.name, c.name)
	}
	return nil
}
