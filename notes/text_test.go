package notes

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestFold(t *testing.T) {
	cases := []struct{ name, in, want string }{
		{"case", "GaRdEn", "garden"},
		{"sharp s", "Größe GRÖSSE ẞ", "grosse grosse ss"},
		{"letters that do not decompose", "Ærø Łódź Øđ œ", "aero lodz od oe"},
		{"accents composed and not", "é e\u0301", "e e"},
		{"Vietnamese", "Tiếng Việt", "tieng viet"},
		{"Cyrillic", "Ёлка", "елка"},
		{"dotted capital i", "İstanbul", "istanbul"},
		{"quotes and dashes", "‘a’ “b” – — ‑", `'a' "b" - - -`},
		{"full width", "ＡＢＣ１２３（）", "abc123()"},
		{"ligature", "ﬁn", "fin"},
		{"white space", "a \t\r\n\u00a0\u3000b", "a b"},
		{"invisible characters", "a\u200bb\u00adc\ufeffd", "abcd"},
		{"voicing marks stay", "がぎパ", "がぎパ"},
		{"decomposed kana", "か\u3099ハ\u309a", "がパ"},
		{"half-width kana", "ｶﾞｰﾃﾞﾝ", "ガーデン"},
		{"decomposed Hangul", "\u1112\u1161\u11ab\u1100\u1173\u11af", "한글"},
		{"Hindi vowel signs stay", "हिन्दी", "हिन्दी"},
		{"bad UTF-8", "a\xffb", "a b"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			if got := fold(c.in); got != c.want {
				t.Errorf("fold(%q) = %q, want %q", c.in, got, c.want)
			}
		})
	}
}

func tokensOf(text string) []string {
	var tokens []string
	tok := tokenizer{text: []byte(text)}
	for tok.next() {
		tokens = append(tokens, string(tok.token))
	}
	return tokens
}

func TestTokens(t *testing.T) {
	cases := []struct {
		name, in string
		want     []string
	}{
		{"words", "The garden, 2 sensors.", []string{"the", "garden", "2", "sensors"}},
		{"names", "fs.readFile max_connections gpt-4o", []string{"fs", "readfile", "max", "connections", "gpt", "4o"}},
		{"a run", "无线传感", []string{"无线", "线传", "传感", "感"}},
		{"a run of one", "好", []string{"好"}},
		{"a border", "重跑gen后", []string{"重跑", "跑", "gen", "后"}},
		{"punctuation between runs", "先悬，空了", []string{"先悬", "悬", "空了", "了"}},
		{"accents", "Größe", []string{"grosse"}},
		{"accents at the end", "cafe\u0301 x", []string{"cafe", "x"}},
		{"half-width kana", "ｶﾞｰﾃﾞﾝ", []string{"ガー", "ーデ", "デン", "ン"}},
		{"four-byte characters", "𠮷野", []string{"𠮷野", "野"}},
		{"characters that unfold to several", "㍿x", []string{"株式", "式会", "会社", "社", "x"}},
		{"nothing", " .\n", nil},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			if got := tokensOf(c.in); !slices.Equal(got, c.want) {
				t.Errorf("tokens of %q: %q, want %q", c.in, got, c.want)
			}
		})
	}
}

// Where a text is folded before it is cut must make no difference, and every token must stand where it says.
func FuzzTokens(f *testing.F) {
	for _, seed := range []string{"重跑gen-itgc后", "Größe ﬁ ㍿", "ｶﾞか\u3099", "a\u0301\u200b", "\xff한글\u1100\u1161"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		tok := tokenizer{text: []byte(text)}
		last := 0
		for n := 0; tok.next(); n++ {
			if len(tok.token) == 0 || tok.start < last || tok.end <= tok.start || tok.end > len(text) {
				t.Fatalf("token %q at %d to %d of %d, the one before at %d", tok.token, tok.start, tok.end, len(text), last)
			}
			last = tok.start
		}
		folded := fold(text)
		if !utf8.ValidString(folded) {
			t.Errorf("fold(%q) = %q is not UTF-8", text, folded)
		}
		if again := fold(folded); again != folded {
			t.Errorf("fold(%q) = %q, folded again %q", text, folded, again)
		}
		if whole, cut := tokensOf(folded), tokensOf(text); !slices.Equal(whole, cut) {
			t.Errorf("%q: tokens %q, of the folded text %q", text, cut, whole)
		}
	})
}

