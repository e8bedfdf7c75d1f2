package gate

import (
	"context"
	"time"

	"writ/checks"
	"writ/contract"
	"writ/tools"
	"writ/workspace"
)

// checker has what one call writes checked.
type checker struct {
	files    workspace.Reader
	programs *ProgramChecks // nil: there are none
	until    time.Time      // when programs have had all their time
}

// Check returns what each checker of the file says.
func (c checker) Check(ctx context.Context, w workspace.Written) []tools.Check {
	list := []tools.Check{}
	if w.After.IsZero() || w.Changed == "no" {
		return list
	}
	if w.Old == nil && w.Before == contract.VersionOf(nil) {
		w.Old = []byte{} // an empty file, and not one that was too large to keep
	}
	ctx, cancel := context.WithDeadline(ctx, c.until)
	defer cancel()
	return c.look(ctx, c.checkersOf(w.Resolved), write{w.Resolved, w.Old, w.New, !w.Before.IsZero()})
}

// Foresee returns what the built-in checkers would say.
func (c checker) Foresee(path contract.Path, before, after []byte) []tools.Check {
	return c.look(context.Background(), checks.For(path.Base()), write{path, before, after, true})
}

// write is a change of a file's bytes; those that are nil are not known.
type write struct {
	path          contract.Path
	before, after []byte
	existed       bool
}

func (c checker) checkersOf(path contract.Path) []checks.Checker {
	return append(checks.For(path.Base()), c.programs.of(path)...)
}

func (c checker) look(ctx context.Context, checkers []checks.Checker, w write) []tools.Check {
	list := []tools.Check{}
	if len(checkers) == 0 {
		return list
	}
	if w.after == nil {
		return append(list, skippedAll(checkers, "The file is too large to be checked.")...)
	}
	text, err := c.files.Decode(w.after, w.path)
	if err != nil {
		return append(list, skippedAll(checkers, "The file is no text.")...)
	}
	t := checks.Text{Base: w.path.Base(), After: text.Bytes(), Existed: w.existed}
	if w.before != nil {
		if before, err := c.files.Decode(w.before, w.path); err == nil {
			t.Before = before.Bytes()
		}
	}
	for _, one := range checkers {
		if r, reported := checks.Look(ctx, one, t); reported {
			list = append(list, told(r, text))
		}
	}
	return list
}

func skippedAll(checkers []checks.Checker, why string) []tools.Check {
	var list []tools.Check
	for _, one := range checkers {
		list = append(list, tools.Check{Checker: one.Name(), Status: string(checks.Skipped), Diagnostics: []tools.Diagnostic{}, Reason: why})
	}
	return list
}

// told is a report as the caller is told it. Checkers quote what they dislike, so nothing is said of a line that holds a
// secret, and what does not show is escaped.
func told(r checks.Report, text *workspace.Text) tools.Check {
	c := tools.Check{Checker: r.Checker, Status: string(r.Status), Reason: r.Reason, Diagnostics: []tools.Diagnostic{}, Before: r.Before}
	if r.Total > len(r.Findings) {
		c.Total = r.Total
	}
	for _, f := range r.Findings {
		d := tools.Diagnostic{Line: f.Line, Column: f.Column, Message: short(f.Message), New: f.New}
		if text.HidesLine(f.Line) {
			d.Message = "There is a problem on this line, which holds a secret."
		}
		c.Diagnostics = append(c.Diagnostics, d)
	}
	return c
}

// longestMessage bounds what one diagnostic says, in bytes.
const longestMessage = 300

// short returns text on one line, with what does not show as escapes, and not longer than a diagnostic may be.
func short(text string) string {
	shown := workspace.VisibleLine(text)
	for at := range shown {
		if at > longestMessage {
			return shown[:at] + "…"
		}
	}
	return shown
}
