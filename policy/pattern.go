package policy

import (
	"math/bits"
	"strings"

	"writ/contract"
)

// A zone's globs are matched name by name under one rule more than other globs have: a name that is hidden or ignored
// must be named. So a wildcard at the start of a pattern's segment never reaches a hidden name, and '*' and '**' never
// reach the name that an ignore file hits.
//
// Decisions are made for each directory of each path and for each file of a walk, so the two common shapes, a literal
// path and a whole tree below one, are matched without taking the path apart. The rest run as an automaton: a set of
// places in the pattern, one bit each, so that no pattern and no path costs more than their product.

// place is a path as patterns see it.
type place struct {
	path    string
	ignored int  // number of the name that an ignore file hits, from 1; 0: none
	plain   bool // hidden and ignored names count as any other
}

// plainly returns the place for rules that restrict: what hides a name must not take it out of their reach.
func (at place) plainly() place { return place{path: at.path, plain: true} }

type shape uint8

const (
	general shape = iota
	file          // literal names alone
	tree          // literal names, maybe none, and then **
)

// pattern is a glob of a zone, or one of the alternatives that its braces stand for.
type pattern struct {
	rule     string // the glob with its zone, for decisions
	way      string // the same, for directories on the way to it
	segments []contract.GlobSegment
	shape    shape
	fixed    int    // how many literal names it begins with
	prefix   string // those, joined by '/'
}

// newPatterns returns the patterns of one glob.
func newPatterns(zone string, g contract.Glob) []pattern {
	rule := zone + ": " + g.String()
	var patterns []pattern
	for _, segments := range g.Alternatives() {
		p := pattern{rule: rule, way: "on the way to " + rule, segments: segments}
		p.classify()
		patterns = append(patterns, p)
	}
	return patterns
}

func (p *pattern) classify() {
	var names []string
	for i := range p.segments {
		name, ok := p.segments[i].Literal()
		if !ok {
			break
		}
		names = append(names, name)
	}
	p.fixed, p.prefix = len(names), strings.Join(names, "/")
	switch rest := p.segments[p.fixed:]; {
	case len(rest) == 0:
		p.shape = file
	case len(rest) == 1 && rest[0].AnyNames():
		p.shape = tree
	}
}

// match tells whether the pattern opens the place.
func (p *pattern) match(at place) bool {
	switch p.shape {
	case file:
		return at.path == p.prefix
	case tree:
		return p.matchTree(at)
	}
	return p.run(at)&(1<<len(p.segments)) != 0
}

// matchTree relies on '**' being the last segment: all that is left of the path must be reachable for it.
func (p *pattern) matchTree(at place) bool {
	rest := at.path
	if p.fixed > 0 {
		after, ok := strings.CutPrefix(at.path, p.prefix)
		if !ok || after != "" && after[0] != '/' {
			return false
		}
		rest = after
	}
	return at.plain || at.ignored <= p.fixed && !strings.HasPrefix(rest, ".") && !strings.Contains(rest, "/.")
}

// leads tells whether the pattern opens the place or could open something below it.
func (p *pattern) leads(at place) bool {
	switch {
	case p.shape == general:
		return p.run(at) != 0
	case p.match(at), at.path == "":
		return true
	}
	rest, ok := strings.CutPrefix(p.prefix, at.path)
	return ok && rest != "" && rest[0] == '/'
}

// run reads the path name by name and returns the set of places in the pattern where it can be after that: bit i stands
// before segments[i], bit len(segments) at the end.
func (p *pattern) run(at place) uint64 {
	states := p.closure(1)
	for i, rest := 1, at.path; rest != "" && states != 0; i++ {
		var name string
		name, rest, _ = strings.Cut(rest, "/")
		states = p.step(states, func(s *contract.GlobSegment) bool { return at.reachable(i, name, s) })
	}
	return states
}

// reachable tells whether the segment matches the name, number i of the path, and may.
func (at place) reachable(i int, name string, s *contract.GlobSegment) bool {
	switch {
	case at.plain:
	case i == at.ignored && s.EveryName():
		return false
	case name[0] == '.':
		if _, named := s.First(); !named {
			return false
		}
	}
	return s.Match(name)
}

// step reads one name, which a segment takes if accepts says so.
func (p *pattern) step(states uint64, accepts func(*contract.GlobSegment) bool) uint64 {
	var next uint64
	for ; states != 0; states &= states - 1 {
		i := bits.TrailingZeros64(states)
		switch {
		case i == len(p.segments) || !accepts(&p.segments[i]):
		case p.segments[i].AnyNames():
			next |= 1 << i
		default:
			next |= 1 << (i + 1)
		}
	}
	return p.closure(next)
}

// closure adds the places that are reached without reading a name: '**' may stand for none. No two '**' follow each
// other.
func (p *pattern) closure(states uint64) uint64 {
	for rest := states; rest != 0; rest &= rest - 1 {
		if i := bits.TrailingZeros64(rest); i < len(p.segments) && p.segments[i].AnyNames() {
			states |= 1 << (i + 1)
		}
	}
	return states
}

// covers tells whether p matches every path that q does, where within tells the same of two segments. It is sure where
// it says so; patterns that overlap in a way that it can't follow count as not covered.
func (p *pattern) covers(q *pattern, within func(s, t *contract.GlobSegment) bool) bool {
	states := p.closure(1)
	for k := range q.segments {
		states = p.step(states, func(s *contract.GlobSegment) bool { return within(s, &q.segments[k]) })
	}
	return states&(1<<len(p.segments)) != 0
}

// within tells whether s matches every name, or for '**' every run of names, that t does.
func within(s, t *contract.GlobSegment) bool {
	if name, ok := t.Literal(); ok {
		return s.Match(name)
	}
	return *s == *t || s.AnyNames() || s.EveryName() && !t.AnyNames()
}

// openWithin is within for names of which some are hidden: a wildcard does not open what t names.
func openWithin(s, t *contract.GlobSegment) bool {
	if first, named := t.First(); named && first == '.' {
		if _, named := s.First(); !named {
			return false
		}
	}
	return within(s, t)
}
