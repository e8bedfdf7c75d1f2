package notes

import (
	"fmt"
	"testing"
)

// knownItem is a note of the corpus that is looked for, by a query made of its title.
type knownItem struct {
	titled
	chinese bool
}

// knownItems draws n notes of one language from the corpus.
func (c *corpus) knownItems(n int, chinese bool) []knownItem {
	var items []knownItem
	for i := 0; len(items) < n && i < len(c.titles); i++ {
		at := i * 113 % len(c.titles)
		if (at%3 == 2) == chinese {
			items = append(items, knownItem{c.titles[at], chinese})
		}
	}
	return items
}

// question is a sentence that a person would ask about the note.
func (k knownItem) question() string {
	if k.chinese {
		return "请问关于" + k.title + "的详细说明在哪里"
	}
	return "how do I use " + k.title + " in practice, please explain"
}

// reciprocalRank is the mean over the items of 1 for the first place, 1/2 for the second, 0 for none.
func reciprocalRank(t testing.TB, s Searcher, source Source, items []knownItem, query func(knownItem) string) float64 {
	t.Helper()
	sum := 0.0
	for _, item := range items {
		for rank, m := range search(t, s, source, query(item)).Matches {
			if m.Path.String() == item.path {
				sum += 1 / float64(rank+1)
			}
		}
	}
	return sum / float64(len(items))
}

// wantKnown fails where notes that are known to be there come too late, in an answer to their titles or to a question.
func (c *corpus) wantKnown(t testing.TB, s Searcher, source Source, titles int) {
	for _, chinese := range []bool{false, true} {
		for _, form := range []struct {
			name  string
			items int
			floor float64
			query func(knownItem) string
		}{
			{"titles", titles, 0.93, func(k knownItem) string { return k.title }},
			{"questions", 50, 0.65, knownItem.question},
		} {
			got := reciprocalRank(t, s, source, c.knownItems(form.items, chinese), form.query)
			if got < form.floor {
				t.Errorf("%s, Chinese %v: the mean reciprocal rank is %.3f, want %.2f", form.name, chinese, got, form.floor)
			}
			if _, isBenchmark := t.(*testing.B); isBenchmark {
				fmt.Printf("\t%s, Chinese %v: MRR %.3f\n", form.name, chinese, got)
			}
		}
	}
}

func TestKnownItems(t *testing.T) {
	dir := t.TempDir()
	c := newCorpus(2)
	c.write(t, dir, 700)
	f := openFiles(t, dir)
	c.wantKnown(t, indexOf(t, f, IndexOptions{}), f, 60)
}
