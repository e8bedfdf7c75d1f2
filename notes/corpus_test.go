package notes

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// corpus makes notes that are like those of people, the same for the same seed: a third is Chinese, words are as
// frequent as Zipf's law says, frequent words are short, a note keeps to its own words, lengths run from 1 to 17 KB with
// 6.5 KB on average, and some have front matter, tags and names of programs. In bytes for each token and in tokens for
// each different one in a note it is between the documentation of programs (7.2 and 3.5 in English, 4.6 and 1.9 in
// Chinese) and a text that never repeats itself.
type corpus struct {
	random  *rand.Rand
	english *lexicon
	chinese *lexicon
	titles  []titled
	own     []string // words of the note in hand
}

type titled struct{ path, title string }

// lexicon draws words by Zipf's law.
type lexicon struct {
	words []string
	zipf  *rand.Zipf
}

func (l *lexicon) word() string { return l.words[l.zipf.Uint64()] }

// after draws a word that often follows the one before, as in real text few pairs of words make up most of it.
func (l *lexicon) after(before int, r *rand.Rand) int {
	if before >= 0 && r.IntN(6) != 0 {
		return (before*31 + 7*r.IntN(6)*r.IntN(6)) % 2_000
	}
	return int(l.zipf.Uint64())
}

func newCorpus(seed uint64) *corpus {
	r := rand.New(rand.NewPCG(seed, seed))
	c := &corpus{random: r}
	c.english = newLexicon(r, 60_000, func() string {
		const onsets, vowels, codas = "b c d f g h k l m n p r s t v w st tr pl gr", "a e i o u ai ou ea", "n r s t l m nd st ck  "
		var word strings.Builder
		for range 1 + r.IntN(3) {
			word.WriteString(pick(r, onsets) + pick(r, vowels) + pick(r, codas))
		}
		return strings.TrimSpace(word.String())
	})
	rank := map[string]int{} // frequent words are short, on the whole
	for _, word := range c.english.words {
		rank[word] = len(word) + r.IntN(6)
	}
	slices.SortStableFunc(c.english.words, func(a, b string) int { return rank[a] - rank[b] })
	c.chinese = newLexicon(r, 20_000, func() string {
		var word strings.Builder
		for range 1 + r.IntN(3) {
			word.WriteString(string(rune(0x4e00 + int(math.Pow(r.Float64(), 4)*4_000))))
		}
		return word.String()
	})
	return c
}

func newLexicon(r *rand.Rand, size int, invent func() string) *lexicon {
	l := &lexicon{zipf: rand.NewZipf(r, 1.1, 4, uint64(size-1))}
	seen := map[string]bool{}
	for len(l.words) < size {
		if word := invent(); !seen[word] {
			seen[word] = true
			l.words = append(l.words, word)
		}
	}
	return l
}

func pick(r *rand.Rand, from string) string {
	all := strings.Split(from, " ")
	return all[r.IntN(len(all))]
}

