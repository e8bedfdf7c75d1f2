package workspace

import (
	"bytes"
	"strings"
)

// literal is a text to look for.
type literal struct {
	text string
	// folded tells that upper and lower case count the same. text is then lower case and ASCII.
	folded bool
	// rare is where in a folded text the byte stands that is the least common in texts.
	rare int
}

func newLiteral(text string) literal { return literal{text: text} }

// newFolded returns the longest part of text that can be looked for byte by byte in either case: ASCII without k and s,
// which some characters beyond ASCII fold to as well (the Kelvin sign and the long s). It returns false where text has
// no such part.
func newFolded(text string) (literal, bool) {
	longest := ""
	for part := range strings.FieldsFuncSeq(strings.ToLower(text), foldsBeyondASCII) {
		if len(part) > len(longest) {
			longest = part
		}
	}
	l := literal{text: longest, folded: true}
	for i := range len(longest) {
		if commonness(longest[i]) < commonness(longest[l.rare]) {
			l.rare = i
		}
	}
	return l, longest != ""
}

func foldsBeyondASCII(r rune) bool { return r >= 0x80 || r == 'k' || r == 's' }

// byCommonness are the most common bytes of texts and programs, the most common first.
const byCommonness = " etaoinrslhdcumpfgybvw_.,0(1)k-=2x/\"'>:*;<"

// commonness is higher for bytes that are more common. A letter has two forms to be looked for.
func commonness(b byte) int {
	i := strings.IndexByte(byCommonness, b)
	if i < 0 {
		return 0
	}
	return len(byCommonness) - i
}

// isCommon tells whether about every line of a text holds the literal.
func (l literal) isCommon() bool { return len(l.text) == 1 && commonness(l.text[0]) > 0 }

// search looks for several literals in one text, from its start to its end.
type search struct {
	text    []byte
	cursors []cursor
}

// cursor is how far one literal was looked for.
type cursor struct {
	literal
	at int // the next place that holds it, as far as is known; len(text): no more
	// The next places of the rare byte of a folded literal, in each case.
	lower, upper int
}

func newSearch(literals []literal, text []byte) *search {
	s := &search{text: text, cursors: make([]cursor, len(literals))}
	for i, l := range literals {
		s.cursors[i] = cursor{literal: l, at: -1, lower: -1, upper: -1}
	}
	return s
}

// next returns the first place from from on that holds one of the literals, -1 where there is none; from itself if
// there are no literals. from must not go back.
func (s *search) next(from int) int {
	if len(s.cursors) == 0 {
		return from
	}
	first := len(s.text)
	for i := range s.cursors {
		c := &s.cursors[i]
		if c.at < from {
			c.advance(s.text, from)
		}
		first = min(first, c.at)
	}
	if first == len(s.text) {
		return -1
	}
	return first
}

func (c *cursor) advance(text []byte, from int) {
	if c.folded {
		c.advanceFolded(text, from)
		return
	}
	c.at = indexFrom(text, from, func(b []byte) int { return bytes.Index(b, []byte(c.text)) })
}

// advanceFolded looks for the rare byte in either case and compares the rest around it.
func (c *cursor) advanceFolded(text []byte, from int) {
	low := c.text[c.rare]
	up := upperASCII(low)
	for at := from + c.rare; ; at++ {
		if c.lower < at {
			c.lower = indexByteFrom(text, at, low)
		}
		switch {
		case up == low:
			c.upper = len(text)
		case c.upper < at:
			c.upper = indexByteFrom(text, at, up)
		}
		at = min(c.lower, c.upper)
		start := at - c.rare
		if at == len(text) || start+len(c.text) > len(text) {
			c.at = len(text)
			return
		}
		if equalFolded(text[start:start+len(c.text)], c.text) {
			c.at = start
			return
		}
	}
}

func indexFrom(text []byte, from int, index func([]byte) int) int {
	if from < len(text) {
		if i := index(text[from:]); i >= 0 {
			return from + i
		}
	}
	return len(text)
}

func indexByteFrom(text []byte, from int, b byte) int {
	return indexFrom(text, from, func(rest []byte) int { return bytes.IndexByte(rest, b) })
}

func upperASCII(b byte) byte {
	if 'a' <= b && b <= 'z' {
		return b - 'a' + 'A'
	}
	return b
}

// equalFolded tells whether text is lower, a text in lower case, in any case.
func equalFolded(text []byte, lower string) bool {
	for i := range len(lower) {
		if b := text[i]; b != lower[i] && b != upperASCII(lower[i]) {
			return false
		}
	}
	return true
}
