package contract

import "strings"

// GlobSegment is what stands between two slashes of a glob, for those who match name by name under rules of their own.
type GlobSegment struct{ s globSegment }

// Alternatives returns the patterns without braces that g stands for, each as its segments: at most 63, and no two '**'
// in a row.
func (g Glob) Alternatives() [][]GlobSegment {
	alternatives := make([][]GlobSegment, len(g.alternatives))
	for i, segments := range g.alternatives {
		for _, s := range segments {
			alternatives[i] = append(alternatives[i], GlobSegment{s})
		}
	}
	return alternatives
}

// String returns the segment as it stands in a pattern.
func (g *GlobSegment) String() string {
	switch g.s.kind {
	case globLiteral:
		return EscapeGlob(g.s.text)
	case globEnding:
		return "*" + EscapeGlob(g.s.text)
	case globWildcards:
		return g.s.text
	default:
		return "**"
	}
}

// Match tells whether the segment matches name. '**' matches every name.
func (g *GlobSegment) Match(name string) bool { return g.s.match(name) }

// AnyNames tells whether the segment is '**', which stands for any number of names.
func (g *GlobSegment) AnyNames() bool { return g.s.kind == globAny }

// EveryName tells whether the segment says nothing about the name: '*' or '**'.
func (g *GlobSegment) EveryName() bool {
	switch g.s.kind {
	case globAny:
		return true
	case globEnding:
		return g.s.text == ""
	case globWildcards:
		return strings.Trim(g.s.text, "*") == ""
	default:
		return false
	}
}

// Literal returns the one name that the segment matches, or false where it holds a wildcard.
func (g *GlobSegment) Literal() (name string, ok bool) { return g.s.text, g.s.kind == globLiteral }

// First returns the byte that every name must begin with, or false where the segment begins with a wildcard.
func (g *GlobSegment) First() (first byte, ok bool) {
	if !g.s.named {
		return 0, false
	}
	if g.s.kind == globWildcards && g.s.text[0] == '\\' {
		return g.s.text[1], true
	}
	return g.s.text[0], true
}
