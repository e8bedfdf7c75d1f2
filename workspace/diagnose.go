package workspace

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Bounds of a diagnosis. They keep it linear in the size of the file, and small beside it.
const (
	maxDiagnosed     = 256 << 10 // bytes of the wanted text that are looked at
	maxDiagnosisText = 2000      // bytes of file text in a diagnosis
	maxExplained     = 8         // near places of which the best is chosen
	maxWidened       = 1 << 12   // bytes that a place is widened by, on either side
	markEvery        = 1 << 10   // bytes between the points from which places are found again
	maxGrowth        = 1 << 16   // bytes by which a folded text may be longer
	maxFoldedAway    = 1 << 14   // bytes more between them, where the text folds to nothing
)

// The words for differences that no folding takes out.
const (
	differsRedacted   = "redacted"
	differsSimilar    = "similar"
	differsWhitespace = "whitespace"
)

// Diagnosis says what comes closest to a text that does not occur. Its Text is the file's, and data.
type Diagnosis struct {
	// Differs lists what differs there, in the contract's words; empty where nothing is close.
	Differs []string `json:"differs"`
	// Line is where the closest place starts, from 1; 0 where nothing is close.
	Line int `json:"line"`
	// Text is the exact text there, or its first 2,000 bytes. It is empty for text that was redacted.
	Text string `json:"text" text:"line"`
	// Occurrences counts the places that are as close.
	Occurrences int `json:"occurrences"`

	veiled bool // something in the place is kept back
}

// Diagnose looks for what the caller may have meant by old, which does not occur in t. It folds both by all differences
// at once, looks there, and then asks which of the differences are needed; where nothing is found it looks for the most
// similar place.
//
// It looks at the text as it is shown. A place in which something is kept back is told, and not shown.
func Diagnose(t *Text, old string) Diagnosis {
	t = t.asShown()
	wanted, _ := t.Adapt(old)
	if strings.Contains(wanted, redactedStart) {
		return diagnoseRedacted(t, wanted)
	}
	d := closest(t, wanted)
	if d.veiled {
		d.Differs, d.Text = []string{differsRedacted}, ""
	}
	return d
}

// closest returns the place that comes closest to wanted.
func closest(t *Text, wanted string) Diagnosis {
	if len(wanted) > maxDiagnosed {
		wanted = wanted[:runeStart([]byte(wanted), maxDiagnosed)]
	}
	if d, ok := diagnoseFinalNewline(t, wanted); ok {
		return d
	}
	needle := foldAll([]byte(wanted)).folded
	if len(needle) == 0 {
		return diagnoseBlank(t, wanted)
	}
	file := foldAll(t.content)
	if d, ok := diagnoseFolded(t, file, wanted, needle); ok {
		return d
	}
	return diagnoseSimilar(t, file, wanted, needle)
}

// message tells the caller what to do, without a word of the file's.
func (d *Diagnosis) message() string {
	switch {
	case d.veiled:
		return fmt.Sprintf("old_text does not occur in the file. The closest place, line %d, holds a secret that is kept back as [redacted:…] and can't be edited here; choose an old_text beside it.", d.Line)
	case slices.Contains(d.Differs, differsRedacted):
		return "old_text holds a [redacted:…] placeholder, which stands for text that is kept back and so never matches. Choose an old_text without it."
	case d.Line == 0:
		return "old_text does not occur in the file, nor does anything close to it. Read the file again and copy old_text from it exactly."
	}
	differs := "it differs in " + strings.Join(d.Differs, ", ")
	if slices.Contains(d.Differs, differsSimilar) {
		differs = "it is similar, not the same"
	}
	copyIt := "Copy old_text from diagnosis.text."
	if len(d.Text) > maxDiagnosisText-utf8.UTFMax {
		copyIt = "diagnosis.text may be only its start: read the file from that line and copy old_text from it."
	}
	if d.Occurrences > 1 {
		copyIt = fmt.Sprintf("%d places are as close. ", d.Occurrences) + copyIt
	}
	return fmt.Sprintf("old_text does not occur in the file. The closest place is line %d; %s. %s", d.Line, differs, copyIt)
}

