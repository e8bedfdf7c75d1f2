package workspace

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

func TestDiagnose(t *testing.T) {
	for _, c := range []struct {
		name, content, old string
		differs            string // joined by spaces
		line               int
		text               string
		occurrences        int
	}{
		{"LF in a file of mixed endings", "a\r\nfoo\r\nbar\nc\n", "foo\nbar", "line-endings", 2, "foo\r\nbar", 1},
		{"CRLF in a file of LFs", "a\nfoo\nbar\n", "foo\r\nbar\r\n", "line-endings", 2, "foo\nbar\n", 1},
		{"nothing but newlines", "a\r\n\r\nb\nc", "\n\n", "line-endings", 1, "\r\n\r\n", 1},
		{"tab for spaces at the start", "if x:\n\treturn 1\n", "if x:\n    return 1", "indentation", 1, "if x:\n\treturn 1", 1},
		{"leading indentation of the first line", "x\n\tfoo()\n", "  foo()\n", "indentation", 2, "\tfoo()\n", 1},
		{"indentation left out", "\tfoo()\n\tbar()\n", "foo()\nbar()\n", "indentation", 1, "foo()\n\tbar()\n", 1},
		{"two blanks between words", "alpha  beta\n", "alpha beta", "whitespace", 1, "alpha  beta", 1},
		{"trailing blanks", "alpha  \nbeta\n", "alpha\nbeta", "whitespace", 1, "alpha  \nbeta", 1},
		{"trailing blanks at the end of old_text", "alpha\nbeta\n", "alpha  \n", "whitespace", 1, "alpha\n", 1},
		{"no-break space", "alpha\u00a0beta\n", "alpha beta", "whitespace", 1, "alpha\u00a0beta", 1},
		{"a blank line more", "alpha\n\nbeta\n", "alpha\nbeta", "whitespace", 1, "alpha\n\nbeta", 1},
		{"lines broken elsewhere", "alpha beta\ngamma delta\n", "alpha\nbeta gamma\ndelta", "whitespace", 1, "alpha beta\ngamma delta", 1},
		{"curly quotes", "say “hi” now\n", `say "hi" now`, "quotes", 1, "say “hi” now", 1},
		{"curly apostrophe", "it’s\n", "it's", "quotes", 1, "it’s", 1},
		{"single for double", "x = 'a'\n", `x = "a"`, "quotes", 1, "x = 'a'", 1},
		{"em dash", "a — b\n", "a - b", "dashes", 1, "a — b", 1},
		{"two hyphens for a dash", "word—word\n", "word--word", "dashes", 1, "word—word", 1},
		{"minus", "1 − 2\n", "1 - 2", "dashes", 1, "1 − 2", 1},
		{"decomposed", "un cafe\u0301 noir\n", "café", "unicode-normalization", 1, "cafe\u0301", 1},
		{"composed", "un café noir\n", "cafe\u0301", "unicode-normalization", 1, "café", 1},
		{"decomposed Hangul", "x \u1112\u1161\u11ab y\n", "한 y", "unicode-normalization", 1, "\u1112\u1161\u11ab y", 1},
		{"Hangul that ends the text", "x \u1112\u1161\u11ab", "x 한", "unicode-normalization", 1, "x \u1112\u1161\u11ab", 1},
		{"wide comma", "你好，世界\n", "你好,世界", "unicode-normalization", 1, "你好，世界", 1},
		{"ellipsis", "wait… what\n", "wait... what", "unicode-normalization", 1, "wait… what", 1},
		{"zero-width space", "pass\u200bword\n", "password", "invisible-characters", 1, "pass\u200bword", 1},
		{"soft hyphen", "hy\u00adphen\n", "hyphen", "invisible-characters", 1, "hy\u00adphen", 1},
		{"BOM inside", "a\n\ufeffbc\n", "a\nbc", "invisible-characters", 1, "a\n\ufeffbc", 1},
		{"case", "Hello World\n", "hello world", "case", 1, "Hello World", 1},
		{"Greek case", "ΑΒΓ\n", "αβγ", "case", 1, "ΑΒΓ", 1},
		{"newline that the end lacks", "a\nfoo", "foo\n", "final-newline", 2, "foo", 1},
		{"newline that the end lacks, and a longer line before", "foobar\nfoo", "foo\n", "final-newline", 2, "foo", 1},
		{"entity in the file", "a &lt; b &amp; c\n", "a < b & c", "entities", 1, "a &lt; b &amp; c", 1},
		{"entity in old_text", "if (a < b && c)\n", "if (a &lt; b &amp;&amp; c)", "entities", 1, "if (a < b && c)", 1},
		{"numeric entities", "it's — x\n", "it&#39;s &#x2014; x", "entities", 1, "it's — x", 1},
		{"&nbsp;", "a b c\n", "a&nbsp;b&#160;c", "whitespace entities", 1, "a b c", 1},
		{"quotes and case", "Say “Hi”\n", `say "hi"`, "quotes case", 1, "Say “Hi”", 1},
		{"dashes, quotes and indentation", "\tfoo – “x”\n\tbar\n", "  foo - \"x\"\n  bar\n", "indentation quotes dashes", 1, "\tfoo – “x”\n\tbar\n", 1},
		{"entity for a quote that is curly in the file", "“x”\n", "&quot;x&quot;", "quotes entities", 1, "“x”", 1},
		{"the best of several places", "HELLO “x”\nHello “x”\nhello “x”\n", `hello "x"`, "quotes", 3, "hello “x”", 3},
		{"a word is another", "first line here\nthe quick brown fox jumps over\nlast\n", "the quick green fox jumps over", "similar", 2, "the quick brown fox jumps over", 1},
		{"a line is another", "zero\nalpha one two\nbeta three four\ngamma five six\nend\n", "alpha one two\nBETA CHANGED\ngamma five six\n", "similar", 2, "alpha one two\nbeta three four\ngamma five six", 1},
		{"the end is another", "unrelated text before it\nfunc compute(x int) int {\n\treturn x * 2\n}\n", "func compute(x int) int {\n\tpanic(\"no\")\n", "similar", 2, "func compute(x int) int {\n\treturn x * 2", 1},
		{"Chinese with another character", "前言\n海内存知己天涯若比邻无为在歧路\n", "海内存知己天涯若彼邻无为在歧路", "similar", 2, "海内存知己天涯若比邻无为在歧路", 1},
		{"nothing close", "alpha beta gamma\n", "something else entirely 42", "", 0, "", 0},
		{"too short for similarity", "alpha beta\n", "xyz", "", 0, "", 0},
		{"empty file", "", "abc", "", 0, "", 0},
		{"nothing but blanks", "a b\n", "\t\t\t", "whitespace", 0, "", 0},
		{"placeholder", "a\nkey = AKIA1234\nb\n", "key = [redacted:aws-access-key]\nb", "redacted", 2, "", 1},
		{"placeholder alone", "a\nkey\n", "[redacted:x]", "redacted", 0, "", 0},
		{"LF stands for CRLF and is no difference", "A\r\nb\r\n", "a\nb", "case", 1, "A\r\nb", 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			text := decode(t, c.content, "")
			if found := text.Find(c.old); found.Total != 0 {
				t.Fatal("it occurs")
			}
			d := Diagnose(text, c.old)
			if got := strings.Join(d.Differs, " "); got != c.differs || d.Line != c.line || d.Text != c.text || d.Occurrences != c.occurrences {
				t.Errorf("got %q line %d text %q occurrences %d", got, d.Line, d.Text, d.Occurrences)
			}
			checkDiagnosis(t, text, d)
			if d.Text != "" && strings.Contains(d.message(), d.Text) {
				t.Errorf("message %q repeats text of the file", d.message())
			}
		})
	}
}

