package workspace

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"writ/contract"
	"writ/envelope"
)

// places shows hits as path:line:column:text.
func places(hits []Hit) string {
	var all []string
	for _, h := range hits {
		all = append(all, fmt.Sprintf("%s:%d:%d:%s", h.Path, h.Line, h.Column, h.Text))
	}
	return strings.Join(all, "\n")
}

func TestSearch(t *testing.T) {
	files := map[string]string{
		"a.md":         "one\ntwo needle\nthree needle needle\n",
		"b/c.md":       "NEEDLE\r\nend\r\n",
		"b/last":       "x\nneedle",
		"dots":         "a.b\naxb\n",
		"utf16.txt":    "\xff\xfen\x00\xe9\x00e\x00d\x00l\x00e\x00\n\x00",
		"mark.txt":     "\ufeffneedle at the start\n",
		"binary":       "needle\x00\nneedle",
		"late.bin":     strings.Repeat("text\n", 3000) + "needle\n\x00",
		"latin1":       "needle caf\xe9\n",
		"empty":        "",
		"emoji":        "漢字👍 needle\n",
		"kelvin":       "\u212a and \u017f\n",
		"priv/p":       "needle",
		".gitignore":   "ignored.txt\n",
		"ignored.txt":  "needle",
		"link":         "->a.md",
		"crlf":         "first\r\nsecond\r\nfirst\nsecond\n",
		"gb/zh.txt":    "\xba\xba\xd7\xd6 needle\n",
		"spaces":       "tail  \nx\n",
		"cr":           "a\r\nb\n",
		"greek":        "\u03a3\u03c3\u03c2\n",
		"meta [1].txt": "brackets\n",
	}
	for _, c := range []struct {
		name  string
		query Query
		want  string
	}{
		{"literal: one hit a line, at its first match", Query{Pattern: "needle"},
			"a.md:2:5:two needle\na.md:3:7:three needle needle\nb/last:2:1:needle\nemoji:1:5:漢字👍 needle\ngb/zh.txt:1:4:汉字 needle\nmark.txt:1:1:needle at the start"},
		{"literal: a dot is a dot", Query{Pattern: "a.b"}, "dots:1:1:a.b"},
		{"regular expression: a dot is anything", Query{Pattern: "a.b", Regexp: true}, "dots:1:1:a.b\ndots:2:1:axb"},
		{"in either case", Query{Pattern: "Needle", IgnoreCase: true, Base: path(t, "b")}, "b/c.md:1:1:NEEDLE\nb/last:2:1:needle"},
		{"regular expression in either case", Query{Pattern: "n[e]+dle$", Regexp: true, IgnoreCase: true, Base: path(t, "b")}, "b/c.md:1:1:NEEDLE\nb/last:2:1:needle"},
		{"in UTF-16", Query{Pattern: "nédl"}, ""},
		{"in UTF-16, in another case", Query{Pattern: "NÉEDLE", IgnoreCase: true}, "utf16.txt:1:1:néedle"},
		{"characters that fold to ASCII", Query{Pattern: "k and s", IgnoreCase: true}, "kelvin:1:1:\u212a and \u017f"},
		{"three forms of one letter", Query{Pattern: "σσσ", IgnoreCase: true}, "greek:1:1:\u03a3\u03c3\u03c2"},
		{"the end of a line is before its CR", Query{Pattern: "end$", Regexp: true}, "b/c.md:2:1:end"},
		{"a CR can be asked for", Query{Pattern: "a\\r", Regexp: true, Base: path(t, "cr")}, "cr:1:1:a"},
		{"a literal CR can be asked for", Query{Pattern: "a\r", Base: path(t, "cr")}, "cr:1:1:a"},
		{"the start of each line", Query{Pattern: "^two", Regexp: true}, "a.md:2:1:two needle"},
		{"white space at the end, which crosses no line", Query{Pattern: `\s+$`, Regexp: true, Glob: glob(t, "spaces")}, "spaces:1:5:tail  "},
		{"two lines, with either line end", Query{Pattern: "first\nsecond"}, "crlf:1:1:first\ncrlf:3:1:first"},
		{"two lines, in either case", Query{Pattern: "FIRST\nSECOND", IgnoreCase: true}, "crlf:1:1:first\ncrlf:3:1:first"},
		{"two lines that ask for CRLF", Query{Pattern: "first\r\nsecond"}, "crlf:1:1:first"},
		{"one file", Query{Pattern: "needle", Base: path(t, "b/last")}, "b/last:2:1:needle"},
		{"one file through a link", Query{Pattern: "two", Base: path(t, "link")}, "a.md:2:1:two needle"},
		{"files of a glob", Query{Pattern: "needle", Glob: glob(t, "*.md")}, "a.md:2:5:two needle\na.md:3:7:three needle needle"},
		{"a glob that is a name with brackets", Query{Pattern: "brackets", Glob: glob(t, "meta [1].txt")}, "meta [1].txt:1:1:brackets"},
		{"a glob with brackets that stand for themselves", Query{Pattern: "brackets", Glob: glob(t, "**/meta [1]*")}, "meta [1].txt:1:1:brackets"},
		{"a glob from the base", Query{Pattern: "needle", Base: path(t, "b"), Glob: glob(t, "*")}, "b/last:2:1:needle"},
		{"alternatives", Query{Pattern: "(one|end|brackets)$", Regexp: true}, "a.md:1:1:one\nb/c.md:2:1:end\nmeta [1].txt:1:1:brackets"},
		{"no text is required", Query{Pattern: `^\w{3}$`, Regexp: true, Glob: glob(t, "**/*.md")}, "a.md:1:1:one\nb/c.md:2:1:end"},
		{"the empty match is on every line", Query{Pattern: "x*", Regexp: true, Base: path(t, "b/last")}, "b/last:1:1:x\nb/last:2:1:needle"},
		{"nothing", Query{Pattern: "nowhere to be found"}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			forms(t, func(t *testing.T, portable bool) {
				w := open(t, Options{Roots: []Root{{Dir: world(t, files)}}, portable: portable, Encoding: func(p contract.Path) string {
					if strings.HasPrefix(p.String(), "gb/") {
						return "gb18030"
					}
					return ""
				}})
				s, err := w.Reader(scope{hidden: []string{"priv"}}).Search(t.Context(), c.query)
				if err != nil {
					t.Fatal(err)
				}
				if got := places(s.Hits); got != c.want {
					t.Errorf("got\n%s\nwant\n%s", got, c.want)
				}
				if s.Total != len(s.Hits) || !s.TotalIsExact || s.TimedOut {
					t.Errorf("total is %d, exact %t, of %d", s.Total, s.TotalIsExact, len(s.Hits))
				}
				for _, h := range s.Hits {
					if h.Version != contract.VersionOf([]byte(files[h.Path.String()])) {
						t.Errorf("%s has version %s", h.Path, h.Version)
					}
				}
				if c.query.Base.IsTop() && c.query.Glob.IsZero() && s.Skipped.Count(SkipBinary) != 3 {
					t.Errorf("%d binary files were skipped, not 3", s.Skipped.Count(SkipBinary))
				}
			})
		})
	}
}

