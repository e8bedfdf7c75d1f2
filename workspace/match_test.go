package workspace

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"pgregory.net/rapid"

	"writ/envelope"
)

func TestAdapt(t *testing.T) {
	crlf := decode(t, "a\r\nb\r\n", "")
	for in, want := range map[string]string{
		"":            "",
		"x":           "x",
		"\n":          "\r\n",
		"x\ny\n":      "x\r\ny\r\n",
		"x\r\ny\n":    "x\r\ny\r\n",
		"\r":          "\r",
		"x\r":         "x\r",
		"\n\n":        "\r\n\r\n",
		"\r\n\n\r":    "\r\n\r\n\r",
		"already\r\n": "already\r\n",
	} {
		if got, changed := crlf.Adapt(in); got != want || changed != (in != want) {
			t.Errorf("Adapt(%q) = %q, %v; want %q", in, got, changed, want)
		}
	}
	for _, literal := range []string{"a\nb", "a\r\nb\n", "a", ""} {
		if got, changed := decode(t, literal, "").Adapt("x\ny"); got != "x\ny" || changed {
			t.Errorf("in %q: Adapt changed to %q", literal, got)
		}
	}
}

func TestFind(t *testing.T) {
	for _, c := range []struct {
		name, content, old string
		total              int
		line, column       int
		text               string
	}{
		{"nowhere", "abc", "x", 0, 0, 0, ""},
		{"empty", "abc", "", 0, 0, 0, ""},
		{"longer than the text", "abc", "abcd", 0, 0, 0, ""},
		{"first line", "abc\n", "b", 1, 1, 2, "abc"},
		{"columns count characters", "a\néü好x\n", "x", 1, 2, 4, "éü好x"},
		{"overlapping", "aaa", "aa", 2, 1, 1, "aaa"},
		{"overlapping later", "abab ababab", "abab", 3, 1, 1, "abab ababab"},
		{"over two lines", "a\nb\nc", "b\nc", 1, 2, 1, "b"},
		{"a newline itself", "ab\nc", "\n", 1, 1, 3, "ab"},
		{"LF for CRLF", "a\r\nb\r\n", "a\nb", 1, 1, 1, "a"},
		{"ends inside a CRLF", "a\r\nb\r\n", "a\r", 1, 1, 1, "a"},
		{"LF at the start stands for the pair", "a\r\nb\r\n", "\nb", 1, 1, 2, "a"},
		{"LF is literal where endings are mixed", "a\r\nb\nc", "a\nb", 0, 0, 0, ""},
		{"behind a BOM", "\xef\xbb\xbfabc", "a", 1, 1, 1, "abc"},
	} {
		t.Run(c.name, func(t *testing.T) {
			found := decode(t, c.content, "").Find(c.old)
			if found.Total != c.total || len(found.Places) != c.total {
				t.Fatalf("found %d, places %v; want %d", found.Total, found.Places, c.total)
			}
			if c.total == 0 {
				return
			}
			if p := found.Places[0]; p.Line != c.line || p.Column != c.column || p.Text != c.text {
				t.Errorf("got %d:%d %q, want %d:%d %q", p.Line, p.Column, p.Text, c.line, c.column, c.text)
			}
		})
	}
}

func TestFindNamesTheFirstPlacesAndCountsAll(t *testing.T) {
	found := decode(t, strings.Repeat("x\n", 1000), "").Find("x")
	if found.Total != 1000 || len(found.Places) != maxPlaces || found.Places[maxPlaces-1].Line != maxPlaces {
		t.Errorf("total %d, %d places", found.Total, len(found.Places))
	}
	long := strings.Repeat("é", 5000) + "needle" + strings.Repeat("好", 5000)
	p := decode(t, long, "").Find("needle").Places[0]
	if p.Column != 5001 || len(p.Text) > maxPlaceText || !strings.Contains(p.Text, "needle") || !utf8.ValidString(p.Text) {
		t.Errorf("column %d, text of %d bytes %q", p.Column, len(p.Text), p.Text)
	}
}