// To look for a query's words in a folded text and to look at each token of the text are the same.
func FuzzWeigh(f *testing.F) {
	for _, seed := range [][2]string{
		{"字字* aa 重跑 gen*", "重跑gen-itgc后 字字字 aaa aa\u0301 generation"},
		{"ｶﾞ か\u3099 한글", "ｶﾞか\u3099 한글\u1100\u1161한글"},
		{"ss ㍿ 😀😀 式", "Größe ss\u200bss ㍿㍿ 😀😀😀\u200d😀"},
		{"x* x xx", "\xffx\xff xx\nx\u00a0X"},
	} {
		f.Add(seed[0], seed[1])
	}
	f.Fuzz(func(t *testing.T, query, text string) {
		q, err := ParseQuery(query)
		if err != nil || len(q.atoms) == 0 {
			t.Skip()
		}
		byToken, byAtom := newScan(&q, "").borrow(), newScan(&q, "").borrow()
		a := byToken.weighTokens([]byte(text), 1)
		b := byAtom.weighFolded(appendFolded(nil, []byte(text)), 1)
		if a != b || !slices.Equal(byToken.hits, byAtom.hits) {
			t.Errorf("%q in %q: %v by token, %v by atom; atoms %+v", query, text, byToken.hits, byAtom.hits, q.atoms)
		}
	})
}

func FuzzParseQuery(f *testing.F) {
	for _, seed := range []string{`a AND "b`, "tag:x path:", "「」“”", "C++ a*b -1", "字*", "#a #1 #", "重跑gen-itgc后", "\xff\xfe", `tag:"`} {
		f.Add(seed, "重跑gen-itgc后 C++ a*b\n# T\n")
	}
	f.Fuzz(func(t *testing.T, query, text string) {
		q, err := ParseQuery(query)
		if n := utf8.RuneCountInString(query); (err != nil) != (n == 0 || n > MaxQuery) {
			t.Fatalf("ParseQuery of %d characters: %v", n, err)
		}
		if err != nil {
			return
		}
		s := newScan(&q, "")
		s.findNeighbours()
		w := s.borrow()
		note := parse(t, "n.md", text)
		r, _, ok := w.examine(note.Path, []byte(text))
		if ok && len(r.values) != len(q.terms)+len(q.atoms) {
			t.Errorf("%d values for %d terms and %d atoms", len(r.values), len(q.terms), len(q.atoms))
		}
		cut := cutter{text: []byte(text), targets: []target{{newNeedle("a", false), 1}}}
		if e := cut.excerpt(note.Body); len(e.text) > SnippetBytes || !strings.Contains(text, string(e.text)) {
			t.Errorf("excerpt %q of %q", e.text, text)
		}
	})
}

func TestParseQueryLength(t *testing.T) {
	for _, c := range []struct {
		name, query string
		fails       bool
	}{
		{"nothing", "", true},
		{"one character", "a", false},
		{"200 Chinese characters", strings.Repeat("字", 200), false},
		{"201 Chinese characters", strings.Repeat("字", 201), true},
	} {
		t.Run(c.name, func(t *testing.T) {
			if _, err := ParseQuery(c.query); (err != nil) != c.fails {
				t.Errorf("ParseQuery: %v", err)
			}
		})
	}
}

func TestDistance(t *testing.T) {
	for _, c := range []struct {
		name, a, b string
		want       int
	}{
		{"the same", "garden", "garden", 0},
		{"a letter less", "gardn", "garden", 1},
		{"another letter", "gerden", "garden", 1},
		{"neighbours swapped", "gadren", "garden", 1},
		{"two errors", "gradn", "garden", 2},
		{"another script", "сад", "сода", 2},
		{"nothing", "", "ab", 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := distance([]rune(c.a), []rune(c.b)); got != c.want {
				t.Errorf("distance %d, want %d", got, c.want)
			}
		})
	}
}

// Folding twice must be folding once, for each character there is: queries and texts are folded apart.
func TestFoldTwice(t *testing.T) {
	for r := rune(0); r <= 0x2ffff; r++ {
		if !utf8.ValidRune(r) {
			continue
		}
		once := fold(string(r))
		if twice := fold(once); twice != once {
			t.Errorf("%U folds to %+q and then to %+q", r, once, twice)
		}
	}
}