// place returns the diagnosis of the content from start to end.
func (t *Text) place(start, end int) Diagnosis {
	end = min(end, runeStart(t.content, min(len(t.content), start+maxDiagnosisText)))
	return Diagnosis{Line: t.lineOf(start), Text: string(t.content[start:end]), Occurrences: 1, veiled: t.veil.hides(start, end)}
}

func (t *Text) lineOf(offset int) int { return 1 + bytes.Count(t.content[:offset], []byte("\n")) }

// diagnoseFinalNewline looks for a text that is the end of the file but for the file's missing last line end. It comes
// first: without its line end the text may stand in the middle of a line too, and those places are not the ones meant.
func diagnoseFinalNewline(t *Text, wanted string) (Diagnosis, bool) {
	bare := strings.TrimSuffix(strings.TrimSuffix(wanted, "\n"), "\r")
	if bare == "" || bare == wanted || !bytes.HasSuffix(t.content, []byte(bare)) {
		return Diagnosis{}, false
	}
	d := t.place(len(t.content)-len(bare), len(t.content))
	d.Differs = inFinalNewline.words()
	return d, true
}

// diagnoseBlank looks for a text of nothing but whitespace: it is told only where other line endings make it occur.
func diagnoseBlank(t *Text, wanted string) Diagnosis {
	lf := strings.ReplaceAll(wanted, "\r\n", "\n")
	for _, other := range []string{lf, strings.ReplaceAll(lf, "\n", "\r\n")} {
		if found := t.find(other); found.Total > 0 {
			start := found.Places[0].offset
			d := t.place(start, start+len(other))
			d.Differs, d.Occurrences = inLineEndings.words(), found.Total
			return d
		}
	}
	return Diagnosis{Differs: []string{differsWhitespace}}
}

// diagnoseFolded looks for the folded text in the folded file, and explains the place that needs the least.
func diagnoseFolded(t *Text, file *foldedText, wanted string, needle []byte) (Diagnosis, bool) {
	most := maxExplained
	if len(wanted) > 1<<14 {
		most = 1
	}
	best, fewest, total := Diagnosis{}, math.MaxInt, 0
	for i := range occurrences(file.folded, needle) {
		total++
		if total > most || fewest == 1 {
			continue
		}
		start, end := widen(t.content, file.start(i), file.end(i+len(needle)), wanted)
		differs := t.differs(start, end, wanted)
		if len(differs) < fewest {
			best, fewest = t.place(start, end), len(differs)
			best.Differs = differs
		}
	}
	best.Occurrences = total
	return best, total > 0
}

// differs tells how the content from start to end differs from wanted.
func (t *Text) differs(start, end int, wanted string) []string {
	possible := allDifferences
	if end < len(t.content) {
		possible &^= inFinalNewline
	}
	if end-start <= 2*len(wanted)+2*maxWidened { // else it is almost all blanks, and costs too much to tell
		if d, ok := explain(wanted, string(t.content[start:end]), possible); ok {
			return d.words()
		}
	}
	return []string{differsSimilar}
}

// widen makes the place from start to end, which has no whitespace around it, begin and end with as many lines as
// wanted does.
func widen(content []byte, start, end int, wanted string) (int, int) {
	lead := wanted[:len(wanted)-len(strings.TrimLeftFunc(wanted, isBlank))]
	trail := wanted[len(strings.TrimRightFunc(wanted, isBlank)):]

	breaks := strings.Count(lead, "\n")
	for least := max(0, start-maxWidened); start > least && lead != ""; {
		r, size := utf8.DecodeLastRune(content[:start])
		if !isBlank(r) || r == '\n' && breaks == 0 || breaks == 0 && r != '\r' && strings.IndexByte("\r\n", lead[0]) >= 0 {
			break
		}
		if r == '\n' {
			breaks--
		}
		start -= size
	}
	breaks = strings.Count(trail, "\n")
	for most := min(len(content), end+maxWidened); end < most && trail != ""; {
		r, size := utf8.DecodeRune(content[end:])
		if !isBlank(r) || breaks == 0 && (r == '\n' || r == '\r' || strings.HasSuffix(trail, "\n")) {
			break
		}
		if r == '\n' {
			breaks--
		}
		end += size
	}
	return start, end
}

