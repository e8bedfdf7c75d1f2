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
	ignored int // number of the name that an ignore file hits, from 1; 0: none
}

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
	if at.ignored > p.fixed {
		return false
	}
	if p.fixed == 0 {
		return !strings.HasPrefix(at.path, ".") && !strings.Contains(at.path, "/.")
	}
	rest, ok := strings.CutPrefix(at.path, p.prefix)
	return ok && (rest == "" || rest[0] == '/' && !strings.Contains(rest, "/."))
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
		states = p.step(states, name, i == at.ignored)
	}
	return states
}

func (p *pattern) step(states uint64, name string, ignored bool) uint64 {
	var next uint64
	for ; states != 0; states &= states - 1 {
		i := bits.TrailingZeros64(states)
		if i == len(p.segments) || !reaches(&p.segments[i], name, ignored) {
			continue
		}
		if p.segments[i].AnyNames() {
			next |= 1 << i
		} else {
			next |= 1 << (i + 1)
		}
	}
	return p.closure(next)
}

// reaches tells whether the segment matches the name and may.
func reaches(s *contract.GlobSegment, name string, ignored bool) bool {
	if ignored && s.EveryName() {
		return false
	}
	if name[0] == '.' {
		if _, named := s.First(); !named {
			return false
		}
	}
	return s.Match(name)
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

// covers tells whether every place that q opens is opened by p too. It is sure where it says so; patterns that overlap
// in a way that it can't follow count as not covered.
func (p *pattern) covers(q *pattern) bool {
	states := p.closure(1)
	for k := range q.segments {
		var next uint64
		for rest := states; rest != 0; rest &= rest - 1 {
			i := bits.TrailingZeros64(rest)
			if i == len(p.segments) || !segmentCovers(&p.segments[i], &q.segments[k]) {
				continue
			}
			if p.segments[i].AnyNames() {
				next |= 1 << i
			} else {
				next |= 1 << (i + 1)
			}
		}
		states = p.closure(next)
	}
	return states&(1<<len(p.segments)) != 0
}

// segmentCovers tells whether s matches every name, or for '**' every run of names, that t does.
func segmentCovers(s, t *contract.GlobSegment) bool {
	if first, named := t.First(); named && first == '.' {
		if _, named := s.First(); !named {
			return false
		}
	}
	if name, ok := t.Literal(); ok {
		return s.Match(name)
	}
	return *s == *t || s.AnyNames() || s.EveryName() && !t.AnyNames()
}
