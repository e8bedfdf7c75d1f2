package workspace

import (
	"bytes"
	"encoding/binary"
	"slices"
	"strings"
)

// Similarity is measured in grams: all runs of four bytes of the folded texts. A place is as long as the wanted text and
// as similar as the share of the wanted grams that it holds.
const (
	gramSize      = 4
	minGrams      = 5       // below that, any word is similar to many
	maxSimilar    = 4 << 10 // bytes of the folded wanted text that are compared
	maxCandidates = 8
	gramTableBits = 17
)

// isSimilar tells whether hits of total grams are enough to speak of: more than chance gives in prose.
func isSimilar(hits, total int) bool { return 100*hits >= 45*total }

func gramAt(s []byte, i int) uint32 { return binary.LittleEndian.Uint32(s[i:]) }

func gramSlot(gram uint32) uint32 { return gram * 2654435761 >> (32 - gramTableBits) }

// candidate is a place in the folded file that may be similar: it starts with the gram at from.
type candidate struct{ from, hits int }

// diagnoseSimilar returns the place of t that is most similar to wanted, as whole lines and as many as wanted has.
func diagnoseSimilar(t *Text, file *foldedText, wanted string, needle []byte) Diagnosis {
	needle = needle[:min(len(needle), maxSimilar)]
	total := len(needle) - gramSize + 1
	if total < minGrams || len(file.folded) < gramSize {
		return Diagnosis{Differs: []string{}}
	}
	best, as := candidate{}, 0
	for _, c := range candidates(file.folded, needle) {
		c.hits = commonGrams(needle, file.folded[c.from:min(len(file.folded), c.from+len(needle))])
		switch {
		case c.hits > best.hits:
			best, as = c, 1
		case c.hits == best.hits:
			as++
		}
	}
	if !isSimilar(best.hits, total) {
		return Diagnosis{Differs: []string{}}
	}
	window := file.folded[best.from:min(len(file.folded), best.from+len(needle))]
	start := file.start(max(0, best.from+alignment(needle, window)))
	start, end := t.linesFrom(start, 1+strings.Count(strings.TrimSuffix(wanted, "\n"), "\n"))
	d := t.place(start, end)
	d.Differs, d.Occurrences = []string{differsSimilar}, as
	return d
}

// candidates returns the windows of the file with the most wanted grams, each counted as often as it is there, the
// first of those that overlap.
func candidates(file, needle []byte) []candidate {
	var wanted [1 << gramTableBits / 8]byte
	for i := range len(needle) - gramSize + 1 {
		slot := gramSlot(gramAt(needle, i))
		wanted[slot/8] |= 1 << (slot % 8)
	}
	hit := func(i int) int {
		slot := gramSlot(gramAt(file, i))
		return int(wanted[slot/8] >> (slot % 8) & 1)
	}
	total := len(needle) - gramSize + 1
	var best []candidate
	hits := 0
	for i := range len(file) - gramSize + 1 {
		hits += hit(i)
		if i >= total {
			hits -= hit(i - total)
		}
		if isSimilar(hits, total) {
			best = addCandidate(best, candidate{max(0, i-total+1), hits}, total)
		}
	}
	return best
}

// addCandidate keeps the best candidates, and of those less than apart from one another the first best. Candidates come
// in the order of the file.
func addCandidate(best []candidate, c candidate, apart int) []candidate {
	if n := len(best); n > 0 && c.from-best[n-1].from < apart {
		if c.hits > best[n-1].hits {
			best[n-1] = c
		}
		return best
	}
	if len(best) == maxCandidates {
		worst := 0
		for i := range best {
			if best[i].hits < best[worst].hits {
				worst = i
			}
		}
		if best[worst].hits >= c.hits {
			return best
		}
		best = slices.Delete(best, worst, worst+1)
	}
	return append(best, c)
}

// commonGrams counts the grams that a and b have in common, none more often than it is in each.
func commonGrams(a, b []byte) int {
	left := make(map[uint32]int, len(a))
	for i := range len(a) - gramSize + 1 {
		left[gramAt(a, i)]++
	}
	common := 0
	for i := range max(0, len(b)-gramSize+1) {
		if gram := gramAt(b, i); left[gram] > 0 {
			left[gram]--
			common++
		}
	}
	return common
}

// alignment returns where the wanted text would start, seen from the start of the window: the shift that the grams near
// its start agree on. A window of the most grams may start too early where the end of the text is what differs.
func alignment(needle, window []byte) int {
	position := make(map[uint32]int, len(needle))
	for i := len(needle) - gramSize; i >= 0; i-- {
		position[gramAt(needle, i)] = i
	}
	type support struct{ grams, first int }
	shifts := map[int]support{}
	most := 0
	for i := range max(0, len(window)-gramSize+1) {
		p, ok := position[gramAt(window, i)]
		if !ok {
			continue
		}
		s, seen := shifts[i-p]
		if !seen || p < s.first {
			s.first = p
		}
		s.grams++
		shifts[i-p] = s
		most = max(most, s.grams)
	}
	best, first := 0, len(needle)
	for shift, s := range shifts {
		if 4*s.grams >= most && (s.first < first || s.first == first && shift < best) {
			best, first = shift, s.first
		}
	}
	return best
}

// linesFrom returns where the line that holds the offset starts and where so many lines end, without the last one's
// end. Where the offset lies far into a long line, the start is the offset.
func (t *Text) linesFrom(offset, lines int) (start, end int) {
	start = bytes.LastIndexByte(t.content[:offset], '\n') + 1
	if offset-start > maxDiagnosisText/2 {
		start = offset
	}
	end = start
	for range lines {
		i := bytes.IndexByte(t.content[end:], '\n')
		if i < 0 {
			return start, len(t.content)
		}
		end += i + 1
	}
	end--
	if end > start && t.content[end-1] == '\r' {
		end--
	}
	return start, end
}