func TestCountingIsLinear(t *testing.T) {
	// From each place anew this would take some 10^12 steps.
	content := strings.Repeat("a", 2<<20)
	done := make(chan int)
	go func() { done <- decode(t, content, "").Find(content[:1<<20]).Total }()
	select {
	case got := <-done:
		if want := 1<<20 + 1; got != want {
			t.Errorf("got %d, want %d", got, want)
		}
	case <-time.After(time.Minute):
		t.Fatal("still counting")
	}
}

// naive returns where needle occurs, in the plainest way.
func naive(text, needle string) []int {
	var at []int
	for i := 0; needle != "" && i+len(needle) <= len(text); i++ {
		if text[i:i+len(needle)] == needle {
			at = append(at, i)
		}
	}
	return at
}

func TestOccurrencesAreThoseOfANaiveSearch(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringOfN(rapid.SampledFrom([]rune("ab")), 0, 60, -1).Draw(t, "text")
		needle := rapid.StringOfN(rapid.SampledFrom([]rune("ab")), 0, 6, -1).Draw(t, "needle")
		got := slices.Collect(occurrences([]byte(text), []byte(needle)))
		if want := naive(text, needle); !slices.Equal(got, want) {
			t.Fatalf("got %v, want %v", got, want)
		}
	})
}

func TestPlanReplace(t *testing.T) {
	for _, c := range []struct {
		name, content, old, with, want string
		line                           int
		normalized                     []string
	}{
		{"a word", "one two three\n", "two", "2", "one 2 three\n", 1, nil},
		{"nothing in its place", "one\ntwo\n", "\ntwo", "", "one\n", 1, nil},
		{"dollar signs and backslashes are literal", "a\nx\n", "x", `$1\n${x}`, "a\n$1\\n${x}\n", 2, nil},
		{"whitespace is kept", "a\n", "a", " \ta ", " \ta \n", 1, nil},
		{"no final newline is added", "a\nb", "b", "c", "a\nc", 2, nil},
		{"LF for CRLF in both", "a\r\nb\r\nc\r\n", "a\nb", "x\ny\nz", "x\r\ny\r\nz\r\nc\r\n", 1, []string{"old_text", "new_text"}},
		{"LF for CRLF in new_text alone", "a\r\nb\r\n", "b", "b\nc", "a\r\nb\r\nc\r\n", 2, []string{"new_text"}},
		{"CRLF given", "a\r\nb\r\n", "a\r\nb", "x\r\ny", "x\r\ny\r\n", 1, nil},
		{"the CR of a CRLF", "a\r\nb\r\n", "a\r", "x\r", "x\r\nb\r\n", 1, nil},
		{"mixed endings are literal", "a\r\nb\nc\n", "b\nc", "b\nd", "a\r\nb\nd\n", 2, nil},
		{"equal once adapted", "a\r\nb\r\n", "a\nb", "a\r\nb", "a\r\nb\r\n", 1, []string{"old_text"}},
		{"BOM stays", "\xef\xbb\xbfab", "a", "x", "\xef\xbb\xbfxb", 1, nil},
		{"the other Unicode form is another text", "e\u0301 é", "é", "e", "e\u0301 e", 1, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			plan, err := PlanReplace(decode(t, c.content, ""), c.old, c.with)
			if err != nil {
				t.Fatal(err)
			}
			if got := string(ApplySplices([]byte(c.content), plan.Splices)); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
			if (len(plan.Splices) == 0) != (c.content == c.want) {
				t.Errorf("splices %v", plan.Splices)
			}
			if plan.Line != c.line {
				t.Errorf("line %d, want %d", plan.Line, c.line)
			}
			var normalized []string
			for _, n := range plan.Normalizations {
				if n.Rule != "lf-to-crlf" {
					t.Errorf("rule %q", n.Rule)
				}
				normalized = append(normalized, n.Parameter)
			}
			if !slices.Equal(normalized, c.normalized) {
				t.Errorf("normalized %v, want %v", normalized, c.normalized)
			}
		})
	}
}

