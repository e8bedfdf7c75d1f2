package notes

import (
	"encoding/binary"
	"reflect"
	"slices"
	"strings"
	"testing"
	"unicode/utf16"

	"pgregory.net/rapid"

	"writ/contract"
)

func parse(t testing.TB, name, text string) Note {
	t.Helper()
	p, err := contract.ParsePath(name)
	if err != nil {
		t.Fatal(err)
	}
	return Parse(p, []byte(text))
}

func TestTitle(t *testing.T) {
	cases := []struct{ name, text, want string }{
		{"front matter", "---\ntitle: T\n---\n# H\n", "T"},
		{"front matter with a colon in quotes", "---\ntitle: \"My: Doc\"\n---\n", "My: Doc"},
		{"front matter with a number", "---\ntitle: 2024\n---\n", "2024"},
		{"front matter over two lines", "---\ntitle: >\n  one\n  two\n---\n", "one two"},
		{"another case of the key", "---\nTitle: T\n---\n", "T"},
		{"a list for a title", "---\ntitle: [a]\n---\n# H\n", "H"},
		{"no title in the front matter", "---\ntags: [a]\n---\n\n# H #\n", "H"},
		{"broken front matter", "---\ntitle: [unclosed\n---\n# H\n", "H"},
		{"front matter that is not closed", "---\ntitle: T\n# H\n", "H"},
		{"front matter that is a list", "---\n- a\n---\n# H\n", "H"},
		{"the same key twice", "---\ntitle: A\ntitle: B\n---\n# H\n", "H"},
		{"front matter ended by dots", "---\ntitle: T\n...\n# H\n", "T"},
		{"front matter after a BOM", "\ufeff---\ntitle: T\n---\n", "T"},
		{"front matter with CRLF", "---\r\ntitle: T\r\n---\r\n# H\r\n", "T"},
		{"a rule further down is no front matter", "x\n---\ntitle: T\n---\n", "n"},
		{"a heading underlined", "The title\n=====\n", "The title"},
		{"a heading after lesser ones", "## A\n# B\n", "B"},
		{"only lesser headings", "## A\n", "n"},
		{"a heading in code", "```\n# no\n```\n# yes\n", "yes"},
		{"a tag is no heading", "#tag\n", "n"},
		{"nothing", "", "n"},
		{"an empty heading", "#\n", "n"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			if got := parse(t, "dir/n.md", c.text).Title; got != c.want {
				t.Errorf("title %q, want %q", got, c.want)
			}
		})
	}
}

func TestTags(t *testing.T) {
	cases := []struct {
		name, text string
		want       []string
	}{
		{"a YAML list", "---\ntags:\n  - research/ai\n  - deep-work\n---\n", []string{"research/ai", "deep-work"}},
		{"a flow list", "---\ntags: [a, b]\n---\n", []string{"a", "b"}},
		{"commas", "---\ntags: a, b，c\n---\n", []string{"a", "b", "c"}},
		{"spaces", "---\ntags: a b\n---\n", []string{"a", "b"}},
		{"one tag", "---\ntag: a\n---\n", []string{"a"}},
		{"numbers in a list", "---\ntags: [2024, a]\n---\n", []string{"2024", "a"}},
		{"sharps in quotes", "---\ntags: [\"#a\"]\n---\n", []string{"a"}},
		{"no value", "---\ntags:\n---\n", nil},
		{"inline", "body #deep-work, #a/b and (#c) here\n", []string{"deep-work", "a/b", "c"}},
		{"inline Chinese", "#读书 笔记，#项目/花园。\n", []string{"读书", "项目/花园"}},
		{"the same twice", "---\ntags: [a]\n---\n#A #a\n", []string{"a"}},
		{"not a number", "see #123 and #1-2\n", nil},
		{"not in a fence", "```sh\n#define X\n# a #b\n```\n~~~\n#c\n~~~\n", nil},
		{"not in a span of code", "`#a` and ``b #c``\n", nil},
		{"behind a backtick that nothing closes", "a ` #b\n", []string{"b"}},
		{"not in a URL", "https://x.example/#frag https://x.example/p#q\n", nil},
		{"not a link's target", "[text](#anchor) [[#heading]]\n", nil},
		{"not an entity", "&#39;\n", nil},
		{"not a heading", "## A\n", nil},
		{"in a heading", "## A #b\n", []string{"b"}},
		{"no trailing slash", "#a/ x\n", []string{"a"}},
		{"a fence in a fence", "````\n```\n#a\n````\n#b\n", []string{"b"}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			if got := parse(t, "n.md", c.text).Tags; !slices.Equal(got, c.want) {
				t.Errorf("tags %q, want %q", got, c.want)
			}
		})
	}
}

