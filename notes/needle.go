package notes

import (
	"bytes"
	"strings"
	"unicode/utf8"
)

// needle is a text that is looked for as it stands, folded. Where it starts or ends in a word it must not cut one.
type needle struct {
	text   string
	prefix bool // the last word may go on
	left   bool // it starts in a word
	right  bool // it ends in a word
}

func newNeedle(folded string, prefix bool) needle {
	first, _ := utf8.DecodeRuneInString(folded)
	last, _ := utf8.DecodeLastRuneInString(folded)
	return needle{
		text:   folded,
		prefix: prefix,
		left:   kindOf(first) == wordChar,
		right:  kindOf(last) == wordChar && !prefix,
	}
}

// index returns where the needle occurs first in folded text, not before from; or -1.
func (n needle) index(folded []byte, from int) int {
	for from <= len(folded) {
		i := bytes.Index(folded[from:], []byte(n.text))
		if i < 0 {
			return -1
		}
		at := from + i
		if n.stands(folded, at) {
			return at
		}
		from = at + 1
	}
	return -1
}

func (n needle) stands(folded []byte, at int) bool {
	if n.left && at > 0 {
		if r, _ := utf8.DecodeLastRune(folded[:at]); kindOf(r) == wordChar {
			return false
		}
	}
	if end := at + len(n.text); n.right && end < len(folded) {
		r, _ := utf8.DecodeRune(folded[end:])
		return kindOf(r) != wordChar
	}
	return true
}

func (n needle) count(folded []byte) int {
	found := 0
	for at := n.index(folded, 0); at >= 0; at = n.index(folded, at+len(n.text)) {
		found++
	}
	return found
}

// countTokens counts how many tokens of a folded text the needle is, or the start of if it is a prefix. The needle is one
// token. In a run they overlap: of three times the same character the first two are a token, and the last two.
func (n needle) countTokens(folded []byte) int {
	found := 0
	_, first := utf8.DecodeRuneInString(n.text)
	for at := n.index(folded, 0); at >= 0; at = n.index(folded, at+first) {
		found++
	}
	return found
}

// atom is one token that a query asks for.
type atom struct {
	text   string
	prefix bool // tokens that start with text count too
}

// atomsOf cuts folded text into the tokens that must be there for it to occur. The last character of a run stands alone
// only where it is all there is: a token starts with it wherever it occurs, so it is asked for as a prefix.
func atomsOf(folded string) []atom {
	var atoms []atom
	t := tokenizer{text: []byte(folded)}
	runEnd := -1 // where the pair before ends
	for t.next() {
		single := t.paired && utf8.RuneCount(t.token) == 1
		if single && t.end == runEnd {
			continue
		}
		if t.paired {
			runEnd = t.end
		}
		atoms = append(atoms, atom{string(t.token), single})
	}
	return atoms
}

func (a atom) needle() needle { return newNeedle(a.text, a.prefix) }

// isRepairable tells whether the atom is a word that could have been misspelt: four letters at least, and no digits,
// since another number is another thing.
func (a atom) isRepairable() bool {
	if n := utf8.RuneCountInString(a.text); a.prefix || n < 4 || n > maxWord {
		return false
	}
	return !strings.ContainsFunc(a.text, func(r rune) bool { return kindOf(r) != wordChar || r >= '0' && r <= '9' })
}

// atomTable finds a token among a query's atoms. Most tokens of a text are none of them, and two looks tell so.
type atomTable struct {
	atoms    []atom
	whole    map[string]int
	prefixes []int
	sizes    [256]uint64 // by first byte: which lengths occur, those from 63 on as one
	lasts    [256]bool   // which last bytes occur
}

func newAtomTable(atoms []atom) atomTable {
	t := atomTable{atoms: atoms, whole: map[string]int{}}
	for i, a := range atoms {
		if a.prefix {
			t.prefixes = append(t.prefixes, i)
			continue
		}
		t.whole[a.text] = i
		t.sizes[a.text[0]] |= 1 << min(len(a.text), 63)
		t.lasts[a.text[len(a.text)-1]] = true
	}
	return t
}

func (t *atomTable) find(token []byte) (int, bool) {
	if t.sizes[token[0]]&(1<<min(len(token), 63)) == 0 || !t.lasts[token[len(token)-1]] {
		return 0, false
	}
	i, ok := t.whole[string(token)]
	return i, ok
}
