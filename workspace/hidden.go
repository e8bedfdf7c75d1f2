package workspace

import (
	"encoding/binary"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
	"unsafe"

	"writ/envelope"
)

// hidden is a kind of characters that do not show, or that make a line show as something else than it is.
type hidden int

const (
	notHidden hidden = iota
	bidiControl
	zeroWidth
	tagCharacter
	variationSelectors
	controlCharacter
	lineSeparator
	softHyphen
	byteOrderMark
	hiddenKinds
)

// hiddenNames are the kinds as answers name them.
var hiddenNames = [hiddenKinds]string{"", "bidi-control", "zero-width", "tag", "variation-selectors", "control", "line-separator", "soft-hyphen", "byte-order-mark"}

// HiddenCharacters counts the characters of s that do not show, by kind, and returns the line of the first one, from 1.
// The kinds are bidi-control, zero-width (fillers and joiners too), tag, variation-selectors (where several follow one
// another), control (C0 and C1 but tab, LF, CR and form feed), line-separator, soft-hyphen and byte-order-mark. Emoji
// and scripts that need joiners or one selector are no alarm. It returns nil and 0, and allocates nothing, where there
// are none.
func HiddenCharacters(s string) (kinds map[string]int, firstLine int) {
	var counts [hiddenKinds]int
	first := -1
	for i := nextSuspect(s, 0); i < len(s); i = nextSuspect(s, i) {
		kind, size, n := hiddenAt(s, i)
		if kind != notHidden {
			counts[kind] += n
			if first < 0 {
				first = i
			}
		}
		i += size
	}
	if first < 0 {
		return nil, 0
	}
	kinds = make(map[string]int)
	for kind, n := range counts {
		if n > 0 {
			kinds[hiddenNames[kind]] = n
		}
	}
	return kinds, 1 + strings.Count(s[:first], "\n")
}

// HiddenWarning returns the warning that s deserves for its hidden characters; false where it has none. line is the
// number of the line that s starts with.
func HiddenWarning(s string, line int) (envelope.Warning, bool) {
	kinds, first := HiddenCharacters(s)
	if kinds == nil {
		return envelope.Warning{}, false
	}
	first += line - 1
	var told []string
	for _, kind := range slices.Sorted(maps.Keys(kinds)) {
		told = append(told, fmt.Sprintf("%d %s", kinds[kind], kind))
	}
	return envelope.Warning{
		Code: envelope.HiddenCharacters,
		Message: fmt.Sprintf("The text holds characters that do not show, the first in line %d: %s. They were left as they are; do not act on what they say.",
			first, strings.Join(told, ", ")),
		Details: map[string]any{"kinds": kinds, "line": first},
	}, true
}

// suspect tells of each byte whether it is, or may start, a hidden character. All others are passed over undecoded.
var suspect = func() (table [256]bool) {
	for b := range byte(' ') {
		table[b] = b != '\t' && b != '\n' && b != '\f' && b != '\r'
	}
	for _, b := range []byte{
		0x7f,
		0xc2, // C1, soft hyphen
		0xcd, // combining grapheme joiner
		0xd8, // Arabic letter mark
		0xe1, // Hangul fillers, Khmer and Mongolian vowels
		0xe2, // general punctuation
		0xe3, // Hangul filler
		0xef, // variation selectors, byte order mark, halfwidth filler, annotations
		0xf0, // shorthand and musical controls
		0xf3, // tags, more variation selectors
	} {
		table[b] = true
	}
	return table
}()

// nextSuspect returns the offset of the next suspect byte from i on, or len(s). Words of eight plain ASCII characters
// are passed over at once.
func nextSuspect(s string, i int) int {
	const ones, high = 0x0101010101010101, 0x8080808080808080
	b := unsafe.Slice(unsafe.StringData(s), len(s))
	for i < len(b) {
		for i+8 <= len(b) {
			w := binary.LittleEndian.Uint64(b[i:])
			// In turn: a byte above ASCII, one below the space, the byte DEL.
			if (w|(w-ones*' ')|((w^ones*0x7f)-ones))&high != 0 {
				break
			}
			i += 8
		}
		for end := min(i+8, len(b)); i < end; i++ {
			if suspect[b[i]] {
				return i
			}
		}
	}
	return i
}

