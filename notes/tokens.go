package notes

import (
	"unicode"
	"unicode/utf8"
)

// Text is cut into tokens alike when it is read and when it is asked for. Letters and digits form words. Scripts that
// are written without spaces form runs, and a run of n characters gives n-1 overlapping pairs and its last character, so
// that any part of the run is found by the pairs in it. A border between word and run, and everything else, separates.
type tokenizer struct {
	text []byte
	pos  int // next byte of text to look at

	token      []byte // the folded token, valid until the next call of next
	start, end int    // where it stands in text
	paired     bool   // it comes from a run

	word []byte // room for token
	held heldChar

	char   textChar // the character in hand
	repeat bool     // char ended the token before it and is still to be used

	cluster  []byte // folded characters of one cluster that are still to be used
	folded   []byte // room for cluster
	clusterS int    // where the cluster stands in text
	ascii    [1]byte
}

// textChar is one folded character and where it stands in the text.
type textChar struct {
	folded     []byte
	start, end int
	kind       charKind
}

// heldChar is the last character of the run in hand.
type heldChar struct {
	folded     [utf8.UTFMax]byte
	size       int // 0: there is no run in hand
	start, end int
	common     bool // it is as startsWithHan tells
}

type charKind uint8

const (
	separator charKind = iota
	wordChar
	runChar
)

func (t *tokenizer) reset(text []byte) {
	*t = tokenizer{text: text, word: t.word[:0], folded: t.folded[:0]}
}

// next finds the next token. It returns false at the end of the text.
func (t *tokenizer) next() bool {
	if len(t.cluster) == 0 && !t.repeat {
		if t.held.size == 0 && t.takeWord() || t.takePair() {
			return true
		}
	}
	return t.nextByChar()
}

// takeWord takes the next word if it is ASCII, as most are, and nothing but ASCII stands around it.
func (t *tokenizer) takeWord() bool {
	pos := t.pos
	for pos < len(t.text) && t.text[pos] < utf8.RuneSelf && !isWordByte(foldASCII(t.text[pos])) {
		pos++
	}
	t.pos = pos
	folded := true
	for pos < len(t.text) {
		c := foldASCII(t.text[pos])
		if !isWordByte(c) {
			break
		}
		folded = folded && c == t.text[pos]
		pos++
	}
	if pos == t.pos || pos < len(t.text) && t.text[pos] >= utf8.RuneSelf {
		return false
	}
	t.token, t.start, t.end, t.paired = t.text[t.pos:pos], t.pos, pos, false
	t.pos = pos
	if !folded {
		t.word = t.word[:0]
		for _, c := range t.token {
			t.word = append(t.word, foldASCII(c))
		}
		t.token = t.word
	}
	return true
}

// takePair takes the next pair of common Chinese characters. Its token needs no room of its own.
func (t *tokenizer) takePair() bool {
	if t.held.size == 0 && startsWithHan(t.text[t.pos:]) {
		t.holdHan()
	}
	if !t.held.common || t.held.end != t.pos || !startsWithHan(t.text[t.pos:]) {
		return false
	}
	t.start, t.end, t.paired = t.held.start, t.pos+hanSize, true
	t.token = t.text[t.start:t.end]
	t.holdHan()
	return true
}

func (t *tokenizer) holdHan() {
	t.held.size = copy(t.held.folded[:], t.text[t.pos:t.pos+hanSize])
	t.held.start, t.held.end, t.held.common = t.pos, t.pos+hanSize, true
	t.pos += hanSize
}

func (t *tokenizer) nextByChar() bool {
	t.word = t.word[:0]
	for t.nextChar() {
		switch {
		case t.char.kind != wordChar && len(t.word) > 0:
			t.repeat = true
			return t.endWord()
		case t.char.kind != runChar && t.held.size > 0:
			t.repeat = true
			return t.endRun()
		case t.char.kind == wordChar:
			t.addToWord()
		case t.char.kind == runChar && t.held.size > 0:
			return t.endPair()
		case t.char.kind == runChar:
			t.hold()
		}
	}
	if t.held.size > 0 {
		return t.endRun()
	}
	return len(t.word) > 0 && t.endWord()
}

func (t *tokenizer) addToWord() {
	if len(t.word) == 0 {
		t.start = t.char.start
	}
	t.word = append(t.word, t.char.folded...)
	t.end = t.char.end
	for len(t.cluster) == 0 && t.pos < len(t.text) {
		c := foldASCII(t.text[t.pos])
		if !isWordByte(c) {
			return
		}
		t.word = append(t.word, c)
		t.pos++
		t.end = t.pos
	}
}

func (t *tokenizer) endWord() bool {
	t.token, t.paired = t.word, false
	return true
}

func (t *tokenizer) endRun() bool {
	t.word = append(t.word[:0], t.held.folded[:t.held.size]...)
	t.token, t.paired, t.start, t.end = t.word, true, t.held.start, t.held.end
	t.held.size, t.held.common = 0, false
	return true
}

