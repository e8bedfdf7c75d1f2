package workspace

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/aymanbagabas/go-udiff/lcs"

	"writ/contract"
)

// Bounds of a diff, so that a reply to an edit stays small also where a paragraph is one line.
const (
	diffContext    = 1   // lines around a change: whoever gets the diff knows the file, and pays for each line twice
	maxChangedLine = 500 // bytes shown of a line that changed
	maxContextLine = 80  // bytes shown of one that did not
	changeLead     = 100 // bytes shown before the change in a line that is longer
)

// TextEdit replaces the bytes Start to End of a content by New.
type TextEdit struct {
	Start, End int
	New        string
}

// diffGoesOn ends a diff that was cut.
const diffGoesOn = "[the diff goes on]\n"

// DiffIsCut tells whether a diff of this package shows only the beginning.
func DiffIsCut(diff string) bool { return strings.HasSuffix(diff, diffGoesOn) }

// side is one of the two texts that a diff compares. Lines are compared as they are, and written as they may be seen.
type side struct {
	text string
	veil *veil
}

// unifiedDiff returns the unified diff of two contents of the file at path, with a line of context, and whether it
// was cut: it shows no more than maxLines lines of hunks, and says so at its end. Long lines are cut too, with a mark
// where. It is the shortest diff only where few lines differ; the time is bounded.
func unifiedDiff(path string, before, after side, maxLines int) (diff string, cut bool) {
	if before.text == after.text {
		return "", false
	}
	start := commonLines(before.text, after.text)
	tail := commonTail(before.text[start:], after.text[start:])
	start = linesBack(before.text, start)
	beforeEnd := linesOn(before.text, len(before.text)-tail)
	afterEnd := beforeEnd + len(after.text) - len(before.text)

	d := newDiff(path, maxLines)
	d.region(1+strings.Count(before.text[:start], "\n"), before.part(start, beforeEnd), after.part(start, afterEnd))
	return d.String(), d.cut
}

// part is some lines of a side, with their ends: as they are, and as they may be seen.
type part struct{ lines, shown []string }

// part returns the lines from one offset to another.
func (s side) part(from, to int) part {
	lines := splitLines(s.text[from:to])
	if !s.veil.hides(from, to) {
		return part{lines, lines}
	}
	return part{lines, splitLines(string(s.veil.show(from, to)))}
}

// SpliceDiff returns the unified diff between the text and what the plans make of it. It looks at nothing but the lines
// around the edits, so it costs the same in a file of any size. It is cut at maxLines lines. The edits do not overlap.
func (t *Text) SpliceDiff(path string, maxLines int, plans ...Plan) string {
	plans = slices.SortedFunc(slices.Values(plans), func(a, b Plan) int { return cmp.Compare(a.Edit.Start, b.Edit.Start) })
	content := t.String()
	d := newDiff(path, maxLines)
	for len(plans) > 0 {
		start, end, n := hunkAround(content, plans)
		line := plans[0].Line - strings.Count(content[start:plans[0].Edit.Start], "\n")
		d.region(line, side{content, t.veil}.part(start, end), t.edited(start, end, plans[:n]))
		plans = plans[n:]
	}
	return d.String()
}

// hunkAround returns the lines around the first of the plans and, as far as their lines meet, the next ones: where they
// start and end, and of how many plans they are.
func hunkAround(content string, plans []Plan) (start, end, n int) {
	start, end = aroundEdit(content, plans[0].Edit)
	for n = 1; n < len(plans); n++ {
		nextStart, nextEnd := aroundEdit(content, plans[n].Edit)
		if nextStart > end {
			break
		}
		end = max(end, nextEnd)
	}
	return start, end, n
}

// aroundEdit returns the whole lines that the edit touches, and the context around them.
func aroundEdit(content string, e TextEdit) (start, end int) {
	start = strings.LastIndexByte(content[:e.Start], '\n') + 1
	end = len(content)
	if i := strings.IndexByte(content[e.End:], '\n'); i >= 0 {
		end = e.End + i + 1
	}
	return linesBack(content, start), linesOn(content, end)
}

