package workspace

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"writ/contract"
	"writ/envelope"
)

func TestLines(t *testing.T) {
	const three = "one\ntwo\nthree\n"
	for _, c := range []struct {
		name, content string
		want          LineRange
		text          string
		first, last   int
		total, next   int
	}{
		{"all", three, LineRange{}, three, 1, 3, 3, 0},
		{"the first line", three, LineRange{Offset: 1, Limit: 1}, "one\n", 1, 1, 3, 2},
		{"from the middle", three, LineRange{Offset: 2}, "two\nthree\n", 2, 3, 3, 0},
		{"the last line, from the end", three, LineRange{Offset: -1}, "three\n", 3, 3, 3, 0},
		{"further from the end than there are lines", three, LineRange{Offset: -9, Limit: 1}, "one\n", 1, 1, 3, 2},
		{"a limit beyond the end", three, LineRange{Offset: 3, Limit: 9}, "three\n", 3, 3, 3, 0},
		{"just past the end", three, LineRange{Offset: 4}, "", 4, 3, 3, 0},
		{"far past the end", three, LineRange{Offset: 99, Limit: 5}, "", 99, 98, 3, 0},
		{"an empty file", "", LineRange{}, "", 1, 0, 0, 0},
		{"an empty file, from the end", "", LineRange{Offset: -1}, "", 1, 0, 0, 0},
		{"no final newline", "a\nb", LineRange{Offset: 2}, "b", 2, 2, 2, 0},
		{"an empty last line is a line", "a\n\n", LineRange{Offset: 2}, "\n", 2, 2, 2, 0},
		{"a lone CR ends no line", "a\rb\nc", LineRange{Limit: 1}, "a\rb\n", 1, 1, 2, 2},
		{"CRLF stays", "a\r\nb\r\n", LineRange{Limit: 1}, "a\r\n", 1, 1, 2, 2},
		{"a line separator of Unicode ends no line", "a\u2028b\n", LineRange{}, "a\u2028b\n", 1, 1, 1, 0},
		{"whole lines within the bytes", three, LineRange{MaxBytes: 9}, "one\ntwo\n", 1, 2, 3, 3},
		{"exactly the bytes", three, LineRange{MaxBytes: 8}, "one\ntwo\n", 1, 2, 3, 3},
		{"a byte order mark is not text", "\ufeffone\n", LineRange{}, "one\n", 1, 1, 1, 0},
		{"UTF-16", "\xff\xfea\x00\n\x00\xe9\x00", LineRange{Offset: 2}, "é", 2, 2, 2, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			forms(t, func(t *testing.T, portable bool) {
				r := reader(t, world(t, map[string]string{"d/f": c.content}), portable, anyone{})
				p, err := r.Lines(t.Context(), path(t, "d/f"), c.want)
				if err != nil {
					t.Fatal(err)
				}
				if p.Text != c.text || p.FirstLine != c.first || p.LastLine != c.last || p.Lines != c.total || p.NextOffset != c.next || p.CutLine {
					t.Errorf("got %q, lines %d to %d of %d, next %d", p.Text, p.FirstLine, p.LastLine, p.Lines, p.NextOffset)
				}
				if p.Version != contract.VersionOf([]byte(c.content)) || p.Resolved.String() != "d/f" || p.Size != int64(len(c.content)) {
					t.Errorf("version, place or size are wrong: %+v", p.Facts)
				}
				if data, ok := r.Recall(p.Version); !ok || string(data) != c.content {
					t.Error("the content that was read is not remembered")
				}
			})
		})
	}
}

func TestLinesCutALineThatIsTooLong(t *testing.T) {
	r := reader(t, world(t, map[string]string{"f": "ééééé\nb\n"}), false, anyone{})
	p, err := r.Lines(t.Context(), path(t, "f"), LineRange{MaxBytes: 5})
	if err != nil || p.Text != "éé" || !p.CutLine || p.LastLine != 1 || p.NextOffset != 2 {
		t.Errorf("got %+v, %v", p, err)
	}
}

func TestFacts(t *testing.T) {
	for name, c := range map[string]struct{ content, encoding, endings string }{
		"plain":             {"a\nb\n", "utf-8", "lf"},
		"CRLF":              {"a\r\nb", "utf-8", "crlf"},
		"both":              {"a\r\nb\n", "utf-8", "mixed"},
		"one line":          {"a", "utf-8", "none"},
		"with mark":         {"\ufeffa\n", "utf-8", "lf"},
		"UTF-16 big endian": {"\xfe\xff\x00a\x00\n", "utf-16be", "lf"},
		"binary":            {"a\x00b", "", ""},
		"latin1":            {"caf\xe9", "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			r := reader(t, world(t, map[string]string{"f": c.content}), false, anyone{})
			f, err := r.Facts(t.Context(), path(t, "f"))
			if err != nil {
				t.Fatal(err)
			}
			if f.Encoding != c.encoding || f.LineEndings != c.endings || f.Version != contract.VersionOf([]byte(c.content)) ||
				f.FinalNewline != (c.encoding != "" && strings.HasSuffix(strings.TrimSuffix(c.content, "\x00"), "\n")) {
				t.Errorf("got %+v", f)
			}
			if _, err := r.Lines(t.Context(), path(t, "f"), LineRange{}); f.IsText() != (err == nil) {
				t.Errorf("lines: %v", err)
			}
		})
	}
}

