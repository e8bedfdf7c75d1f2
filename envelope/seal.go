package envelope

import (
	"context"
	"errors"
	"fmt"
)

// Meta is what the gate knows of a call before the tool has run.
type Meta struct {
	RequestID      string
	Writes         bool // the tool may change the disk
	Normalizations []Normalization
}

// Notes is embedded in a tool's output: what goes to the common fields instead of the tool's own.
type Notes struct {
	Changed        Changed         `json:"-"` // of a write that was carried out
	Repeatable     bool            `json:"-"` // repeating a write that succeeded can do nothing more
	Warnings       []Warning       `json:"-"`
	Normalizations []Normalization `json:"-"`
	Texts          []string        `json:"-"`
	Media          *Media          `json:"-"`
}

// Warn adds a warning.
func (n *Notes) Warn(w Warning) { n.Warnings = append(n.Warnings, w) }

func (n *Notes) notes() *Notes { return n }

// Items is the error of a batch of which some or all items failed.
type Items struct {
	Done   int // items that were carried out
	Failed []ItemError
}

// ItemError says why one item of a batch failed.
type ItemError struct {
	Item int // index, from 0
	Err  error
}

func (e *Items) Error() string {
	return fmt.Sprintf("%d items failed, the first: %v", len(e.Failed), e.Failed[0].Err)
}

// Seal makes the envelope of a call from what the tool returned: a pointer to its output, or nil, and the cause that
// stopped it. It is the only place where causes become codes.
func Seal(m Meta, out any, err error) Envelope {
	e := Envelope{RequestID: m.RequestID, Normalizations: m.Normalizations, Body: out}
	var notes Notes
	if n, ok := out.(interface{ notes() *Notes }); ok {
		notes = *n.notes()
	}
	e.Warnings, e.Texts, e.Media = notes.Warnings, notes.Texts, notes.Media
	e.Normalizations = append(e.Normalizations, notes.Normalizations...)
	if err == nil {
		e.settle(m, notes)
		return e
	}
	if items, ok := errors.AsType[*Items](err); ok {
		e.refuseItems(m, items)
		if items.Done > 0 && notes.Changed == No {
			e.Changed = No // what was done was done already
		}
		return e
	}
	e.refuse(m, Cause(err))
	if all, ok := errors.AsType[Refusals](err); ok {
		for _, one := range all[1:] {
			e.Errors = append(e.Errors, one.problem())
		}
	}
	return e
}

// settle fills the envelope of a call that did what it was asked.
func (e *Envelope) settle(m Meta, notes Notes) {
	e.Next = NextNone
	if !m.Writes {
		e.Status, e.RetrySafe = OK, true
		return
	}
	e.Status, e.RetrySafe, e.Changed = Succeeded, notes.Repeatable, notes.Changed
}

// refuse fills the envelope of a call that was stopped.
func (e *Envelope) refuse(m Meta, cause *Error) {
	e.Status = cause.Code.Status()
	e.Next = cause.next()
	e.Errors = []Problem{cause.problem()}
	e.RetrySafe = e.Status != Unknown
	if !m.Writes {
		return
	}
	e.Changed = cause.changed()
	e.RetrySafe = e.Changed == No
}

// refuseItems fills the envelope of a batch of which not every item was carried out.
func (e *Envelope) refuseItems(m Meta, items *Items) {
	e.refuse(m, Cause(items.Failed[0].Err))
	e.Errors = e.Errors[:0]
	for _, f := range items.Failed {
		p := Cause(f.Err).problem()
		p.Item = &f.Item
		e.Errors = append(e.Errors, p)
	}
	if items.Done == 0 {
		return
	}
	e.Status, e.Next, e.RetrySafe = Partial, Reread, !m.Writes
	if m.Writes {
		e.Changed = Yes
	}
}

// Cause returns the *Error in err's chain. What has none is a deadline, or a fault of ours whose text stays in the log.
func Cause(err error) *Error {
	if e, ok := errors.AsType[*Error](err); ok {
		return e
	}
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return &Error{Code: TimedOut, Message: "The call took longer than the server allows and was stopped before it had any effect. Try again, or ask for less.", Err: err}
	case errors.Is(err, context.Canceled):
		return &Error{Code: TimedOut, Message: "The call was cancelled before it had any effect.", Err: err}
	}
	return &Error{Code: Internal, Message: "The server failed in a way that it should not have. Nothing was changed; the server's log has the reason.", Err: err}
}

func (e *Error) next() Next {
	if e.Next != "" {
		return e.Next
	}
	return classes[e.Code].Next
}

func (e *Error) changed() Changed {
	switch {
	case e.Changed != "":
		return e.Changed
	case e.Code.Status() == Unknown:
		return MaybeChanged
	}
	return No
}

func (e *Error) problem() Problem {
	p := Problem{Code: e.Code, Stage: e.Stage, Message: e.Message, Details: e.Details}
	if p.Stage == "" {
		p.Stage = classes[e.Code].Stage
	}
	return p
}
