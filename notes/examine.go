package notes

import (
	"bytes"
	"slices"
	"strings"

	"writ/contract"
)

// What an occurrence weighs by where it stands. A word of a heading also counts where the heading stands in the text.
const (
	weightTitle   = 100
	weightHeading = 20
	weightTag     = 20
	weightPath    = 20
	weightMatter  = 2
	weightBody    = 1
)

// examine weighs the query's words in a note. It returns false for a note that is hidden or has none of them.
func (w *worker) examine(path contract.Path, text []byte) (record, *Note, bool) {
	if Hides(w.visibility, text) {
		return record{}, nil, false
	}
	block, body := splitFrontMatter(text)
	w.notes++
	w.bytes += len(text)
	clear(w.hits)
	clear(w.met)
	found := w.weigh(block, weightMatter)
	found = w.weighBody(text, body) || found
	found = w.weigh([]byte(pathText(path)), weightPath) || found
	escaped := bytes.ContainsAny(block, "\\\t") // so a title may hold what the text does not
	if !found && !escaped && len(w.query.terms) > 0 {
		return record{}, nil, false
	}
	note := Parse(path, text)
	if !w.query.admits(&note) {
		return record{}, nil, false
	}
	w.weighFields(&note)
	r, ok := w.judge(&note, text)
	return r, &note, ok
}

// pathText is what of a path is searched: all but the extension, which is that of all notes.
func pathText(p contract.Path) string {
	if dir := p.Dir(); !dir.IsTop() {
		return dir.String() + "/" + stem(p)
	}
	return stem(p)
}

func (w *worker) weighFields(note *Note) {
	w.weigh([]byte(note.Title), weightTitle)
	for _, h := range note.Headings {
		w.weigh([]byte(h.Text), weightHeading)
	}
	for _, list := range [][]string{note.Tags, note.Aliases} {
		for _, s := range list {
			w.weigh([]byte(s), weightTag)
		}
	}
}

// weighBody weighs what follows the front matter, and leaves the whole text folded where that is of use.
func (w *worker) weighBody(text []byte, body int) bool {
	w.folded = w.folded[:0]
	if !w.countsInFolded() {
		return w.weighTokens(text[body:], weightBody)
	}
	w.folded = appendFolded(w.folded, text[:body])
	start := len(w.folded)
	w.folded = appendFolded(w.folded, text[body:])
	return w.weighFolded(w.folded[start:], weightBody)
}

// weigh adds weight to each atom for each time that it occurs in text. It tells whether any does.
func (w *worker) weigh(text []byte, weight float32) bool {
	if !w.countsInFolded() {
		return w.weighTokens(text, weight)
	}
	w.field = appendFolded(w.field[:0], text)
	return w.weighFolded(w.field, weight)
}

// countsInFolded tells whether it is faster to look for each atom than to look at each token, which comes to the same
// numbers. Who looks for words that are like others has to meet all.
func (w *worker) countsInFolded() bool {
	const fewAtoms = 24
	return len(w.lost) == 0 && len(w.query.atoms) <= fewAtoms
}

func (w *worker) weighFolded(folded []byte, weight float32) bool {
	found := false
	for i, n := range w.needles {
		if times := n.countTokens(folded); times > 0 {
			w.hits[i] += weight * float32(times)
			found = true
		}
	}
	return found
}

func (w *worker) weighTokens(text []byte, weight float32) bool {
	found := false
	w.tokens.reset(text)
	for w.tokens.next() {
		for _, i := range w.table.prefixes {
			if bytes.HasPrefix(w.tokens.token, []byte(w.table.atoms[i].text)) {
				w.hits[i] += weight
				found = true
			}
		}
		if i, ok := w.table.find(w.tokens.token); ok {
			w.hits[i] += weight
			found = true
		} else if len(w.lost) > 0 && !w.tokens.paired {
			w.meet(w.tokens.token)
		}
	}
	return found
}

// judge makes the record of the note in hand.
func (w *worker) judge(note *Note, text []byte) (record, bool) {
	q := w.query
	r := record{path: note.Path, length: len(text), values: make([]float32, 0, len(q.terms)+len(q.atoms))}
	for _, t := range q.terms {
		r.values = append(r.values, w.termWeight(t, note, text))
	}
	r.values = append(r.values, w.hits...)
	for i, v := range r.values {
		if v > 0 {
			w.docs[i]++
		}
	}
	if len(q.atoms) > 0 && !anyAbove(w.hits) {
		return record{}, false
	}
	for i, hit := range w.hits[:min(len(w.hits), 64)] {
		if hit > 0 {
			r.mask |= 1 << i
		}
	}
	r.level = q.levelOf(r.values)
	r.standing = q.standingIn(note)
	if r.standing == unnamed && r.level <= allButNoise && len(q.terms) > 1 && strings.TrimSpace(q.phrase) != "" {
		if bytes.Contains(w.foldedText(text), []byte(q.phrase)) {
			r.standing = phraseInText
		}
	}
	return r, true
}

// termWeight is what the occurrences of a term weigh in a note.
func (w *worker) termWeight(t term, note *Note, text []byte) float32 {
	if t.kind == tagged {
		if note.hasTag(t.needle.text) {
			return weightTag
		}
		return 0
	}
	for _, a := range t.atoms {
		if w.hits[a] == 0 {
			return 0
		}
	}
	if !w.query.isVerbatim(t) {
		return w.hits[t.atoms[0]]
	}
	weight := weightBody * t.needle.count(w.foldedText(text))
	weight += weightPath * w.countIn(pathText(note.Path), t.needle)
	weight += weightTitle * w.countIn(note.Title, t.needle)
	for _, h := range note.Headings {
		weight += weightHeading * w.countIn(h.Text, t.needle)
	}
	for _, list := range [][]string{note.Tags, note.Aliases} {
		for _, s := range list {
			weight += weightTag * w.countIn(s, t.needle)
		}
	}
	return float32(weight)
}

func (w *worker) countIn(field string, n needle) int {
	w.field = appendFolded(w.field[:0], []byte(field))
	return n.count(w.field)
}

func (w *worker) foldedText(text []byte) []byte {
	if len(w.folded) == 0 {
		w.folded = appendFolded(w.folded, text)
	}
	return w.folded
}

func anyAbove(values []float32) bool {
	return slices.ContainsFunc(values, func(v float32) bool { return v > 0 })
}