func TestHeadingsAndLinks(t *testing.T) {
	n := parse(t, "n.md", "---\naliases: [One, Two]\n---\n\n# A\n\n### B ###\r\nsee [[x/y#Z|shown]] and ![[pic.png]]\n"+
		"[text](a b.md \"t\") [u](<with space.md>) [v](w(1).md)\n    # code\n`[[no]]`\n[](empty.md)\n")
	wantHeadings := []Heading{{1, 5, "A"}, {3, 7, "B"}}
	wantLinks := []Link{
		{"x/y#Z", "shown", 8},
		{"pic.png", "", 8},
		{"a", "text", 9},
		{"with space.md", "u", 9},
		{"w(1).md", "v", 9},
		{"empty.md", "", 12},
	}
	if !reflect.DeepEqual(n.Headings, wantHeadings) {
		t.Errorf("headings %+v, want %+v", n.Headings, wantHeadings)
	}
	if !reflect.DeepEqual(n.Links, wantLinks) {
		t.Errorf("links %+v, want %+v", n.Links, wantLinks)
	}
	if !slices.Equal(n.Aliases, []string{"One", "Two"}) {
		t.Errorf("aliases %q", n.Aliases)
	}
}

func TestHidden(t *testing.T) {
	cases := []struct {
		name, text       string
		unmarked, public bool // hidden under that visibility
	}{
		{"no marks", "text\n", false, true},
		{"private", "---\nprivate: true\n---\n", true, true},
		{"private in another case", "---\nPrivate: True\n---\n", true, true},
		{"private with yes", "---\nprivate: yes\n---\n", true, true},
		{"private in quotes", "---\nprivate: \"true\"\n---\n", true, true},
		{"private with a comment", "---\nprivate: true # really\n---\n", true, true},
		{"not private", "---\nprivate: false\n---\n", false, true},
		{"visibility private", "---\nvisibility: private\n---\n", true, true},
		{"visibility public", "---\nvisibility: public\n---\n", false, false},
		{"published", "---\npublish: true\n---\n", false, false},
		{"not published", "---\npublish: false\n---\n", true, true},
		{"private and published", "---\nprivate: true\npublish: true\n---\n", true, true},
		{"a mark in a flow mapping", "---\n{title: x, private: true}\n---\n", true, true},
		{"a mark after a BOM with CRLF", "\ufeff---\r\nprivate: true\r\n---\r\n", true, true},
		{"a mark in broken YAML", "---\ntags: [a\nprivate: true\n---\n", true, true},
		{"a mark in a block with an alias", "---\na: &x 1\nb: *x\nprivate: true\n---\n", true, true},
		{"a mark in a block too large to decode", "---\nx: " + strings.Repeat("y", maxYAML) + "\nprivate: true\n---\n", true, true},
		{"a mark in a block too deep to decode", "---\nx: " + strings.Repeat("[", 100) + "\nprivate: true\n---\n", true, true},
		{"a mark in front matter that is not closed", "---\nprivate: true\n\ntext\n", true, true},
		{"the words in the text", "private: true\n", false, true},
		{"a nested key", "---\nx:\n  private: true\n---\n", true, true},
		{"a nested public key", "---\nx:\n  publish: true\n---\n", false, true},
		{"in a list", "---\nx:\n  - private: true\n---\n", true, true},
		{"twice, the last no", "---\nprivate: true\nprivate: false\n---\n", true, true},
		{"twice in two cases", "---\nPRIVATE: true\nprivate: false\n---\n", true, true},
		{"public twice", "---\npublish: true\npublish: true\n---\n", false, true},
		{"a value of another kind", "---\nprivate: [x]\n---\n", true, true},
		{"a value in another language", "---\nprivate: ja\n---\n", true, true},
		{"no value yet", "---\nprivate:\n---\n", false, true},
		{"null", "---\nprivate: null # later\n---\n", false, true},
		{"off", "---\nprivate: Off\n---\n", false, true},
		{"a value on the next line", "---\nprivate:\n  true\n---\n", true, true},
		{"a value with a tag", "---\nprivate: !!bool \"true\"\n---\n", true, true},
		{"an escaped key", "---\n\"priv\\u0061te\": true\n---\n", true, true},
		{"an explicit key", "---\n? private\n: true\n---\n", true, true},
		{"a full-width colon", "---\ntitle: x\nprivate：true\n---\n", true, true},
		{"a list of visibilities", "---\nvisibility: [team, private]\n---\n", true, true},
		{"not closed, after an empty line", "---\ntitle: x\n\nprivate: true\n", true, true},
		{"public, not closed", "---\npublish: true\n", false, true},
		{"public in broken YAML", "---\nvisibility: public\ntags: [a\n---\n", false, true},
		{"line ends of old", "---\rprivate: true\r---\r", true, true},
		{"behind an empty line", "\n\n---\nprivate: true\n---\n", true, true},
		{"behind what nobody sees", "\u200b\u00a0---\nprivate: true\n---\n", true, true},
		{"TOML", "+++\nprivate = true\n+++\n", true, true},
		{"TOML, a list", "+++\nvisibility = [\"team\", \"private\"]\n+++\n", true, true},
		{"TOML, a list of several lines", "+++\nvisibility = [\n  # who\n  \"private\",\n]\n+++\n", true, true},
		{"TOML, a text of several lines", "+++\nvisibility = \"\"\"\nprivate\"\"\"\n+++\n", true, true},
		{"TOML, a table", "+++\n[access]\nprivate = 1\n+++\n", true, true},
		{"TOML, not private", "+++\nprivate = false\ntags = [\"private\"]\n+++\n", false, true},
		{"TOML with line ends of old", "+++\rvisibility = [\r'private'\r]\r+++\r", true, true},
		{"TOML that is not closed", "+++\nvisibility = [\n'private'", true, true},
		{"a list of lines", "---\nvisibility:\n  - private\n---\n", true, true},
		{"a list of lines in broken YAML", "---\nvisibility:\n  - team\n  - private\nx: [\n---\n", true, true},
		{"a value on the next line in broken YAML", "---\npublish:\n  false\nx: [\n---\n", true, true},
		{"no value in broken YAML", "---\nprivate:\n# later\nx: [\n---\n", false, true},
		{"y", "---\nprivate: y\n---\n", true, true},
		{"on", "---\nprivate: on\n---\n", true, true},
		{"1", "---\nprivate: 1\n---\n", true, true},
		{"line ends of old behind a BOM", "\ufeff---\rtitle: x\rprivate: \"true\"\r---\rtext\r", true, true},
		{"a fence with blanks", "--- \t\nprivate: true\n...\n", true, true},
		{"commented out", "---\n# private: true\n---\n", false, true},
		{"in the text", "---\ntitle: x\n---\nprivate: true\n", false, true},
		{"too long to tell", "---\n" + strings.Repeat("x: y\n", maxFrontMatter/5+1) + "---\n", true, true},
		{"long and closed", "---\n" + strings.Repeat("# xx\n", maxFrontMatter/5-2) + "private: yes\n---\n", true, true},
		{"UTF-16, little end first", utf16Of("---\ntitle: 上\nprivate: true\n---\n", binary.LittleEndian), true, true},
		{"UTF-16, big end first", utf16Of("---\nvisibility: private\n---\n", binary.BigEndian), true, true},
		{"UTF-16 without a byte order mark", utf16Of("---\nprivate: true\n---\n", binary.LittleEndian)[2:], true, true},
		{"bytes that are no text", "---\ntitle: \xff\xfe\nprivate: true\n---\n", true, true},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			n := parse(t, "n.md", c.text)
			if n.Hidden(VisibilityUnmarked) != c.unmarked || n.Hidden(VisibilityPublic) != c.public {
				t.Errorf("hidden: unmarked %v, public %v; want %v, %v",
					n.Hidden(VisibilityUnmarked), n.Hidden(VisibilityPublic), c.unmarked, c.public)
			}
		})
	}
}

