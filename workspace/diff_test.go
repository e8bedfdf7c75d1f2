package workspace

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

// plainDiff is the diff of two texts without secrets.
func plainDiff(path, before, after string, maxLines int) (diff string, cut bool) {
	return unifiedDiff(path, side{text: before}, side{text: after}, maxLines)
}

func TestUnifiedDiff(t *testing.T) {
	ten := "1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n"
	for _, c := range []struct{ name, before, after, want string }{
		{"equal", "a\n", "a\n", ""},
		{"one line", ten, strings.Replace(ten, "5", "five", 1), `--- a/f.md
+++ b/f.md
@@ -4,3 +4,3 @@
 4
-5
+five
 6
`},
		{"two hunks", ten + ten, "one" + ten[1:] + ten[:len(ten)-3] + "ten\n", `--- a/f.md
+++ b/f.md
@@ -1,2 +1,2 @@
-1
+one
 2
@@ -19,2 +19,2 @@
 9
-10
+ten
`},
		{"created", "", "a\nb\n", `--- a/f.md
+++ b/f.md
@@ -0,0 +1,2 @@
+a
+b
`},
		{"emptied", "a\n", "", `--- a/f.md
+++ b/f.md
@@ -1 +0,0 @@
-a
`},
		{"final newline added", "a\nb", "a\nb\n", `--- a/f.md
+++ b/f.md
@@ -1,2 +1,2 @@
 a
-b
\ No newline at end of file
+b
`},
		{"final newline taken", "b\n", "b", `--- a/f.md
+++ b/f.md
@@ -1 +1 @@
-b
+b
\ No newline at end of file
`},
		{"context without final newline", "a\nb", "x\nb", `--- a/f.md
+++ b/f.md
@@ -1,2 +1,2 @@
-a
+x
 b
\ No newline at end of file
`},
		{"line endings", "a\r\nb\r\n", "a\nb\r\n", "--- a/f.md\n+++ b/f.md\n@@ -1,2 +1,2 @@\n-a\r\n+a\n b\r\n"},
		{"lines inserted between equal ones", "x\nx\nx\n", "x\nx\nx\nx\nx\n", `--- a/f.md
+++ b/f.md
@@ -3 +3,3 @@
 x
+x
+x
`},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, cut := plainDiff("f.md", c.before, c.after, 100)
			if got != c.want || cut {
				t.Errorf("got\n%s\nwant\n%s\ncut %v", got, c.want, cut)
			}
		})
	}
}

func TestDiffQuotesHostileNames(t *testing.T) {
	got, _ := plainDiff("a\n+++ b/x", "1\n", "2\n", 100)
	if want := `--- "a/a\n+++ b/x"` + "\n" + `+++ "b/a\n+++ b/x"` + "\n@@"; !strings.HasPrefix(got, want) {
		t.Errorf("got\n%s", got)
	}
	if got, _ = plainDiff("注/好.md", "1\n", "2\n", 100); !strings.HasPrefix(got, "--- a/注/好.md\n") {
		t.Errorf("got\n%s", got)
	}
}

func TestDiffIsCut(t *testing.T) {
	before := strings.Repeat("a\n", 50)
	after := strings.Repeat("b\n", 50)
	got, cut := plainDiff("f", before, after, 10)
	if !cut || strings.Count(got, "\n") != 2+10+1 || !strings.HasSuffix(got, "\n[the diff goes on]\n") || !strings.Contains(got, "@@ -1,9 +0,0 @@") {
		t.Errorf("cut %v:\n%s", cut, got)
	}
	if got, cut = plainDiff("f", before, after, 101); cut || strings.Count(got, "\n") != 2+101 {
		t.Errorf("cut %v, %d lines where all have room", cut, strings.Count(got, "\n"))
	}
	if got, cut = plainDiff("f", before, after, 1); !cut || strings.Count(got, "\n") != 2+1 {
		t.Errorf("cut %v:\n%s", cut, got)
	}
}

func TestDiffShortensLongLines(t *testing.T) {
	paragraph := strings.Repeat("Worte, ünd noch mehr Wörter. ", 100)
	before := paragraph + "\n" + paragraph + "alt" + paragraph + "\n" + paragraph + "\n"
	after := paragraph + "\n" + paragraph + "neu" + paragraph + "\n" + paragraph + "\n"
	got, cut := plainDiff("f", before, after, 100)
	if cut || len(got) > 1500 || !utf8.ValidString(got) {
		t.Errorf("cut %v, %d bytes", cut, len(got))
	}
	if !strings.Contains(got, "alt") || !strings.Contains(got, "neu") {
		t.Errorf("the change is not shown:\n%s", got)
	}
	if !regexp.MustCompile(`(?m)^-\[… \d+ bytes\].*\[\d+ bytes …\]$`).MatchString(got) {
		t.Errorf("what was left out is not marked:\n%s", got)
	}
}

func TestSpliceDiffIsThatOfTheWholeText(t *testing.T) {
	for _, c := range []struct{ name, content, old, with string }{
		{"in a line", "1\n2\n3\n4\n5\n6\n7\n8\n9\n", "5", "five"},
		{"whole lines", "1\n2\n3\n4\n5\n6\n7\n8\n9\n", "4\n5\n", ""},
		{"at the start", "1\n2\n3\n4\n5\n", "1\n", "0\n1\n"},
		{"at the end, without newline", "1\n2\n3\n4\n5", "5", "five\n"},
		{"a newline taken away", "1\n2\n3\n4\n5\n6\n7\n8\n9\n", "5\n", "5"},
		{"a newline put in", "1\n2\n3\n4\n5\n6\n7\n8\n9\n", "5", "5\n5"},
		{"everything", "1\n2\n", "1\n2\n", "x"},
		{"CRLF", "1\r\n2\r\n3\r\n", "2\r\n", "zwei\r\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			text := decode(t, c.content, "")
			plan, err := PlanReplace(text, c.old, c.with)
			if err != nil {
				t.Fatal(err)
			}
			got := text.SpliceDiff("f", 200, plan)
			want, _ := plainDiff("f", c.content, strings.Replace(c.content, c.old, c.with, 1), 100)
			if got != want {
				t.Errorf("got\n%s\nwant\n%s", got, want)
			}
		})
	}
}

