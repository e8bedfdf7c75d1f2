package notes

import (
	"testing"
)

// A scan and the index find the same notes.
func TestIndexAgreesWithScan(t *testing.T) {
	c := newCorpus(7)
	d := disk{t.TempDir()}
	c.write(t, d.root, 500)
	x := indexOf(t, watchless{d}, IndexOptions{Limit: 1000})
	for _, q := range c.questions(12) {
		scanned := d.searchWith(t, Scanner{Limit: 1000}, q.text)
		agree(t, q.kind+": "+q.text, scanned, d.searchWith(t, x, q.text))
	}
}
