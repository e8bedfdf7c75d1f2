package notes

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"writ/contract"
	"writ/envelope"
	"writ/workspace"
)

// maxRecords is how many matching notes a worker keeps for ranking; past that the least promising are only counted.
const maxRecords = 16 << 10

// level says how much of the query a note has, best first.
type level uint8

const (
	allTerms level = iota
	allButNoise
	allAtoms
	someAtoms
	levels
)

// record is a note that has something of the query.
type record struct {
	path     contract.Path
	modified time.Time
	length   int       // bytes of text
	values   []float32 // weight of the occurrences of each term of the query, then of each atom
	mask     uint64    // which of the first 64 atoms it has
	standing standing
	level    level
	read     *readNote // nil: read it again to show it
}

// readNote is a note that was read for ranking and is to be shown.
type readNote struct {
	loaded Loaded
	note   *Note
}

// standing says how well the query names the note, best last.
type standing uint8

const (
	unnamed standing = iota
	phraseInText
	allInTitle
	startsTitle
	isTitle
)

// tally is what a scan has counted.
type tally struct {
	notes   int // that the caller may see
	bytes   int
	docs    []int // notes with each term, then with each atom
	totals  [levels]int
	masks   []uint64 // of all records, those that were pruned too
	records []record
	near    []map[string]int // for each atom: words like it, and how many notes have them
	skipped map[envelope.Code]int
	leftOut workspace.Skips
}

func (t *tally) keep(r record) {
	t.totals[r.level]++
	t.masks = append(t.masks, r.mask)
	t.records = append(t.records, r)
	if len(t.records) >= 2*maxRecords {
		t.prune()
	}
}

// prune keeps the most promising records. What it goes by is the note's alone, so that the same records stay whichever
// worker meets them.
func (t *tally) prune() {
	slices.SortFunc(t.records, func(a, b record) int {
		return cmp.Or(cmp.Compare(a.level, b.level), cmp.Compare(b.standing, a.standing),
			cmp.Compare(b.promise(), a.promise()), newerFirst(a, b))
	})
	t.records = slices.Clip(t.records[:min(len(t.records), maxRecords)])
}

// promise is the note's score as far as it can be told before all notes are counted.
func (r *record) promise() float32 {
	var sum float32
	for _, v := range r.values {
		sum += v / (v + 1)
	}
	return sum
}

func newerFirst(a, b record) int {
	return cmp.Or(b.modified.Compare(a.modified), strings.Compare(a.path.String(), b.path.String()))
}

func (t *tally) add(o *tally) {
	t.notes += o.notes
	t.bytes += o.bytes
	for i, n := range o.docs {
		t.docs[i] += n
	}
	for i, n := range o.totals {
		t.totals[i] += n
	}
	for code, n := range o.skipped {
		t.skipped[code] += n
	}
	for i, words := range o.near {
		for word, n := range words {
			t.addNear(i, word, n)
		}
	}
	t.masks = append(t.masks, o.masks...)
	t.records = append(t.records, o.records...)
}
