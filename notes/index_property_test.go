package notes

import (
	"testing"
)

// A scan and an index find the same notes, in the same order, whatever kind of query it is; also after changes.
func TestIndexAgreesWithScan(t *testing.T) {
	c := newCorpus(7)
	d := disk{t.TempDir()}
	c.write(t, d.root, 500)
	f := openFiles(t, d.root)
	x := indexOf(t, f, IndexOptions{Limit: 1000})
	compare := func(each int) {
		for _, q := range c.questions(each) {
			agree(t, q.kind+": "+q.text, d.searchIn(t, Scanner{Limit: 1000}, f, q.text), d.searchIn(t, x, f, q.text))
		}
	}
	compare(4)
	for i := range 20 {
		d.write(t, c.titles[i*17].path, c.note("again.md", i%3 == 0))
	}
	compare(2)
}
