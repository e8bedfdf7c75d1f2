package contract

import (
	"io/fs"
	"strings"
	"testing"

	"writ/envelope"
)

func TestParsePathRefuses(t *testing.T) {
	for _, name := range []string{
		"", "/", "/etc/passwd", "//host/x", `\\host\share`, `C:\x`, "c:/x", ".", "..", "./a", "../a", "a/../b", "a/./b", "a//b", "a/",
		"a\x00b", "a\xffb", strings.Repeat("n", 256), strings.Repeat("d/", 2048) + "x", `docs\..\..\x`, `..\x`,
	} {
		if p, err := ParsePath(name); envelope.CodeOf(err) != envelope.PathNotAllowed {
			t.Errorf("%q became the path %q (error %v)", name, p, err)
		}
	}
}

func TestParsePathAccepts(t *testing.T) {
	for _, name := range []string{"a", "a/b.md", "~", "~/x", "...", "a b/ü.md", "日本/語", "[id]/(x)", `a\b`, "c:", "a:b", "-x", "a\nb"} {
		if p, err := ParsePath(name); err != nil || p.String() != name {
			t.Errorf("%q became %q, error %v", name, p, err)
		}
	}
}

// A path that was accepted names a place inside, whoever reads it.
func FuzzParsePath(f *testing.F) {
	f.Add("docs/a.md")
	f.Add("../x")
	f.Add(`a\..\b`)
	f.Fuzz(func(t *testing.T, name string) {
		p, err := ParsePath(name)
		if err != nil {
			return
		}
		if !fs.ValidPath(p.String()) || p.String() == "." {
			t.Fatalf("%q is no path inside", name)
		}
		if back := strings.Join(p.Segments(), "/"); back != name {
			t.Fatalf("the segments of %q make %q", name, back)
		}
	})
}

func TestBelow(t *testing.T) {
	path := func(s string) Path { return Path{s} }
	for _, c := range []struct {
		p, dir string
		want   bool
	}{
		{"a/b", "a", true}, {"a", "a", true}, {"ab", "a", false}, {"a-evil/x", "a", false}, {"a", "", true}, {"a", "a/b", false},
	} {
		if got := path(c.p).Below(path(c.dir)); got != c.want {
			t.Errorf("%q below %q is %v", c.p, c.dir, got)
		}
	}
}

func TestQuote(t *testing.T) {
	for in, want := range map[string]string{
		"docs/a.md":     `"docs/a.md"`,
		"für 日本":        `"für 日本"`,
		"a\"b\\c\n":     `"a\"b\\c\n"`,
		"right\u202eto": `"right\u202eto"`,
		"zero\u200bw":   `"zero\u200bw"`,
		"\xff":          `"\xff"`,
		"esc\x1b[31m":   `"esc\x1b[31m"`,
		"soft\u00adhy":  `"soft\u00adhy"`,
	} {
		if got := Quote(in); got != want {
			t.Errorf("Quote(%+q) is %s, want %s", in, got, want)
		}
	}
}
