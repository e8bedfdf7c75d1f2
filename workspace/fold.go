package workspace

import (
	"bytes"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// differences is a set of the ways in which two texts can differ and yet be meant to be the same. To fold a text by such
// a set is to take the differences out of it.
type differences uint16

const (
	inLineEndings   differences = 1 << iota // CRLF, CR and LF
	inSpaces                                // blanks behind the start of a line, and blank lines
	inIndentation                           // blanks at the start of a line
	inLineBreaks                            // any whitespace at all, where a line breaks included
	inQuotes                                // straight and curly, single and double
	inDashes                                // hyphens, dashes, minus; several in a row are one
	inNormalization                         // the forms of Unicode, compatible characters too
	inInvisible                             // characters that do not show
	inCase
	inFinalNewline // LFs at the end
	inEntities     // &amp; and the like

	allDifferences differences = 1<<iota - 1
)

// words are the differences as answers name them, in the order of the contract.
var words = []struct {
	of   differences
	word string
}{
	{inLineEndings, "line-endings"},
	{inSpaces | inLineBreaks, "whitespace"},
	{inIndentation, "indentation"},
	{inQuotes, "quotes"},
	{inDashes, "dashes"},
	{inNormalization, "unicode-normalization"},
	{inInvisible, "invisible-characters"},
	{inCase, "case"},
	{inFinalNewline, "final-newline"},
	{inEntities, "entities"},
}

func (d differences) words() []string {
	named := []string{}
	for _, w := range words {
		if d&w.of != 0 {
			named = append(named, w.word)
		}
	}
	return named
}

// explain returns the smallest set within possible that makes a and b equal when both are folded by it; false where
// even the whole does not. The narrower of two explanations wins.
func explain(a, b string, possible differences) (differences, bool) {
	same := func(d differences) bool { return fold(a, d) == fold(b, d) }
	if !same(possible) {
		return 0, false
	}
	for _, d := range []differences{
		inLineBreaks, inSpaces, inEntities, inNormalization, inCase, inInvisible, inDashes, inQuotes,
		inFinalNewline, inLineEndings, inIndentation,
	} {
		if possible&d != 0 && same(possible&^d) {
			possible &^= d
		}
	}
	return possible, true
}

// fold takes the differences out of s.
func fold(s string, d differences) string {
	f := folder{text: []byte(s), by: d}
	f.all()
	folded := string(f.folded)
	if d&inLineEndings != 0 {
		folded = strings.ReplaceAll(strings.ReplaceAll(folded, "\r\n", "\n"), "\r", "\n")
	}
	if d&inFinalNewline != 0 {
		folded = strings.TrimRight(folded, "\r\n")
	}
	if d&(inIndentation|inSpaces) != 0 {
		folded = foldBlanks(folded, d)
	}
	return folded
}

// foldBlanks folds s, line by line, by those of the differences that lie in blanks.
func foldBlanks(s string, d differences) string {
	var b strings.Builder
	for line := range strings.Lines(s) {
		body := strings.TrimRight(line, "\r\n")
		end := line[len(body):]
		text := strings.TrimLeftFunc(body, unicode.IsSpace)
		indentation := body[:len(body)-len(text)]
		if d&inSpaces != 0 {
			if text == "" {
				continue
			}
			text = strings.Join(strings.Fields(text), "")
		}
		if d&inIndentation == 0 {
			b.WriteString(indentation)
		}
		b.WriteString(text)
		b.WriteString(end)
	}
	return b.String()
}

// folder folds a text from its start, one character (or entity) a step. What is folded together is a run: a character
// and the marks that join it.
type folder struct {
	text   []byte
	by     differences
	at     int    // how much of text is folded
	folded []byte // the result so far, but for the normal form of the run
	run    int    // where the run starts in folded
	odd    bool   // the run may not be in normal form
	dash   bool   // the last character was a dash
	normal []byte // memory for normal forms
}

// maxRun bounds a run, which in no language is so long, and with it the time that an endless one would take.
const maxRun = 128

// all folds what is left.
func (f *folder) all() {
	for f.at < len(f.text) {
		f.step()
	}
	f.endRun()
}

// plainFold holds what an ASCII character becomes in a fold by all differences; 1 for one that needs a closer look.
var plainFold = func() (table [utf8.RuneSelf]byte) {
	for i := range table {
		table[i] = byte(unicode.ToLower(rune(i)))
	}
	for _, b := range []byte("\x00\x01 \t\n\v\f\r&-") {
		table[b] = 1
	}
	table['"'], table['`'] = '\'', '\''
	return table
}()

// plain folds the next characters as long as they are plain ASCII, up to most of them. It is what makes large files
// fast, and nothing but several steps at once.
func (f *folder) plain(most int) {
	rest := f.text[f.at:min(len(f.text), f.at+most)]
	n := 0
	for n < len(rest) && rest[n] < utf8.RuneSelf && plainFold[rest[n]] != 1 {
		f.folded = append(f.folded, plainFold[rest[n]])
		n++
	}
	if n > 0 {
		f.at += n
		f.dash = false
	}
}

// step folds the next character.
func (f *folder) step() {
	r, size := utf8.DecodeRune(f.text[f.at:])
	if r == '&' && f.by&inEntities != 0 {
		r, size = entityAt(f.text[f.at:])
	}
	f.at += size
	f.add(r)
}

func (f *folder) add(r rune) {
	if unicode.IsSpace(r) {
		f.endRun()
		f.dash = false
		if f.by&inLineBreaks == 0 {
			f.folded = utf8.AppendRune(f.folded, r)
			f.run = len(f.folded)
		}
		return
	}
	if f.by&inInvisible != 0 && isInvisible(r) {
		return
	}
	if f.by&inQuotes != 0 && isQuote(r) {
		r = '\''
	}
	dash := f.by&inDashes != 0 && isDash(r)
	if dash && f.dash {
		return
	}
	f.dash = dash
	if dash {
		r = '-'
	}
	if f.by&inNormalization != 0 {
		r = f.normalize(r)
	}
	if f.by&inCase != 0 {
		r = lower(r)
	}
	f.folded = utf8.AppendRune(f.folded, r)
}

// normalize begins a new run with r, if r does not join the one before it, and returns what r is to be added as.
func (f *folder) normalize(r rune) rune {
	if r >= 0xff01 && r <= 0xff5e { // the wide forms of ASCII, which Chinese and Japanese text is full of
		r -= 0xff01 - '!'
	}
	normal := isNormal(r)
	if normal || standsAlone(r) || len(f.folded)-f.run >= maxRun {
		f.endRun()
	}
	f.odd = f.odd || !normal
	return r
}

// endRun brings the run into normal form.
func (f *folder) endRun() {
	if f.odd {
		f.folded = append(f.folded[:f.run], f.normalRun()...)
	}
	f.run, f.odd = len(f.folded), false
}

// normalRun returns the run in normal form, until the next call.
func (f *folder) normalRun() []byte {
	run := f.folded[f.run:]
	if norm.NFKC.IsNormal(run) {
		return run
	}
	f.normal = norm.NFKC.Append(f.normal[:0], run...)
	if f.by&inCase != 0 {
		return bytes.Map(lower, f.normal)
	}
	return f.normal
}

// length returns how long the result would be if the text ended here.
func (f *folder) length() int {
	if f.odd {
		return f.run + len(f.normalRun())
	}
	return len(f.folded)
}

// lower spares the many characters that have no case a search in the tables.
func lower(r rune) rune {
	if r >= 0x2e80 && r < 0xa640 || r >= 0xac00 && r < 0xff00 {
		return r
	}
	return unicode.ToLower(r)
}

// standsAlone tells whether r does not join what is before it, as an accent would.
func standsAlone(r rune) bool {
	var b [utf8.UTFMax]byte
	return norm.NFKC.Properties(utf8.AppendRune(b[:0], r)).BoundaryBefore()
}

// isNormal tells whether r is surely its own normal form, and does not join what is before it. It knows the characters
// that most texts are made of.
func isNormal(r rune) bool {
	switch {
	case r < 0xa0, r >= 0xc0 && r <= 0x131, r >= 0x391 && r <= 0x3a9, r >= 0x3b1 && r <= 0x3c9, r >= 0x400 && r <= 0x482:
		return true
	case r >= 0x3001 && r <= 0x3029, r >= 0x3041 && r <= 0x3096, r >= 0x30a1 && r <= 0x30fa:
		return true
	case r >= 0x3400 && r <= 0x9fff, r >= 0xac00 && r <= 0xd7a3:
		return true
	}
	return false
}

func isQuote(r rune) bool {
	switch r {
	case '"', '\'', '`', '´', '«', '»', '‹', '›', '＂', '＇', '｀':
		return true
	}
	return r >= 0x2018 && r <= 0x201f || r >= 0x2032 && r <= 0x2037 || r >= 0x300c && r <= 0x300f || r >= 0x301d && r <= 0x301f
}

func isDash(r rune) bool {
	switch r {
	case '-', 0x2043, 0x2212, 0xfe58, 0xfe63, 0xff0d:
		return true
	}
	return r >= 0x2010 && r <= 0x2015
}

func isInvisible(r rune) bool {
	switch {
	case r < 0xad:
		return false
	case r == 0xad, r == 0x61c, r == 0xfeff, r >= 0x200b && r <= 0x200f, r >= 0x202a && r <= 0x202e, r >= 0x2066 && r <= 0x2069:
		return true
	}
	return isZeroWidth(r) || isVariationSelector(r) || r >= 0xe0000 && r <= 0xe007f
}

var namedEntities = []struct {
	name string
	r    rune
}{{"&amp;", '&'}, {"&lt;", '<'}, {"&gt;", '>'}, {"&quot;", '"'}, {"&apos;", '\''}, {"&nbsp;", ' '}}

// entityAt returns the character that the entity at the start of s stands for and the entity's length; the ampersand
// itself where there is none.
func entityAt(s []byte) (rune, int) {
	for _, e := range namedEntities {
		if bytes.HasPrefix(s, []byte(e.name)) {
			return e.r, len(e.name)
		}
	}
	const longest = len("&#x10ffff;")
	digits, isNumeric := bytes.CutPrefix(s[:min(len(s), longest)], []byte("&#"))
	digits, _, ended := bytes.Cut(digits, []byte(";"))
	if !isNumeric || !ended {
		return '&', 1
	}
	number, base := string(digits), 10
	if hex := strings.TrimLeft(number, "xX"); len(hex) == len(number)-1 {
		number, base = hex, 16
	}
	n, err := strconv.ParseUint(number, base, 32)
	if err != nil || n == 0 || n > unicode.MaxRune || !utf8.ValidRune(rune(n)) {
		return '&', 1
	}
	return rune(n), len("&#") + len(digits) + len(";")
}
