package policy

import (
	"slices"

	"writ/contract"
	"writ/envelope"
)

// Access is what a call wants of a place.
type Access uint8

// The accesses, each more than the one before.
const (
	Look  Access = iota // pass through a directory, or learn that it is there; of a file it says nothing
	Read                // see content or facts
	Write               // change it
)

// Effect is what a decision comes to. The zero Effect denies.
type Effect uint8

// The effects.
const (
	Deny  Effect = iota
	Ask          // once a person approves
	Allow        // without a question
)

func (e Effect) String() string { return [...]string{"deny", "ask", "allow"}[e] }

// Request asks whether an access to a place is open.
type Request struct {
	Path   contract.Path // resolved and free of links
	Access Access
	// Ignored counts the names of the shortest prefix of Path that an ignore file names; 0: none does.
	Ignored int
}

// Decision is the answer to a [Request].
type Decision struct {
	Effect Effect
	Rule   string        // what decided, for the audit and for [Policy.Explain]; the caller of a tool must not see it
	Code   envelope.Code // of Ask and Deny
}

// Rules of decisions that no glob made.
const (
	ruleTop      = "the top may always be looked at"
	ruleHidden   = "a hidden name that no glob names"
	ruleIgnored  = "an ignored name that no glob names"
	ruleUnlisted = "no glob matches"
	ruleReadOnly = "no write or ask glob matches"

	ruleProtected = "a protected name that no write glob spells out"
)

// Policy decides who may do what where. It holds no state, so it may be shared by any number of goroutines.
type Policy struct {
	read, write, ask []pattern
	readable         []pattern // read, write and ask
	narrower         [][]int   // for each ask pattern the indices of the write patterns that lie within it

	file       string // the policy's own file as a path, folded; "" where it lies in no root
	roots      []Root
	zones      Zones
	notes      []contract.Glob
	visibility Visibility
	encodings  []encodingGlob
	limits     Limits
	redact     bool
	audit      Audit
	checks     []Check
	checked    []contract.Glob // of checks
	programs   []Program
	refusals   map[envelope.Code]envelope.Error

	fingerprint string

	callers  []Caller
	oauth    *OAuth
	narrowed map[string]*Policy // by caller
	all      []string           // what may be read by others than the caller that this policy is narrowed to
	own      *Policy            // that caller's scope; nil: all is open that is open here
	caller   string             // its name
}

type encodingGlob struct {
	glob contract.Glob
	name string
}

// Decide answers r. It is a pure function of the policy and r, and says nothing of whether something is there.
func (p *Policy) Decide(r Request) Decision {
	d := p.decide(r)
	if p.own != nil {
		return p.stricter(d, r)
	}
	return d
}

func (p *Policy) decide(r Request) Decision {
	at := place{path: r.Path.String(), ignored: r.Ignored}
	switch r.Access {
	case Look:
		return p.decideLook(at)
	case Read:
		return p.decideRead(at)
	case Write:
		return p.decideWrite(at)
	}
	return Decision{Effect: Deny, Rule: ruleUnlisted, Code: envelope.OutsideScope}
}

func (p *Policy) decideLook(at place) Decision {
	if at.path == "" {
		return Decision{Effect: Allow, Rule: ruleTop}
	}
	if d := first(p.readable, at); d != nil {
		return Decision{Effect: Allow, Rule: d.rule}
	}
	for i := range p.readable {
		if p.readable[i].leads(at) {
			return Decision{Effect: Allow, Rule: p.readable[i].way}
		}
	}
	return p.outside(at)
}

func (p *Policy) decideRead(at place) Decision {
	if d := first(p.readable, at); d != nil {
		return Decision{Effect: Allow, Rule: d.rule}
	}
	return p.outside(at)
}

func (p *Policy) decideWrite(at place) Decision {
	w := first(p.write, at)
	if w != nil {
		if guarded := p.protected(at.path); guarded != nil {
			if w = spelling(p.write, at, guarded); w == nil {
				return p.decideProtected(at)
			}
		}
	}
	if a := p.asks(w, at); a != nil {
		return Decision{Effect: Ask, Rule: a.rule, Code: envelope.ApprovalRequired}
	}
	if w != nil {
		return Decision{Effect: Allow, Rule: w.rule}
	}
	if first(p.read, at) != nil {
		return Decision{Effect: Deny, Rule: ruleReadOnly, Code: envelope.OutsideWriteScope}
	}
	return p.outside(at)
}

