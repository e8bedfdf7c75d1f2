package workspace

import (
	"bytes"
	"sort"
	"unicode/utf8"
)

// blockBytes is how much text lies between two counts of a line index: small enough to find a line in it at once.
const blockBytes = 32 << 10

// lineIndex finds lines of a text without reading it from the start. Lines end at LF and only there, the last one also
// at the end of the text.
type lineIndex struct {
	size   int   // bytes of the text
	lines  int   // a last line without LF included
	before []int // LFs before each block
}

func newLineIndex(text []byte) lineIndex {
	x := lineIndex{size: len(text), before: make([]int, 0, len(text)/blockBytes+1)}
	ends := 0
	for rest := text; ; rest = rest[blockBytes:] {
		x.before = append(x.before, ends)
		if len(rest) <= blockBytes {
			ends += bytes.Count(rest, []byte("\n"))
			break
		}
		ends += bytes.Count(rest[:blockBytes], []byte("\n"))
	}
	x.lines = ends
	if len(text) > 0 && text[len(text)-1] != '\n' {
		x.lines++
	}
	return x
}

// region returns where to look for the lines first to last, counted from 1: a part of the text that holds them, and the
// number of LFs before it. Of a part that is larger than most bytes need, the end is left out.
func (x *lineIndex) region(first, last, most int) (from, to, ends int) {
	// The line begins behind LF number first-1, and ends with LF number last.
	a := max(0, sort.Search(len(x.before), func(i int) bool { return x.before[i] >= first-1 })-1)
	b := sort.Search(len(x.before), func(i int) bool { return x.before[i] >= last })
	from, to = a*blockBytes, min(b*blockBytes, x.size)
	if b == len(x.before) {
		to = x.size
	}
	if most > 0 && to-from > blockBytes+most+utf8.UTFMax {
		// The first line begins no later than the first block ends, so this is more than can be shown.
		to = from + blockBytes + most + utf8.UTFMax
	}
	return from, to, x.before[a]
}

// lineRange is what a caller wants of the lines of a text, made definite.
type lineRange struct {
	first, last int // counted from 1; last < first: none
	most        int // bytes; 0: no bound
}

// slice is a run of whole lines, or the start of one that is too long.
type slice struct {
	start   int // in the region
	text    []byte
	lines   int
	cutLine bool
}

// take cuts the lines of the range out of a region that ends LFs precede. atEnd tells that the text ends with it.
func (r lineRange) take(region []byte, ends int) slice {
	start := afterLines(region, r.first-1-ends)
	region = region[start:]
	end, lines := 0, 0
	for lines < r.last-r.first+1 && end < len(region) {
		next := end + afterLines(region[end:], 1)
		if r.most > 0 && next > r.most {
			break
		}
		end = next
		lines++
	}
	if lines > 0 || r.last < r.first || len(region) == 0 {
		return slice{start: start, text: region[:end], lines: lines}
	}
	return slice{start: start, text: region[:runeBoundary(region, r.most)], lines: 1, cutLine: true}
}

// afterLines returns the offset behind the n-th LF of text, or behind the text if it has fewer.
func afterLines(text []byte, n int) int {
	at := 0
	for ; n > 0; n-- {
		i := bytes.IndexByte(text[at:], '\n')
		if i < 0 {
			return len(text)
		}
		at += i + 1
	}
	return at
}

// runeBoundary returns the largest offset up to at that lies between two characters.
func runeBoundary(text []byte, at int) int {
	if at >= len(text) {
		return len(text)
	}
	for at > 0 && !utf8.RuneStart(text[at]) {
		at--
	}
	return at
}
