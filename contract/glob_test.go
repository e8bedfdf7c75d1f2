package contract

import (
	"strings"
	"testing"

	"github.com/bmatcuk/doublestar/v4"

	"writ/envelope"
)

func mustGlob(t testing.TB, pattern string) Glob {
	t.Helper()
	g, err := ParseGlob(pattern)
	if err != nil {
		t.Fatalf("ParseGlob(%q): %v", pattern, err)
	}
	return g
}

func TestGlobMatch(t *testing.T) {
	for _, c := range []struct {
		name, pattern string
		yes, no       []string
	}{
		{"a literal path is itself alone", "docs/a.md", []string{"docs/a.md"}, []string{"docs", "docs/a.mdx", "x/docs/a.md", "docs/a.md/b", ""}},
		{"a star stays in its name", "docs/*.md", []string{"docs/a.md", "docs/.md", "docs/.a.md"}, []string{"docs/b/a.md", "a.md"}},
		{"two stars are any depth, none included", "**/*.md", []string{"a.md", "b/a.md", "c/b/a.md"}, []string{"a.txt", "a.md/b"}},
		{"a directory and all in it", "docs/**", []string{"docs", "docs/a", "docs/b/c"}, []string{"docsx", "doc", ""}},
		{"two stars alone are everything, the top too", "**", []string{"", "a", "a/b/.c"}, nil},
		{"two stars between", "a/**/z", []string{"a/z", "a/b/z", "a/b/c/z"}, []string{"a", "z", "a/b"}},
		{"many two stars", "**/a/**/b/**/c", []string{"a/b/c", "x/a/y/b/z/c", "a/a/b/b/c"}, []string{"a/c/b", "a/b/c/d"}},
		{"two stars in a name are one", "a**b", []string{"ab", "axb"}, []string{"a/b"}},
		{"a question mark is one character, not one byte", "?.md", []string{"a.md", "é.md", "漢.md"}, []string{"ab.md", ".md"}},
		{"a set and its opposite", "[a-c][!a-c]", []string{"ad", "c."}, []string{"aa", "dd", "a"}},
		{"a caret negates too", "[^a]", []string{"b"}, []string{"a"}},
		{"braces", "*.{go,md}", []string{"a.go", "a.md"}, []string{"a.txt", "a.{go,md}"}},
		{"braces across slashes", "{docs/**,src/*.go}", []string{"docs", "docs/a/b", "src/a.go"}, []string{"src/b/a.go"}},
		{"braces in braces", "a{b,c{d,e}}", []string{"ab", "acd", "ace"}, []string{"ac", "abd"}},
		{"an empty alternative", "a{,.bak}", []string{"a", "a.bak"}, []string{"a."}},
		{"an escaped wildcard is a character", `a\*\[b\]`, []string{"a*[b]"}, []string{"ax[b]", "axb"}},
		{"an escaped brace is a character", `\{a,b\}`, []string{"{a,b}"}, []string{"a"}},
		{"a brace in a set is a character", "[{]a", []string{"{a"}, []string{"a"}},
		{"a comma outside of braces is a character", "a,b", []string{"a,b"}, nil},
		{"names are bytes: another normal form is another name", "caf\u00e9", []string{"caf\u00e9"}, []string{"cafe\u0301"}},
		{"case counts", "README*", []string{"README.md"}, []string{"readme.md"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			g := mustGlob(t, c.pattern)
			for _, p := range c.yes {
				if !g.Match(p) {
					t.Errorf("%q does not match %q", c.pattern, p)
				}
			}
			for _, p := range c.no {
				if g.Match(p) {
					t.Errorf("%q matches %q", c.pattern, p)
				}
			}
		})
	}
}

