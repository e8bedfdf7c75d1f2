package notes

import (
	"bytes"
	"cmp"
	"iter"
	"slices"
	"unicode/utf8"
)

// SnippetBytes is the most bytes that a snippet has.
const SnippetBytes = 240

// lead is how much of a long line a snippet shows before the first term.
const lead = 40

// target is what a snippet should show, the more the heavier.
type target struct {
	needle needle
	weight float64
}

// excerpt is a part of a note, as it stands there.
type excerpt struct {
	line int
	text []byte
}

// place is a line of the text: its number, and its bytes without the LF.
type place struct{ line, start, end int }

// cutter finds the part of a text that shows most of what was asked for.
type cutter struct {
	text    []byte
	targets []target
	parts   []target // the words of the targets, for a text in which each target runs over a line's end
	folded  []byte   // the line in hand
}

// excerpt returns the best part of the text. In a text that holds none of the targets, since only its name matches,
// that is where its body starts.
func (c *cutter) excerpt(body int) excerpt {
	best, found := c.bestLine(body)
	if !found {
		c.targets = c.parts
		best, found = c.bestLine(body)
	}
	if !found {
		best = c.firstLine(body)
		return excerpt{best.line, c.window(best, best.start, body)}
	}
	return excerpt{best.line, c.window(best, c.bestStart(best), body)}
}

// bestLine returns the line with the heaviest targets, the first of those. A line of the body says more than a heading
// with the same words, and a heading more than front matter.
func (c *cutter) bestLine(body int) (best place, found bool) {
	all := 0.0
	for _, t := range c.targets {
		all += t.weight
	}
	heaviest := 0.0
	for p := range places(c.text) {
		weight := c.weigh(p)
		if p.start < body {
			weight /= 2
		} else if level, _ := headingOf(c.text[p.start:p.end]); level > 0 {
			weight *= 0.9
		}
		if weight > heaviest {
			best, heaviest, found = p, weight, true
		}
		if heaviest >= all {
			break // no line has more
		}
	}
	return best, found
}

func (c *cutter) weigh(p place) float64 {
	c.folded = appendFolded(c.folded[:0], c.text[p.start:p.end])
	sum := 0.0
	for _, t := range c.targets {
		if t.needle.index(c.folded, 0) >= 0 {
			sum += t.weight
		}
	}
	return sum
}

// firstLine returns the first line of the body that is neither empty nor a heading, else the first line of the text.
func (c *cutter) firstLine(body int) place {
	for p := range places(c.text) {
		line := bytes.TrimSpace(c.text[p.start:p.end])
		if level, _ := headingOf(line); p.start >= body && len(line) > 0 && level == 0 {
			return p
		}
	}
	for p := range places(c.text) {
		return p
	}
	return place{line: 1}
}

// places yields the lines of a text.
func places(text []byte) iter.Seq[place] {
	return func(yield func(place) bool) {
		for line, pos := 1, 0; pos < len(text); line++ {
			raw, next := lineAt(text, pos)
			if !yield(place{line, pos, pos + len(raw)}) {
				return
			}
			pos = next
		}
	}
}

// window returns up to SnippetBytes from start on: the rest of the line, and in the body the next line if it fits and is
// not empty. A heading says what the title says; it is shown with the start of the text below it.
func (c *cutter) window(p place, start, body int) []byte {
	line := bytes.TrimRight(c.text[start:p.end], " \t\r")
	if len(line) > SnippetBytes {
		return bytes.TrimRight(cutAtRune(line, SnippetBytes), " \t")
	}
	level, _ := headingOf(line)
	from := min(p.end+1, len(c.text))
	next, after := lineAt(c.text, from)
	if level > 0 && len(bytes.TrimSpace(next)) == 0 {
		from = after
		next, _ = lineAt(c.text, from)
	}
	next = bytes.TrimRight(next, " \t\r")
	end := from + len(next)
	switch {
	case len(next) == 0 || p.start < body:
		return line
	case end-start <= SnippetBytes:
		return c.text[start:end]
	case level > 0:
		return cutAtRune(c.text[start:end], SnippetBytes)
	}
	return line
}

// bestStart returns where a snippet of the line should start, to show most of the targets.
func (c *cutter) bestStart(p place) int {
	line := c.text[p.start:p.end]
	indent := len(line) - len(bytes.TrimLeft(line, " \t"))
	if len(line)-indent <= SnippetBytes {
		return p.start + indent
	}
	c.folded = appendFolded(c.folded[:0], line)
	at := max(rawOffset(line, c.heaviestWindow())-lead, indent)
	for at > indent && !utf8.RuneStart(line[at]) {
		at--
	}
	if at == indent {
		return p.start + at
	}
	if i := bytes.IndexByte(line[at:at+lead], ' '); i >= 0 {
		at += i + 1
	}
	return p.start + at
}

// spot is one target in the folded line.
type spot struct{ at, target int }

// heaviestWindow returns where in the folded line the stretch starts that shows most of the targets.
func (c *cutter) heaviestWindow() int {
	const spotsPerTarget = 100
	var spots []spot
	for i, t := range c.targets {
		at := t.needle.index(c.folded, 0)
		for n := 0; at >= 0 && n < spotsPerTarget; n++ {
			spots = append(spots, spot{at, i})
			at = t.needle.index(c.folded, at+max(len(t.needle.text), 1))
		}
	}
	slices.SortFunc(spots, func(a, b spot) int { return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.target, b.target)) })
	best, heaviest := 0, 0.0
	for i := range spots {
		if weight := c.weighSpots(spots[i:]); weight > heaviest {
			best, heaviest = spots[i].at, weight
		}
	}
	return best
}

// weighSpots weighs the targets that a snippet shows which starts a little before the first spot.
func (c *cutter) weighSpots(spots []spot) float64 {
	sum := 0.0
	seen := make(map[int]bool, len(c.targets))
	for _, s := range spots {
		if s.at+len(c.targets[s.target].needle.text) > spots[0].at+SnippetBytes-lead {
			break
		}
		if !seen[s.target] {
			seen[s.target] = true
			sum += c.targets[s.target].weight
		}
	}
	return sum
}

// rawOffset returns the offset in text of the character whose folded form stands at offset in the folded text.
func rawOffset(text []byte, offset int) int {
	folded := make([]byte, 0, offset+utf8.UTFMax)
	for i := 0; i < len(text); {
		var width int
		folded, width = appendFoldedChar(folded, text[i:])
		if len(folded) > offset {
			return i
		}
		i += width
	}
	return len(text)
}

// cutAtRune returns the first n bytes of b, less a character that would be cut.
func cutAtRune(b []byte, n int) []byte {
	if len(b) <= n {
		return b
	}
	for n > 0 && !utf8.RuneStart(b[n]) {
		n--
	}
	return b[:n]
}
