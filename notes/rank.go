package notes

import (
	"cmp"
	"math"
	"slices"
)

// The order of notes: those that the query names first (by title, then by the phrase itself), within them by BM25, then
// the newer, then by path. Nothing in it depends on the order in which notes are met.

const (
	maxLoose     = 12  // rarest words that a sentence is searched by
	commonShare  = 0.2 // of the notes: a word in more says little
	enoughAtoms  = 3   // rare words that make common ones dispensable
	saturation   = 1.2 // k1 of BM25: how soon another occurrence says nothing new
	lengthEffect = 0.75
)

// selection is what of a query a tier goes by: columns of the records, all or some of which must be there.
type selection struct {
	tier    Tier
	columns []int
	mask    uint64 // for TierSome: the columns as atoms
}

// ranked is a record with its score.
type ranked struct {
	record
	score float64
}

func (q *Query) atomColumns(atoms []int) []int {
	columns := make([]int, len(atoms))
	for i, a := range atoms {
		columns[i] = len(q.terms) + a
	}
	return columns
}

// rarest selects the words that say most about what a sentence is about, of those that occur.
func (q *Query) rarest(t *tally) selection {
	docs := func(a int) int { return t.docs[len(q.terms)+a] }
	var atoms []int
	for _, a := range q.loose {
		if a < 64 && docs(a) > 0 {
			atoms = append(atoms, a)
		}
	}
	atoms = without(atoms, func(a int) bool { return isFunctionWord(q.atoms[a].text) }, 1)
	atoms = without(atoms, func(a int) bool { return float64(docs(a)) > commonShare*float64(t.notes) }, enoughAtoms)
	slices.SortStableFunc(atoms, func(a, b int) int { return cmp.Compare(docs(a), docs(b)) })
	atoms = atoms[:min(len(atoms), maxLoose)]
	s := selection{tier: TierSome, columns: q.atomColumns(atoms)}
	for _, a := range atoms {
		s.mask |= 1 << a
	}
	return s
}

// without removes the atoms that are useless, if enough others are left.
func without(atoms []int, useless func(int) bool, enough int) []int {
	kept := slices.DeleteFunc(slices.Clone(atoms), useless)
	if len(kept) < enough {
		return atoms
	}
	return kept
}

// rank returns the records that the selection takes, best first.
func (t *tally) rank(s selection) []ranked {
	weights := t.weights(s.columns)
	average := float64(t.bytes)/float64(max(t.notes, 1)) + 1
	var list []ranked
	for _, r := range t.records {
		if s.takes(&r) {
			list = append(list, ranked{r, r.score(s.columns, weights, average)})
		}
	}
	slices.SortFunc(list, func(a, b ranked) int {
		return cmp.Or(cmp.Compare(b.score, a.score), newerFirst(a.record, b.record))
	})
	return list
}

func (s *selection) takes(r *record) bool {
	if s.tier == TierSome {
		return r.mask&s.mask != 0
	}
	return !slices.ContainsFunc(s.columns, func(c int) bool { return r.values[c] == 0 })
}

// countMasked returns how many notes have any of the atoms in mask, pruned or not.
func (t *tally) countMasked(mask uint64) int {
	n := 0
	for _, m := range t.masks {
		if m&mask != 0 {
			n++
		}
	}
	return n
}

// weights says for each column how much finding it tells: the rarer, the more.
func (t *tally) weights(columns []int) []float64 {
	weights := make([]float64, len(columns))
	for i, c := range columns {
		docs := float64(t.docs[c])
		weights[i] = math.Log(1 + (float64(t.notes)-docs+0.5)/(docs+0.5))
	}
	return weights
}

// score is the record's standing in front of the point and its BM25, which has no upper bound, squeezed behind it.
func (r *record) score(columns []int, weights []float64, average float64) float64 {
	const middle = 10 // the BM25 that becomes one half
	norm := saturation * (1 - lengthEffect + lengthEffect*float64(r.length)/average)
	sum := 0.0
	for i, c := range columns {
		v := float64(r.values[c])
		sum += weights[i] * v * (saturation + 1) / (v + norm)
	}
	return float64(r.standing) + sum/(sum+middle)
}
