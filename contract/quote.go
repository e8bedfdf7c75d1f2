package contract

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// quoteVisible quotes s and keeps printable characters of every script, but for those that show as nothing or turn the
// line around.
func quoteVisible(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for len(s) > 0 {
		r, n := utf8.DecodeRuneInString(s)
		switch {
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r != utf8.RuneError && unicode.IsPrint(r) && !unicode.Is(unicode.Cf, r):
			b.WriteString(s[:n])
		default:
			quoted := strconv.QuoteToASCII(s[:n])
			b.WriteString(quoted[1 : len(quoted)-1])
		}
		s = s[n:]
	}
	b.WriteByte('"')
	return b.String()
}

// Shown returns a name for a person: as it is where it is as harmless as it looks, else as [Quote] does.
func Shown(name string) string {
	if quoted := Quote(name); quoted != `"`+name+`"` {
		return quoted
	}
	return name
}
