package console

import (
	"fmt"
	"strings"
	"testing"
)

// sketch draws a diff in a line for each row.
func sketch(d diff) string {
	var b strings.Builder
	side := func(s diffSide) string {
		if s.Line == 0 {
			return "-"
		}
		return fmt.Sprintf("%d:%s[%s]%s", s.Line, s.Start, s.Middle, s.End)
	}
	for _, r := range d.Rows {
		if r.Text != "" {
			fmt.Fprintf(&b, "%s %s\n", r.Kind, r.Text)
			continue
		}
		fmt.Fprintf(&b, "%s %s | %s\n", r.Kind, side(r.Before), side(r.After))
	}
	return b.String()
}

func TestParseDiff(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ text, want string }{
		"an edit with context": {
			"--- a/x.md\n+++ b/x.md\n@@ -9,3 +9,3 @@\n a\n-say one thing\n+say two thing\n c\n",
			"file x.md\nhunk @@ -9,3 +9,3 @@\nsame 9:[a] | 9:[a]\nedit 10:say [one] thing | 10:say [two] thing\nsame 11:[c] | 11:[c]\n",
		},
		"more lines than before": {
			"@@ -1 +1,2 @@\n-a\n+b\n+c\n",
			"hunk @@ -1 +1,2 @@\nedit 1:[a] | 1:[b]\nnew - | 2:[c]\n",
		},
		"lines that look like heads": {
			"--- \"a/x\\u202e\"\n+++ \"b/x\\u202e\"\n@@ -1,2 +1,2 @@\n--- a\n-@@ -1 +1 @@\n+++ b\n+x\n",
			"file \"x\\u202e\"\nhunk @@ -1,2 +1,2 @@\nedit 1:[-- a] | 1:[++ b]\nedit 2:[@@ -1 +1 @@] | 2:[x]\n",
		},
		"no end of line": {
			"@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+b\n",
			"hunk @@ -1 +1 @@\nedit 1:[a] | 1:[b]\nnote No newline at end of file\n",
		},
		"what is no diff":       {"[no text was changed]\n", "note [no text was changed]\n"},
		"half of a hunk":        {"@@ -1,3 +1,3 @@\n-a\n[the diff goes on]\n", "hunk @@ -1,3 +1,3 @@\ngone 1:[a] | -\nnote [the diff goes on]\n"},
		"a head that is none":   {"@@ nonsense\n", "note @@ nonsense\n"},
		"letters of more bytes": {"@@ -1 +1 @@\n-é\n+è\n", "hunk @@ -1 +1 @@\nedit 1:[é] | 1:[è]\n"},
	} {
		if got := sketch(parseDiff(c.text, everyRow)); got != c.want {
			t.Errorf("%s:\n%swant\n%s", name, got, c.want)
		}
	}
	cut := parseDiff("@@ -1,3 +0,0 @@\n-a\n-b\n-c\n", 2)
	if len(cut.Rows) != 2 || cut.More != 2 {
		t.Errorf("cut: %+v", cut)
	}
}

// Every line of a diff is somewhere, whatever it holds: who approves must not miss one.
func FuzzParseDiff(f *testing.F) {
	f.Add("--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n a\n-b\n+c\n\\ No newline\n")
	f.Add("@@ -1,9 +0,0 @@\n-a\n+b\n c\n@@ -1\n")
	f.Add("@@ -1 +1 @@\n+\xff\n-\xfe\n")
	f.Fuzz(func(t *testing.T, text string) {
		d := parseDiff(text, everyRow)
		rows := []string{sketch(d)}
		for _, r := range d.Rows {
			rows = append(rows, r.Before.Start+r.Before.Middle+r.Before.End, r.After.Start+r.After.Middle+r.After.End)
		}
		shown := strings.Join(rows, "\n")
		for line := range strings.SplitSeq(text, "\n") {
			if strings.HasPrefix(line, "--- ") || strings.HasPrefix(line, "+++ ") || len(line) < 2 {
				continue
			}
			if !strings.Contains(shown, line) && !strings.Contains(shown, line[1:]) {
				t.Fatalf("%q is not shown in\n%s", line, shown)
			}
		}
	})
}
