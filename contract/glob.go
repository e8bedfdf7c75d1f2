package contract

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/bmatcuk/doublestar/v4"

	"writ/envelope"
)

// Bounds of a glob: what braces may multiply to, and how deep it may go.
const (
	maxAlternatives = 256
	maxGlobSegments = 63 // one bit each in a word, and one for the end
	maxGlobBytes    = MaxPath
)

// Glob is a pattern for paths: '*' and '?' stand for characters of one name, '**' for any number of whole names (none
// included, so docs/** matches docs too), [a-z] and [!a-z] for one character of a set, {a,b} for alternatives, which
// may hold slashes; a backslash takes the next character literally. Names are compared as bytes. Only [ParseGlob] makes
// one; the zero Glob matches nothing.
type Glob struct {
	source       string
	alternatives [][]globSegment
}

// ParseGlob returns pattern as a Glob, an Error of code path-not-allowed where it is absolute or steps up, and of code
// bad-pattern where its syntax is wrong.
func ParseGlob(pattern string) (Glob, error) {
	if err := checkGlob(pattern); err != nil {
		return Glob{}, err
	}
	expanded, err := expandBraces(pattern)
	if err != nil {
		return Glob{}, err
	}
	g := Glob{source: pattern}
	for _, alternative := range expanded {
		segments, err := globSegments(pattern, alternative)
		if err != nil {
			return Glob{}, err
		}
		g.alternatives = append(g.alternatives, segments)
	}
	return g, nil
}

func (g Glob) String() string { return g.source }

// IsZero tells whether g is the zero Glob, which stands for "none was given".
func (g Glob) IsZero() bool { return g.alternatives == nil }

// Match tells whether g matches path, a path in the form of [Path.String].
func (g Glob) Match(path string) bool {
	for _, segments := range g.alternatives {
		if runGlob(segments, path)&(1<<len(segments)) != 0 {
			return true
		}
	}
	return false
}

// Children is what a glob says about the names in one directory.
type Children struct {
	every bool          // any name matches
	last  []globSegment // else those that one of these matches
	below bool
}

// Children returns what g says about the names in directory dir, for a walk that asks about each of them. The top is "".
func (g Glob) Children(dir string) Children {
	var c Children
	for _, segments := range g.alternatives {
		states := runGlob(segments, dir)
		for i, s := range segments {
			if states&(1<<i) == 0 {
				continue
			}
			rest := segments[i+1:]
			switch {
			case s.kind == globAny:
				c.below = true
				c.every = c.every || len(rest) == 0
			case len(rest) == 0 || len(rest) == 1 && rest[0].kind == globAny:
				c.last = append(c.last, s)
				c.below = c.below || len(rest) == 1
			default:
				c.below = true
			}
		}
	}
	return c
}

// Match tells whether the glob matches name in the directory that c was asked of.
func (c Children) Match(name string) bool {
	if c.every {
		return true
	}
	for i := range c.last {
		if c.last[i].match(name) {
			return true
		}
	}
	return false
}

// Below tells whether the glob can match anything deeper than the directory's own names.
func (c Children) Below() bool { return c.below }

// runGlob reads path segment by segment and returns the set of places in the pattern where it can be after that: bit i
// stands before segments[i], bit len(segments) at the end. Many '**' cost no more than one.
func runGlob(segments []globSegment, path string) uint64 {
	states := skipEmpty(segments, 1)
	for more := path != ""; more && states != 0; {
		var name string
		name, path, more = strings.Cut(path, "/")
		states = stepGlob(segments, states, name)
	}
	return states
}

func stepGlob(segments []globSegment, states uint64, name string) uint64 {
	var next uint64
	for i := range segments {
		s := &segments[i]
		switch {
		case states&(1<<i) == 0:
		case s.kind == globAny:
			next |= 1 << i
		case s.match(name):
			next |= 1 << (i + 1)
		}
	}
	return skipEmpty(segments, next)
}

