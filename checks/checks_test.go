package checks

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"testing"
)

// look is what the built-in checker of a file says, in a line.
func look(base, before, after string) string {
	c := For(base)
	if len(c) == 0 {
		return "none"
	}
	r, reported := Look(context.Background(), c[0], Text{Base: base, Before: append([]byte{}, before...), After: []byte(after), Existed: before != ""})
	if !reported {
		return "none"
	}
	told := []string{string(r.Status)}
	for _, f := range r.Findings {
		told = append(told, fmt.Sprintf("%d:%d", f.Line, f.Column))
		if f.New {
			told[len(told)-1] += " new"
		}
	}
	if r.Before > 0 {
		told = append(told, fmt.Sprintf("%d before", r.Before))
	}
	return strings.Join(told, "; ")
}

func TestBuiltInCheckers(t *testing.T) {
	for _, c := range []struct{ base, text, want string }{
		{"a.go", "package a\n\nvar x = 1\n", "passed"},
		{"a.go", "package a\n\nfunc f( {\n}\n", "failed; 3:9 new; 4:1 new"},
		{"a.go", "package a\n\nvar é = ?\nvar y = )\n", "failed; 3:9 new; 4:1 new"},
		{"a.go", "package a\n//line b.go:900\nvar = 1\n", "failed; 3:5 new"},
		{"a.json", `{"a": [1, 2]}`, "passed"},
		{"a.json", "{\n  \"é\": 1,\n}", "failed; 3:1 new"},
		{"a.json", "{\n  \"é\" 1\n}", "failed; 2:7 new"},
		{"a.json", "{\"a\": 1", "failed; 1:8 new"},
		{"a.json", "", "failed; 1:1 new"},
		{"a.json", "// what for\n{}", "skipped"},
		{"a.json", "{} // what for", "skipped"},
		{"a.json", strings.Repeat("[", 20000), "failed; 1:10001 new"},
		{"A.JSON", "[", "failed; 1:2 new"},
		{"a.yaml", "a: 1\nb: [1, 2]\n---\nc: |\n  x\n", "passed"},
		{"a.yaml", "a: 1\nb: [1, 2\n", "failed; 2:4 new"},
		{"a.yml", "a: 1\na: 2\n", "failed; 2:1 new"},
		{"a.yml", "a: 1\n\tb: 2\n", "failed; 2:1 new"},
		{"a.yaml", "a: {{ .Values.a }}\n{{- if .b }}\nb: 1\n{{- end }}\n", "skipped"},
		{"a.yaml", strings.Repeat("[", 10000), "skipped"},
		{"a.yaml", strings.Repeat("- ", 8000), "skipped"},
		{"a.yaml", strings.Repeat("a: 1\n", 4000), "skipped"},
		{"a.toml", "[a]\nb = 1\n", "passed"},
		{"a.toml", "[a]\nb = 1\nb = 2\n", "failed; 3:1 new"},
		{"a.toml", "[a]\né = \n", "failed; 2:1 new"},
		{"a.toml", "a = \"é\" x\n", "failed; 1:9 new"},
		{"a.xml", "<?xml version=\"1.0\" encoding=\"GB18030\"?>\n<a><b/>中</a>\n<!-- c -->\n", "passed"},
		{"a.xml", "<a>\n<b></a>", "failed; 2:8 new"},
		{"a.xml", "<a/>\n<b/>", "failed; 2:1 new"},
		{"a.xml", "<a/>\ntext", "failed; 1:5 new"},
		{"a.xml", "\n", "failed; 2:1 new"},
		{"a.svg", "<a>&nbsp;</a>", "failed; 1:10 new"},
		{"a.xml", "<!DOCTYPE a [<!ENTITY b \"c\">]>\n<a>&b;</a>", "skipped"},
		{"a.md", "---\ntitle: x\ntags: [a, b]\n---\ntext [", "passed"},
		{"a.md", "---\ntitle: x\ntags: [a, b\n---\ntext", "failed; 3:7 new"},
		{"a.md", "\ufeff---\ntitle: : x\n---\ntext", "failed; 2:8 new"},
		{"a.md", "---\n\nno front matter", "none"},
		{"a.md", "# plain", "none"},
		{"a.txt", "{", "none"},
		{"go", "{", "none"},
	} {
		if got := look(c.base, "", c.text); got != c.want {
			t.Errorf("%s %.60q: %s, want %s", c.base, c.text, got, c.want)
		}
	}
}

