package workspace

import (
	"bytes"
	"fmt"
	"iter"
	"strings"
	"unicode/utf8"

	"writ/contract"
	"writ/envelope"
)

// Bounds of what is said about occurrences: how many are named, and how much of the line is shown.
const (
	maxPlaces    = 20
	maxPlaceText = 200
	placeLead    = 60 // what is shown before the occurrence in a longer line
)

// MatchPlace is where a text occurs.
type MatchPlace struct {
	Line   int    `json:"line"`             // from 1
	Column int    `json:"column"`           // in characters as shown, from 1
	Text   string `json:"text" text:"line"` // the line without its end; of a long one the 200 bytes around the occurrence

	offset int // in the content
}

// Matches is how often a text occurs, overlapping occurrences counted, and where the first 20 are.
type Matches struct {
	Places []MatchPlace
	Total  int
}

// Adapt returns s as it would stand in this text: where every LF of the text has a CR before it, each LF of s without
// one stands for CRLF. It tells whether that made a difference.
func (t *Text) Adapt(s string) (adapted string, changed bool) {
	if !t.AllCRLF() || strings.IndexByte(s, '\n') < 0 {
		return s, false
	}
	var b strings.Builder
	for line := range strings.Lines(s) {
		body, ended := strings.CutSuffix(line, "\n")
		b.WriteString(body)
		if ended && !strings.HasSuffix(body, "\r") {
			b.WriteByte('\r')
			changed = true
		}
		if ended {
			b.WriteByte('\n')
		}
	}
	if !changed {
		return s, false
	}
	return b.String(), true
}

// Find returns the occurrences of old, as [Text.Adapt] gives it. The empty string occurs nowhere, and nothing does in a
// secret that is kept back.
func (t *Text) Find(old string) Matches {
	needle, _ := t.Adapt(old)
	return t.find(needle)
}

// Count returns how often old occurs, as [Text.Find] does.
func (t *Text) Count(old string) int {
	needle, _ := t.Adapt(old)
	n := 0
	for i := range occurrences(t.content, []byte(needle)) {
		if !t.veil.hides(i, i+len(needle)) {
			n++
		}
	}
	return n
}

func (t *Text) find(needle string) Matches {
	var found Matches
	at, line, column := 0, 1, 1 // what is known: the place of the last occurrence
	for i := range occurrences(t.content, []byte(needle)) {
		if t.veil.hides(i, i+len(needle)) {
			continue // else a secret could be guessed letter by letter
		}
		found.Total++
		if found.Total > maxPlaces {
			continue
		}
		between := t.shown(at, i)
		if n := bytes.Count(between, []byte("\n")); n > 0 {
			line += n
			column = 1
			between = between[bytes.LastIndexByte(between, '\n')+1:]
		}
		column += utf8.RuneCount(between)
		at = i
		found.Places = append(found.Places, MatchPlace{Line: line, Column: column, Text: t.lineAround(i), offset: i})
	}
	return found
}

// lineAround returns the line that holds offset i, without its end, or as much of it as may be shown.
func (t *Text) lineAround(i int) string {
	start := bytes.LastIndexByte(t.content[:i], '\n') + 1
	if i-start > maxPlaceText-placeLead { // else the occurrence lies in what is shown anyway
		start = runeStart(t.content, i-placeLead)
	}
	end := len(t.content)
	if end-start > maxPlaceText {
		end = runeStart(t.content, start+maxPlaceText)
	}
	if n := bytes.IndexByte(t.content[start:end], '\n'); n >= 0 {
		end = start + len(bytes.TrimSuffix(t.content[start:start+n], []byte("\r")))
	}
	return string(t.shown(start, end))
}

// runeStart returns the start of the character that holds the byte i of s, or i at the end of s.
func runeStart(s []byte, i int) int {
	for i > 0 && i < len(s) && !utf8.RuneStart(s[i]) {
		i--
	}
	return i
}

// occurrences yields where needle starts in text, overlapping ones too. The time is linear in the length of both,
// whatever they hold.
func occurrences(text, needle []byte) iter.Seq[int] {
	return func(yield func(int) bool) {
		if len(needle) == 0 {
			return
		}
		last := -len(needle)
		for from := 0; ; {
			i := bytes.Index(text[from:], needle)
			if i < 0 {
				return
			}
			at := from + i
			if at-last < len(needle) {
				// Occurrences overlap, so the needle repeats itself, and to look anew from each of them could take the
				// square of the time.
				overlapping(text, needle, at, yield)
				return
			}
			if !yield(at) {
				return
			}
			last, from = at, at+1
		}
	}
}

// overlapping yields the occurrences from the offset on, by the method of Knuth, Morris and Pratt.
func overlapping(text, needle []byte, from int, yield func(int) bool) {
	borders := bordersOf(needle)
	matched := 0
	for i := from; i < len(text); i++ {
		for matched > 0 && (matched == len(needle) || text[i] != needle[matched]) {
			matched = int(borders[matched-1])
		}
		if text[i] == needle[matched] {
			matched++
		}
		if matched == len(needle) && !yield(i+1-len(needle)) {
			return
		}
	}
}

