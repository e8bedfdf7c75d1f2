package contract

import "testing"

func TestGlobSegments(t *testing.T) {
	type facts struct {
		anyNames, every bool
		literal         string
		first           string
	}
	for segment, want := range map[string]facts{
		"**":     {anyNames: true, every: true},
		"*":      {every: true},
		"***":    {every: true},
		"*.md":   {},
		"?":      {},
		"[.]git": {},
		".git":   {literal: ".git", first: "."},
		`\.git`:  {literal: ".git", first: "."},
		`\.g*`:   {first: "."},
		".*":     {first: "."},
		`\**`:    {first: "*"},
		`*\*`:    {},
		"a?":     {first: "a"},
	} {
		t.Run(segment, func(t *testing.T) {
			g, err := ParseGlob(segment)
			if err != nil {
				t.Fatal(err)
			}
			s := g.Alternatives()[0][0]
			got := facts{anyNames: s.AnyNames(), every: s.EveryName()}
			if name, ok := s.Literal(); ok {
				got.literal = name
			}
			if first, ok := s.First(); ok {
				got.first = string(first)
			}
			if got != want {
				t.Errorf("got %+v, want %+v", got, want)
			}
		})
	}
}

func TestGlobAlternativesAreWithoutBraces(t *testing.T) {
	g, err := ParseGlob("{a,b/**/**}/c")
	if err != nil {
		t.Fatal(err)
	}
	var lengths []int
	for _, segments := range g.Alternatives() {
		lengths = append(lengths, len(segments))
	}
	if len(lengths) != 2 || lengths[0] != 2 || lengths[1] != 3 {
		t.Errorf("segments of each alternative: %v, want 2 and 3 (two ** in a row are one)", lengths)
	}
}
