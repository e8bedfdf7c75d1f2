package notes

import (
	"bytes"
	"errors"
	"fmt"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/lexer"
	"github.com/goccy/go-yaml/token"
)

// Front matter is the YAML mapping between a line "---" at the very start of a note and the next line "---" or "...".
// It is a stranger's YAML: a block that is too large, too deep, or refers to itself is not decoded, and neither is one
// with an error in it. Such a note has no properties, but its marks still count (see marks.go).

const (
	maxFrontMatter = 64 << 10 // bytes in which the end of the block must be found
	maxYAML        = 16 << 10 // bytes of a block that is decoded
	maxYAMLDepth   = 32       // brackets inside brackets
)

// splitFrontMatter returns the lines between the fences, and where the text after them starts. Without front matter
// block is nil and body 0.
func splitFrontMatter(text []byte) (block []byte, body int) {
	start := openingFence(text)
	if start == 0 {
		return nil, 0
	}
	limit := min(len(text), maxFrontMatter)
	for pos := start; pos < limit; {
		line, next := lineAt(text, pos)
		if isFence(line, "---") || isFence(line, "...") {
			return text[start:pos:pos], next
		}
		pos = next
	}
	return nil, 0
}

// openingFence returns where the line after the opening fence starts, 0 where there is none.
func openingFence(text []byte) int {
	bom := len(text) - len(bytes.TrimPrefix(text, []byte("\ufeff")))
	line, next := lineAt(text, bom)
	if !isFence(line, "---") || next == bom+len(line) {
		return 0
	}
	return next
}

func isFence(line []byte, fence string) bool {
	return string(bytes.TrimRight(line, " \t\r")) == fence
}

// lineAt returns the line at pos without its LF, and where the next one starts.
func lineAt(text []byte, pos int) (line []byte, next int) {
	if i := bytes.IndexByte(text[pos:], '\n'); i >= 0 {
		return text[pos : pos+i], pos + i + 1
	}
	return text[pos:], len(text)
}

// properties are the top-level keys of front matter, in lower case.
type properties map[string]any

var errNotDecoded = errors.New("front matter is not decoded")

func readProperties(block []byte) properties {
	decoded, err := decodeYAML(block)
	if err != nil {
		return nil
	}
	p := make(properties, len(decoded))
	for key, value := range decoded {
		lower := strings.ToLower(key)
		if _, taken := p[lower]; !taken || key == lower {
			p[lower] = value
		}
	}
	return p
}

func decodeYAML(block []byte) (decoded map[string]any, err error) {
	if len(block) > maxYAML {
		return nil, errNotDecoded
	}
	defer func() {
		if fault := recover(); fault != nil { // the decoder meets text that nobody has tried on it
			decoded, err = nil, fmt.Errorf("%w: %v", errNotDecoded, fault)
		}
	}()
	if isDangerous(string(block)) {
		return nil, errNotDecoded
	}
	if err := yaml.Unmarshal(block, &decoded); err != nil {
		return nil, fmt.Errorf("%w: %w", errNotDecoded, err)
	}
	return decoded, nil
}

// isDangerous tells whether decoding could cost more than the block's size allows for.
func isDangerous(block string) bool {
	depth := 0
	for i := range len(block) {
		switch block[i] {
		case '[', '{':
			depth++
		case ']', '}':
			depth = max(0, depth-1)
		}
		if depth > maxYAMLDepth {
			return true
		}
	}
	if !strings.ContainsAny(block, "&*") {
		return false
	}
	for _, t := range lexer.Tokenize(block) {
		if t.Type == token.AnchorType || t.Type == token.AliasType {
			return true
		}
	}
	return false
}

// text returns a property that is one line of text, or "".
func (p properties) text(key string) string {
	return strings.Join(strings.Fields(scalarText(p[key])), " ")
}

// list returns a property that may be written as a YAML list or as one text. split cuts the text.
func (p properties) list(key string, split func(string) []string) []string {
	items, ok := p[key].([]any)
	if !ok {
		return split(scalarText(p[key]))
	}
	var texts []string
	for _, item := range items {
		if s := strings.TrimSpace(scalarText(item)); s != "" {
			texts = append(texts, s)
		}
	}
	return texts
}

func scalarText(value any) string {
	switch v := value.(type) {
	case string:
		return v
	case bool, int, int64, uint64, float64:
		return fmt.Sprint(v)
	}
	return ""
}
