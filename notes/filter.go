package notes

import (
	"slices"
	"strings"
)

// filter keeps only notes with a property. Its text is folded, and a star in it stands for any text. A path or a title
// must hold the text; a tag must be the text, or lie below it: research has research/ai.
type filter struct {
	key  string // tag, path or title
	text string
}

// holds tells whether a path or a title passes the filter.
func (f filter) holds(value string) bool {
	return matchStars("*"+f.text+"*", fold(value))
}

// holdsTag tells whether a note with these tags passes the filter.
func (f filter) holdsTag(tags []string) bool {
	return slices.ContainsFunc(tags, func(tag string) bool {
		tag = fold(tag)
		return matchStars(f.text, tag) || matchStars(f.text+"/*", tag)
	})
}

// matchStars tells whether all of s is the pattern.
func matchStars(pattern, s string) bool {
	parts := strings.Split(pattern, "*")
	last := len(parts) - 1
	rest, ok := strings.CutPrefix(s, parts[0])
	if !ok || last == 0 {
		return ok && rest == ""
	}
	for _, part := range parts[1:last] {
		if _, rest, ok = strings.Cut(rest, part); !ok {
			return false
		}
	}
	return strings.HasSuffix(rest, parts[last])
}

// condition gives the condition that a folded column of the database passes the filter, and its argument.
func (f filter) condition(column string) (sql, arg string) {
	if !strings.Contains(f.text, "*") {
		return "instr(" + column + ", ?)", f.text
	}
	return column + ` LIKE ? ESCAPE '\'`, likeStars("*" + f.text + "*")
}

// likeStars is the pattern as SQL's LIKE knows it.
func likeStars(pattern string) string {
	return strings.NewReplacer(`\`, `\\`, "%", `\%`, "_", `\_`, "*", "%").Replace(pattern)
}