func TestPlanReplaceRefuses(t *testing.T) {
	text := decode(t, "aaa\nbbb\n", "")
	_, err := PlanReplace(text, "aaa", "aaa")
	wantCode(t, err, envelope.NoChange)
	_, err = PlanReplace(text, "", "x")
	wantCode(t, err, envelope.Length)

	_, err = PlanReplace(text, "aa", "x")
	cause := wantCode(t, err, envelope.TextNotUnique)
	many, ok := errors.AsType[*ManyMatchesError](err)
	if !ok || many.Total != 2 || len(many.Matches) != 2 || many.Matches[1].Column != 2 {
		t.Errorf("got %+v", many)
	}
	if want := "old_text occurs 2 times, in lines 1, 1. Add lines before or after it until it occurs once."; cause.Message != want {
		t.Errorf("message %q", cause.Message)
	}

	_, err = PlanReplace(text, "AAA\n", "x")
	cause = wantCode(t, err, envelope.TextNotFound)
	miss, ok := errors.AsType[*NoMatchError](err)
	if !ok || miss.Diagnosis.Line != 1 || cause.Next != envelope.FixArguments {
		t.Errorf("got %+v, next %s", miss, cause.Next)
	}
	if strings.Contains(cause.Message, "aaa") {
		t.Errorf("message %q repeats text of the file", cause.Message)
	}
	_, err = PlanReplace(text, "something else altogether", "x")
	if cause = wantCode(t, err, envelope.TextNotFound); cause.Next != "" {
		t.Errorf("next %q where nothing is close", cause.Next)
	}
	_, err = PlanReplace(decode(t, "abc", "iso-8859-1"), "b", "好")
	wantCode(t, err, envelope.NotEncodable)
}

func TestPlanAppend(t *testing.T) {
	for _, c := range []struct {
		name, content, text, want string
		line                      int
		normalized                bool
	}{
		{"behind a newline", "a\n", "b", "a\nb", 2, false},
		{"behind no newline: none is added", "a", "b\n", "ab\n", 1, false},
		{"to an empty file", "", "b\n", "b\n", 1, false},
		{"LF for CRLF", "a\r\n", "b\nc\n", "a\r\nb\r\nc\r\n", 2, true},
		{"behind a BOM", "\xef\xbb\xbf", "b", "\xef\xbb\xbfb", 1, false},
		{"in UTF-16", "\xff\xfea\x00", "é", "\xff\xfea\x00\xe9\x00", 1, false},
		{"nothing", "a", "", "a", 1, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			plan, err := PlanAppend(decode(t, c.content, ""), c.text)
			if err != nil {
				t.Fatal(err)
			}
			if got := string(ApplySplices([]byte(c.content), plan.Splices)); got != c.want || plan.Line != c.line {
				t.Errorf("got %q in line %d, want %q in line %d", got, plan.Line, c.want, c.line)
			}
			if (len(plan.Normalizations) > 0) != c.normalized {
				t.Errorf("normalizations %v", plan.Normalizations)
			}
		})
	}
}

func TestPlanReplaceInOtherEncodings(t *testing.T) {
	for _, encoding := range named {
		if encoding == "koi8-r" || encoding == "x-user-defined" {
			continue // they lack the letters
		}
		raw, err := EncodeText("one\r\ntwo\r\nthree", encoding)
		if err != nil {
			t.Fatal(err)
		}
		text, err := DecodeText(raw, encoding)
		if err != nil {
			t.Fatal(err)
		}
		plan, err := PlanReplace(text, "two\n", "2\n")
		if err != nil {
			t.Fatal(err)
		}
		want, _ := EncodeText("one\r\n2\r\nthree", encoding)
		if got := ApplySplices(raw, plan.Splices); !bytes.Equal(got, want) {
			t.Errorf("%s: got %q, want %q", encoding, got, want)
		}
	}
}

