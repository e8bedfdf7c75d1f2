package workspace

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestNear(t *testing.T) {
	files := map[string]string{
		"docs/plan.md":                     "x",
		"docs/Project B.md":                "x",
		"docs/meeting\u202fnotes.md":       "x",
		"docs/caf\u00e9.md":                "x",
		"docs/readme.markdown":             "x",
		"docs/it\u2019s.md":                "x",
		"docs/old/archive.md":              "x",
		"README.md":                        "x",
		"other/unrelated.txt":              "x",
		"priv/secret.md":                   "x",
		"src/handler.go":                   "x",
		"src/handler_test.go":              "x",
		"docs/deep/er/target.md":           "x",
		"docs/2026-01-01 report final.txt": "x",
	}
	forms(t, func(t *testing.T, portable bool) {
		r := reader(t, world(t, files), portable, scope{hidden: []string{"priv"}})
		for _, c := range []struct{ name, wanted, near string }{
			{"another case", "docs/PLAN.md", "docs/plan.md"},
			{"a plain space for a narrow one", "docs/meeting notes.md", "docs/meeting\u202fnotes.md"},
			{"the other normal form", "docs/cafe\u0301.md", "docs/caf\u00e9.md"},
			{"a straight quote for a curly one", "docs/it's.md", "docs/it\u2019s.md"},
			{"two letters swapped", "docs/paln.md", "docs/plan.md"},
			{"another ending", "docs/readme.md", "docs/readme.markdown"},
			{"a misspelt directory", "doc/plan.md", "docs/plan.md"},
			{"a misspelt directory and name", "doc/plam.md", "docs"},
			{"the same name deeper", "archive.md", ""},
			{"the same name one directory deeper", "docs/archive.md", "docs/old/archive.md"},
			{"the same name above", "docs/README.md", "docs/readme.markdown README.md"},
			{"nothing like it", "docs/zzzzzzzzzzzz.bin", ""},
			{"hidden places are not told of", "secret.md", ""},
			{"hidden places are not told of, misspelt", "prv/secret.md", ""},
			{"one name is not the other's beginning", "src/handle.go", "src/handler.go"},
			{"what is there is not near itself", "docs/plan.md", ""},
		} {
			got := strings.Join(r.Near(t.Context(), path(t, c.wanted)), " ")
			if got != c.near {
				t.Errorf("%s: near %q is %q, want %q", c.name, c.wanted, got, c.near)
			}
		}
	})
}

func TestNearOffersTheLikeliestFive(t *testing.T) {
	root := t.TempDir()
	for i := range 300 {
		if err := os.WriteFile(filepath.Join(root, fmt.Sprintf("note-%03d.md", i)), nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got := reader(t, root, false, anyone{}).Near(t.Context(), path(t, "note-12.md"))
	if len(got) != 5 || !slices.Contains(got, "note-012.md") {
		t.Errorf("got %q", got)
	}
}

func TestEditDistance(t *testing.T) {
	for _, c := range []struct {
		a, b       string
		most, want int
	}{
		{"", "", 3, 0}, {"a", "a", 3, 0}, {"kitten", "sitting", 3, 3}, {"ab", "ba", 3, 1}, {"abc", "", 3, 3},
		{"abcdef", "uvwxyz", 3, 4}, {"é漢", "é字", 3, 1}, {"abcdefgh", "a", 3, 4},
	} {
		if got := editDistance(c.a, c.b, c.most); got != c.want {
			t.Errorf("%q and %q: %d, want %d", c.a, c.b, got, c.want)
		}
	}
}
