package envelope

import (
	"errors"
	"fmt"
	"maps"
)

// Error is a cause that the caller is told. Every other error that reaches [Seal] is a fault of ours or the operating
// system's, and its text stays in the log.
type Error struct {
	Code    Code
	Message string         // one or two plain sentences that a small model can act on
	Stage   Stage          // the door that refuses; empty: the code's usual one
	Next    Next           // the caller's best move; empty: the code's usual one
	Changed Changed        // is the disk different; empty: no, or unknown where the code is outcome-unknown
	Details map[string]any // machine-readable facts beside the message
	Err     error          // what lies behind it, for the log; may be nil
}

// Errorf returns an Error with the code's usual stage and next move.
func Errorf(code Code, format string, args ...any) *Error {
	return &Error{Code: code, Message: fmt.Sprintf(format, args...)}
}

func (e *Error) Error() string {
	if e.Err != nil {
		return fmt.Sprintf("%s: %s: %v", e.Code, e.Message, e.Err)
	}
	return fmt.Sprintf("%s: %s", e.Code, e.Message)
}

func (e *Error) Unwrap() error { return e.Err }

// With returns a copy of e that carries one more detail.
func (e *Error) With(key string, value any) *Error {
	c := *e
	c.Details = make(map[string]any, len(e.Details)+1)
	maps.Copy(c.Details, e.Details)
	c.Details[key] = value
	return &c
}

// CodeOf returns the code of the first *Error in err's chain, or "" where there is none.
func CodeOf(err error) Code {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Code
	}
	return ""
}

// Refusals is the error of a call that several things are wrong with; all of them are told. It is not empty, and all
// have the same status.
type Refusals []*Error

func (r Refusals) Error() string { return fmt.Sprintf("%d refusals, the first: %v", len(r), r[0]) }

// Unwrap makes the first refusal the cause that errors.As finds.
func (r Refusals) Unwrap() error { return r[0] }
