package notes

import (
	"bytes"
	"strings"
	"unicode"
	"unicode/utf8"
)

// The body of a note is read line by line and as far as notes need it: headings, tags and links, none of them inside
// code. What no person writes bounds the work: an outline ends after maxOutline bytes, a link after maxLink.
const (
	maxOutline = 1 << 20
	maxLink    = 512
)

func (n *Note) readBody(body []byte, line int) {
	body = body[:min(len(body), maxOutline)]
	var fence []byte
	var before []byte // the line before, while it can be a heading underlined by this one
	for pos := 0; pos < len(body); line++ {
		raw, next := lineAt(body, pos)
		pos = next
		text := bytes.TrimRight(raw, " \t\r")
		switch marker := codeFence(text); {
		case fence != nil:
			if closesFence(text, fence) {
				fence = nil
			}
			before = nil
			continue
		case marker != nil:
			fence, before = marker, nil
			continue
		}
		n.readLine(text, before, line)
		before = text
	}
}

func (n *Note) readLine(text, before []byte, line int) {
	if level, heading := headingOf(text); level > 0 {
		n.Headings = append(n.Headings, Heading{level, line, string(heading)})
	} else if isUnderline(text) && len(bytes.TrimSpace(before)) > 0 {
		n.Headings = append(n.Headings, Heading{1, line - 1, string(bytes.TrimSpace(before))})
	}
	if bytes.IndexByte(text, '#') < 0 && bytes.IndexByte(text, '[') < 0 {
		return
	}
	text = withoutCode(text)
	n.Tags = appendTags(n.Tags, text)
	n.Links = appendLinks(n.Links, text, line)
}

// codeFence returns the backticks or tildes that open a block of code on this line, or nil.
func codeFence(line []byte) []byte {
	text := bytes.TrimLeft(line, " ")
	if len(line)-len(text) > 3 || len(text) < 3 || text[0] != '`' && text[0] != '~' {
		return nil
	}
	marker := text[:len(text)-len(bytes.TrimLeft(text, string(text[0])))]
	if len(marker) < 3 || marker[0] == '`' && bytes.IndexByte(text[len(marker):], '`') >= 0 {
		return nil
	}
	return marker
}

func closesFence(line, fence []byte) bool {
	marker := codeFence(line)
	return len(marker) >= len(fence) && marker[0] == fence[0] && len(bytes.TrimLeft(line, " ")) == len(marker)
}

// headingOf returns the level of a line that is a heading with leading '#', else 0.
func headingOf(line []byte) (level int, text []byte) {
	indented := bytes.TrimLeft(line, " ")
	text = bytes.TrimLeft(indented, "#")
	level = len(indented) - len(text)
	if len(line)-len(indented) > 3 || level == 0 || level > 6 || len(text) > 0 && text[0] != ' ' && text[0] != '\t' {
		return 0, nil
	}
	if closed := bytes.TrimRight(text, "#"); len(closed) == 0 || closed[len(closed)-1] == ' ' {
		text = closed
	}
	return level, bytes.TrimSpace(text)
}

// isUnderline tells whether a line makes the one before it a heading. Underlines of '-' are not taken for one: in notes
// they are nearly always a rule.
func isUnderline(line []byte) bool {
	return len(line) > 1 && len(bytes.Trim(line, "=")) == 0
}

// withoutCode returns line with each span of code overwritten by spaces.
func withoutCode(line []byte) []byte {
	if bytes.IndexByte(line, '`') < 0 {
		return line
	}
	out := bytes.Clone(line)
	for pos := 0; pos < len(out); {
		start := indexFrom(out, '`', pos)
		if start < 0 {
			break
		}
		size := backticks(out[start:])
		pos = start + size
		if end := codeSpanEnd(out, pos, size); end >= 0 {
			copy(out[start:end], bytes.Repeat([]byte{' '}, end-start))
			pos = end
		}
	}
	return out
}