func (t *tokenizer) endPair() bool {
	t.word = append(append(t.word[:0], t.held.folded[:t.held.size]...), t.char.folded...)
	t.token, t.paired, t.start, t.end = t.word, true, t.held.start, t.char.end
	t.hold()
	return true
}

func (t *tokenizer) hold() {
	t.held.size = copy(t.held.folded[:], t.char.folded)
	t.held.start, t.held.end, t.held.common = t.char.start, t.char.end, false
}

// nextChar moves to the next folded character.
func (t *tokenizer) nextChar() bool {
	if t.repeat {
		t.repeat = false
		return true
	}
	for len(t.cluster) == 0 {
		if t.pos >= len(t.text) {
			return false
		}
		if t.plainChar() {
			return true
		}
		t.clusterS = t.pos
		var width int
		t.folded, width = appendFoldedCluster(t.folded[:0], t.text[t.pos:])
		t.pos += width
		t.cluster = t.folded
	}
	r, n := utf8.DecodeRune(t.cluster)
	t.char = textChar{t.cluster[:n], t.clusterS, t.pos, kindOf(r)}
	t.cluster = t.cluster[n:]
	return true
}

// plainChar takes an ASCII character or one of the common Chinese characters, which need no folding beyond case.
func (t *tokenizer) plainChar() bool {
	start := t.pos
	switch c := t.text[start]; {
	case c < utf8.RuneSelf:
		t.pos++
		t.ascii[0] = foldASCII(c)
		t.char = textChar{t.ascii[:], start, t.pos, separator}
		if isWordByte(t.ascii[0]) {
			t.char.kind = wordChar
		}
	case startsWithHan(t.text[start:]):
		t.pos += hanSize
		t.char = textChar{t.text[start:t.pos], start, t.pos, runChar}
	default:
		return false
	}
	return true
}

// hanSize is the length in bytes of what startsWithHan knows.
const hanSize = 3

// startsWithHan tells whether text starts with one of U+5000 to U+8FFF, which fold to themselves.
func startsWithHan(text []byte) bool {
	return len(text) >= hanSize && text[0] >= 0xe5 && text[0] <= 0xe8 && text[1]&0xc0 == 0x80 && text[2]&0xc0 == 0x80
}

func isWordByte(c byte) bool { return c >= 'a' && c <= 'z' || c >= '0' && c <= '9' }

func kindOf(r rune) charKind {
	switch {
	case r < utf8.RuneSelf:
		if isWordByte(byte(r)) || r >= 'A' && r <= 'Z' {
			return wordChar
		}
		return separator
	case isUnspaced(r):
		return runChar
	case unicode.IsLetter(r) || unicode.IsNumber(r) || unicode.IsMark(r):
		return wordChar
	}
	return separator
}

// isUnspaced tells whether r belongs to a script that is written without spaces: Chinese, Japanese, Thai, Lao, Burmese,
// Khmer; and Korean, whose words carry their particles with them; or is a pictograph.
func isUnspaced(r rune) bool {
	switch {
	case r < 0x0e00:
		return false
	case r <= 0x0eff:
		return unicode.IsLetter(r) || unicode.IsMark(r)
	case r < 0x2e80:
		return r >= 0x1000 && r <= 0x109f && !unicode.IsPunct(r) || r >= 0x1100 && r <= 0x11ff ||
			r >= 0x1780 && r <= 0x17d3 || isPictograph(r)
	case r <= 0x33ff:
		return unicode.IsLetter(r) || r >= 0x2e80 && r <= 0x2fd5 || r == 0x3007
	}
	return r >= 0x3400 && r <= 0x4dbf || r >= 0x4e00 && r <= 0x9fff || r >= 0xa960 && r <= 0xa97f ||
		r >= 0xac00 && r <= 0xd7ff || r >= 0xf900 && r <= 0xfaff || r >= 0xff66 && r <= 0xff9d ||
		r >= 0x20000 && r <= 0x3ffff || isPictograph(r)
}

// isPictograph tells whether r is an emoji or a sign of that kind: notes are marked with them (✅ done, ⭐ 🚧), and so
// they are looked for.
func isPictograph(r rune) bool {
	switch {
	case r < 0x2300:
		return false
	case r <= 0x23ff, r >= 0x25a0 && r <= 0x27bf, r >= 0x2b00 && r <= 0x2bff, r >= 0x1f000 && r <= 0x1faff:
		return unicode.Is(unicode.So, r) || r >= 0x1f3fb && r <= 0x1f3ff // the shades of skin
	}
	return false
}

// plainWords returns the words and runs of s, folded, with one space between them: two titles that differ only in
// spelling and punctuation give the same.
func plainWords(s string) string {
	var out []byte
	last := separator
	for _, r := range fold(s) {
		kind := kindOf(r)
		if isPictograph(r) {
			kind = separator // it decorates
		}
		if kind != last && len(out) > 0 && !endsInSpace(out) {
			out = append(out, ' ')
		}
		if kind != separator {
			out = utf8.AppendRune(out, r)
		}
		last = kind
	}
	if endsInSpace(out) {
		out = out[:len(out)-1]
	}
	return string(out)
}
