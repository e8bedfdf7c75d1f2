// Package envelope is the one shape of every answer.
//
// A tool returns what it did and, if it was stopped, why. [Seal] turns the pair into an [Envelope]: it is the only
// place where causes become statuses, codes and next moves. Statuses and codes are wire format: they are added to at
// the end and never renamed.
package envelope

// Envelope is the answer to one call. Its JSON form is flat: the common fields first, those of Body beside them.
type Envelope struct {
	RequestID      string          // minted by the server for each call
	Status         Status          // what happened
	Changed        Changed         // is the disk different because of this call; empty on reads
	RetrySafe      bool            // repeating the identical call can cause no additional effect
	Next           Next            // the caller's best next move
	Errors         []Problem       // empty unless something was refused or failed
	Warnings       []Warning       // true things that did not stop the call
	Normalizations []Normalization // lossless conversions that were applied to the arguments

	// Body holds the tool's own fields: a struct, or nil.
	Body any
	// Texts are the verbatim text blocks of a tool that returns file text in bulk, one for each file.
	Texts []string
	// Media is the picture or sound of a tool that returns one, else nil.
	Media *Media
}

// Bulk is the body of a tool that answers with texts in blocks of their own. WithTexts returns the same body with the
// texts in it, for clients that want all in one object.
type Bulk interface {
	WithTexts(texts []string) any
}

// Media is a picture or a sound as MCP clients show it.
type Media struct {
	Type string // media type, such as image/png
	Data []byte // the file's bytes, not encoded
}

// Problem is one entry of errors: why the call, or one item of a batch, was stopped.
type Problem struct {
	Code    Code           `json:"code"`
	Stage   Stage          `json:"stage"`
	Message string         `json:"message"`
	Item    *int           `json:"item,omitempty"` // index into the batch, from 0
	Details map[string]any `json:"details,omitempty"`
}

// Warning is a true thing that the caller should know and that did not stop the call.
type Warning struct {
	Code    WarningCode    `json:"code"`
	Message string         `json:"message"`
	Details map[string]any `json:"details,omitempty"`
}

// Normalization reports one declared, lossless conversion of an argument.
type Normalization struct {
	Parameter string `json:"parameter"`
	Rule      string `json:"rule"` // null-as-absent, integer-from-string, array-from-string or lf-to-crlf
}

// IsError tells whether MCP's isError is set: whenever something was refused or failed.
func (e *Envelope) IsError() bool { return e.Status != OK && e.Status != Succeeded }
