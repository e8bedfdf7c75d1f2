package notes

import (
	"cmp"
	"math/bits"
	"unicode/utf8"
)

// A word of the query that occurs in no note is read as the nearest word that does: by one letter for short words, by
// two from six letters on, where swapped neighbours count as one. The words are those of the notes that the caller may
// see, so that a repair never tells of another.

// maxNear bounds how many words like a lost one a worker remembers; only text made for the purpose has more.
const maxNear = 10_000

// lostWord is a word of the query that may turn out to occur nowhere.
type lostWord struct {
	atom    int
	letters []rune
	ascii   bool
	bag     uint32 // which letters it has, roughly
	edits   int    // how many its neighbours may be away
}

// maxWord is the length of the longest word that is repaired, in letters.
const maxWord = 40

func (s *scan) findNeighbours() {
	for _, i := range s.query.loose {
		a := s.query.atoms[i]
		if !a.isRepairable() {
			continue
		}
		w := lostWord{atom: i, letters: []rune(a.text), bag: bagOf([]byte(a.text)), edits: 1}
		w.ascii = len(w.letters) == len(a.text)
		if len(w.letters) >= 6 {
			w.edits = 2
		}
		s.lost = append(s.lost, w)
	}
}

// meet remembers a word of a note where it is like one of the query that this worker has not found so far. It counts
// once for each note, as an index counts.
func (w *worker) meet(word []byte) {
	for i := range w.lost {
		l := &w.lost[i]
		if w.docs[len(w.query.terms)+l.atom] > 0 || !l.isNear(word) {
			continue
		}
		here := neighbour{l.atom, string(word)}
		if _, met := w.met[here]; !met {
			w.met[here] = struct{}{}
			w.addNear(l.atom, here.word, 1)
		}
	}
}

// neighbour is a word that is like an atom of the query.
type neighbour struct {
	atom int
	word string
}

func (t *tally) addNear(atom int, word string, times int) {
	words := t.near[atom]
	if words == nil {
		words = map[string]int{}
		t.near[atom] = words
	}
	if _, known := words[word]; known || len(words) < maxNear {
		words[word] += times
	}
}

// isNear tells whether word is a neighbour. Most words are not, and their length or letters tell so.
func (l *lostWord) isNear(word []byte) bool {
	letters := len(word)
	if !l.ascii {
		letters = utf8.RuneCount(word)
	}
	if letters < len(l.letters)-l.edits || letters > len(l.letters)+l.edits {
		return false
	}
	if l.ascii && bits.OnesCount32(bagOf(word)^l.bag) > 2*l.edits {
		return false
	}
	return distance(l.letters, []rune(string(word))) <= l.edits
}

func bagOf(word []byte) uint32 {
	var bag uint32
	for _, c := range word {
		bag |= 1 << (c & 31)
	}
	return bag
}

// distance is the number of letters to insert, remove, exchange, or swap with their neighbour to get from a to b, which
// are at most a little longer than maxWord.
func distance(a, b []rune) int {
	var rows [3][maxWord + 8]int
	above, before, row := rows[0][:len(b)+1], rows[1][:len(b)+1], rows[2][:len(b)+1]
	for j := range before {
		before[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row[0] = i
		for j := 1; j <= len(b); j++ {
			exchange := before[j-1]
			if a[i-1] != b[j-1] {
				exchange++
			}
			row[j] = min(before[j]+1, row[j-1]+1, exchange)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], above[j-2]+1)
			}
		}
		above, before, row = before, row, above
	}
	return before[len(b)]
}

// repairs returns, for each word of the query that occurs nowhere and has a neighbour, the best one.
func (s *scan) repairs(t *tally) map[string]string {
	found := map[string]string{}
	for i := range s.lost {
		l := &s.lost[i]
		if t.docs[len(s.query.terms)+l.atom] > 0 {
			continue
		}
		best := ""
		for word, times := range t.near[l.atom] {
			if best == "" || l.prefers(word, best, times-t.near[l.atom][best]) {
				best = word
			}
		}
		if best != "" {
			found[s.query.atoms[l.atom].text] = best
		}
	}
	return found
}

// prefers tells whether word is the better neighbour: nearer, else with the same first letter, else the more frequent,
// by more times.
func (l *lostWord) prefers(word, other string, more int) bool {
	a, b := []rune(word), []rune(other)
	order := cmp.Or(
		cmp.Compare(distance(l.letters, b), distance(l.letters, a)),
		cmp.Compare(sameStart(l.letters, a), sameStart(l.letters, b)),
		cmp.Compare(more, 0),
		cmp.Compare(other, word),
	)
	return order > 0
}

func sameStart(a, b []rune) int {
	if a[0] == b[0] {
		return 1
	}
	return 0
}