func TestGlobErrors(t *testing.T) {
	for _, c := range []struct {
		name, pattern string
		code          envelope.Code
		position      int
	}{
		{"empty", "", envelope.BadPattern, 0},
		{"absolute", "/etc/*", envelope.PathNotAllowed, 0},
		{"absolute on Windows", `C:\*`, envelope.PathNotAllowed, 0},
		{"steps up", "docs/../*", envelope.PathNotAllowed, 0},
		{"steps up in braces", "{..,a}/*", envelope.PathNotAllowed, 0},
		{"steps up, escaped", `\.\./a`, envelope.PathNotAllowed, 0},
		{"a dot segment", "./a", envelope.PathNotAllowed, 0},
		{"ends in a slash", "docs/", envelope.BadPattern, 0},
		{"two slashes", "a//b", envelope.BadPattern, 0},
		{"a bracket that does not end", "é[a", envelope.BadPattern, 2},
		{"nothing in the brackets", "a[]b", envelope.BadPattern, 2},
		{"a brace that does not end", "ab{c", envelope.BadPattern, 3},
		{"a brace that does not begin", "ab}", envelope.BadPattern, 3},
		{"a backslash at the end", `ab\`, envelope.BadPattern, 3},
		{"a slash in brackets", "a[b/c]", envelope.BadPattern, 2},
		{"braces that explode", strings.Repeat("{a,b}", 30), envelope.BadPattern, 0},
		{"too deep", strings.Repeat("*/", 70) + "a", envelope.BadPattern, 0},
		{"not UTF-8", "a\xff", envelope.BadPattern, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := ParseGlob(c.pattern)
			if envelope.CodeOf(err) != c.code {
				t.Fatalf("got %v, want code %s", err, c.code)
			}
			if c.position > 0 && err.(*envelope.Error).Details["position"] != c.position {
				t.Errorf("position: got %v, want %d", err.(*envelope.Error).Details, c.position)
			}
		})
	}
}

// Children must say the same as Match, for every directory of a small world.
func TestGlobChildren(t *testing.T) {
	names := []string{"a", "b", "a.md", ".c"}
	var dirs, all []string
	dirs = append(dirs, "")
	for _, x := range names {
		dirs = append(dirs, x)
		for _, y := range names {
			dirs = append(dirs, x+"/"+y)
		}
	}
	for _, d := range dirs {
		for _, n := range names {
			all = append(all, strings.TrimPrefix(d+"/"+n, "/"))
		}
	}
	for _, pattern := range []string{"**", "*", "*/*", "**/*.md", "a/**", "a/b", "a/b/**", "**/a/**/b", "{a,b/*}/{a,b}", "**/**", "a/**/*.md", "b"} {
		g := mustGlob(t, pattern)
		for _, d := range dirs {
			c := g.Children(d)
			for _, n := range names {
				full := strings.TrimPrefix(d+"/"+n, "/")
				if c.Match(n) != g.Match(full) {
					t.Errorf("%q: Children(%q).Match(%q) = %t", pattern, d, n, c.Match(n))
				}
			}
			for _, p := range all {
				deeper := d == "" && strings.Contains(p, "/") || d != "" && strings.HasPrefix(p, d+"/") && strings.Contains(p[len(d)+1:], "/")
				if deeper && g.Match(p) && !c.Below() {
					t.Errorf("%q: %q is matched, but nothing should be below %q", pattern, p, d)
				}
			}
		}
	}
}

func TestEscapeGlob(t *testing.T) {
	for _, name := range []string{"a.md", "a [b].md", `{a,b}*?\x`, "docs/[x]/漢.md"} {
		g := mustGlob(t, EscapeGlob(name))
		if !g.Match(name) || g.Match(name+"x") {
			t.Errorf("EscapeGlob(%q) = %q does not match it alone", name, EscapeGlob(name))
		}
	}
}

// Where doublestar and we both accept a pattern, we say the same; neither may panic.
func FuzzGlob(f *testing.F) {
	f.Add("**/*.{go,md}", "a/b.md")
	f.Add(`a\[[!b-d]**/x`, "a[e/x")
	f.Fuzz(func(t *testing.T, pattern, path string) {
		g, err := ParseGlob(pattern)
		if err != nil {
			return
		}
		p, err := ParsePath(path)
		if err != nil {
			return
		}
		want, err := doublestar.Match(pattern, path)
		if err != nil || strings.ContainsAny(pattern, "{}\uFFFD") {
			return
		}
		if got := g.Match(p.String()); got != want {
			t.Errorf("%q on %q: got %t, doublestar says %t", pattern, path, got, want)
		}
	})
}

func BenchmarkGlobChildren(b *testing.B) {
	g := mustGlob(b, "**/*.md")
	c := g.Children("docs/plans")
	for b.Loop() {
		c.Match("a-name-of-some-length.txt")
	}
}