// edited returns the lines from start to end with the plans carried out. What was kept back of them before is kept back
// still, also where an edit beside it makes it look like no secret any more.
func (t *Text) edited(start, end int, plans []Plan) part {
	var b []byte
	var kept []Span
	from, to := start, end
	if t.veil != nil { // for what comes before and after may tell a secret
		from, to = max(0, start-SecretMargin), min(len(t.content), end+SecretMargin)
	}
	at := from
	keep := func(until int) {
		for _, s := range t.veil.in(at, until) {
			kept = append(kept, Span{s.Start - at + len(b), s.End - at + len(b), s.Kind})
		}
		b = append(b, t.content[at:until]...)
	}
	for _, p := range plans {
		keep(p.Edit.Start)
		b = append(b, p.Edit.New...)
		at = p.Edit.End
	}
	keep(to)
	after := side{text: stringOf(b)}
	if t.veil != nil {
		after.veil = newVeil(t.veil.finder, b)
		after.veil.extra = kept
	}
	return after.part(start-from, len(b)-(to-end))
}

// linesBack returns the start of the line that lies a context before the line that starts at the offset.
func linesBack(s string, offset int) int {
	for range diffContext {
		if offset == 0 {
			break
		}
		offset = strings.LastIndexByte(s[:offset-1], '\n') + 1
	}
	return offset
}

// linesOn returns the end of the line that lies a context behind the line that ends at the offset.
func linesOn(s string, offset int) int {
	for range diffContext {
		i := strings.IndexByte(s[offset:], '\n')
		if i < 0 {
			return len(s)
		}
		offset += i + 1
	}
	return offset
}

// commonLines returns the length of the whole lines that a and b start with.
func commonLines(a, b string) int {
	n := commonPrefix(a, b)
	return strings.LastIndexByte(a[:n], '\n') + 1
}

// commonTail returns the length of the whole lines that a and b end with.
func commonTail(a, b string) int {
	tail := a[len(a)-commonSuffix(a, b):]
	// The tail may start inside a line: what follows its first line end is whole.
	_, whole, _ := strings.Cut(tail, "\n")
	return len(whole)
}

// block is the number of bytes that are compared at once, which is far faster than one by one.
const block = 1 << 10

func commonPrefix(a, b string) int {
	n, most := 0, min(len(a), len(b))
	for n+block <= most && a[n:n+block] == b[n:n+block] {
		n += block
	}
	for n < most && a[n] == b[n] {
		n++
	}
	return n
}

func commonSuffix(a, b string) int {
	n, most := 0, min(len(a), len(b))
	for n+block <= most && a[len(a)-n-block:len(a)-n] == b[len(b)-n-block:len(b)-n] {
		n += block
	}
	for n < most && a[len(a)-n-1] == b[len(b)-n-1] {
		n++
	}
	return n
}

// diffWriter writes a unified diff, hunk by hunk.
type diffWriter struct {
	path  string
	out   bytes.Buffer
	left  int // lines that may still be written
	shift int // how many lines the regions so far have added
	cut   bool
}

func newDiff(path string, maxLines int) *diffWriter { return &diffWriter{path: path, left: maxLines} }

// String returns the diff; empty where nothing differs.
func (d *diffWriter) String() string {
	if d.out.Len() == 0 && !d.cut {
		return ""
	}
	diff := "--- " + contract.Shown("a/"+d.path) + "\n+++ " + contract.Shown("b/"+d.path) + "\n" + d.out.String()
	if d.cut {
		diff += diffGoesOn
	}
	return diff
}

// region writes the hunks that turn before, which starts with the given line, into after.
func (d *diffWriter) region(line int, before, after part) {
	a, b := before.lines, after.lines
	changes := changedLines(a, b)
	for len(changes) > 0 {
		n := 1
		for n < len(changes) && changes[n].Start-changes[n-1].End <= 2*diffContext {
			n++
		}
		h := hunk{a: before.shown, b: after.shown, left: d.left - 1} // one for its header
		h.write(changes[:n])
		d.cut = d.cut || h.cut
		if h.aLines+h.bLines > 0 {
			first := max(0, changes[0].Start-diffContext)
			firstB := first + changes[0].ReplStart - changes[0].Start
			fmt.Fprintf(&d.out, "@@ -%s +%s @@\n", span(line+first, h.aLines), span(line+firstB+d.shift, h.bLines))
			d.out.Write(h.out.Bytes())
			d.left = h.left
		}
		changes = changes[n:]
	}
	d.shift += len(b) - len(a)
}

