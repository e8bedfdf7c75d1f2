package workspace

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"
	"unicode/utf8"

	"writ/contract"
	"writ/envelope"
)

// A pattern is matched line by line. Most lines of most files can't match, and are passed over without being looked at
// as lines: where every match holds one of a few literal texts, only the lines that hold one are put to the regular
// expression. A pattern that is such a text itself needs none.

// pattern finds the lines of a text that match. It is safe for several goroutines.
type pattern struct {
	required []literal // each match holds one of these; none: any line may match
	exact    bool      // the one required literal is the pattern
	re       *regexp.Regexp
	auto     *automaton // of re; nil: there is none
	// acrossLines tells that the pattern is a literal with LFs; re then finds it in the whole text.
	acrossLines bool
	// wordEnds tells that the pattern asks for the start or end of a word, or for none.
	wordEnds bool
	// keepsCR tells that the pattern speaks of CRs, so that one at the end of a line is left for it.
	keepsCR bool
}

const (
	maxPatternBytes = 4096
	maxRequired     = 8
)

// compilePattern returns the pattern of a query, or an Error of code bad-pattern.
func compilePattern(q Query) (*pattern, error) {
	switch {
	case q.Pattern == "":
		return nil, envelope.Errorf(envelope.BadPattern, "The pattern is empty. Give the text to look for.")
	case len(q.Pattern) > maxPatternBytes:
		return nil, envelope.Errorf(envelope.BadPattern, "The pattern has more than %d bytes. Look for a shorter text.", maxPatternBytes)
	case q.Regexp:
		return compileRegexp(q)
	case strings.Contains(q.Pattern, "\n"):
		return compileAcrossLines(q)
	case !q.IgnoreCase:
		return &pattern{required: []literal{newLiteral(q.Pattern)}, exact: true}, nil
	}
	if l, ok := newFolded(q.Pattern); ok && l.text == strings.ToLower(q.Pattern) {
		return &pattern{required: []literal{l}, exact: true}, nil
	}
	return compileText(regexp.QuoteMeta(q.Pattern), q)
}

// compileText compiles an expression that is known to be sound.
func compileText(expression string, q Query) (*pattern, error) {
	if q.IgnoreCase {
		expression = "(?i)" + expression
	}
	re, err := regexp.Compile(expression)
	if err != nil {
		return nil, badPattern(q.Pattern, err)
	}
	tree, err := syntax.Parse(expression, syntax.Perl)
	if err != nil {
		return nil, badPattern(q.Pattern, err)
	}
	tree = tree.Simplify()
	p := &pattern{required: requiredLiterals(tree), re: re, auto: newAutomaton(tree), keepsCR: mentions(tree, '\r'), wordEnds: asksForWordEnds(tree)}
	if p.auto != nil && slices.ContainsFunc(p.required, literal.isCommon) {
		p.required = nil // most lines have one, so that looking for it costs more than it saves
	}
	return p, nil
}

func compileRegexp(q Query) (*pattern, error) {
	tree, err := syntax.Parse(q.Pattern, syntax.Perl)
	if err != nil {
		return nil, badPattern(q.Pattern, err)
	}
	if mentions(tree, '\n') {
		return nil, envelope.Errorf(envelope.BadPattern,
			"A regular expression is matched line by line and can't hold a line end. Leave out \\n, or look for the text itself with literal: true.")
	}
	return compileText(q.Pattern, q)
}

// compileAcrossLines compiles a literal with LFs. Each that has no CR before it stands for CRLF too.
func compileAcrossLines(q Query) (*pattern, error) {
	lines := strings.Split(q.Pattern, "\n")
	longest := ""
	for i, line := range lines {
		if len(line) > len(longest) {
			longest = line
		}
		lines[i] = regexp.QuoteMeta(line)
		if i < len(lines)-1 && !strings.HasSuffix(line, "\r") {
			lines[i] += "\r?"
		}
	}
	expression := strings.Join(lines, "\n")
	if q.IgnoreCase {
		expression = "(?i)" + expression
	}
	re, err := regexp.Compile(expression)
	if err != nil {
		return nil, badPattern(q.Pattern, err)
	}
	p := &pattern{re: re, acrossLines: true}
	if q.IgnoreCase {
		if l, ok := newFolded(longest); ok {
			p.required = []literal{l}
		}
	} else if longest != "" {
		p.required = []literal{newLiteral(longest)}
	}
	return p, nil
}

func badPattern(pattern string, err error) error {
	told := envelope.Errorf(envelope.BadPattern,
		"The pattern %s is no regular expression (RE2 syntax). With literal: true, the default, the text is looked for as it stands.", contract.Quote(pattern))
	fault, ok := errors.AsType[*syntax.Error](err)
	if !ok {
		return told
	}
	why := fault.Code.String()
	if isForeign(fault.Expr) {
		why = "look-around and back-references are not known; match more, and look at the lines that come back"
	}
	position := placeOf(pattern, fault)
	at := ""
	if position > 0 {
		at = fmt.Sprintf(" at character %d,", position)
		told = told.With("position", position)
	}
	told.Message = fmt.Sprintf("The pattern %s is no regular expression (RE2 syntax):%s %s. With literal: true, the default, the text is looked for as it stands.",
		contract.Quote(pattern), at, why)
	return told
}