func utf16Of(text string, order binary.AppendByteOrder) string {
	var data []byte
	for _, unit := range utf16.Encode([]rune("\ufeff" + text)) {
		data = order.AppendUint16(data, unit)
	}
	return string(data)
}

// However front matter is written around it, a private mark on a line of its own keeps the note.
func TestMarkIsSeenAmongAnything(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		line := rapid.StringMatching(`[a-z]{0,8}[ :#\-\[\]{}"'|>&*!?a-z0-9\\]{0,20}`)
		before := rapid.SliceOfN(line, 0, 6).Draw(t, "before")
		after := rapid.SliceOfN(line, 0, 6).Draw(t, "after")
		mark := rapid.SampledFrom([]string{"private: true", "visibility: private", "publish: false", "  Private : 'Yes'"}).Draw(t, "mark")
		end := rapid.SampledFrom([]string{"\n", "\r\n"}).Draw(t, "line end")
		lines := slices.Concat([]string{"---"}, before, []string{mark}, after, []string{"---", "text"})
		if slices.ContainsFunc(before, func(l string) bool { return isFence([]byte(l), "---") }) {
			return
		}
		if text := strings.Join(lines, end); !Hides(VisibilityUnmarked, []byte(text)) {
			t.Fatalf("shown: %q", text)
		}
	})
}

func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		"---\ntitle: T\ntags: [a]\n---\n# H\n[[x|y]] [a](b) #c `d`\n```\ne\n```\n",
		"---\na: &a [*a]\n---\n", "---\n? x\n: y\n---\n", "---\n" + strings.Repeat("- ", 50) + "\n---\n", "\ufeff---\r\n...\r\n",
		"---\n!!binary x: |\n---\n", "[[", "](", "# \n=\n", "#\xff", "---\n\"\\x\n---\n",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		n := parse(t, "n.md", text)
		if n.Title == "" || n.Body > len(text) {
			t.Errorf("title %q, body at %d of %d", n.Title, n.Body, len(text))
		}
		lines := strings.Count(text, "\n") + 1
		for _, h := range n.Headings {
			if h.Line < 1 || h.Line > lines {
				t.Errorf("heading %+v in a text of %d lines", h, lines)
			}
		}
	})
}