// bordersOf returns, for each prefix of needle, the length of the longest shorter prefix that also ends it.
func bordersOf(needle []byte) []int32 {
	borders := make([]int32, len(needle))
	n := int32(0)
	for i := 1; i < len(needle); i++ {
		for n > 0 && needle[i] != needle[n] {
			n = borders[n-1]
		}
		if needle[i] == needle[n] {
			n++
		}
		borders[i] = n
	}
	return borders
}

// Plan is an edit that was found to be possible, and not made yet.
type Plan struct {
	Edit           TextEdit          // in the content
	Line           int               // where the edit starts, from 1
	Splices        []contract.Splice // in the file's bytes; none where they already are what they should be
	Normalizations []envelope.Normalization
}

// NoMatchError says that a text does not occur, and what is closest to it. Its cause has the code no-match.
type NoMatchError struct {
	Cause     *envelope.Error
	Diagnosis Diagnosis
}

func (e *NoMatchError) Error() string { return e.Cause.Error() }

// Unwrap returns the cause that the caller is told.
func (e *NoMatchError) Unwrap() error { return e.Cause }

// ManyMatchesError says that a text occurs more than once, and where. Its cause has the code multiple-matches.
type ManyMatchesError struct {
	Cause   *envelope.Error
	Matches []MatchPlace // the first 20
	Total   int          // overlapping occurrences counted
}

func (e *ManyMatchesError) Error() string { return e.Cause.Error() }

// Unwrap returns the cause that the caller is told.
func (e *ManyMatchesError) Unwrap() error { return e.Cause }

// PlanReplace plans to replace the one occurrence of oldText by newText. It returns a *[NoMatchError] where there is
// none, a *[ManyMatchesError] where there are several, and an Error of code no-change for equal texts, length for an
// empty oldText, or not-encodable.
func PlanReplace(t *Text, oldText, newText string) (Plan, error) {
	switch oldText {
	case "":
		return Plan{}, envelope.Errorf(envelope.Length, "old_text is empty. Give the text that is to be replaced.")
	case newText:
		return Plan{}, envelope.Errorf(envelope.NoChange, "old_text and new_text are equal, so there is nothing to change.")
	}
	needle, adaptedOld := t.Adapt(oldText)
	with, adaptedNew := t.Adapt(newText)
	found := t.find(needle)
	switch {
	case found.Total == 0:
		return Plan{}, noMatch(Diagnose(t, oldText))
	case found.Total > 1:
		return Plan{}, manyMatches(found)
	}
	place := found.Places[0]
	edit := TextEdit{Start: place.offset, End: place.offset + len(needle), New: with}
	plan, err := t.plan(edit, place.Line)
	plan.adapted("old_text", adaptedOld)
	plan.adapted("new_text", adaptedNew)
	return plan, err
}

// PlanAppend plans to add the text at the end. It returns an Error of code not-encodable for a character that the file's
// encoding lacks.
func PlanAppend(t *Text, text string) (Plan, error) {
	added, changed := t.Adapt(text)
	end := len(t.content)
	plan, err := t.plan(TextEdit{Start: end, End: end, New: added}, t.lineOf(end))
	plan.adapted("text", changed)
	return plan, err
}

func (t *Text) plan(edit TextEdit, line int) (Plan, error) {
	if err := t.CheckCovered(edit); err != nil {
		return Plan{}, err
	}
	splices, err := t.Splice(edit.Start, edit.End, edit.New)
	return Plan{Edit: edit, Line: line, Splices: splices}, err
}

// adapted notes that the parameter was adapted to the line endings of the file, if it was.
func (p *Plan) adapted(parameter string, changed bool) {
	if changed {
		p.Normalizations = append(p.Normalizations, envelope.Normalization{Parameter: parameter, Rule: RuleLFToCRLF})
	}
}

// RuleLFToCRLF is the normalization that [Text.Adapt] makes.
const RuleLFToCRLF = "lf-to-crlf"

func noMatch(d Diagnosis) error {
	cause := &envelope.Error{Code: envelope.TextNotFound, Message: d.message()}
	if d.Line > 0 {
		cause.Next = envelope.FixArguments
	}
	return &NoMatchError{Cause: cause, Diagnosis: d}
}

func manyMatches(found Matches) error {
	lines := make([]string, len(found.Places))
	for i, p := range found.Places {
		lines[i] = fmt.Sprint(p.Line)
	}
	more := ""
	if found.Total > len(lines) {
		more = " and others"
	}
	return &ManyMatchesError{
		Cause: envelope.Errorf(envelope.TextNotUnique,
			"old_text occurs %d times, in lines %s%s. Add lines before or after it until it occurs once.",
			found.Total, strings.Join(lines, ", "), more),
		Matches: found.Places,
		Total:   found.Total,
	}
}