// Only what the write brought is called new.
func TestOnlyNewProblemsAreCalledNew(t *testing.T) {
	for _, c := range []struct{ name, base, before, after, want string }{
		{"brought into a sound text", "a.go", "package a\n", "package a\nvar\n", "failed; 3:1 new"},
		{"there before", "a.go", "package a\nvar = 1\n", "package a\nvar = 1\n\nfunc f() {}\n", "failed; 2:5; 1 before"},
		{"moved down", "a.go", "package a\nvar = 1\n", "package a\n\n// more\nvar = 1\n", "failed; 4:5; 1 before"},
		{"one more of the same", "a.go", "package a\nvar = 1\n", "package a\nvar = 1\nvar = 1\n", "failed; 3:5 new; 2:5; 1 before"},
		{"mended", "a.go", "package a\nvar = 1\n", "package a\nvar x = 1\n", "passed"},
		{"another, earlier than where the parser stopped", "a.json", "{\n\"a\": 1,\n\"b\": ?\n}", "{\n\"a\": !,\n\"b\": ?\n}", "failed; 2:6 new; 1 before"},
		{"another, later: it may have been there", "a.json", "{\n\"a\": !,\n\"b\": ?\n}", "{\n\"a\": 1,\n\"b\": ?\n}", "failed; 3:6; 1 before"},
		{"another on the line that was wrong", "a.json", "{\n\"a\": !\n}", "{\n\"a\": ?\n}", "failed; 2:6; 1 before"},
		{"the text before was too large", "a.yaml", strings.Repeat("a: 1\n", 4000), "a: [", "failed; 1:4"},
	} {
		if got := look(c.base, c.before, c.after); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}

func TestAReportIsBounded(t *testing.T) {
	text := "package a\n" + strings.Repeat("var = 1\n", 100)
	r, _ := Look(context.Background(), goChecker, Text{Base: "a.go", After: []byte(text)})
	if len(r.Findings) != MostFindings || r.Total != 100 {
		t.Errorf("%d of %d problems are listed", len(r.Findings), r.Total)
	}
}

func FuzzCheckers(f *testing.F) {
	for _, seed := range []string{"package a\nvar x = 1", `{"a": [1]}`, "a: [1, 2]\nb: |\n  x", "[a]\nb = 1", "<a>&amp;</a>", "---\na: b\n---\n"} {
		f.Add([]byte(seed), []byte(seed+"\n"))
	}
	f.Fuzz(func(t *testing.T, before, after []byte) {
		for _, base := range []string{"a.go", "a.json", "a.yaml", "a.toml", "a.xml", "a.md"} {
			r, _ := Look(context.Background(), For(base)[0], Text{Base: base, Before: append([]byte{}, before...), After: after, Existed: true})
			lines := bytes.Count(after, []byte("\n")) + 1
			for _, p := range r.Findings {
				if p.Line < 0 || p.Line > lines || p.Column < 0 || p.Message == "" {
					t.Errorf("%s: %+v in a text of %d lines", base, p, lines)
				}
				if p.New && bytes.Equal(before, after) {
					t.Errorf("%s: %+v is new in the very same text", base, p)
				}
			}
		}
	})
}

func BenchmarkChecks(b *testing.B) {
	for _, c := range []struct{ base, unit string }{
		{"64KB.go", "func f(a, b int) (int, error) {\n\treturn g(a) + h(\"text\", b), nil // why\n}\n\n"},
		{"64KB.json", "{\"name\": \"abc\", \"n\": 12.5, \"list\": [1, 2, 3]},\n"},
		{"8KB.yaml", "- name: abc\n  run: go test ./...\n  list: [a, b]\n"},
		{"64KB.toml", "[[a]]\nname = \"abc\"\nn = 12\nlist = [1, 2]\n"},
		{"64KB.xml", "<item id=\"1\"><name>abc</name>text &amp; more</item>\n"},
		{"64KB.md", "---\ntitle: x\ntags: [a, b]\n---\n"},
	} {
		size := 64 << 10
		if strings.HasPrefix(c.base, "8KB") {
			size = maxYAML
		}
		text := strings.Repeat(c.unit, size/len(c.unit))
		switch {
		case strings.HasSuffix(c.base, ".go"):
			text = "package a\n\n" + text
		case strings.HasSuffix(c.base, ".json"):
			text = "[" + text + "1]"
		case strings.HasSuffix(c.base, ".xml"):
			text = "<r>" + text + "</r>"
		}
		b.Run(c.base, func(b *testing.B) {
			for b.Loop() {
				r, _ := Look(context.Background(), For(c.base)[0], Text{Base: c.base, After: []byte(text)})
				if r.Status != Passed {
					b.Fatalf("%+v", r)
				}
			}
		})
	}
}

// Hostile text must cost no more than its size allows for.
func BenchmarkHostileText(b *testing.B) {
	for _, part := range []string{"`", "*x: ", "&a *a ", "a: ", "%", "<", "-\n"} {
		text := []byte(strings.Repeat(part, maxYAML/len(part)))
		b.Run(fmt.Sprintf("yaml of %q", part), func(b *testing.B) {
			for b.Loop() {
				yamlChecker.Find(context.Background(), "", text)
			}
		})
	}
	for _, part := range []string{"{\"a\":", "x\n", "|\n"} {
		text := []byte(strings.Repeat(part, goChecker.most/len(part)))
		b.Run(fmt.Sprintf("go of %q", part), func(b *testing.B) {
			for b.Loop() {
				goChecker.Find(context.Background(), "", text)
			}
		})
	}
}
