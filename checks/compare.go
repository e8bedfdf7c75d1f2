package checks

import (
	"bytes"
	"context"
	"slices"
)

// Status is what a check came to.
type Status string

// The statuses.
const (
	Passed  Status = "passed"  // the checker finds nothing wrong
	Failed  Status = "failed"  // something is wrong, if not for this write
	Skipped Status = "skipped" // the checker did not look
)

// Report is what one checker says of a write.
type Report struct {
	Checker  string
	Status   Status
	Reason   string    // why it was skipped
	Findings []Finding // those that are new first, and at most [MostFindings]
	Total    int       // problems found
	Before   int       // problems that the text before had
}

// Finding is a problem of the text that was written.
type Finding struct {
	Problem
	New bool // it is shown that the text before did not have it
}

// MostFindings bounds what a report lists.
const MostFindings = 10

// Text is a file's text around a write.
type Text struct {
	Base    string // the file's base name
	Before  []byte // nil where it is not known
	After   []byte
	Existed bool // there was a text before
}

// Look has the checker look at what was written. Reported is false where the checker has nothing to do with the text.
// The text before is only looked at where something is wrong now.
func Look(ctx context.Context, c Checker, t Text) (r Report, reported bool) {
	r = Report{Checker: c.Name(), Status: Passed, Findings: []Finding{}}
	now := c.Find(ctx, t.Base, t.After)
	switch {
	case now.Nothing:
		return r, false
	case now.Skipped != "":
		r.Status, r.Reason = Skipped, now.Skipped
		return r, true
	case len(now.Problems) == 0:
		return r, true
	}
	r.Status, r.Total = Failed, len(now.Problems)
	var before Found
	switch {
	case !t.Existed:
	case t.Before == nil:
		before.Skipped = "The text before is not known."
	default:
		before = c.Find(ctx, t.Base, t.Before)
	}
	r.Before = len(before.Problems)
	r.Findings = compare(c, t, before, now.Problems)
	slices.SortStableFunc(r.Findings, func(a, b Finding) int { return rank(a) - rank(b) })
	r.Findings = r.Findings[:min(len(r.Findings), MostFindings)]
	return r, true
}

func rank(f Finding) int {
	if f.New {
		return 0
	}
	return 1
}

// compare tells which problems are new. One that stood before, with the same words on the line that is now this one, is
// not. Of a checker that stops at the first problem, one that comes later than where it stopped before may have been
// there too, so it is not called new; and nothing is where the text before could not be looked at.
func compare(c Checker, t Text, before Found, now []Problem) []Finding {
	lines := newLineShift(t.Before, t.After)
	known := map[Problem]int{}
	reach := -1 // the line up to which the text before is known to have been right; -1: all of it
	for _, p := range before.Problems {
		at := lines.now(p.Line)
		known[Problem{Line: at, Message: p.Message}]++
		if !c.FindsAll() {
			reach = at
		}
	}
	findings := make([]Finding, len(now))
	for i, p := range now {
		key := Problem{Line: p.Line, Message: p.Message}
		old := known[key] > 0
		if old {
			known[key]--
		}
		findings[i] = Finding{p, !old && before.Skipped == "" && (reach < 0 || p.Line > 0 && p.Line < reach)}
	}
	return findings
}

// lineShift tells where the lines of a text stand in the one after a change. Lines before and behind the change are the
// same ones.
type lineShift struct {
	same  int // lines at the beginning that are the same
	tail  int // lines at the end that are the same
	lines int // of the text before
	grown int // lines that were added
}

func newLineShift(before, after []byte) lineShift {
	a, b := bytes.Split(before, []byte("\n")), bytes.Split(after, []byte("\n"))
	s := lineShift{lines: len(a), grown: len(b) - len(a)}
	for s.same < min(len(a), len(b)) && bytes.Equal(a[s.same], b[s.same]) {
		s.same++
	}
	for s.tail < min(len(a), len(b))-s.same && bytes.Equal(a[len(a)-1-s.tail], b[len(b)-1-s.tail]) {
		s.tail++
	}
	return s
}

// now returns the line that line n of the text before is after the change; 0 for one that was changed.
func (s lineShift) now(n int) int {
	switch {
	case n <= s.same:
		return n
	case n > s.lines-s.tail:
		return n + s.grown
	}
	return 0
}
