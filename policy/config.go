package policy

import "slices"

// Config is a policy file as Go values. Make one with [Default], [FromFlags], [Parse] or [Load]: an empty Config does
// not redact.
type Config struct {
	File      string // the file it was read from; "" for flags alone
	Roots     []Root // empty where the command line names the directories
	Scope     *Scope // nil where none was given: everything may be read and nothing written
	Notes     Notes
	Limits    Limits     // a zero field takes its default
	Encodings []Encoding // in the file's order: the first that matches decides
	Audit     Audit
	Checks    []Check // in the file's order
	Programs  []Program
	Callers   []Caller
	OAuth     *OAuth // nil: no access tokens are good here
	Redact    bool   // replace secrets in text on its way out
}

// Root is one directory that the tools may work in.
type Root struct {
	Name  string // the mount: the first segment of its paths; may be "" where there is a single root
	Path  string // the directory; a relative one is joined to the directory of the policy file
	Given string // the directory as it was written
}

// Scope holds the globs of the three zones. What no glob reaches does not exist for the tools.
type Scope struct {
	Read  []string // may be read
	Write []string // may be read, and written without a question
	Ask   []string // may be read, and written once a person approves
}

// Notes says which files are notes.
type Notes struct {
	Include    []string   // globs; nil: **/*.md
	Visibility Visibility // "": Unmarked
}

// Audit says where the audit's lines are written a second time, as a plain file.
type Audit struct {
	File  string // absolute, or relative to the working directory; "": nowhere
	Bytes int64  // a larger file is begun anew; 0: the ledger's default
	Files int    // full files that are kept; 0: the ledger's default
}

// Visibility says which notes are shown, by what their front matter says of them.
type Visibility string

// The visibilities.
const (
	Unmarked Visibility = "unmarked" // all but notes marked private
	Public   Visibility = "public"   // only notes marked public
)

// Encoding names the encoding of the files that a glob matches.
type Encoding struct {
	Glob string
	Name string // a label of the WHATWG encoding standard, such as gb18030
}

// Check names a program that looks at files after they were written.
type Check struct {
	Glob    string   // which files
	Command []string // the program, an absolute path or a bare name, and its arguments; [CheckedPath] stands for the file
}

// CheckedPath stands in an argument of a check for the path of the file to look at.
const CheckedPath = "{path}"

// Default returns what holds without a file and without flags: everything may be read, nothing written.
func Default() Config { return Config{Redact: true} }

// FromFlags returns the configuration of the command line's globs. Without read globs the whole root may be read; with
// some, only what they and the others match.
func FromFlags(read, write, ask []string) Config { return Default().Grant(read, write, ask) }

// Grant returns c with more globs in its zones. Where c has no scope they are its scope, as in [FromFlags].
func (c Config) Grant(read, write, ask []string) Config {
	if len(read)+len(write)+len(ask) == 0 {
		return c
	}
	var scope Scope
	if c.Scope != nil {
		scope = *c.Scope
	} else if len(read) == 0 {
		scope = readOnly()
	}
	c.Scope = &Scope{
		Read:  slices.Concat(scope.Read, read),
		Write: slices.Concat(scope.Write, write),
		Ask:   slices.Concat(scope.Ask, ask),
	}
	return c
}

// ReadOnly returns c with nothing that may be written; what could be written or asked for can be read.
func (c Config) ReadOnly() Config {
	if c.Scope != nil {
		c.Scope = &Scope{Read: slices.Concat(c.Scope.Read, c.Scope.Write, c.Scope.Ask)}
	}
	return c
}

// readOnly is the scope where none was given.
func readOnly() Scope { return Scope{Read: []string{"**"}} }