func TestLinesRefusals(t *testing.T) {
	root := world(t, map[string]string{"d/": "", "bin": "a\x00", "priv/p": "p", "big": strings.Repeat("x", 300_000), "huge": ""})
	if err := os.Truncate(filepath.Join(root, "huge"), 2<<30); err != nil {
		t.Fatal(err)
	}
	w := open(t, Options{Roots: []Root{{Dir: root}}, FileBytes: 200_000})
	r := w.Reader(scope{hidden: []string{"priv"}})
	for name, code := range map[string]envelope.Code{
		"d": envelope.IsDirectory, "bin": envelope.NotText, "priv/p": envelope.OutsideScope, "none": envelope.PathNotFound,
		"big": envelope.TooLarge, "huge": envelope.TooLarge,
	} {
		_, err := r.Lines(t.Context(), path(t, name), LineRange{})
		if envelope.CodeOf(err) != code {
			t.Errorf("%s: got %v, want code %s", name, err, code)
		}
	}
}

// Ranges of a large file are the same whether the whole of it is read for them or only a part.
func TestRangesOfALargeFile(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 7))
	var content bytes.Buffer
	var starts []int
	for content.Len() < 400_000 {
		starts = append(starts, content.Len())
		if random.IntN(50) == 0 {
			content.WriteString(strings.Repeat("long é", random.IntN(9000)))
		}
		fmt.Fprintf(&content, "line %d", len(starts))
		if random.IntN(3) == 0 {
			content.WriteString(strings.Repeat("\n", random.IntN(3)))
			for range strings.Count(content.String()[starts[len(starts)-1]:], "\n") {
				starts = append(starts, 0)
			}
		}
		content.WriteByte('\n')
	}
	text := "\ufeff" + content.String()
	lines := strings.SplitAfter(content.String(), "\n")
	lines = lines[:len(lines)-1]

	root := world(t, map[string]string{"f": text})
	time.Sleep(2 * settling)
	w := open(t, Options{Roots: []Root{{Dir: root}}})
	r := w.Reader(anyone{})
	check := func(want LineRange) {
		t.Helper()
		p, err := r.Lines(t.Context(), path(t, "f"), want)
		if err != nil {
			t.Fatal(err)
		}
		all := lines[min(p.FirstLine-1, len(lines)):]
		if want.Limit > 0 {
			all = all[:min(want.Limit, len(all))]
		}
		expected := ""
		for _, l := range all {
			if want.MaxBytes > 0 && len(expected)+len(l) > want.MaxBytes {
				break
			}
			expected += l
		}
		if p.CutLine {
			expected = all[0][:runeBoundary([]byte(all[0]), want.MaxBytes)]
		}
		if p.Text != expected || p.Lines != len(lines) || p.Version != contract.VersionOf([]byte(text)) || !utf8.ValidString(p.Text) {
			t.Fatalf("%+v: got %d bytes of lines %d to %d, want %d bytes", want, len(p.Text), p.FirstLine, p.LastLine, len(expected))
		}
	}
	check(LineRange{Offset: 5, Limit: 3})
	if len(w.facts.known) != 1 {
		t.Fatal("the facts of the large file are not remembered, so this test would show nothing")
	}
	for range 500 {
		check(LineRange{Offset: random.IntN(2*len(lines)+4) - len(lines), Limit: random.IntN(40), MaxBytes: []int{0, 100, 5000, 70_000}[random.IntN(4)]})
	}
	check(LineRange{Offset: len(lines)})
	check(LineRange{Offset: len(lines) + 1})
}

// A change is seen however soon it comes after a read, and though the size stays.
func TestFactsAreNotStale(t *testing.T) {
	root := world(t, nil)
	name := filepath.Join(root, "f")
	r := reader(t, root, false, anyone{})
	for i := range 40 {
		content := strings.Repeat(string(rune('a'+i%26)), 100_000) + "\n"
		if err := os.WriteFile(name, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
		if i%10 == 9 {
			time.Sleep(settling + 20*time.Millisecond) // now it is remembered
		}
		for range 2 {
			p, err := r.Lines(t.Context(), path(t, "f"), LineRange{})
			if err != nil || p.Text != content || p.Version != contract.VersionOf([]byte(content)) {
				t.Fatalf("change %d: an old state was shown (%v)", i, err)
			}
		}
	}
}

func FuzzLineIndex(f *testing.F) {
	f.Add("a\nb\n\nc", 2, 3, 0)
	f.Fuzz(func(t *testing.T, text string, offset, limit, most int) {
		if limit < 0 || most < 0 || most > len(text) {
			return
		}
		x := newLineIndex([]byte(text))
		r := LineRange{Offset: offset, Limit: limit, MaxBytes: most}.within(x.lines)
		from, to, ends := x.region(r.first, r.last, r.most)
		got := r.take([]byte(text[from:to]), ends)
		lines := strings.SplitAfter(text, "\n")
		if lines[len(lines)-1] == "" {
			lines = lines[:len(lines)-1]
		}
		if x.lines != len(lines) {
			t.Fatalf("%d lines, want %d", x.lines, len(lines))
		}
		if got.cutLine {
			if got.lines != 1 || len(got.text) > most || !strings.HasPrefix(lines[r.first-1], string(got.text)) {
				t.Errorf("cut line is %q", got.text)
			}
			return
		}
		if want := strings.Join(lines[min(r.first-1, len(lines)):min(r.first-1, len(lines))+got.lines], ""); string(got.text) != want {
			t.Errorf("got %q, want %q", got.text, want)
		}
		if most == 0 && got.lines != max(0, r.last-r.first+1) {
			t.Errorf("%d lines, want %d to %d", got.lines, r.first, r.last)
		}
	})
}
