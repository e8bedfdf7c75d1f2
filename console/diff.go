package console

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// everyRow is no bound.
const everyRow = int(^uint(0) >> 1)

// diff is a unified diff laid out side by side.
type diff struct {
	Rows []diffRow
	More int // lines that are not shown
}

// Only is the one side that has lines, new or gone; "" where both have.
func (d diff) Only() string {
	only := ""
	for _, r := range d.Rows {
		switch kind := r.Kind; {
		case kind == "new" && only != "gone", kind == "gone" && only != "new":
			only = kind
		case r.Text == "":
			return ""
		}
	}
	return only
}

// under returns d without the head that only repeats what stands above it: the name of a single file.
func (d diff) under(files int) diff {
	if files == 1 && len(d.Rows) > 0 && d.Rows[0].Kind == "file" {
		d.Rows = d.Rows[1:]
	}
	return d
}

// diffRow is a line before and after, or a line over both.
type diffRow struct {
	Kind          string // file, hunk, note, same, edit (of a line), gone, new
	Text          string // of file, hunk and note
	Before, After diffSide
}

// diffSide is one line of one side. Of an edited line Start and End are what both sides have.
type diffSide struct {
	Line               int // 0: there is none
	Start, Middle, End string
}

// parseDiff lays out a diff, most rows of it at most. What it can't make sense of becomes a note, so nothing is left out.
func parseDiff(text string, most int) diff {
	p := diffParser{most: most}
	for line := range strings.Lines(text) {
		p.take(strings.TrimSuffix(line, "\n"))
	}
	p.pair()
	return p.diff
}

// diffParser reads line by line. Inside a hunk it goes by the counts of the hunk's head, since a line that was taken out
// may look like the head of a file.
type diffParser struct {
	diff
	most                  int
	before, after         int // the next line's numbers
	beforeLeft, afterLeft int // lines of the hunk that are to come
	notes                 []diffRow
	gone, fresh           []diffSide
}

func (p *diffParser) take(line string) {
	inHunk := p.beforeLeft+p.afterLeft > 0
	switch {
	case strings.HasPrefix(line, `\ `): // of the line before it, which may stand beside one that is still to come
		p.notes = append(p.notes, diffRow{Kind: "note", Text: line[2:]})
	case inHunk && strings.HasPrefix(line, "-"):
		if len(p.fresh) > 0 {
			p.pair()
		}
		p.gone = append(p.gone, diffSide{Line: p.before, Middle: line[1:]})
		p.before, p.beforeLeft = p.before+1, p.beforeLeft-1
	case inHunk && strings.HasPrefix(line, "+"):
		p.fresh = append(p.fresh, diffSide{Line: p.after, Middle: line[1:]})
		p.after, p.afterLeft = p.after+1, p.afterLeft-1
	case inHunk && strings.HasPrefix(line, " "):
		p.pair()
		p.add(diffRow{Kind: "same", Before: diffSide{Line: p.before, Middle: line[1:]}, After: diffSide{Line: p.after, Middle: line[1:]}})
		p.before, p.beforeLeft, p.after, p.afterLeft = p.before+1, p.beforeLeft-1, p.after+1, p.afterLeft-1
	default:
		p.head(line)
	}
}

// head takes what is no line of a hunk.
func (p *diffParser) head(line string) {
	switch {
	case strings.HasPrefix(line, "--- "):
		p.pair()
	case strings.HasPrefix(line, "+++ "):
		p.add(diffRow{Kind: "file", Text: strings.Replace(strings.TrimPrefix(line, "+++ "), "b/", "", 1)})
	case strings.HasPrefix(line, "@@ ") && p.hunk(line):
		p.add(diffRow{Kind: "hunk", Text: line})
	case line != "":
		p.pair()
		p.add(diffRow{Kind: "note", Text: line})
	}
}

func (p *diffParser) hunk(line string) bool {
	p.pair()
	fields := strings.Fields(line)
	if len(fields) < 3 {
		return false
	}
	var ok1, ok2 bool
	p.before, p.beforeLeft, ok1 = spanOf(fields[1], "-")
	p.after, p.afterLeft, ok2 = spanOf(fields[2], "+")
	if !ok1 || !ok2 {
		p.beforeLeft, p.afterLeft = 0, 0
	}
	return ok1 && ok2
}

// spanOf reads "-12,3" or "-12".
func spanOf(text, sign string) (line, count int, ok bool) {
	text, ok = strings.CutPrefix(text, sign)
	if !ok {
		return 0, 0, false
	}
	count = 1
	want := 1
	if strings.Contains(text, ",") {
		want = 2
	}
	n, _ := fmt.Sscanf(text, "%d,%d", &line, &count)
	return line, count, n == want && line >= 0 && count >= 0
}

// pair puts the lines that were taken out beside those that came in their place.
func (p *diffParser) pair() {
	gone, fresh := p.gone, p.fresh
	p.gone, p.fresh = nil, nil
	for i := range max(len(gone), len(fresh)) {
		switch {
		case i >= len(fresh):
			p.add(diffRow{Kind: "gone", Before: gone[i]})
		case i >= len(gone):
			p.add(diffRow{Kind: "new", After: fresh[i]})
		default:
			before, after := mark(gone[i], fresh[i])
			p.add(diffRow{Kind: "edit", Before: before, After: after})
		}
	}
	for _, note := range p.notes {
		p.add(note)
	}
	p.notes = nil
}

func (p *diffParser) add(r diffRow) {
	if len(p.Rows) >= p.most {
		p.More++
		return
	}
	p.Rows = append(p.Rows, r)
}

// mark finds what two lines have in common at their start and end.
func mark(before, after diffSide) (diffSide, diffSide) {
	a, b := before.Middle, after.Middle
	start := 0
	for start < min(len(a), len(b)) {
		r, size := utf8.DecodeRuneInString(a[start:])
		if other, _ := utf8.DecodeRuneInString(b[start:]); r != other || r == utf8.RuneError {
			break
		}
		start += size
	}
	end := 0
	for end < min(len(a), len(b))-start {
		r, size := utf8.DecodeLastRuneInString(a[:len(a)-end])
		if other, _ := utf8.DecodeLastRuneInString(b[:len(b)-end]); r != other || r == utf8.RuneError || size > min(len(a), len(b))-start-end {
			break
		}
		end += size
	}
	if start+end == 0 {
		return before, after // another line altogether: nothing in it stands out
	}
	cut := func(s diffSide) diffSide {
		text := s.Middle
		return diffSide{s.Line, text[:start], text[start : len(text)-end], text[len(text)-end:]}
	}
	return cut(before), cut(after)
}