func TestSearchPatternErrors(t *testing.T) {
	r := reader(t, world(t, nil), false, anyone{})
	for _, c := range []struct {
		pattern  string
		position int
	}{{"é(", 2}, {`\(é[)(]\Q)\E(a)(b(c)`, 16}, {"a)b", 2}, {`(é)\`, 4}, {"x(?<=a)b", 2}, {`(a)\1`, 4}, {"a[b", 2}, {"*", 1}, {"a**", 2}, {`a\k`, 2}, {`a\n`, 0}, {`(?P<n`, 0}, {"é[b-a]", 3}, {"x{2000}", 2}} {
		_, err := r.Search(t.Context(), Query{Pattern: c.pattern, Regexp: true})
		if envelope.CodeOf(err) != envelope.BadPattern {
			t.Errorf("%q: got %v", c.pattern, err)
			continue
		}
		told := err.(*envelope.Error)
		if c.position > 0 && told.Details["position"] != c.position || !strings.Contains(told.Message, "literal: true") {
			t.Errorf("%q: got %v, %s", c.pattern, told.Details, told.Message)
		}
	}
	for _, pattern := range []string{"", strings.Repeat("x", 5000)} {
		if _, err := r.Search(t.Context(), Query{Pattern: pattern}); envelope.CodeOf(err) != envelope.BadPattern {
			t.Errorf("%d characters: got %v", len(pattern), err)
		}
	}
}

func TestSearchPages(t *testing.T) {
	r := reader(t, bigTree(t, 3000), false, anyone{})
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	alone, err := r.Search(t.Context(), Query{Pattern: "needle"})
	if err != nil || alone.Total != 6000 || len(alone.Hits) != 6000 || alone.Files != 3000 {
		t.Fatal(alone.Total, len(alone.Hits), err)
	}
	runtime.GOMAXPROCS(4)
	var pages []Hit
	for offset := 0; ; offset += 1301 {
		s, err := r.Search(t.Context(), Query{Pattern: "needle", Window: Window{Offset: offset, Limit: 1301}})
		if err != nil || s.Total != 6000 {
			t.Fatal(s.Total, err)
		}
		if len(s.Hits) == 0 {
			break
		}
		pages = append(pages, s.Hits...)
	}
	if places(alone.Hits) != places(pages) {
		t.Error("the pages of four workers are not the whole of one")
	}
	s, err := r.Search(t.Context(), Query{Pattern: "needle", Window: Window{Limit: 1000}, MaxBytes: 500})
	if err != nil || len(s.Hits) < 5 || len(s.Hits) > 50 || places(s.Hits) != places(alone.Hits[:len(s.Hits)]) {
		t.Errorf("%d hits in 500 bytes, %v", len(s.Hits), err)
	}
}

func TestSearchShowsContext(t *testing.T) {
	r := reader(t, world(t, map[string]string{"f": "1\r\n2\n3 x\n4\n5", "g": "x"}), false, anyone{})
	s, err := r.Search(t.Context(), Query{Pattern: "x", Context: 2})
	if err != nil || len(s.Hits) != 2 {
		t.Fatal(s, err)
	}
	if h := s.Hits[0]; !slices.Equal(h.Before, []string{"1", "2"}) || !slices.Equal(h.After, []string{"4", "5"}) {
		t.Errorf("got %q and %q", h.Before, h.After)
	}
	if h := s.Hits[1]; h.Before != nil || h.After != nil {
		t.Errorf("got %q and %q", h.Before, h.After)
	}
}

func TestSearchCutsLongLines(t *testing.T) {
	for name, line := range map[string]string{
		"match in the middle": strings.Repeat("é", 500) + "needle" + strings.Repeat("漢", 500),
		"match at the start":  "needle" + strings.Repeat("漢", 500),
		"match at the end":    strings.Repeat("é", 500) + "needle",
		"a long match":        strings.Repeat("é", 500) + "needle" + strings.Repeat("needle", 200),
	} {
		r := reader(t, world(t, map[string]string{"f": line + "\n"}), false, anyone{})
		s, err := r.Search(t.Context(), Query{Pattern: "needle"})
		if err != nil || len(s.Hits) != 1 {
			t.Fatal(s, err)
		}
		h := s.Hits[0]
		before, _, _ := strings.Cut(line, "needle")
		if !h.Cut || len(h.Text) > maxHitBytes || !utf8.ValidString(h.Text) || !strings.Contains(line, h.Text) ||
			!strings.Contains(h.Text, "needle") || h.Column != utf8.RuneCountInString(before)+1 {
			t.Errorf("%s: got column %d, %d bytes, %q", name, h.Column, len(h.Text), h.Text)
		}
	}
}

func TestSearchLeavesOutWhatIsTooLarge(t *testing.T) {
	root := world(t, map[string]string{"big": strings.Repeat("needle ", 100), "small": "needle", "sparse": ""})
	if err := os.Truncate(filepath.Join(root, "sparse"), 2<<30); err != nil {
		t.Fatal(err)
	}
	w := open(t, Options{Roots: []Root{{Dir: root}}, FileBytes: 500})
	s, err := w.Reader(anyone{}).Search(t.Context(), Query{Pattern: "needle"})
	if err != nil || places(s.Hits) != "small:1:1:needle" || s.Skipped.Count(SkipTooLarge) != 2 || s.Files != 1 {
		t.Errorf("got %s, %+v, %v", places(s.Hits), s.Skipped, err)
	}
}

func TestSearchTakesLinearTime(t *testing.T) {
	root := world(t, map[string]string{"a": strings.Repeat("a", 30_000) + "b\n" + strings.Repeat("a", 200_000) + "b", "c": "aaa"})
	for _, pattern := range []string{`(a+)+$`, `(a|aa)+$`, `(.*)*x?$`, `\w+\s*\w+$`} {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		s, err := reader(t, root, false, anyone{}).Search(ctx, Query{Pattern: pattern, Regexp: true})
		cancel()
		if err != nil || s.TimedOut || s.Files != 2 {
			t.Errorf("%s: %+v, %v", pattern, s, err)
		}
	}
}

func TestSearchStopsAtItsDeadline(t *testing.T) {
	r := reader(t, bigTree(t, 1000), false, anyone{})
	ctx, cancel := context.WithDeadline(t.Context(), time.Now())
	defer cancel()
	s, err := r.Search(ctx, Query{Pattern: "needle"})
	if err != nil || !s.TimedOut || s.TotalIsExact || s.Total != len(s.Hits) {
		t.Errorf("got %+v, %v", s, err)
	}
	ctx, cancel = context.WithCancel(t.Context())
	cancel()
	if _, err := r.Search(ctx, Query{Pattern: "needle"}); err == nil {
		t.Error("a search in a context that was given up has an answer")
	}
}

// each must find what a plain regular expression finds line by line, whatever prefilter it takes.
func TestPatternsAgainstPlainRegexp(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 3))
	var text bytes.Buffer
	pieces := []string{"abc", "ABC", "lock", "unLOCK", "mutex_lock", " ", "\t", "é", "É", "\u212a", "\u017f", "k", "S", "x1", "99", "_", "(", "needle", "\r\n", "\n", "\n\n", "aab"}
	for range 4000 {
		text.WriteString(pieces[random.IntN(len(pieces))])
	}
	for _, c := range []Query{
		{Pattern: "abc"}, {Pattern: "abc", IgnoreCase: true}, {Pattern: "(", IgnoreCase: true}, {Pattern: "lock", IgnoreCase: true},
		{Pattern: "ks", IgnoreCase: true}, {Pattern: "é", IgnoreCase: true}, {Pattern: "éabc", IgnoreCase: true}, {Pattern: "aab"},
		{Pattern: "abc$", Regexp: true}, {Pattern: "^abc", Regexp: true}, {Pattern: `mutex_(lock|unlock)\(?`, Regexp: true},
		{Pattern: `(lock|needle|x1)+99`, Regexp: true}, {Pattern: `\d+_?`, Regexp: true}, {Pattern: `^\s*$`, Regexp: true},
		{Pattern: `(?i)UNLOCK\s*é`, Regexp: true}, {Pattern: `[a-c]{3}`, Regexp: true, IgnoreCase: true}, {Pattern: `(abc){2,3}`, Regexp: true},
		{Pattern: `(needle)?99`, Regexp: true}, {Pattern: `k|S`, Regexp: true, IgnoreCase: true}, {Pattern: `a.*b`, Regexp: true}, {Pattern: `(?:ab|)c`, Regexp: true},
	} {
		p, err := compilePattern(c)
		if err != nil {
			t.Fatal(c, err)
		}
		expression := c.Pattern
		if !c.Regexp {
			expression = regexp.QuoteMeta(expression)
		}
		if c.IgnoreCase {
			expression = "(?i)" + expression
		}
		plain := regexp.MustCompile(expression)
		var want, got []string
		for i, l := range bytes.Split(bytes.TrimSuffix(text.Bytes(), []byte("\n")), []byte("\n")) {
			if m := plain.FindIndex(bytes.TrimSuffix(l, []byte("\r"))); m != nil {
				want = append(want, fmt.Sprint(i, m[0]))
			}
		}
		p.each(text.Bytes(), newMachine(p.auto), func(l line) bool {
			got = append(got, fmt.Sprint(bytes.Count(text.Bytes()[:l.start], []byte("\n")), l.match))
			return true
		})
		if !slices.Equal(got, want) {
			t.Errorf("%+v: %d lines, want %d", c, len(got), len(want))
		}
		if len(want) == 0 {
			t.Errorf("%+v is nowhere in the text: it tests nothing", c)
		}
	}
}

func FuzzFoldedLiteral(f *testing.F) {
	f.Add("xxABCabcAbC", "abc")
	f.Fuzz(func(t *testing.T, text, wanted string) {
		l, ok := newFolded(wanted)
		if !ok {
			return
		}
		re := regexp.MustCompile("(?i)" + regexp.QuoteMeta(l.text))
		s := newSearch([]literal{l}, []byte(text))
		for from := 0; from <= len(text); {
			at := s.next(from)
			m := re.FindStringIndex(text[from:])
			if m == nil {
				if at >= 0 {
					t.Fatalf("%q in %q: found at %d", l.text, text, at)
				}
				return
			}
			if at != from+m[0] {
				t.Fatalf("%q in %q: found at %d, want %d", l.text, text, at, from+m[0])
			}
			from = at + 1
		}
	})
}

func FuzzValidUTF8(f *testing.F) {
	f.Add([]byte(strings.Repeat("ascii ", 20) + "é漢👍" + strings.Repeat("x", 40) + "\xff"))
	f.Fuzz(func(t *testing.T, b []byte) {
		if got, want := validUTF8(b), utf8.Valid(b); got != want {
			t.Errorf("%q: got %t", b, got)
		}
	})
}