func FuzzPlanReplace(f *testing.F) {
	f.Add("one\ntwo\n", "two", "three")
	f.Add("a\r\nb\r\n", "a\nb", "\n\n")
	f.Add("aaaa", "aa", "b")
	f.Add("a\r\nb\r\n", "a\r", "x\n")
	f.Add("caf\u00e9 \u201cx\u201d &amp; [redacted:key]", "cafe\u0301 \"X\" & [redacted:key]", "")
	f.Fuzz(func(t *testing.T, content, old, with string) {
		if !utf8.ValidString(old) || !utf8.ValidString(with) {
			return // stopped before: arguments are UTF-8
		}
		text, err := DecodeText([]byte(content), "")
		if err != nil {
			return
		}
		needle, _ := text.Adapt(old)
		at := naive(text.String(), needle)
		if got := text.Find(old).Total; got != len(at) || text.Count(old) != got {
			t.Fatalf("%d occurrences, want %d", got, len(at))
		}
		plan, err := PlanReplace(text, old, with)
		if err != nil {
			if many, ok := errors.AsType[*ManyMatchesError](err); ok != (len(at) > 1 && old != with) || ok && many.Total != len(at) {
				t.Fatalf("%d occurrences, error %v", len(at), err)
			}
			if miss, ok := errors.AsType[*NoMatchError](err); ok {
				checkDiagnosis(t, text, miss.Diagnosis)
			}
			return
		}
		if len(at) != 1 {
			t.Fatalf("%d occurrences, and a plan", len(at))
		}
		new, _ := text.Adapt(with)
		body := text.String()
		mark := content[:len(content)-len(body)]
		want := mark + body[:at[0]] + new + body[at[0]+len(needle):]
		if got := string(ApplySplices([]byte(content), plan.Splices)); got != want {
			t.Fatalf("got %q, want %q", got, want)
		}
		diff := text.SpliceDiff("f", 200, plan)
		if (diff == "") != (want == content) {
			t.Fatalf("%q → %q has the diff %q", content, want, diff)
		}
	})
}

func checkDiagnosis(t *testing.T, text *Text, d Diagnosis) {
	t.Helper()
	if !strings.Contains(text.String(), d.Text) || len(d.Text) > maxDiagnosisText {
		t.Fatalf("the text of the diagnosis, %q, is not the file's", d.Text)
	}
	if d.Line < 0 || d.Line > text.Lines() || d.Differs == nil || d.Line > 0 && (d.Occurrences < 1 || len(d.Differs) == 0) {
		t.Fatalf("diagnosis %+v", d)
	}
}

func large() (data []byte, line string) {
	var b bytes.Buffer
	for i := 0; b.Len() < 10<<20; i++ {
		b.WriteString("The quick brown fox jumps over the lazy dog, time ")
		b.WriteString(strings.Repeat("x", i%7))
		b.WriteString(strings.Join([]string{"", string(rune('a' + i%26)), string(rune('a' + i/26%26)), string(rune('a' + i/676%26)), string(rune('a' + i/17576%26))}, " "))
		b.WriteByte('\n')
	}
	lines := bytes.SplitAfter(b.Bytes(), []byte("\n"))
	return b.Bytes(), string(lines[len(lines)*2/3])
}

func BenchmarkPlanReplace10MB(b *testing.B) {
	data, line := large()
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	for b.Loop() {
		text, err := DecodeText(data, "")
		if err != nil {
			b.Fatal(err)
		}
		if _, err := PlanReplace(text, line, "new\n"); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkDiagnose10MB(b *testing.B) {
	data, line := large()
	text := decode(b, string(data), "")
	for name, old := range map[string]string{
		"quotes":  strings.ReplaceAll(line, "over", "o\u200bver"),
		"similar": strings.ReplaceAll(line, "brown", "white"),
		"nothing": "0123456789 zyxwvutsrqponm 98765432\n",
	} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(data)))
			b.ReportAllocs()
			for b.Loop() {
				Diagnose(text, old)
			}
		})
	}
	chinese := decode(b, strings.Repeat("海内存知己，天涯若比邻。无为在歧路，儿女共沾巾。“你好”\n", 10<<20/80)+"海内存知己，天涯若比鄰。\n", "")
	b.Run("chinese", func(b *testing.B) {
		b.SetBytes(int64(len(chinese.Bytes())))
		for b.Loop() {
			Diagnose(chinese, "海内存知己,天涯若比鄰。")
		}
	})
}
