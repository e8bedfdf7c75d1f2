package notes

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"writ/contract"
	"writ/envelope"
)

// plainMatch tells whether a note has the terms, by reading it from end to end.
func plainMatch(q *Query, note *Note, text string, terms []int) bool {
	fields := slices.Concat([]string{text, note.Title, pathText(note.Path)}, note.Tags, note.Aliases)
	for _, h := range note.Headings {
		fields = append(fields, h.Text)
	}
	for _, i := range terms {
		term := q.terms[i]
		if term.kind == tagged {
			if !note.hasTag(term.needle.text) {
				return false
			}
			continue
		}
		if !slices.ContainsFunc(fields, func(field string) bool { return term.needle.index([]byte(fold(field)), 0) >= 0 }) {
			return false
		}
	}
	return true
}

func allTermsOf(q *Query) []int {
	all := make([]int, len(q.terms))
	for i := range all {
		all[i] = i
	}
	return all
}

// plainCount counts the notes with all terms of the query, else those with all that are no operators elsewhere.
func plainCount(t *testing.T, q *Query, d disk, names []string) int {
	for _, terms := range [][]int{allTermsOf(q), q.kept} {
		n := 0
		for _, name := range names {
			path, err := contract.ParsePath(name)
			if err != nil {
				t.Fatal(err)
			}
			loaded, err := d.Load(t.Context(), path)
			if envelope.CodeOf(err) == envelope.NotText {
				continue
			}
			if err != nil {
				t.Fatal(err)
			}
			note := Parse(path, loaded.Text)
			if !note.Hidden("") && q.admits(&note) && q.mayBeAt(path) && plainMatch(q, &note, string(loaded.Text), terms) {
				n++
			}
		}
		if n > 0 {
			return n
		}
	}
	return 0
}

// plainVault is three notes, of which the first changes.
func plainVault(t testing.TB) (names []string, d disk, x *Index) {
	names = []string{"n.md", "other/花园.md", "third.md"}
	d = disk{t.TempDir()}
	d.write(t, names[0], "")
	d.write(t, names[1], "花园 garden max_size\n")
	d.write(t, names[2], "---\ntags: x\n---\nfine words\n")
	return names, d, indexOf(t, watchless{d}, IndexOptions{})
}

// wantPlain sees to it that with that text in the first note an index finds what a scan finds, and both what a plain
// reader finds.
func wantPlain(t *testing.T, names []string, d disk, x *Index, text, query string) {
	t.Helper()
	q, err := ParseQuery(query)
	if err != nil || q.IsEmpty() {
		return
	}
	d.write(t, names[0], text)
	scanned, indexed := search(t, Scanner{}, d, query), search(t, x, d, query)
	if !q.isTokens(allTermsOf(&q)) {
		// An index counts the notes with the words of a name, not with the name, so it may show another line.
		for _, r := range []Result{scanned, indexed} {
			for i := range r.Matches {
				r.Matches[i].Snippet, r.Matches[i].Line = "", 0
			}
		}
	}
	agree(t, query, scanned, indexed)
	exact := 0
	if scanned.Tier == TierExact {
		exact = scanned.Total
	}
	if want := plainCount(t, &q, d, names); exact != want {
		t.Errorf("%q: %d notes are found exactly, by reading %d; the first says %q", query, exact, want, text)
	}
	if t.Failed() {
		t.Fatalf("query %q, text %q", query, text)
	}
}

func FuzzSearchFindsWhatAPlainReaderFinds(f *testing.F) {
	for _, seed := range [][2]string{
		{"# Größe\nfs.readFile max_size C++\n", "max_size c++"},
		{"---\ntitle: \"a\\u0062c\"\ntags: [x, y/z]\naliases: 別名\n---\n花园传感器 KV缓存。\n", "缓存 #y kv"},
		{"e\u0301t\u00e9 ﬁne ｶﾞ 한글 😀👍🏽\r\n\r\n- [ ] ok", "été 😀 fine*"},
		{"---\nnot: [closed\n---\nа\u0308 Ω\u0301 ΣΑΣ", `"Σασ" AND ω`},
		{"x--y \"quoted words\" a/b/c.d", `"quoted words" a/b title:n path:n`},
	} {
		f.Add(seed[0], seed[1])
	}
	names, d, x := plainVault(f)
	f.Fuzz(func(t *testing.T, text, query string) {
		if len(text) <= 2000 {
			wantPlain(t, names, d, x, text, query)
		}
	})
}

// Texts and queries of the same odd pieces meet more often than those of chance.
func TestSearchFindsWhatAPlainReaderFinds(t *testing.T) {
	pieces := []string{
		"a", "ab", "Ab", "x1", "max_size", "fs.readFile", "C++", "a-b", "a/b", "'", "\"", "“", "”", "「", "」", " ", " ", " ", "\n", "\r\n", "\n\n",
		"花", "花园", "园传", "传感器", "，", "。", "か\u3099", "が", "ｶﾞ", "한", "글", "\u1112\u1161\u11ab", "ไทย", "😀", "👍🏽", "👨\u200d👩", "e\u0301", "é", "É",
		"ﬁ", "ß", "ss", "SS", "Ａ", "１", "\u00a0", "\u200b", "\u00ad", "#tag", "#花/园", "# ", "## ", "---\n", "...", "title: ", "tags: [a, 花园]\n", "- ", "*", "_", "`", "[[", "]]",
		"AND", "OR", "-", "œ", "Σ", "ς", "σ", "İ", "ı", "K", "ſ", "㍿", "株式", "①", "1", "½", "\u0e33", "คำ", "\u309a", "\u064b", "د", "\t", "\ufeff",
	}
	r := rand.New(rand.NewPCG(5, 5))
	of := func(from []string, most int) string {
		var b strings.Builder
		for range 1 + r.IntN(most) {
			b.WriteString(from[r.IntN(len(from))])
		}
		return b.String()
	}
	names, d, x := plainVault(t)
	for range 60 {
		some := make([]string, 12)
		for i := range some {
			some[i] = pieces[r.IntN(len(pieces))]
		}
		text := of(some, 40)
		if r.IntN(3) == 0 {
			text = "---\ntitle: " + of(some, 4) + "\n---\n" + text
		}
		for range 4 {
			query := of(some, 4)
			switch r.IntN(6) {
			case 0:
				query = `"` + query + `"`
			case 1:
				query += "*"
			case 2:
				query += " " + []string{"tag:", "path:", "title:", "#"}[r.IntN(4)] + of(some, 2)
			}
			wantPlain(t, names, d, x, text, query)
		}
	}
}