// changedLines returns what differs, in order. Equal lines at the start are taken off first, so that among lines that are
// all the same a new one is the last, as readers of diffs are used to.
func changedLines(a, b []string) []lcs.Diff {
	start, aEnd, bEnd := 0, len(a), len(b)
	for start < min(aEnd, bEnd) && a[start] == b[start] {
		start++
	}
	for min(aEnd, bEnd) > start && a[aEnd-1] == b[bEnd-1] {
		aEnd--
		bEnd--
	}
	changes := lcs.DiffLines(a[start:aEnd], b[start:bEnd])
	for i := range changes {
		c := &changes[i]
		c.Start, c.End, c.ReplStart, c.ReplEnd = c.Start+start, c.End+start, c.ReplStart+start, c.ReplEnd+start
	}
	return changes
}

// span returns the range of a hunk's header. A range of no lines is named by the line before it.
func span(line, n int) string {
	switch n {
	case 0:
		return fmt.Sprintf("%d,0", line-1)
	case 1:
		return fmt.Sprint(line)
	}
	return fmt.Sprintf("%d,%d", line, n)
}

// splitLines returns the lines of s with their ends.
func splitLines(s string) []string {
	lines := strings.SplitAfter(s, "\n")
	if lines[len(lines)-1] == "" {
		lines = lines[:len(lines)-1]
	}
	return lines
}

// hunk is the body of one hunk, and what its header needs.
type hunk struct {
	a, b           []string // as they may be seen
	out            bytes.Buffer
	aLines, bLines int // lines written
	left           int // lines that may still be written
	cut            bool
}

func (h *hunk) write(changes []lcs.Diff) {
	at := max(0, changes[0].Start-diffContext)
	for _, c := range changes {
		h.context(at, c.Start)
		for i := c.Start; i < c.End; i++ {
			other := ""
			if k := c.ReplStart + i - c.Start; k < c.ReplEnd {
				other = h.b[k]
			}
			h.changed('-', h.a[i], other)
		}
		for i := c.ReplStart; i < c.ReplEnd; i++ {
			other := ""
			if k := c.Start + i - c.ReplStart; k < c.End {
				other = h.a[k]
			}
			h.changed('+', h.b[i], other)
		}
		at = c.End
	}
	h.context(at, min(len(h.a), at+diffContext))
}

func (h *hunk) context(from, to int) {
	for _, line := range h.a[from:to] {
		if h.full() {
			return
		}
		h.line(' ', shorten(line, 0, maxContextLine))
	}
}

// changed writes a line that is only on one side; other is the line that stands for it on the other side, if any. Of a
// long line the part is shown where the two begin to differ.
func (h *hunk) changed(sign byte, line, other string) {
	if h.full() {
		return
	}
	from := 0
	if len(line) > maxChangedLine {
		if same := commonPrefix(line, other); same > changeLead {
			from = min(same-changeLead, len(line)-maxChangedLine/2)
		}
	}
	h.line(sign, shorten(line, from, maxChangedLine))
}

// full tells whether no more lines may be written, although there is one.
func (h *hunk) full() bool {
	h.cut = h.cut || h.left <= 0
	return h.cut
}

func (h *hunk) line(sign byte, line string) {
	h.left--
	h.out.WriteByte(sign)
	h.out.WriteString(line)
	if !strings.HasSuffix(line, "\n") {
		h.out.WriteString("\n\\ No newline at end of file\n")
	}
	if sign != '+' {
		h.aLines++
	}
	if sign != '-' {
		h.bLines++
	}
}

// shorten returns most bytes of the line from an offset on, with a mark for what is left out on either side.
func shorten(line string, from, most int) string {
	body := strings.TrimRight(line, "\r\n")
	if len(body) <= most {
		return line
	}
	for from > 0 && !utf8.RuneStart(body[from]) {
		from--
	}
	to := min(len(body), from+most)
	for to < len(body) && !utf8.RuneStart(body[to]) {
		to--
	}
	short := body[from:to]
	if from > 0 {
		short = fmt.Sprintf("[… %d bytes]", from) + short
	}
	if to < len(body) {
		short += fmt.Sprintf("[%d bytes …]", len(body)-to)
	}
	return short + line[len(body):]
}
