package policy

import (
	"slices"
	"strings"

	"writ/contract"
	"writ/envelope"
)

// A caller's scope is a second policy in front of the first: what is done must be open in both, so that no entry of
// callers can open what scope does not. The stricter decision holds.

// Callers returns who may come in over HTTP; empty where nobody is asked.
func (p *Policy) Callers() []Caller { return slices.Clone(p.callers) }

// OAuth returns whose access tokens are good here, nil where none are.
func (p *Policy) OAuth() *OAuth { return p.oauth }

// For returns the policy as it holds for the caller of that name, false where callers are named and this is none of them.
func (p *Policy) For(name string) (*Policy, bool) {
	if len(p.callers) == 0 {
		return p, true
	}
	q, ok := p.narrowed[name]
	return q, ok
}

// narrow returns p as it holds for c.
func (b *builder) narrow(c Caller) *Policy {
	q := *b.p
	q.limits = b.p.limits.lowered(c.Limits)
	if c.Scope == nil {
		return &q
	}
	own := builder{p: &Policy{file: b.p.file}, file: b.file}
	own.addZones(Config{Scope: c.Scope})
	b.mistakes = append(b.mistakes, own.mistakes...)
	if len(b.mistakes) > 0 {
		return &q
	}
	own.p.settle()
	q.programs = nil // they see their whole directories, whatever the zones
	q.own, q.caller, q.all = own.p, c.Name, b.p.zones.Read
	q.zones = crossed(b.p.zones, own.p.zones)
	q.refusals, q.fingerprint = q.newRefusals(), q.newFingerprint()
	return &q
}

// stricter returns the decision that lets less through. Of two refusals it is the one that says less of the place.
func (p *Policy) stricter(d Decision, r Request) Decision {
	own := p.own.Decide(r)
	if own.Effect < d.Effect || own.Effect == Deny && own.Code == envelope.OutsideScope {
		own.Rule = "caller " + p.caller + ": " + own.Rule
		return own
	}
	return d
}

// lowered returns l with those of the caller's limits that are lower.
func (l Limits) lowered(c Limits) Limits {
	lower(&l.CallTime, c.CallTime)
	lower(&l.ResultBytes, c.ResultBytes)
	lower(&l.CallsInFlight, c.CallsInFlight)
	lower(&l.PageLines, c.PageLines)
	lower(&l.PageEntries, c.PageEntries)
	lower(&l.PageMatches, c.PageMatches)
	lower(&l.PageNotes, c.PageNotes)
	if c.CallsPerMinute > 0 {
		l = l.OverHTTP()
		lower(&l.CallsPerMinute, c.CallsPerMinute)
	}
	return l
}

func lower[T ~int | ~int64](limit *T, to T) {
	if to > 0 && to < *limit {
		*limit = to
	}
}

// crossed returns the globs of what is open in both.
func crossed(all, own Zones) Zones {
	z := Zones{Read: crossGlobs(all.Read, own.Read), Write: crossGlobs(all.Write, own.Write)}
	z.Ask = slices.Concat(crossGlobs(all.Ask, slices.Concat(own.Write, own.Ask)), crossGlobs(all.Write, own.Ask))
	z.Ask = slices.Compact(slices.Sorted(slices.Values(z.Ask)))
	asked := parsedPatterns(z.Ask)
	z.Write = slices.DeleteFunc(z.Write, func(glob string) bool { return coveredBy(asked, glob) })
	return z.clone()
}

func parsedPatterns(globs []string) []pattern {
	var patterns []pattern
	for _, text := range globs {
		if g, err := contract.ParseGlob(text); err == nil {
			patterns = append(patterns, newPatterns("", g)...)
		}
	}
	return patterns
}

func coveredBy(patterns []pattern, glob string) bool {
	return !slices.ContainsFunc(parsedPatterns([]string{glob}), func(q pattern) bool {
		return !slices.ContainsFunc(patterns, func(p pattern) bool { return p.covers(&q, openWithin) })
	})
}

// Bounds of the work for one pair of globs. Beyond them the caller's own glob is told, which is never too narrow.
const (
	maxCrossings = 64
	maxCrossWork = 4096
)

// crossGlobs returns globs of the places that both lists open, those of own where they lie within one of all.
func crossGlobs(all, own []string) []string {
	var found []string
	open := parsedPatterns(all)
	for _, glob := range own {
		if coveredBy(open, glob) {
			found = append(found, glob)
			continue
		}
		for _, q := range parsedPatterns([]string{glob}) {
			for i := range open {
				found = append(found, crossPatterns(&open[i], &q, glob)...)
			}
		}
	}
	var least []string
	for i, glob := range found { // without those that lie within another one
		if !coveredBy(parsedPatterns(slices.Concat(least, found[i+1:])), glob) {
			least = append(least, glob)
		}
	}
	return least
}

func crossPatterns(p, q *pattern, glob string) []string {
	c := crossing{}
	c.cross(nil, p.segments, q.segments)
	if c.work > maxCrossWork || len(c.found) > maxCrossings {
		return []string{glob}
	}
	return c.found
}

// crossing collects globs of what two patterns both match.
type crossing struct {
	found []string
	work  int
}

// cross goes on after the segments that are taken.
func (c *crossing) cross(taken []string, p, q []contract.GlobSegment) {
	if c.work++; c.work > maxCrossWork {
		return
	}
	switch {
	case len(p) == 0 && len(q) == 0:
		if len(taken) > 0 {
			c.found = append(c.found, strings.Join(taken, "/"))
		}
	case len(p) > 0 && p[0].AnyNames():
		c.crossAny(taken, p, q)
	case len(q) > 0 && q[0].AnyNames():
		c.crossAny(taken, q, p)
	case len(p) > 0 && len(q) > 0:
		if s, ok := meet(&p[0], &q[0]); ok {
			c.cross(append(slices.Clip(taken), s), p[1:], q[1:])
		}
	}
}

// crossAny has '**', which p begins with, stand for nothing, or for what q begins with and maybe more.
func (c *crossing) crossAny(taken []string, p, q []contract.GlobSegment) {
	switch {
	case len(q) > 0 && q[0].AnyNames(): // one of the two ends first
		taken = append(slices.Clip(taken), q[0].String())
		c.cross(taken, p, q[1:])
		c.cross(taken, p[1:], q)
		return
	case len(q) > 0 && openWithin(&p[0], &q[0]):
		c.cross(append(slices.Clip(taken), q[0].String()), p, q[1:])
	}
	c.cross(taken, p[1:], q)
}

// meet returns a segment for the names that both match, as far as one can be told.
func meet(s, t *contract.GlobSegment) (string, bool) {
	switch {
	case openWithin(s, t):
		return t.String(), true
	case openWithin(t, s):
		return s.String(), true
	}
	_, literal1 := s.Literal()
	_, literal2 := t.Literal()
	a, named1 := s.First()
	b, named2 := t.First()
	if literal1 || literal2 || named1 && named2 && a != b {
		return "", false
	}
	return t.String(), true
}
