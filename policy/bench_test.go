package policy

import (
	"testing"
)

// A walk asks one decision a file, and each path one for each of its directories, so none may allocate.
func BenchmarkDecide(b *testing.B) {
	for _, bench := range []struct {
		name  string
		scope Scope
		path  string
	}{
		{"everything", Scope{Read: []string{"**"}, Write: []string{"**"}}, "docs/guide/chapter-07/images.md"},
		{"a tree", Scope{Read: []string{"**"}, Write: []string{"docs/**"}}, "docs/guide/chapter-07/images.md"},
		{"write and ask", Scope{Read: []string{"**"}, Write: []string{"docs/**"}, Ask: []string{"**"}}, "docs/guide/chapter-07/images.md"},
		{"a suffix", Scope{Read: []string{"**/*.md"}}, "docs/guide/chapter-07/images.md"},
		{"a class", Scope{Read: []string{"docs/*/chapter-[0-9]*/**"}}, "docs/guide/chapter-07/images.md"},
		{"hidden", Scope{Read: []string{"**"}}, "docs/.guide/chapter-07/images.md"},
	} {
		p := compile(b, Config{Scope: &bench.scope})
		for access, name := range map[Access]string{Look: "look", Read: "read", Write: "write"} {
			b.Run(bench.name+"/"+name, func(b *testing.B) {
				r := Request{Path: path(b, bench.path), Access: access}
				b.ReportAllocs()
				for b.Loop() {
					p.Decide(r)
				}
			})
		}
	}
}

func TestDecidingDoesNotAllocate(t *testing.T) {
	p := compile(t, Config{Scope: &Scope{Read: []string{"**/*.md", "a/[x-z]*/**"}, Write: []string{"docs/**"}, Ask: []string{"**"}}})
	for _, name := range []string{"docs/a/b.md", "src/a.md", "a/y/b", "docs/.a/b", ".git/config"} {
		for _, a := range []Access{Look, Read, Write} {
			r := Request{Path: path(t, name), Access: a}
			if n := testing.AllocsPerRun(100, func() { p.Decide(r) }); n != 0 {
				t.Errorf("%+v: %v allocations", r, n)
			}
		}
	}
}
