package policy

import (
	"fmt"
	"slices"
	"strings"

	"writ/contract"
)

// Explanation tells the operator how the policy comes to its decisions about one place. It says more than the caller of
// a tool may know.
type Explanation struct {
	Path              contract.Path
	Look, Read, Write Decision
	Matching          []string // the rules whose globs open the place, in the order read, write, ask
	Missed            []string // the rules whose globs would match if nothing were hidden or ignored
	Hidden            []string // the hidden names in the path
	Protected         []string // the protected names in the path
	Ignored           string   // the part of the path that an ignore file names, "" if none does
	Encoding          string   // "" where the configuration names none
	Note              bool     // the file counts as a note, if it may be read
}

// Explain explains the decisions about the place. ignored is as in [Request].
func (p *Policy) Explain(path contract.Path, ignored int) Explanation {
	e := Explanation{
		Path:     path,
		Look:     p.Decide(Request{path, Look, ignored}),
		Read:     p.Decide(Request{path, Read, ignored}),
		Write:    p.Decide(Request{path, Write, ignored}),
		Encoding: p.EncodingOf(path),
		Note:     p.NotesInclude(path),
	}
	segments := path.Segments()
	for _, name := range segments {
		if strings.HasPrefix(name, ".") {
			e.Hidden = append(e.Hidden, name)
		}
	}
	guarded := p.protected(path.String())
	for i, name := range segments {
		if guarded.has(i) {
			e.Protected = append(e.Protected, name)
		}
	}
	e.Ignored = strings.Join(segments[:min(ignored, len(segments))], "/")
	at := place{path: path.String(), ignored: ignored}
	e.Matching = rules(p.readable, at)
	for _, rule := range rules(p.readable, at.plainly()) {
		if !slices.Contains(e.Matching, rule) {
			e.Missed = append(e.Missed, rule)
		}
	}
	return e
}

// rules returns the rules of the patterns that match, each once.
func rules(patterns []pattern, at place) []string {
	var rules []string
	for i := range patterns {
		if patterns[i].match(at) && !slices.Contains(rules, patterns[i].rule) {
			rules = append(rules, patterns[i].rule)
		}
	}
	return rules
}

// Lines returns the explanation for a terminal, one fact a line.
func (e Explanation) Lines() []string {
	name := contract.Quote(e.Path.String())
	if e.Path.IsTop() {
		name = "the top"
	}
	lines := []string{
		name,
		"look:  " + e.Look.line(),
		"read:  " + e.Read.line(),
		"write: " + e.Write.line(),
	}
	add := func(format string, args ...any) { lines = append(lines, fmt.Sprintf(format, args...)) }
	for _, rule := range e.Matching {
		add("matches %s", rule)
	}
	for _, rule := range e.Missed {
		add("kept from %s, since * and ** reach no hidden or ignored name", rule)
	}
	if len(e.Hidden) > 0 {
		add("hidden: %s; a glob opens a hidden name by spelling its beginning, as in %s", list(quote(e.Hidden)), contract.Quote(e.opening(e.lastHidden())))
	}
	if e.Ignored != "" {
		add("ignored: %s; a glob opens it by naming it, as in %s", contract.Quote(e.Ignored), contract.Quote(e.opening(e.Ignored)))
	}
	if len(e.Protected) > 0 {
		add("protected: %s; a write glob opens it only by spelling it out, and otherwise an ask glob must match", list(quote(e.Protected)))
	}
	if e.asksDespiteWrite() {
		add("a write glob opens what an ask glob holds only if it is the narrower one, all of it within the ask glob")
	}
	if e.Encoding != "" {
		add("encoding: %s", e.Encoding)
	}
	if e.Note && e.Read.Effect == Allow {
		add("counts as a note")
	}
	return lines
}

func (d Decision) line() string { return fmt.Sprintf("%-5s  %s", d.Effect, d.Rule) }

// asksDespiteWrite tells whether a write glob matches and a person is asked all the same.
func (e Explanation) asksDespiteWrite() bool {
	if e.Write.Effect != Ask {
		return false
	}
	return slices.ContainsFunc(e.Matching, func(rule string) bool { return strings.HasPrefix(rule, "write: ") })
}

// lastHidden returns the part of the path up to its last hidden name.
func (e Explanation) lastHidden() string {
	segments := e.Path.Segments()
	for n := len(segments); n > 0; n-- {
		if strings.HasPrefix(segments[n-1], ".") {
			return strings.Join(segments[:n], "/")
		}
	}
	return ""
}

// opening returns a glob that opens prefix and what is in it.
func (e Explanation) opening(prefix string) string {
	glob := contract.EscapeGlob(prefix)
	if prefix != e.Path.String() {
		glob += "/**"
	}
	return glob
}