// patch makes what the diff says of before.
func patch(before, diff string) (string, error) {
	lines, out, at := splitLines(before), []string{}, 0
	body := strings.SplitAfter(diff, "\n")
	header := regexp.MustCompile(`^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@\n$`)
	number := func(s string) int {
		if s == "" {
			return 1
		}
		n, _ := strconv.Atoi(s)
		return n
	}
	for i := 0; i < len(body) && body[i] != ""; {
		if i < 2 {
			i++
			continue
		}
		m := header.FindStringSubmatch(body[i])
		if m == nil {
			return "", fmt.Errorf("line %d is no header: %q", i, body[i])
		}
		i++
		from, a, to, b := number(m[1]), number(m[2]), number(m[3]), number(m[4])
		if a > 0 {
			from--
		}
		if b > 0 {
			to--
		}
		if from < at {
			return "", fmt.Errorf("hunks overlap at line %d", from)
		}
		out = append(out, lines[at:from]...)
		at = from
		if len(out) != to {
			return "", fmt.Errorf("the hunk at %d goes to line %d, and says %d", from, len(out), to)
		}
		for a > 0 || b > 0 {
			line := body[i][1:]
			sign := body[i][0]
			i++
			if i < len(body) && strings.HasPrefix(body[i], `\`) {
				line = strings.TrimSuffix(line, "\n")
				i++
			}
			if sign != '+' {
				if lines[at] != line {
					return "", fmt.Errorf("line %d is %q, the diff has %q", at+1, lines[at], line)
				}
				at++
				a--
			}
			if sign != '-' {
				out = append(out, line)
				b--
			}
		}
	}
	return strings.Join(append(out, lines[at:]...), ""), nil
}

func drawLines(t *rapid.T, label string) string {
	lines := rapid.SliceOfN(rapid.SampledFrom([]string{"a\n", "b\n", "c\r\n", "\n", "dé\n", "x"}), 0, 40).Draw(t, label)
	return strings.Join(lines, "")
}

func TestDiffsMakeTheTextThatTheyTellOf(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		before, after := drawLines(t, "before"), drawLines(t, "after")
		diff, cut := plainDiff("f", before, after, 1000)
		if got, err := patch(before, diff); err != nil || got != after || cut {
			t.Fatalf("got %q, want %q, error %v, diff\n%s", got, after, err, diff)
		}
	})
}

func TestSpliceDiffsMakeTheTextThatTheyTellOf(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		content := drawLines(t, "content")
		text, err := DecodeText([]byte(content), "")
		if err != nil {
			t.Fatal(err)
		}
		var plans []Plan
		after, at := "", 0
		for range rapid.IntRange(0, 4).Draw(t, "edits") {
			start := runeStart([]byte(content), rapid.IntRange(at, len(content)).Draw(t, "start"))
			start = max(start, at)
			end := max(start, runeStart([]byte(content), rapid.IntRange(start, len(content)).Draw(t, "end")))
			plan, err := text.plan(TextEdit{Start: start, End: end, New: drawLines(t, "new")}, text.lineOf(start))
			if err != nil {
				t.Fatal(err)
			}
			plans = append(plans, plan)
			after += content[at:start] + plan.Edit.New
			at = end
		}
		after += content[at:]
		diff := text.SpliceDiff("f", 200, plans...)
		if got, err := patch(content, diff); err != nil || got != after {
			t.Fatalf("got %q, want %q, error %v, diff\n%s", got, after, err, diff)
		}
		if len(plans) > 1 && plans[0].Edit.Start < plans[1].Edit.Start {
			plans[0], plans[1] = plans[1], plans[0]
			if text.SpliceDiff("f", 200, plans...) != diff {
				t.Fatal("the order of the plans matters")
			}
		}
	})
}

func TestDiffOfLargeTextsIsBounded(t *testing.T) {
	var a, b, c strings.Builder
	const lines = 50_000
	for i := range lines {
		fmt.Fprintf(&a, "line %d\n", i)
		fmt.Fprintf(&b, "row %d\n", i)
		fmt.Fprintf(&c, "line %d\n", i*7919%lines)
	}
	for name, after := range map[string]string{
		"all lines differ": b.String(), "the same lines in another order": c.String(),
		"only first and last": "x\n" + a.String() + "y\n",
	} {
		got, cut := plainDiff("f", a.String(), after, 200)
		if got == "" || cut != (name != "only first and last") {
			t.Errorf("%s: cut %v, %d bytes", name, cut, len(got))
		}
	}
}

func BenchmarkSpliceDiff10MB(b *testing.B) {
	data, line := large()
	text := decode(b, string(data), "")
	plan, err := PlanReplace(text, line, "new\n")
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if diff := text.SpliceDiff("f", 200, plan); len(diff) > 1500 {
			b.Fatal(diff)
		}
	}
}

func BenchmarkUnifiedDiff10MB(b *testing.B) {
	data, line := large()
	before := string(data)
	after := strings.Replace(before, line, "new\n", 1)
	b.ReportAllocs()
	for b.Loop() {
		plainDiff("f", before, after, 200)
	}
}