func TestDiagnosisIsCut(t *testing.T) {
	long := strings.Repeat("Lorem ipsum dolor sit amet, é. ", 1000)
	d := Diagnose(decode(t, long+"\n", ""), strings.ToLower(long))
	if len(d.Text) > maxDiagnosisText || len(d.Text) < maxDiagnosisText-utf8.UTFMax || !utf8.ValidString(d.Text) {
		t.Errorf("text of %d bytes", len(d.Text))
	}
	if want := "its start"; !strings.Contains(d.message(), "only its start") {
		t.Errorf("message %q does not say %q", d.message(), want)
	}
	if got := strings.Join(d.Differs, " "); got != "case" {
		t.Errorf("differs in %s", got)
	}
}

func TestSimilarPlaceFarIntoALongLine(t *testing.T) {
	var b strings.Builder
	for i := range 3000 {
		b.WriteString(strings.Repeat(string(rune('a'+i%26)), 3) + " ")
	}
	content := b.String() + "the needle of this haystack is made of steel" + b.String()
	d := Diagnose(decode(t, content, ""), "the needle of this haystack is made of brass")
	if !strings.HasPrefix(d.Text, "the needle of this haystack is made of steel") || d.Line != 1 {
		t.Errorf("line %d, text %.60q", d.Line, d.Text)
	}
}