// foldedText is a text folded by all differences, and the way back to it.
type foldedText struct {
	text   []byte
	folded []byte
	marks  []mark
}

// mark says that what follows source in the text follows folded in its folded form.
type mark struct{ source, folded int }

// foldAll folds text by all differences. Of a text that grows by it, as only one made for that does, it leaves out the
// end.
func foldAll(text []byte) *foldedText {
	f := folder{text: text, by: allDifferences, folded: make([]byte, 0, len(text))}
	marks := []mark{{0, 0}}
	for f.at < len(text) && len(f.folded) <= len(text)+maxGrowth {
		last := marks[len(marks)-1]
		since := max(len(f.folded)-last.folded, f.at-last.source-maxFoldedAway)
		if since >= 2*markEvery || since >= markEvery && f.mayPart() {
			f.endRun()
			marks = append(marks, mark{f.at, len(f.folded)})
		}
		f.plain(markEvery / 8)
		if f.at < len(text) {
			f.step()
		}
	}
	f.endRun()
	return &foldedText{text: text, folded: f.folded, marks: marks}
}

// mayPart tells whether what comes next is surely not folded together with what came before.
func (f *folder) mayPart() bool {
	r, _ := utf8.DecodeRune(f.text[f.at:])
	return r != '&' && !isDash(r) && !isInvisible(r) && standsAlone(r)
}

// before returns a folder that stands at the last mark at or before the offset of the folded form.
func (f *foldedText) before(offset int) (folder, mark) {
	i, _ := slices.BinarySearchFunc(f.marks, offset+1, func(m mark, offset int) int { return m.folded - offset })
	m := f.marks[i-1]
	return folder{text: f.text[m.source:], by: allDifferences}, m
}

// start returns where the character starts in the text that the folded form has at the offset.
func (f *foldedText) start(offset int) int {
	back, m := f.before(offset)
	for {
		at := back.at
		back.step()
		if m.folded+back.length() > offset || back.at == len(back.text) {
			return m.source + at
		}
	}
}

// end returns where the character ends in the text behind which the folded form has the offset, with the marks that
// join it.
func (f *foldedText) end(offset int) int {
	back, m := f.before(offset - 1)
	at := 0
	for more := maxRun; more > 0 && back.at < len(back.text); {
		back.step()
		length := m.folded + back.length()
		if length > offset {
			break
		}
		at = back.at
		if length == offset {
			more--
		}
	}
	return m.source + len(bytes.TrimRightFunc(back.text[:at], isBlank))
}

// isBlank tells whether r shows as nothing.
func isBlank(r rune) bool { return unicode.IsSpace(r) || isInvisible(r) }

const redactedStart = "[redacted:"

// diagnoseRedacted finds the place by the longest piece of old that is not a placeholder. It does not show it: what is
// there is kept back.
func diagnoseRedacted(t *Text, wanted string) Diagnosis {
	d := Diagnosis{Differs: []string{differsRedacted}}
	longest, linesBefore, lines := "", 0, 0
	for rest := wanted; ; {
		piece, after, more := strings.Cut(rest, redactedStart)
		if len(piece) > len(longest) {
			longest, linesBefore = piece, lines
		}
		lines += strings.Count(piece, "\n")
		if !more {
			break
		}
		if _, rest, more = strings.Cut(after, "]"); !more {
			break
		}
	}
	if found := t.find(longest); found.Total > 0 {
		d.Line, d.Occurrences = max(1, found.Places[0].Line-linesBefore), found.Total
	}
	return d
}
