package workspace

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Visible returns s as a person may be shown it who is to judge it: what does not show, or makes a line show as something
// else than it is, stands as \u{…}. Line feeds and tabs stay.
func Visible(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		switch kind, judged, _ := hiddenAt(s, i); {
		case r == '\n' || r == '\t' || r > ' ' && r < 0x7f || r == ' ':
			b.WriteRune(r)
		case r == utf8.RuneError && size == 1:
			fmt.Fprintf(&b, `\x%02x`, s[i])
		case kind != notHidden:
			size = judged
			for _, hidden := range s[i : i+size] {
				fmt.Fprintf(&b, `\u{%x}`, hidden)
			}
		case !unicode.IsGraphic(r) && !unicode.Is(unicode.Cf, r):
			fmt.Fprintf(&b, `\u{%x}`, r)
		default:
			size = max(size, judged)
			b.WriteString(s[i : i+size])
		}
		i += size
	}
	return b.String()
}

// VisibleLine returns s as Visible does, on one line: every white space is a blank.
func VisibleLine(s string) string {
	return Visible(strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) {
			return ' '
		}
		return r
	}, s))
}