// A text that a rule changed is found again at its place, whatever else is in the file.
func TestDiagnoseFindsWhatWasChangedByOneRule(t *testing.T) {
	swaps := []struct{ word, from, to string }{
		{"quotes", "“", `"`}, {"dashes", "–", "-"}, {"case", "K", "k"}, {"entities", "&amp;", "&"},
		{"unicode-normalization", "é", "e\u0301"}, {"invisible-characters", "\u200b", ""}, {"whitespace", "ü  ", "ü "},
	}
	rapid.Check(t, func(t *rapid.T) {
		swap := rapid.SampledFrom(swaps).Draw(t, "swap")
		filler := rapid.StringOfN(rapid.SampledFrom([]rune("ab 你\n\u1161\u0301ﬁ“-—&;'.")), 0, 3000, -1)
		before, after := filler.Draw(t, "before"), filler.Draw(t, "after")
		line := "Zeile eins " + swap.from + "zwei" + swap.from + " 端"
		text, err := DecodeText([]byte(before+"\n"+line+"\n"+after), "")
		if err != nil {
			t.Fatal(err)
		}
		d := Diagnose(text, strings.ReplaceAll(line, swap.from, swap.to))
		if !slices.Equal(d.Differs, []string{swap.word}) || d.Text != line || d.Line != 2+strings.Count(before, "\n") {
			t.Fatalf("got %+v", d)
		}
	})
}

// The way back from a folded text gives a place that folds to what was looked for.
func TestFoldedPlacesFoldToThemselves(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := []byte(rapid.StringOfN(rapid.SampledFrom([]rune("aB cé \n“”-—\u0301你好，&;amp\u200bＡ")), 1, 3000, -1).Draw(t, "text"))
		whole := foldAll(text)
		if plain := fold(string(text), allDifferences); plain != string(whole.folded) {
			t.Fatal("folded in parts it is another text")
		}
		words := strings.Fields(string(text))
		if len(words) == 0 {
			return
		}
		word := rapid.SampledFrom(words).Draw(t, "word")
		needle := foldAll([]byte(word)).folded
		for i := range occurrences(whole.folded, needle) {
			start, end := whole.start(i), whole.end(i+len(needle))
			if start < 0 || end > len(text) || start > end {
				t.Fatalf("place %d:%d", start, end)
			}
		}
	})
}

// Texts that would take long, or much memory, if any step were more than linear.
func TestDiagnoseIsBounded(t *testing.T) {
	const size = 256 << 10
	repeat := func(s string) string { return strings.Repeat(s, size/len(s)) }
	for name, c := range map[string]struct{ content, old string }{
		"nothing but accents":       {"A" + repeat("\u0301") + "B\n", "a" + strings.Repeat("\u0301", 20) + "\u0302"},
		"Thai without a blank":      {repeat("ภาษาไทย") + "x“y”\n", "ไทยx\"y\""},
		"nothing but zero-widths":   {"aB" + repeat("\u200b") + "c\n", "abc"},
		"nothing but blanks":        {"aB" + repeat(" ") + "c\n", "ab c"},
		"one letter":                {repeat("A"), strings.Repeat("a", 5000)},
		"one letter, almost":        {repeat("A"), strings.Repeat("a", 5000) + "b"},
		"similar lines everywhere":  {repeat("the quick brown fox jumps over the lazy dog\n"), "the quick white fox jumps over the lazy dog"},
		"a wanted text of the size": {repeat("some line of text\n"), repeat("Some Line of text\n")},
		"entities everywhere":       {repeat("&amp;"), strings.Repeat("&", 500) + "x"},
		"ampersands everywhere":     {repeat("&"), strings.Repeat("&amp;", 500) + "x"},
		"ligatures that grow":       {repeat("ﷺ"), "صلىX"},
	} {
		t.Run(name, func(t *testing.T) {
			text := decode(t, c.content, "")
			checkDiagnosis(t, text, Diagnose(text, c.old))
		})
	}
}