// skipEmpty adds the places that are reached without reading a name: '**' may stand for none.
func skipEmpty(segments []globSegment, states uint64) uint64 {
	for i := range segments {
		if segments[i].kind == globAny && states&(1<<i) != 0 {
			states |= 1 << (i + 1)
		}
	}
	return states
}

type globKind uint8

const (
	globAny       globKind = iota // **
	globLiteral                   // no wildcard
	globEnding                    // one * and then no wildcard
	globWildcards                 // the rest: doublestar's
)

// globSegment is what stands between two slashes of a pattern.
type globSegment struct {
	kind  globKind
	named bool   // begins with a literal character
	text  string // literal, ending: without wildcards and escapes; wildcards: the pattern
}

func (s *globSegment) match(name string) bool {
	switch s.kind {
	case globLiteral:
		return name == s.text
	case globEnding:
		return strings.HasSuffix(name, s.text)
	case globWildcards:
		return doublestar.MatchUnvalidated(s.text, name)
	default:
		return true
	}
}

func newGlobSegment(text string) globSegment {
	if text == "**" {
		return globSegment{kind: globAny}
	}
	if plain, ok := unescape(text); ok {
		return globSegment{kind: globLiteral, named: true, text: plain}
	}
	if text[0] == '*' {
		if plain, ok := unescape(text[1:]); ok {
			return globSegment{kind: globEnding, text: plain}
		}
	}
	return globSegment{kind: globWildcards, named: strings.IndexByte("*?[", text[0]) < 0, text: text}
}