// codeSpanEnd returns where the span of code ends that size backticks before from open, or -1: then they are text.
func codeSpanEnd(line []byte, from, size int) int {
	for at := indexFrom(line, '`', from); at >= 0; at = indexFrom(line, '`', at) {
		n := backticks(line[at:])
		at += n
		if n == size {
			return at
		}
	}
	return -1
}

func backticks(b []byte) int { return len(b) - len(bytes.TrimLeft(b, "`")) }

func indexFrom(b []byte, c byte, from int) int {
	if i := bytes.IndexByte(b[from:], c); i >= 0 {
		return from + i
	}
	return -1
}

func appendTags(tags []string, line []byte) []string {
	for at := indexFrom(line, '#', 0); at >= 0; at = indexFrom(line, '#', at) {
		size := tagSize(line[at+1:])
		if size > 0 && startsTag(line[:at]) {
			tags = append(tags, string(line[at+1:at+1+size]))
		}
		at += 1 + size
	}
	return tags
}

// startsTag tells whether a '#' after this text can start a tag: not inside a word, a URL or a link's target.
func startsTag(before []byte) bool {
	r, _ := utf8.DecodeLastRune(before)
	switch {
	case len(before) == 0 || unicode.IsSpace(r):
		return true
	case r == '(':
		return !bytes.HasSuffix(before, []byte("]("))
	}
	return strings.ContainsRune(`"'*_|>,;，。；：、！？（【「“`, r)
}

// tagSize returns how many bytes at the start of text form a tag. A tag is not all digits.
func tagSize(text []byte) int {
	size, named := 0, false
	for size < len(text) {
		r, n := utf8.DecodeRune(text[size:])
		if !isTagRune(r) {
			break
		}
		named = named || !unicode.IsNumber(r) && r != '-' && r != '/' && r != '_'
		size += n
	}
	if !named {
		return 0
	}
	return len(bytes.TrimRight(text[:size], "-/"))
}

func isTagRune(r rune) bool {
	return r == '-' || r == '_' || r == '/' || r != utf8.RuneError && (unicode.IsLetter(r) || unicode.IsNumber(r) || unicode.IsMark(r) || isPictograph(r))
}

func appendLinks(links []Link, line []byte, number int) []Link {
	for at := indexFrom(line, '[', 0); at >= 0; {
		link, size := linkAt(line[at:])
		if size > 0 {
			link.Line = number
			links = append(links, link)
		}
		at = indexFrom(line, '[', at+max(size, 1))
	}
	return links
}

// linkAt reads the link at the start of text, which is '['; its size is 0 where there is none.
func linkAt(text []byte) (link Link, size int) {
	text = text[:min(len(text), maxLink)]
	if inner, found := bytes.CutPrefix(text, []byte("[[")); found {
		end := bytes.Index(inner, []byte("]]"))
		if end <= 0 {
			return Link{}, 0
		}
		target, shown, _ := strings.Cut(string(inner[:end]), "|")
		return Link{Target: strings.TrimSpace(target), Text: strings.TrimSpace(shown)}, end + 4
	}
	middle := bytes.Index(text, []byte("]("))
	if middle < 0 || bytes.IndexByte(text[1:middle], '[') >= 0 {
		return Link{}, 0
	}
	target, end := linkTarget(text[middle+2:])
	if target == "" {
		return Link{}, 0
	}
	return Link{Target: target, Text: string(text[1:middle])}, middle + 2 + end
}

// linkTarget reads what stands between a link's parentheses and returns the size of it and the closing one.
func linkTarget(text []byte) (target string, size int) {
	depth := 1
	for i, c := range text {
		switch c {
		case '(':
			depth++
		case ')':
			depth--
		}
		if depth == 0 {
			inner := strings.TrimSpace(string(text[:i]))
			if pointed, found := strings.CutPrefix(inner, "<"); found {
				target, _, _ = strings.Cut(pointed, ">")
				return target, i + 1
			}
			target, _, _ = strings.Cut(inner, " ")
			return target, i + 1
		}
	}
	return "", 0
}