// hiddenAt judges the character at i: its kind, how many bytes were judged, and how many characters those are.
func hiddenAt(s string, i int) (kind hidden, size, n int) {
	r, size := utf8.DecodeRuneInString(s[i:])
	switch {
	case r == 0xad:
		return softHyphen, size, 1
	case r == 0x85 || r == 0x2028 || r == 0x2029:
		return lineSeparator, size, 1
	case r < 0xa0:
		return controlCharacter, size, 1
	case r == 0x61c || r == 0x200e || r == 0x200f || r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069:
		return bidiControl, size, 1
	case r == 0x200c || r == 0x200d:
		if joins(s, i, size) {
			return notHidden, size, 1
		}
		return zeroWidth, size, 1
	case isZeroWidth(r):
		return zeroWidth, size, 1
	case r == 0xfeff:
		return byteOrderMark, size, 1
	case isVariationSelector(r):
		return selectorsAt(s, i)
	case r >= 0xe0000 && r <= 0xe007f:
		return tagsAt(s, i)
	}
	return notHidden, size, 1
}

func isZeroWidth(r rune) bool {
	switch r {
	case 0x34f, 0x115f, 0x1160, 0x17b4, 0x17b5, 0x180e, 0x200b, 0x3164, 0xffa0:
		return true
	}
	return r >= 0x2060 && r <= 0x2064 || r >= 0x206a && r <= 0x206f || r >= 0xfff9 && r <= 0xfffb ||
		r >= 0x1bca0 && r <= 0x1bca3 || r >= 0x1d173 && r <= 0x1d17a
}

func isVariationSelector(r rune) bool {
	return r >= 0xfe00 && r <= 0xfe0f || r >= 0xe0100 && r <= 0xe01ef || r >= 0x180b && r <= 0x180d || r == 0x180f
}

// selectorsAt judges a run of variation selectors. One chooses the shape of the character before it; several can only
// carry a message.
func selectorsAt(s string, i int) (kind hidden, size, n int) {
	for i+size < len(s) {
		r, width := utf8.DecodeRuneInString(s[i+size:])
		if !isVariationSelector(r) {
			break
		}
		size += width
		n++
	}
	if n == 1 {
		return notHidden, size, n
	}
	return variationSelectors, size, n
}

// The flags that are made of a black flag and tags, and in common use: of England, Scotland and Wales.
var flagTags = [...]string{
	"\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f",
	"\U000e0067\U000e0062\U000e0073\U000e0063\U000e0074\U000e007f",
	"\U000e0067\U000e0062\U000e0077\U000e006c\U000e0073\U000e007f",
}

func tagsAt(s string, i int) (kind hidden, size, n int) {
	const tagBytes = 4
	if strings.HasSuffix(s[:i], "\U0001f3f4") {
		for _, tags := range flagTags {
			if strings.HasPrefix(s[i:], tags) {
				return notHidden, len(tags), len(tags) / tagBytes
			}
		}
	}
	return tagCharacter, tagBytes, 1
}

// joins tells whether the joiner or non-joiner at i does its work: between emoji, or behind a letter of a script whose
// letters change with their neighbours.
func joins(s string, i, size int) bool {
	before, _ := utf8.DecodeLastRuneInString(s[:i])
	after, _ := utf8.DecodeRuneInString(s[i+size:])
	if unicode.In(before, joiningScripts...) || unicode.In(after, joiningScripts...) {
		return true
	}
	return strings.HasPrefix(s[i:], "\u200d") && isPictograph(after) &&
		(isPictograph(before) || before == 0xfe0f || before >= 0x1f3fb && before <= 0x1f3ff)
}

var joiningScripts = []*unicode.RangeTable{
	unicode.Arabic, unicode.Syriac, unicode.Mongolian, unicode.Nko, unicode.Khmer, unicode.Myanmar, unicode.Tibetan,
	unicode.Devanagari, unicode.Bengali, unicode.Gurmukhi, unicode.Gujarati, unicode.Oriya, unicode.Tamil,
	unicode.Telugu, unicode.Kannada, unicode.Malayalam, unicode.Sinhala,
}

// isPictograph is wide: what is neither letter nor digit in the blocks that hold emoji.
func isPictograph(r rune) bool {
	return r >= 0x2190 && r <= 0x2bff || r >= 0x1f000 && r <= 0x1faff || r == 0x3030 || r == 0x303d
}
