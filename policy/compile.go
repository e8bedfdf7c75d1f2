package policy

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"writ/contract"
)

// Compile returns the policy of c. What is wrong in c is returned as [Mistakes] without lines; a Config that [Parse]
// returned has nothing wrong.
func Compile(c Config) (*Policy, error) {
	b := builder{p: &Policy{
		roots:      slices.Clone(c.Roots),
		visibility: c.Notes.Visibility,
		limits:     c.Limits.filled(),
		redact:     c.Redact,
		audit:      c.Audit,
		callers:    slices.Clone(c.Callers),
		oauth:      c.OAuth,
	}, file: c.File}
	b.checkRoots()
	b.protectFile()
	b.addZones(c)
	b.addNotes(c.Notes)
	b.addEncodings(c.Encodings)
	b.addChecks(c.Checks)
	b.addPrograms(c.Programs)
	if len(b.mistakes) > 0 {
		return nil, b.mistakes
	}
	b.p.settle()
	b.p.refusals, b.p.fingerprint = b.p.newRefusals(), b.p.newFingerprint()
	b.addCallers()
	if len(b.mistakes) > 0 {
		return nil, b.mistakes
	}
	return b.p, nil
}

// builder fills a Policy and notes what is wrong with its configuration.
type builder struct {
	p        *Policy
	file     string
	mistakes Mistakes
}

func (b *builder) fault(format string, args ...any) {
	b.mistakes = append(b.mistakes, Mistake{File: b.file, Message: fmt.Sprintf(format, args...)})
}

func (b *builder) glob(pattern string) (contract.Glob, bool) {
	g, err := contract.ParseGlob(pattern)
	if err != nil {
		b.fault("%s", sentence(err))
	}
	return g, err == nil
}

func (b *builder) checkRoots() {
	for i, fault := range rootFaults(b.p.roots) {
		if fault == "" && len(b.p.roots) > 1 {
			fault = mountFault(b.p.roots[i].Name)
		}
		if fault != "" {
			b.fault("%s", fault)
		}
	}
}

// protectFile finds the path by which callers would reach the file that the configuration was read from.
func (b *builder) protectFile() {
	file, err := filepath.Abs(b.file)
	if b.file == "" || err != nil {
		return
	}
	for _, r := range b.p.roots {
		directory, err := filepath.Abs(r.Path)
		if err != nil {
			continue
		}
		rest, err := filepath.Rel(directory, file)
		if err != nil || !filepath.IsLocal(rest) {
			continue
		}
		names := strings.Split(filepath.ToSlash(rest), "/")
		if len(b.p.roots) > 1 {
			names = append([]string{r.Name}, names...)
		}
		b.p.file = foldPath(strings.Join(names, "/"))
	}
}

func (b *builder) addZones(c Config) {
	scope := readOnly()
	if c.Scope != nil {
		scope = *c.Scope
	}
	b.p.zones = Zones(scope).clone()
	b.p.read = b.zone("read", scope.Read)
	b.p.write = b.zone("write", scope.Write)
	b.p.ask = b.zone("ask", scope.Ask)
	b.p.readable = slices.Concat(b.p.read, b.p.write, b.p.ask)
}

func (b *builder) zone(name string, globs []string) []pattern {
	var patterns []pattern
	for _, text := range globs {
		if g, ok := b.glob(text); ok {
			patterns = append(patterns, newPatterns(name, g)...)
		}
	}
	return patterns
}

func (b *builder) addNotes(n Notes) {
	switch n.Visibility {
	case "":
		b.p.visibility = Unmarked
	case Unmarked, Public:
	default:
		b.fault("There is no visibility %s; notes are %s or %s.", contract.Quote(string(n.Visibility)), Unmarked, Public)
	}
	include := n.Include
	if include == nil {
		include = []string{"**/*.md"}
	}
	for _, text := range include {
		if g, ok := b.glob(text); ok {
			b.p.notes = append(b.p.notes, g)
		}
	}
}

func (b *builder) addEncodings(encodings []Encoding) {
	for _, e := range encodings {
		g, ok := b.glob(e.Glob)
		name, fault := encodingName(e.Name)
		if fault != "" {
			b.fault("%s", fault)
		}
		if ok && fault == "" {
			b.p.encodings = append(b.p.encodings, encodingGlob{g, name})
		}
	}
}

func (b *builder) addChecks(checks []Check) {
	for _, c := range checks {
		g, ok := b.glob(c.Glob)
		fault := commandFault(c.Command)
		if fault != "" {
			b.fault("%s", fault)
		}
		if ok && fault == "" {
			b.p.checks = append(b.p.checks, Check{c.Glob, slices.Clone(c.Command)})
			b.p.checked = append(b.p.checked, g)
		}
	}
}

// addCallers comes last: what a caller may do is the finished policy, narrowed.
func (b *builder) addCallers() {
	p := b.p
	faults := callerFaults(p.callers)
	for i, c := range p.callers {
		if fault := cmp.Or(c.fault(), faults[i]); fault != "" {
			b.fault("%s", fault)
		}
	}
	if fault := subjectFault(p.callers, p.oauth); fault != "" {
		b.fault("%s", fault)
	}
	if p.oauth != nil {
		if fault := p.oauth.fault(); fault != "" {
			b.fault("%s", fault)
		}
	}
	p.narrowed = make(map[string]*Policy, len(p.callers))
	for _, c := range p.callers {
		p.narrowed[c.Name] = b.narrow(c)
	}
}

// settle works out once what every decision needs: which write patterns are narrower than which ask patterns, and
// which globs tell what may be read.
func (p *Policy) settle() {
	p.narrower = make([][]int, len(p.ask))
	for i := range p.ask {
		for k := range p.write {
			if p.ask[i].covers(&p.write[k], within) && !p.write[k].covers(&p.ask[i], within) {
				p.narrower[i] = append(p.narrower[i], k)
			}
		}
	}
	for _, rule := range slices.Concat(p.write, p.ask) {
		covered := slices.ContainsFunc(p.read, func(r pattern) bool { return r.covers(&rule, openWithin) })
		if _, glob, _ := strings.Cut(rule.rule, ": "); !covered && !slices.Contains(p.zones.Read, glob) {
			p.zones.Read = append(p.zones.Read, glob)
		}
	}
}