// write writes n notes below dir, 60 in a directory, and returns how many bytes they have.
func (c *corpus) write(t testing.TB, dir string, n int) int64 {
	t.Helper()
	var total int64
	old := time.Now().Add(-time.Hour)
	for i := range n {
		path := fmt.Sprintf("area-%02d/topic-%03d/note-%05d.md", i/3600, i/60, i)
		text := c.note(path, i%3 == 2)
		name := filepath.Join(dir, path)
		if i%60 == 0 {
			if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(name, old, old.Add(time.Duration(i)*time.Millisecond)); err != nil {
			t.Fatal(err)
		}
		total += int64(len(text))
	}
	return total
}

func (c *corpus) note(path string, chinese bool) string {
	var b strings.Builder
	c.own = c.own[:0]
	title := c.sentence(chinese, 2+c.random.IntN(4))
	c.titles = append(c.titles, titled{path, title})
	if c.random.IntN(2) == 0 {
		fmt.Fprintf(&b, "---\ntitle: %s\ntags: [%s, %s]\nstatus: %s\n---\n\n", title, c.english.word(), c.english.word(), c.english.word())
	}
	fmt.Fprintf(&b, "# %s\n\n", title)
	length := 1_000 + int(math.Pow(c.random.Float64(), 2)*16_500)
	for b.Len() < length {
		switch c.random.IntN(8) {
		case 0:
			fmt.Fprintf(&b, "## %s\n\n", c.sentence(chinese, 3))
		case 1:
			fmt.Fprintf(&b, "Call `%s.%s` with max_%s, see [[%s]] #%s.\n\n", c.english.word(), c.english.word(), c.english.word(), c.english.word(), c.english.word())
		case 2:
			for range 2 + c.random.IntN(3) {
				fmt.Fprintf(&b, "- [%s](https://%s.example.org/docs/%s/%s.html): **%s**\n", c.sentence(chinese, 2), c.english.word(), c.english.word(), c.english.word(), c.sentence(chinese, 3))
			}
			b.WriteString("\n")
		case 3:
			b.WriteString("```sh\n")
			for range 2 + c.random.IntN(4) {
				fmt.Fprintf(&b, "    $ %s --%s=\"%s\" | %s -%c  # %d\n", c.english.word(), c.english.word(), c.english.word(), c.english.word(), 'a'+c.random.IntN(26), c.random.IntN(100))
			}
			b.WriteString("```\n\n")
		default:
			for range 2 + c.random.IntN(4) {
				b.WriteString(c.sentence(chinese, 8+c.random.IntN(14)))
				if chinese {
					b.WriteString("。")
				} else {
					b.WriteString(". ")
				}
			}
			b.WriteString("\n\n")
		}
	}
	return b.String()
}

func (c *corpus) sentence(chinese bool, words int) string {
	var b strings.Builder
	last := -1
	for i := range words {
		pause := i > 0 && c.random.IntN(7) == 0
		switch {
		case chinese && pause:
			b.WriteString("，")
		case !chinese && pause:
			b.WriteString(", ")
		case !chinese && i > 0:
			b.WriteString(" ")
		}
		switch {
		case len(c.own) > 20 && c.random.IntN(10) < 5: // a note is about something
			at := c.random.IntN(len(c.own) - 1)
			b.WriteString(c.own[at])
			if last = -1; chinese {
				b.WriteString(c.own[at+1])
			}
			continue
		case chinese && c.random.IntN(25) != 0:
			last = c.chinese.after(last, c.random)
			c.own = append(c.own, c.chinese.words[last])
		default:
			c.own = append(c.own, c.english.word())
		}
		b.WriteString(c.own[len(c.own)-1])
	}
	return b.String()
}

// question is a query and the kind of it.
type question struct{ kind, text string }

// questions draws queries of all kinds from the corpus's own words.
func (c *corpus) questions(each int) []question {
	var all []question
	add := func(kind string, make func() string) {
		for range each {
			all = append(all, question{kind, make()})
		}
	}
	rare := func(l *lexicon) string { return l.words[200+c.random.IntN(len(l.words)/4)] }
	add("word", func() string { return rare(c.english) })
	add("common word", func() string { return c.english.words[1+c.random.IntN(60)] })
	add("rare word", func() string { return c.english.words[20_000+c.random.IntN(40_000)] })
	add("two words", func() string { return c.english.words[20+c.random.IntN(400)] + " " + rare(c.english) })
	add("phrase", func() string {
		return `"` + c.english.words[c.random.IntN(300)] + " " + c.english.words[c.random.IntN(300)] + `"`
	})
	add("prefix", func() string { w := rare(c.english); return w[:max(2, len(w)-1)] + "*" })
	add("identifier", func() string { return "max_" + rare(c.english) })
	add("typo", func() string { w := rare(c.english); return w[:1] + w[2:] + "qx" })
	add("Chinese, 2", func() string { return c.part(2) })
	add("Chinese, 4", func() string { return c.part(4) })
	add("mixed", func() string { return rare(c.chinese) + rare(c.english) })
	add("title", func() string { return c.titles[c.random.IntN(len(c.titles))].title })
	add("question", func() string {
		return "how do I use " + rare(c.english) + " with " + rare(c.english) + " in practice"
	})
	return all
}

// part is a stretch of a Chinese title.
func (c *corpus) part(size int) string {
	for {
		title := []rune(c.titles[c.random.IntN(len(c.titles))].title)
		for at := 0; at+size <= len(title); at++ {
			if part := string(title[at : at+size]); !strings.ContainsFunc(part, func(r rune) bool { return r < 0x4e00 }) {
				return part
			}
		}
	}
}