// isForeign tells whether the expression is of a kind that other engines know, but none that takes linear time.
func isForeign(expression string) bool {
	for _, start := range []string{"(?=", "(?!", "(?<=", "(?<!", "(?>"} {
		if strings.HasPrefix(expression, start) {
			return true
		}
	}
	return len(expression) == 2 && expression[0] == '\\' && '1' <= expression[1] && expression[1] <= '9'
}

// placeOf returns the character of the pattern at which the fault is, counted from 1; 0 where it has no one place.
func placeOf(pattern string, fault *syntax.Error) int {
	at := -1
	switch fault.Code {
	case syntax.ErrLarge, syntax.ErrNestingDepth:
	case syntax.ErrMissingParen, syntax.ErrUnexpectedParen:
		at = unmatchedParen(pattern)
	case syntax.ErrTrailingBackslash:
		at = len(pattern) - 1
	default:
		if fault.Expr != "" {
			at = strings.Index(pattern, fault.Expr)
		}
	}
	if at < 0 {
		return 0
	}
	return utf8.RuneCountInString(pattern[:at]) + 1
}

// unmatchedParen returns where the parenthesis is that has no other one: a closing one, or else the innermost open one.
func unmatchedParen(pattern string) int {
	var open []int
	for i := 0; i < len(pattern); i++ {
		switch pattern[i] {
		case '\\':
			if strings.HasPrefix(pattern[i:], `\Q`) {
				i += max(0, strings.Index(pattern[i:]+`\E`, `\E`))
			}
			i++
		case '[':
			i = endOfSet(pattern, i)
		case '(':
			open = append(open, i)
		case ')':
			if len(open) == 0 {
				return i
			}
			open = open[:len(open)-1]
		}
	}
	if len(open) == 0 {
		return -1
	}
	return open[len(open)-1]
}

// endOfSet returns where the set ends that starts at i.
func endOfSet(pattern string, i int) int {
	first := i + 1
	if strings.HasPrefix(pattern[first:], "^") {
		first++
	}
	for i = first; i < len(pattern); i++ {
		switch {
		case pattern[i] == '\\':
			i++
		case strings.HasPrefix(pattern[i:], "[:"):
			i += max(0, strings.Index(pattern[i:], ":]"))
		case pattern[i] == ']' && i > first:
			return i
		}
	}
	return i
}

// mentions tells whether the expression names the character itself, alone or in a small set.
func mentions(tree *syntax.Regexp, r rune) bool {
	switch tree.Op {
	case syntax.OpLiteral:
		return slices.Contains(tree.Rune, r)
	case syntax.OpCharClass:
		return len(tree.Rune) == 2 && tree.Rune[0] == r && tree.Rune[1] == r
	}
	return slices.ContainsFunc(tree.Sub, func(sub *syntax.Regexp) bool { return mentions(sub, r) })
}

func asksForWordEnds(tree *syntax.Regexp) bool {
	return tree.Op == syntax.OpWordBoundary || tree.Op == syntax.OpNoWordBoundary || slices.ContainsFunc(tree.Sub, asksForWordEnds)
}

// requiredLiterals returns texts of which each match holds at least one; nil where there are none such.
func requiredLiterals(tree *syntax.Regexp) []literal {
	switch tree.Op {
	case syntax.OpLiteral:
		return literalOf(tree)
	case syntax.OpCapture, syntax.OpPlus:
		return requiredLiterals(tree.Sub[0])
	case syntax.OpRepeat:
		if tree.Min > 0 {
			return requiredLiterals(tree.Sub[0])
		}
	case syntax.OpConcat:
		var best []literal
		for _, sub := range tree.Sub {
			if set := requiredLiterals(sub); worth(set) > worth(best) {
				best = set
			}
		}
		return best
	case syntax.OpAlternate:
		var all []literal
		for _, sub := range tree.Sub {
			set := requiredLiterals(sub)
			if set == nil || len(all)+len(set) > maxRequired {
				return nil
			}
			all = append(all, set...)
		}
		return all
	}
	return nil
}

func literalOf(tree *syntax.Regexp) []literal {
	text := string(tree.Rune)
	if tree.Flags&syntax.FoldCase == 0 {
		return []literal{newLiteral(text)}
	}
	if l, ok := newFolded(text); ok {
		return []literal{l}
	}
	return nil
}

// worth orders sets of literals by how few lines hold one: the length of the shortest, less the more there are.
func worth(set []literal) int {
	if set == nil {
		return 0
	}
	shortest := len(set[0].text)
	for _, l := range set {
		shortest = min(shortest, len(l.text))
	}
	return max(1, 8*min(shortest, 8)-len(set))
}

