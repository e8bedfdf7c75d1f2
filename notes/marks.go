package notes

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf16"

	"github.com/goccy/go-yaml"
)

// Marks say in a note's front matter who may see it: `private: true`, `visibility: private` and `publish: false` make it
// private, `visibility: public` and `publish: true` public; private wins.
//
// They are read from the file's bytes, before anything of the file is shown, and in doubt for the note's owner. What looks
// like a private mark is one: at any depth, in front matter that is no YAML, is not closed or has a key twice, with line
// ends and encodings of all kinds, and with any value that does not say no. A public mark counts only where it stands at
// the top of front matter that is decoded.

// HeadBytes is how much of a file is looked at for its marks.
const HeadBytes = 2 * maxFrontMatter

// Hides tells whether a note is to be kept from callers under that visibility. data is its file from the start, of which
// [HeadBytes] are enough; in which encoding is found out.
func Hides(visibility string, data []byte) bool { return marksIn(data).hidden(visibility) }

// MayBeMarked tells whether a file that begins so can have marks. It looks at the first byte only.
func MayBeMarked(data []byte) bool {
	return len(data) > 0 && strings.IndexByte("-+\x00 \t\r\n\v\f\xc2\xe2\xe3\xef\xfe\xff", data[0]) >= 0
}

type marks struct{ private, public bool }

func (m marks) hidden(visibility string) bool {
	return m.private || visibility == VisibilityPublic && !m.public
}

// marksIn reads the marks of a file.
func marksIn(data []byte) marks {
	if !MayBeMarked(data) {
		return marks{}
	}
	head := data[:min(len(data), HeadBytes)]
	text := bytes.TrimLeftFunc(fromUTF16(head), isBlank)
	fence, rest := markLine(text)
	if !isFence(fence, "---") && !isFence(fence, "+++") {
		return marks{}
	}
	block, closed := untilFence(rest, fence[0])
	if !closed && len(data) > maxFrontMatter {
		return marks{private: true} // what it says further on is not known
	}
	var m marks
	if !mentionsMarks(block) {
		return m
	}
	lines := markLines{marks: &m, doubtful: true}
	if closed {
		lines.doubtful = !m.readYAML(block)
	}
	for left := block; len(left) > 0; {
		var line []byte
		line, left = markLine(left)
		lines.read(string(line))
	}
	return m
}

// fromUTF16 returns UTF-16 as UTF-8, and any other text as it is. Without a byte order mark it is only made readable: its
// ASCII characters are.
func fromUTF16(data []byte) []byte {
	var order binary.ByteOrder
	switch {
	case bytes.HasPrefix(data, []byte("\xff\xfe")):
		order = binary.LittleEndian
	case bytes.HasPrefix(data, []byte("\xfe\xff")):
		order = binary.BigEndian
	case bytes.IndexByte(data[:min(len(data), 8)], 0) >= 0:
		return bytes.ReplaceAll(data, []byte{0}, nil)
	default:
		return data
	}
	units := make([]uint16, len(data)/2)
	for i := range units {
		units[i] = order.Uint16(data[2*i:])
	}
	return []byte(string(utf16.Decode(units)))
}

// isBlank tells whether a reader does not see the character.
func isBlank(r rune) bool { return unicode.IsSpace(r) || unicode.Is(unicode.Cf, r) || r == 0 }

// markLine returns the first line of text without its end, which may be CR, LF or both, and what follows it.
func markLine(text []byte) (line, rest []byte) {
	i := bytes.IndexAny(text, "\r\n")
	if i < 0 {
		return text, nil
	}
	return text[:i], text[i+1:]
}

// untilFence returns the lines of text before that which closes front matter.
func untilFence(text []byte, kind byte) (block []byte, closed bool) {
	text = text[:min(len(text), maxFrontMatter)]
	for rest := text; len(rest) > 0; {
		start := len(text) - len(rest)
		var line []byte
		line, rest = markLine(rest)
		if isFence(line, strings.Repeat(string(kind), 3)) || kind == '-' && isFence(line, "...") {
			return text[:start], true
		}
	}
	return text, false
}

// mentionsMarks tells whether block could hold a mark, without decoding it.
func mentionsMarks(block []byte) bool {
	lower := bytes.ToLower(block)
	for _, word := range []string{"private", "visibility", "publish", `\`} { // an escape may spell any word
		if bytes.Contains(lower, []byte(word)) {
			return true
		}
	}
	return false
}

// markLines reads the private marks of a block line by line, whatever each is a part of.
type markLines struct {
	*marks
	doubtful bool   // the block can't be decoded, so a value on another line than its key is known only here
	key      string // the last one
}

func (m *markLines) read(line string) {
	line = strings.ReplaceAll(line, "：", ":")
	for part := range strings.FieldsFuncSeq(line, func(r rune) bool { return strings.ContainsRune(",;{}[]", r) }) {
		m.readPart(part)
	}
}

func (m *markLines) readPart(part string) {
	i := strings.IndexAny(part, ":=")
	if i >= 0 {
		value, _, _ := strings.Cut(part[i+1:], " #")
		m.key = bareWord(part[:i])
		m.private = m.private || isPrivateMark(m.key, bareWord(value))
		return
	}
	value, _, _ := strings.Cut(part, "#")
	if word := bareWord(value); m.doubtful && word != "" {
		m.private = m.private || isPrivateMark(m.key, word)
	}
}

// bareWord returns text as a key or value is compared: in lower case, without what may stand around it.
func bareWord(text string) string {
	return strings.ToLower(strings.TrimFunc(text, func(r rune) bool { return isBlank(r) || strings.ContainsRune("\"'`?*-“”‘’", r) }))
}

// readYAML reads the marks that decoding shows, and tells whether there was anything to decode.
func (m *marks) readYAML(block []byte) bool {
	decoded, err := decodeYAML(block)
	if err != nil {
		return false
	}
	m.readNested(decoded)
	for key, value := range decoded {
		switch word := bareWord(scalarText(value)); bareWord(key) {
		case "visibility":
			m.public = m.public || word == VisibilityPublic
		case "publish":
			m.public = m.public || word == "true" || word == "yes" || word == "on" || word == "1"
		}
	}
	return true
}

// readNested reads the private marks in a value at any depth.
func (m *marks) readNested(value any) {
	switch v := value.(type) {
	case map[string]any:
		for key, inner := range v {
			m.readNamed(key, inner)
		}
	case map[any]any:
		for key, inner := range v {
			m.readNamed(fmt.Sprint(key), inner)
		}
	case yaml.MapSlice:
		for _, item := range v {
			m.readNamed(fmt.Sprint(item.Key), item.Value)
		}
	case []any:
		for _, inner := range v {
			m.readNested(inner)
		}
	}
}

func (m *marks) readNamed(key string, value any) {
	word := ""
	if value != nil {
		word = bareWord(fmt.Sprint(value))
	}
	m.private = m.private || isPrivateMark(bareWord(key), word)
	m.readNested(value)
}

// isPrivateMark tells whether a key with its value, both bare, makes a note private.
func isPrivateMark(key, value string) bool {
	switch key {
	case "private":
		return value != "" && !saysNo(value)
	case "publish":
		return saysNo(value)
	case "visibility":
		return strings.Contains(value, "private")
	}
	return false
}

func saysNo(value string) bool {
	if words := strings.Fields(value); len(words) > 0 {
		value = bareWord(words[len(words)-1]) // the tag of a type may stand before it
	}
	switch value {
	case "false", "no", "off", "0", "n", "f", "null", "~":
		return true
	}
	return false
}