// unescape returns text without its backslashes, or false where it holds a wildcard.
func unescape(text string) (string, bool) {
	if strings.ContainsAny(text, "*?[") && !strings.Contains(text, `\`) {
		return "", false
	}
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '*', '?', '[':
			return "", false
		case '\\':
			i++
		}
		b.WriteByte(text[i])
	}
	return b.String(), true
}

// EscapeGlob returns a pattern that matches exactly the path name.
func EscapeGlob(name string) string {
	var b strings.Builder
	for i := 0; i < len(name); i++ {
		if strings.IndexByte(`*?[]{},\`, name[i]) >= 0 {
			b.WriteByte('\\')
		}
		b.WriteByte(name[i])
	}
	return b.String()
}

// globSegments splits one alternative. Its syntax is sound; what its segments say may not be.
func globSegments(pattern, alternative string) ([]globSegment, error) {
	var segments []globSegment
	for text := range strings.SplitSeq(alternative, "/") {
		switch plain, _ := unescape(text); {
		case plain == "." || plain == "..":
			return nil, notAllowed(pattern, "it has a "+plain+" segment. Write it relative to the root, such as docs/**/*.md.")
		case text == "":
			return nil, badGlob(pattern, -1, "it has an empty segment. Write one slash between names and none at the end: docs/** means all in docs.")
		}
		s := newGlobSegment(text)
		if n := len(segments); s.kind == globAny && n > 0 && segments[n-1].kind == globAny {
			continue
		}
		segments = append(segments, s)
	}
	if len(segments) > maxGlobSegments {
		return nil, badGlob(pattern, -1, fmt.Sprintf("it has more than %d segments.", maxGlobSegments))
	}
	return segments, nil
}

// checkGlob finds what is wrong with a pattern's characters.
func checkGlob(pattern string) error {
	switch {
	case pattern == "":
		return badGlob(pattern, -1, "it is empty. Use ** for every file.")
	case len(pattern) > maxGlobBytes:
		return badGlob(pattern, -1, fmt.Sprintf("it has more than %d bytes.", maxGlobBytes))
	case !utf8.ValidString(pattern):
		return badGlob(pattern, -1, "it is not valid UTF-8.")
	case strings.IndexByte(pattern, 0) >= 0:
		return badGlob(pattern, strings.IndexByte(pattern, 0), "it holds a NUL character.")
	case pattern[0] == '/' || pattern[0] != '\\' && isAbsolute(pattern):
		return notAllowed(pattern, "it is absolute. Write it relative to the root, such as docs/**/*.md.")
	}
	var open []int
	for i := 0; i < len(pattern); i++ {
		switch pattern[i] {
		case '\\':
			if i++; i == len(pattern) {
				return badGlob(pattern, i-1, `it ends in a backslash. Write \\ for a backslash itself.`)
			}
			if pattern[i] == '/' {
				return badGlob(pattern, i-1, "a slash can't be escaped.")
			}
		case '[':
			end := classEnd(pattern, i)
			if end < 0 {
				return badGlob(pattern, i, `the [ has no ] that ends it, or nothing stands in it. Write \[ for a bracket itself.`)
			}
			if strings.IndexByte(pattern[i:end], '/') >= 0 {
				return badGlob(pattern, i, "a slash can't stand in brackets.")
			}
			i = end
		case '{':
			open = append(open, i)
		case '}':
			if len(open) == 0 {
				return badGlob(pattern, i, `the } has no { before it. Write \} for a brace itself.`)
			}
			open = open[:len(open)-1]
		}
	}
	if len(open) > 0 {
		return badGlob(pattern, open[0], `the { has no } that ends it. Write \{ for a brace itself.`)
	}
	return nil
}

// classEnd returns the index of the ']' that ends the class at pattern[at], or -1.
func classEnd(pattern string, at int) int {
	i := at + 1
	if i < len(pattern) && (pattern[i] == '!' || pattern[i] == '^') {
		i++
	}
	if i < len(pattern) && pattern[i] == ']' {
		return -1
	}
	for ; i < len(pattern); i++ {
		switch pattern[i] {
		case '\\':
			i++
		case ']':
			return i
		}
	}
	return -1
}

// expandBraces returns the patterns without braces that pattern stands for, the first pair of braces first.
func expandBraces(pattern string) ([]string, error) {
	done, todo := []string(nil), []string{pattern}
	for len(todo) > 0 {
		p := todo[0]
		todo = todo[1:]
		parts := splitBraces(p)
		if parts == nil {
			done = append(done, p)
		} else {
			todo = slices.Insert(todo, 0, parts...)
		}
		if len(done)+len(todo) > maxAlternatives {
			return nil, badGlob(pattern, -1, fmt.Sprintf("its braces stand for more than %d patterns.", maxAlternatives))
		}
	}
	return done, nil
}

// splitBraces multiplies out the first braces of p; nil where there are none.
func splitBraces(p string) []string {
	open, depth, from := -1, 0, 0
	var middles []string
	for i := 0; i < len(p); i++ {
		switch c := p[i]; {
		case c == '\\':
			i++
		case c == '[':
			i = classEnd(p, i)
		case c == '{':
			if depth++; depth == 1 {
				open, from = i, i+1
			}
		case c == ',' && depth == 1:
			middles = append(middles, p[from:i])
			from = i + 1
		case c == '}':
			if depth--; depth > 0 {
				continue
			}
			middles = append(middles, p[from:i])
			for k, m := range middles {
				middles[k] = p[:open] + m + p[i+1:]
			}
			return middles
		}
	}
	return nil
}

func notAllowed(pattern, why string) error {
	return &envelope.Error{
		Code:    envelope.PathNotAllowed,
		Message: "The glob " + Quote(pattern) + " is not allowed: " + why,
	}
}

// badGlob tells where the fault is by the byte at, from 0; a negative at means the whole.
func badGlob(pattern string, at int, why string) error {
	err := &envelope.Error{
		Code:    envelope.BadPattern,
		Message: "The glob " + Quote(pattern) + " can't be used: " + why,
	}
	if at < 0 {
		return err
	}
	position := utf8.RuneCountInString(pattern[:at]) + 1
	err.Message = fmt.Sprintf("The glob %s can't be used: at character %d, %s", Quote(pattern), position, why)
	return err.With("position", position)
}

// AppendText makes a glob appear in JSON as its text.
func (g Glob) AppendText(b []byte) ([]byte, error) { return append(b, g.source...), nil }
