package notes

import (
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// Two spellings that a reader takes for the same text have the same folded form: lower case, without accents, with
// straight quotes, plain hyphens and one space between words. Scripts whose marks make other letters (the kana's voicing
// marks, Hangul's letters) are composed instead.

// appendFolded appends the folded form of text to dst. Each run of white space becomes one space.
func appendFolded(dst, text []byte) []byte {
	for i := 0; i < len(text); {
		if c := text[i]; c > ' ' && c < utf8.RuneSelf {
			dst = append(dst, foldASCII(c))
			i++
			continue
		}
		var width int
		dst, width = appendFoldedChar(dst, text[i:])
		i += width
	}
	return dst
}

// appendFoldedChar appends the folded form of the character at the start of text, and returns how many bytes of text it
// took. A space after a space is left out.
func appendFoldedChar(dst, text []byte) (folded []byte, width int) {
	before := len(dst)
	if text[0] < utf8.RuneSelf {
		dst, width = append(dst, foldASCII(text[0])), 1
	} else {
		dst, width = appendFoldedCluster(dst, text)
	}
	if len(dst) == before+1 && dst[before] == ' ' && endsInSpace(dst[:before]) {
		dst = dst[:before]
	}
	return dst, width
}

func fold(s string) string { return string(appendFolded(nil, []byte(s))) }

func endsInSpace(b []byte) bool { return len(b) > 0 && b[len(b)-1] == ' ' }

func foldASCII(c byte) byte {
	switch {
	case c >= 'A' && c <= 'Z':
		return c + 'a' - 'A'
	case c == '\t' || c == '\n' || c == '\v' || c == '\f' || c == '\r':
		return ' '
	}
	return c
}

// appendFoldedCluster appends the folded form of the character at the start of text, which is not ASCII, and returns
// how many bytes of text it took: the character, and the marks after it that compose with it. A byte that is not UTF-8
// separates words, as a space does.
func appendFoldedCluster(dst, text []byte) (folded []byte, width int) {
	r, n := utf8.DecodeRune(text)
	switch {
	case r == utf8.RuneError:
		return append(dst, ' '), n
	case r >= 0x4e00 && r <= 0x9fff || r == '。' || r == '、':
		return append(dst, text[:n]...), n
	case r >= 0xff01 && r <= 0xff5e: // full-width ASCII
		return append(dst, foldASCII(byte(r-0xff01+'!'))), n
	case composes(r):
		end := n
		for end < len(text) {
			mark, size := utf8.DecodeRune(text[end:])
			if !isComposingMark(mark) {
				break
			}
			end += size
		}
		if end == n && !isHalfwidth(r) {
			return append(dst, text[:n]...), n
		}
		return norm.NFKC.Append(dst, text[:end]...), end
	}
	return appendFoldedRune(dst, r), n
}

func appendFoldedRune(dst []byte, r rune) []byte {
	var encoded [utf8.UTFMax]byte
	char := encoded[:utf8.EncodeRune(encoded[:], r)]
	decomposed := norm.NFKD.Properties(char).Decomposition()
	if r >= 0x3200 && r <= 0x33ff || r >= 0x1f200 && r <= 0x1f2ff { // kana and Hangul in circles and squares
		decomposed = norm.NFKC.Bytes(char)
	}
	if decomposed == nil {
		return appendFoldedPart(dst, r)
	}
	for _, part := range string(decomposed) {
		dst = appendFoldedPart(dst, part)
	}
	return dst
}

func appendFoldedPart(dst []byte, r rune) []byte {
	s, ok := spellOut(r)
	switch {
	case ok:
		return append(dst, s...)
	case isAccent(r) || isInvisible(r):
		return dst
	case unicode.IsSpace(r):
		return append(dst, ' ')
	}
	return utf8.AppendRune(dst, unicode.ToLower(r))
}

// spellOut gives the characters that Unicode does not decompose and people do.
func spellOut(r rune) (string, bool) {
	switch r {
	case 'ß', 'ẞ':
		return "ss", true
	case 'æ', 'Æ':
		return "ae", true
	case 'œ', 'Œ':
		return "oe", true
	case 'þ', 'Þ':
		return "th", true
	case 'ø', 'Ø':
		return "o", true
	case 'đ', 'Đ', 'ð', 'Ð':
		return "d", true
	case 'ł', 'Ł':
		return "l", true
	case 'ħ', 'Ħ':
		return "h", true
	case 'ı':
		return "i", true
	case 'ς':
		return "σ", true
	case '‘', '’', '‚', '‛', '′', 'ʼ', '´':
		return "'", true
	case '“', '”', '„', '‟', '″', '«', '»', '「', '」', '『', '』':
		return `"`, true
	case '‐', '‑', '‒', '–', '—', '―', '−':
		return "-", true
	}
	return "", false
}

// isAccent tells whether a mark only decorates its letter. The vowel signs of Indic and other scripts do not.
func isAccent(r rune) bool {
	return r >= 0x0300 && r <= 0x036f || r >= 0x1ab0 && r <= 0x1aff || r >= 0x1dc0 && r <= 0x1dff ||
		r >= 0x20d0 && r <= 0x20ff || r >= 0xfe20 && r <= 0xfe2f || // combining marks for symbols and halves
		r >= 0x0591 && r <= 0x05c7 && unicode.Is(unicode.Mn, r) || // Hebrew points
		r >= 0x064b && r <= 0x065f || r == 0x0670 || // Arabic vowel signs
		r == 0x3099 || r == 0x309a // voicing marks with no kana before them
}

// isInvisible tells whether r shows as nothing and so can't be part of what a person searches for.
func isInvisible(r rune) bool {
	return r == 0x00ad || r >= 0x200b && r <= 0x200f || r >= 0x202a && r <= 0x202e || r >= 0x2060 && r <= 0x206f ||
		r >= 0xfe00 && r <= 0xfe0f || r == 0xfeff || r >= 0xe0000 && r <= 0xe0fff
}

// composes tells whether r can form one character with the marks that follow it.
func composes(r rune) bool {
	return r >= 0x3041 && r <= 0x30ff || isHalfwidth(r) || // kana
		r >= 0xac00 && r <= 0xd7a3 || r >= 0x1100 && r <= 0x115f || r >= 0xa960 && r <= 0xa97f // Hangul
}

func isComposingMark(r rune) bool {
	return r == 0x3099 || r == 0x309a || r == 0xff9e || r == 0xff9f ||
		r >= 0x1160 && r <= 0x11ff || r >= 0xd7b0 && r <= 0xd7ff
}

func isHalfwidth(r rune) bool { return r >= 0xff65 && r <= 0xff9d }
