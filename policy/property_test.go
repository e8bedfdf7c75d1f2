package policy

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"writ/contract"
)

// The alphabet is small, so that globs and paths meet often.
var (
	drawName    = rapid.SampledFrom([]string{"a", "b", "ab", ".a", ".b"})
	drawSegment = rapid.SampledFrom([]string{"**", "**", "*", "a", "b", "ab", ".a", ".b", ".*", "a*", "*b", "?", "[.]a", "{a,.b}", "{a/b,*}"})
)

func drawPath(t *rapid.T) contract.Path {
	names := rapid.SliceOfN(drawName, 0, 5).Draw(t, "path")
	if len(names) == 0 {
		return contract.Path{}
	}
	p, err := contract.ParsePath(strings.Join(names, "/"))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func drawGlobs(t *rapid.T, label string) []string {
	return rapid.SliceOfN(rapid.Custom(func(t *rapid.T) string { return drawGlob(t, "glob") }), 0, 3).Draw(t, label)
}

func drawGlob(t *rapid.T, label string) string {
	return strings.Join(rapid.SliceOfN(drawSegment, 1, 4).Draw(t, label), "/")
}

func drawScope(t *rapid.T) Scope {
	return Scope{Read: drawGlobs(t, "read"), Write: drawGlobs(t, "write"), Ask: drawGlobs(t, "ask")}
}

func drawPlace(t *rapid.T) Request {
	path := drawPath(t)
	return Request{Path: path, Ignored: rapid.IntRange(0, len(path.Segments())).Draw(t, "ignored")}
}

func compileScope(t *rapid.T, s Scope) *Policy {
	p, err := Compile(Config{Scope: &s})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func decide(p *Policy, r Request, a Access) Effect {
	r.Access = a
	return p.Decide(r).Effect
}

func TestPropertyLesserAccessIsOpenToo(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p, r := compileScope(t, drawScope(t)), drawPlace(t)
		if decide(p, r, Write) != Deny && decide(p, r, Read) != Allow {
			t.Fatal("what may be written can't be read")
		}
		if decide(p, r, Read) == Deny {
			return
		}
		ignored := r.Ignored
		for path := r.Path; ; path = path.Dir() {
			above := Request{Path: path}
			if ignored <= len(path.Segments()) {
				above.Ignored = ignored
			}
			if decide(p, above, Look) != Allow {
				t.Fatalf("what may be read can't be reached: look at %q is closed", path)
			}
			if path.IsTop() {
				return
			}
		}
	})
}

func TestPropertyReadAndWriteGlobsOnlyAdd(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		scope, r, glob := drawScope(t), drawPlace(t), drawGlob(t, "one more")
		before := compileScope(t, scope)
		withRead, withWrite := scope, scope
		withRead.Read = append(slices.Clone(scope.Read), glob)
		withWrite.Write = append(slices.Clone(scope.Write), glob)
		for _, more := range []Scope{withRead, withWrite} {
			after := compileScope(t, more)
			for _, a := range []Access{Look, Read, Write} {
				if decide(after, r, a) < decide(before, r, a) {
					t.Fatalf("one more glob took access %d away", a)
				}
			}
		}
		if after := compileScope(t, withRead); decide(after, r, Write) != decide(before, r, Write) {
			t.Fatal("a read glob changed what may be written")
		}
	})
}

func TestPropertyAskGlobsNeverLoosen(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		scope, r, glob := drawScope(t), drawPlace(t), drawGlob(t, "one more")
		before := compileScope(t, scope)
		scope.Ask = append(slices.Clone(scope.Ask), glob)
		after := compileScope(t, scope)
		if decide(after, r, Write) == Allow && decide(before, r, Write) != Allow {
			t.Fatal("an ask glob opened a write without a question")
		}
	})
}

func TestPropertyBeingHiddenOrIgnoredNeverLoosens(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p, r := compileScope(t, drawScope(t)), drawPlace(t)
		plain := Request{Path: r.Path}
		for _, a := range []Access{Look, Read, Write} {
			if decide(p, r, a) > decide(p, plain, a) {
				t.Fatalf("an ignore file opened access %d", a)
			}
		}
	})
}

func TestPropertyZonesLieWithinTheirGlobs(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		scope, r := drawScope(t), drawPlace(t)
		p := compileScope(t, scope)
		matches := slices.ContainsFunc(slices.Concat(scope.Read, scope.Write, scope.Ask), func(text string) bool {
			g, err := contract.ParseGlob(text)
			return err == nil && g.Match(r.Path.String())
		})
		if decide(p, r, Read) == Allow && !matches {
			t.Fatal("a place is open that no glob matches")
		}
		visible := r.Ignored == 0 && !strings.HasPrefix(r.Path.String(), ".") && !strings.Contains(r.Path.String(), "/.")
		if visible && matches && decide(p, r, Read) != Allow {
			t.Fatal("a plain place is closed although a glob matches it")
		}
	})
}

func TestPropertyDecisionsDoNotChange(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		scope, r := drawScope(t), drawPlace(t)
		r.Access = rapid.SampledFrom([]Access{Look, Read, Write}).Draw(t, "access")
		p, again := compileScope(t, scope), compileScope(t, scope)
		first := p.Decide(r)
		if p.Decide(r) != first || again.Decide(r) != first {
			t.Fatal("the same question has two answers")
		}
	})
}

// The short ways for literal paths and trees must answer as the automaton does.
func TestPropertyShortWaysAgreeWithTheAutomaton(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := drawPlace(t)
		at := place{path: r.Path.String(), ignored: r.Ignored, plain: rapid.Bool().Draw(t, "plain")}
		for _, p := range patternsOf(t, drawGlob(t, "glob")) {
			slow := p
			slow.shape = general
			if p.match(at) != slow.match(at) || p.leads(at) != slow.leads(at) {
				t.Fatalf("shape %d disagrees with the automaton about %+v", p.shape, at)
			}
		}
	})
}

func TestPropertyCoverIsSound(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		outer, inner := drawGlob(t, "outer"), drawGlob(t, "inner")
		r := drawPlace(t)
		open, plain := place{path: r.Path.String()}, place{path: r.Path.String(), plain: true}
		for _, o := range patternsOf(t, outer) {
			for _, i := range patternsOf(t, inner) {
				if o.covers(&i, openWithin) && i.match(open) && !o.match(open) {
					t.Fatalf("%q is said to open no more than %q, but it opens %q", inner, outer, open.path)
				}
				if o.covers(&i, within) && i.match(plain) && !o.match(plain) {
					t.Fatalf("%q is said to match no more than %q, but it matches %q", inner, outer, plain.path)
				}
			}
		}
	})
}

func patternsOf(t *rapid.T, glob string) []pattern {
	g, err := contract.ParseGlob(glob)
	if err != nil {
		t.Fatal(err)
	}
	return newPatterns("zone", g)
}
