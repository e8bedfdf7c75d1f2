package workspace

import (
	"bytes"
	"context"
	"regexp"
	"slices"
	"strings"
	"testing"

	"writ/contract"

	"pgregory.net/rapid"
)

// marked takes for a secret whatever stands between two marks, line ends included.
type marked struct{ looked *int }

var markedText = regexp.MustCompile(`(?s)<[^<>]+>`)

func (m marked) Find(text []byte) []Span {
	if m.looked != nil {
		*m.looked += len(text)
	}
	var spans []Span
	for _, at := range markedText.FindAllIndex(text, -1) {
		spans = append(spans, Span{at[0], at[1], "mark"})
	}
	return spans
}

func TestShow(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"nothing to keep back", "a\nb\n", "a\nb\n"},
		{"within a line", "a <b> c\n", "a [redacted:mark] c\n"},
		{"two in a line", "<a><b> <c>", "[redacted:mark] [redacted:mark]"},
		{"over lines", "a <b\nc\nd> e\n", "a [redacted:mark]\n[redacted:mark]\n[redacted:mark] e\n"},
		{"over lines that end in CRLF", "<b\r\n\r\nc>\r\n", "[redacted:mark]\r\n\r\n[redacted:mark]\r\n"},
		{"all of it", "<a>", "[redacted:mark]"},
		{"empty", "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := Redact(marked{}, c.text); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

// However a text is cut up, each line is shown the same, and has its number.
func TestLinesAreShownTheSameInEveryWindow(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		lines := rapid.SliceOfN(rapid.StringMatching(`[a-z<> ]{0,12}`), 1, 30).Draw(t, "lines")
		text := strings.Join(lines, "\n")
		whole := strings.Split(Redact(marked{}, text), "\n")
		if len(whole) != len(lines) {
			t.Fatalf("%d lines are shown as %d", len(lines), len(whole))
		}
		first := rapid.IntRange(0, len(lines)-1).Draw(t, "first")
		last := rapid.IntRange(first, len(lines)-1).Draw(t, "last")
		from := len(strings.Join(lines[:first], "\n"))
		if first > 0 {
			from++
		}
		to := from + len(strings.Join(lines[first:last+1], "\n"))
		got := string(showPart(marked{}, []byte(text), from, to))
		if want := strings.Join(whole[first:last+1], "\n"); got != want {
			t.Fatalf("lines %d to %d of %q are shown as %q, want %q", first, last, text, got, want)
		}
	})
}

func TestOnlyTheSurroundingsAreLookedAt(t *testing.T) {
	text := []byte(strings.Repeat("plain text and <secret> too\n", 400_000))
	looked := 0
	finder := marked{&looked}
	at := len(text) / 2 / 28 * 28
	if got := string(showPart(finder, text, at, at+28)); got != "plain text and [redacted:mark] too\n" {
		t.Errorf("got %q", got)
	}
	if looked > 3*SecretMargin {
		t.Errorf("%d bytes were looked at to show one line", looked)
	}
	looked = 0
	v := newVeil(finder, text)
	for at := 0; at < len(text); at += 280 {
		if len(v.in(at, at+28)) != 1 {
			t.Fatalf("the secret of the line at %d is not found", at)
		}
	}
	if looked > 2*len(text) {
		t.Errorf("%d bytes were looked at of %d", looked, len(text))
	}
}

// A secret that lies across the parts in which a large text is looked at is one.
func TestSecretsAcrossBlocks(t *testing.T) {
	for _, shift := range []int{-20, -1, 0, 1, 20} {
		text := []byte(strings.Repeat("x", veilBlock-10+shift) + "<0123456789 0123456789>" + strings.Repeat("y", veilBlock))
		v := newVeil(marked{}, text)
		want := strings.Repeat("x", veilBlock-10+shift) + "[redacted:mark]" + strings.Repeat("y", veilBlock)
		if got := string(v.show(0, len(text))); got != want {
			t.Errorf("shift %d: got %d bytes", shift, len(got))
		}
	}
}

func TestSecretsOfLargeFilesInEveryWindow(t *testing.T) {
	var text strings.Builder
	for range 4000 {
		text.WriteString("some plain text\nkey <secret one>\nand <two\nlines> of it\n")
	}
	w := open(t, Options{Roots: []Root{{Dir: world(t, map[string]string{"f": text.String()})}}, Secrets: marked{}})
	r := w.Reader(anyone{})
	p, err := contract.ParsePath("f")
	if err != nil {
		t.Fatal(err)
	}
	want := strings.SplitAfter(Redact(marked{}, text.String()), "\n")
	for first := 1; first < 15_990; first += 97 {
		page, err := r.Lines(context.Background(), p, LineRange{Offset: first, Limit: 5})
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(want[first-1:first+4], ""); page.Text != got {
			t.Fatalf("from line %d on: %q, want %q", first, page.Text, got)
		}
	}
}

// What is found does not depend on what is kept back.
func TestFindingBesideSecrets(t *testing.T) {
	for _, c := range []struct {
		old     string
		total   int
		columns []int
	}{
		{"a", 2, []int{1, 19}},
		{"<", 0, nil},
		{"<b", 0, nil},
		{" <b> ", 0, nil},
		{"ab", 0, nil},
		{" a", 1, []int{18}},
	} {
		text, err := DecodeText([]byte("a <bab> a"), "")
		if err != nil {
			t.Fatal(err)
		}
		text.veil = newVeil(marked{}, text.content)
		found := text.Find(c.old)
		var columns []int
		for _, p := range found.Places {
			columns = append(columns, p.Column)
			if p.Text != "a [redacted:mark] a" {
				t.Errorf("%q: the line is shown as %q", c.old, p.Text)
			}
		}
		if found.Total != c.total || text.Count(c.old) != c.total || !slices.Equal(columns, c.columns) {
			t.Errorf("%q occurs %d times in columns %v, want %d in %v", c.old, found.Total, columns, c.total, c.columns)
		}
	}
}

// A diff compares what is there, and shows what may be seen.
func TestDiffKeepsSecretsBack(t *testing.T) {
	w := open(t, Options{Roots: []Root{{Dir: t.TempDir()}}, Secrets: marked{}})
	p, err := contract.ParsePath("f")
	if err != nil {
		t.Fatal(err)
	}
	long := strings.Repeat("w ", 400)
	for _, c := range []struct{ name, before, after, want string }{
		{"a secret for another", "a\n<b>\nc\n", "a\n<d>\nc\n", " a\n-[redacted:mark]\n+[redacted:mark]\n c\n"},
		{"a secret beside", "a\n<b>\nc\n", "a\n<b>\nd\n", " [redacted:mark]\n-c\n+d\n"},
		{"over lines", "<b\nc>\nd\n", "<b\ne>\nd\n", " [redacted:mark]\n-[redacted:mark]\n+[redacted:mark]\n d\n"},
		{"in long lines that begin alike", long + "<secret>\n", long + "<secrets>\n", "w [redacted:mark]\n+[… 566 bytes]w "},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := w.Reader(anyone{}).Diff(p, c.before, c.after, 100)
			if !strings.Contains(got, c.want) || bytes.ContainsAny([]byte(got), "<>") {
				t.Errorf("got %s\nwant %s", got, c.want)
			}
		})
	}
}
