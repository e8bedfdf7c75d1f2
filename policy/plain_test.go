package policy

import (
	"testing"

	"pgregory.net/rapid"

	"writ/contract"
)

// What ReadsPlain says of a directory, Decide says of each file in it.
func TestReadsPlainAgreesWithDecide(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := compileScope(t, drawScope(t))
		dir := drawPath(t)
		if !p.ReadsPlain(dir) {
			return
		}
		name := rapid.SampledFrom([]string{"a", "b", "ab", "ba", "x", "x.md"}).Draw(t, "name")
		if got := p.Decide(Request{Path: dir.Join(name), Access: Read}); got.Effect != Allow {
			t.Fatalf("every file in %q may be read, but %s may not: %+v", dir, name, got)
		}
	})
}

func TestReadsPlain(t *testing.T) {
	for _, c := range []struct {
		glob, dir string
		want      bool
	}{
		{"**", "", true}, {"**", "a/b", true}, {"docs/**", "docs", true}, {"docs/**", "docs/x", true}, {"docs/**", "", false},
		{"docs/*", "docs", true}, {"docs/*", "docs/x", false}, {"**/*.md", "docs", false}, {"**", ".git", false},
	} {
		p, err := Compile(Config{Scope: &Scope{Read: []string{c.glob}}})
		if err != nil {
			t.Fatal(err)
		}
		var dir contract.Path
		if c.dir != "" {
			if dir, err = contract.ParsePath(c.dir); err != nil {
				t.Fatal(err)
			}
		}
		if got := p.ReadsPlain(dir); got != c.want {
			t.Errorf("%s: every file in %q: %v", c.glob, c.dir, got)
		}
	}
}