// decideProtected answers for a protected place that a write pattern opens, but none that spells its name out.
func (p *Policy) decideProtected(at place) Decision {
	if a := first(p.ask, at.plainly()); a != nil {
		return Decision{Effect: Ask, Rule: a.rule, Code: envelope.ApprovalRequired}
	}
	return Decision{Effect: Deny, Rule: ruleProtected, Code: envelope.ProtectedName}
}

// asks returns the ask pattern that makes a write of the place wait for a person; w is the write pattern that opens the
// place, or nil.
//
// Without w the ask pattern itself opens the place. Beside w it restricts, and then hidden and ignored names are as any
// other to it: an ignore file must not lift the question.
func (p *Policy) asks(w *pattern, at place) *pattern {
	if w == nil {
		return first(p.ask, at)
	}
	for i := range p.ask {
		if p.ask[i].match(at.plainly()) && !p.outdone(i, at) {
			return &p.ask[i]
		}
	}
	return nil
}

// outdone tells whether a write pattern that is narrower than the ask pattern opens the place.
func (p *Policy) outdone(ask int, at place) bool {
	for _, k := range p.narrower[ask] {
		if p.write[k].match(at) {
			return true
		}
	}
	return false
}

// outside denies a place that is in no zone, and finds out why for the operator.
func (p *Policy) outside(at place) Decision {
	d := Decision{Effect: Deny, Rule: ruleUnlisted, Code: envelope.OutsideScope}
	switch {
	case first(p.readable, place{path: at.path}) != nil:
		d.Rule = ruleIgnored
	case first(p.readable, at.plainly()) != nil:
		d.Rule = ruleHidden
	}
	return d
}

func first(patterns []pattern, at place) *pattern {
	for i := range patterns {
		if patterns[i].match(at) {
			return &patterns[i]
		}
	}
	return nil
}

// Zones are the globs of the three zones.
type Zones struct {
	Read  []string // may be read; the globs of the other two are among them unless a wider one is
	Write []string // writes without a question
	Ask   []string // writes that a person must approve
}

// Zones returns a copy of the zones, for telling a caller what is open.
func (p *Policy) Zones() Zones { return p.zones.clone() }

// clone returns a copy without nil: on the wire an empty list is [].
func (z Zones) clone() Zones {
	return Zones{append([]string{}, z.Read...), append([]string{}, z.Write...), append([]string{}, z.Ask...)}
}

// Roots returns a copy of the roots that the configuration names; empty where the command line does.
func (p *Policy) Roots() []Root { return slices.Clone(p.roots) }

// Limits returns the limits, defaults filled in.
func (p *Policy) Limits() Limits { return p.limits }

// Redact tells whether secrets in text are replaced on their way out.
func (p *Policy) Redact() bool { return p.redact }

// Audit returns where the audit is written a second time.
func (p *Policy) Audit() Audit { return p.audit }

// CanEverWrite tells whether there is a place that may be written, if only with an approval.
func (p *Policy) CanEverWrite() bool {
	if p.own != nil {
		return len(p.zones.Write)+len(p.zones.Ask) > 0
	}
	return len(p.write)+len(p.ask) > 0
}

// CanEverAsk tells whether there is a place that may be written with an approval.
func (p *Policy) CanEverAsk() bool {
	if p.own != nil {
		return len(p.zones.Ask) > 0
	}
	return len(p.ask) > 0
}

// Visibility says which notes are shown.
func (p *Policy) Visibility() Visibility { return p.visibility }

// NotesInclude tells whether the file is a note. Whether it may be read is another question.
func (p *Policy) NotesInclude(path contract.Path) bool {
	return slices.ContainsFunc(p.notes, func(g contract.Glob) bool { return g.Match(path.String()) })
}

// Checks returns the checks by programs. They must not be changed.
func (p *Policy) Checks() []Check { return p.checks }

// ChecksOf returns which of [Policy.Checks] are for the file.
func (p *Policy) ChecksOf(path contract.Path) []int {
	var which []int
	for i, g := range p.checked {
		if g.Match(path.String()) {
			which = append(which, i)
		}
	}
	return which
}

// EncodingOf returns the lower-case name of the encoding that the configuration gives the file, "" if it gives none.
func (p *Policy) EncodingOf(path contract.Path) string {
	for _, e := range p.encodings {
		if e.glob.Match(path.String()) {
			return e.name
		}
	}
	return ""
}