// line is a line that matches.
type line struct {
	start, end int // in the text, without the line's end
	match      int // where the match starts in the line
	matchEnd   int // in the text

	shown []byte // the line as it may be seen; match is in it then
}

// each calls found for each line of text that matches, in order, until found returns false. m is a machine for the
// pattern's automaton, nil if it has none.
func (p *pattern) each(text []byte, m *machine, found func(line) bool) {
	if p.acrossLines {
		p.eachAcross(text, found)
		return
	}
	s := newSearch(p.required, text)
	for from := 0; from < len(text); {
		at := p.candidate(s, m, from)
		if at < 0 {
			return
		}
		l := line{start: from + bytes.LastIndexByte(text[from:at], '\n') + 1, end: len(text)}
		if i := bytes.IndexByte(text[at:], '\n'); i >= 0 {
			l.end = at + i
		}
		from = l.end + 1
		if p.required != nil && m != nil && !m.matches(text[l.start:l.end]) {
			continue
		}
		if p.confirm(text, at, &l) && !found(l) {
			return
		}
	}
}

// candidate returns a place in the first line from from on that may match, -1 where there is none.
func (p *pattern) candidate(s *search, m *machine, from int) int {
	if p.required == nil && m != nil {
		return m.next(s.text, from)
	}
	return s.next(from)
}

// confirm tells whether the line, in which a required literal is at, matches. It takes the CR of its end off the line.
func (p *pattern) confirm(text []byte, at int, l *line) bool {
	content := text[l.start:l.end]
	plain := bytes.TrimSuffix(content, []byte("\r"))
	l.end = l.start + len(plain)
	if p.exact {
		l.match = min(at, l.end) - l.start
		return true
	}
	m := p.re.FindIndex(plain)
	if m == nil && p.keepsCR {
		m = p.re.FindIndex(content)
	}
	if m == nil {
		return false
	}
	l.match = min(m[0], len(plain))
	return true
}

// unveiled tells whether a line that matches still does so in what may be seen of it, beside all that is kept back, and
// sets shown.
//
// Whether it does is a function of what may be seen alone, though a line is only asked about when the whole of it
// matches: a match beside the placeholders is one of the whole line too. With another rule, such as that a match that
// runs into a secret is none, a pattern with a part for a guess that need not match would tell whether it is right.
func (p *pattern) unveiled(seen *veil, l *line) bool {
	if p.acrossLines {
		return p.unveiledAcross(seen, l)
	}
	shown, placeholders := seen.cover(l.start, l.end)
	l.shown = shown
	if len(placeholders) == 0 {
		return true
	}
	match, ok := p.beside(shown, placeholders)
	if !ok && p.keepsCR && bytes.HasPrefix(seen.text[l.end:], []byte("\r")) {
		match, ok = p.beside(append(shown[:len(shown):len(shown)], '\r'), placeholders)
	}
	l.match = min(match, len(shown))
	return ok
}

// unveiledAcross is unveiled for a literal that spans lines. It has one way to match in a line.
func (p *pattern) unveiledAcross(seen *veil, l *line) bool {
	if seen.hides(l.start+l.match, l.matchEnd) {
		return false
	}
	l.match = len(seen.show(l.start, l.start+l.match))
	l.shown = seen.show(l.start, l.end)
	return true
}

// beside returns where the first match starts that has nothing of a placeholder in it. One whose end is a word's end
// does not even meet one, since what is kept back there may be a word.
func (p *pattern) beside(shown []byte, placeholders []Span) (match int, ok bool) {
	clear := func(from, to int) bool {
		return !slices.ContainsFunc(placeholders, func(s Span) bool {
			return from < s.End && to > s.Start || p.wordEnds && from <= s.End && to >= s.Start
		})
	}
	if p.exact {
		s := newSearch(p.required, shown)
		for at := s.next(0); at >= 0; at = s.next(at + 1) {
			if clear(at, at+len(p.required[0].text)) {
				return at, true
			}
		}
		return 0, false
	}
	for _, m := range p.re.FindAllIndex(shown, -1) {
		if clear(m[0], m[1]) {
			return m[0], true
		}
	}
	return 0, false
}

// eachAcross finds a literal that spans lines. A hit is the line where it starts.
func (p *pattern) eachAcross(text []byte, found func(line) bool) {
	if p.required != nil && newSearch(p.required, text).next(0) < 0 {
		return
	}
	for from := 0; from < len(text); {
		m := p.re.FindIndex(text[from:])
		if m == nil {
			return
		}
		at := from + m[0]
		l := line{start: bytes.LastIndexByte(text[:at], '\n') + 1, end: len(text)}
		if i := bytes.IndexByte(text[at:], '\n'); i >= 0 {
			l.end = at + i
		}
		from = l.end + 1
		l.end = l.start + len(bytes.TrimSuffix(text[l.start:l.end], []byte("\r")))
		l.match = min(at, l.end) - l.start
		l.matchEnd = at + m[1] - m[0]
		if !found(l) {
			return
		}
	}
}
