package gate

import (
	"bytes"
	"math"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"writ/workspace"
)

// secretRule finds one kind of secret. Nothing of it is compiled before a text holds one of its words.
type secretRule struct {
	ID         string   `json:"id"`
	Regex      string   `json:"regex"`
	Keywords   []string `json:"keywords"`    // lower case; a text without any has no such secret
	Needs      []string `json:"needs"`       // lower case; each match has all of them
	Entropy    float64  `json:"entropy"`     // in bits a byte; a secret has more
	Group      int      `json:"group"`       // which group is the secret; 0: the first that is not empty, else all
	Allow      []string `json:"allow"`       // what is no secret after all
	AllowMatch []string `json:"allow_match"` // as Allow, of the whole match

	prepare    sync.Once
	heads      []head // how a match can begin, if each begins with a keyword; else nil
	most       int    // bytes that a match can have, as far as looked
	sprawls    bool   // a match can hold any text, of any length
	compile    sync.Once
	anchored   *regexp.Regexp
	re         *regexp.Regexp
	allow      []*regexp.Regexp
	allowMatch []*regexp.Regexp
}

const (
	// maxMatch is how far a match is looked for, and then on to the next blank where it may be longer.
	maxMatch = 4 << 10
	// maxApart is how far a keyword may stand from a match that does not begin with it.
	maxApart = 256
)

// study finds out where matches can be.
func (r *secretRule) study() {
	tree, err := syntax.Parse(r.Regex, syntax.Perl)
	if err != nil {
		panic("gate: the rule " + r.ID + ": " + err.Error())
	}
	most, bounded := longest(tree)
	if r.most = most; !bounded || most > maxMatch {
		r.most, r.sprawls = maxMatch, sprawls(tree)
	}
	heads, ok := headsOf([]*syntax.Regexp{tree}, head{})
	for _, h := range heads {
		ok = ok && slices.ContainsFunc(r.Keywords, func(k string) bool { return strings.HasPrefix(strings.ToLower(h.literal), k) })
	}
	if ok && !r.sprawls {
		r.heads = heads
	}
}

func (r *secretRule) compileAll() {
	r.re = regexp.MustCompile(r.Regex)
	r.anchored = regexp.MustCompile(`\A(?:` + r.Regex + `)`)
	for _, expression := range r.Allow {
		r.allow = append(r.allow, regexp.MustCompile(expression))
	}
	for _, expression := range r.AllowMatch {
		r.allowMatch = append(r.allowMatch, regexp.MustCompile(expression))
	}
}

// beginsAt tells whether a match may begin at the offset, for a rule whose matches begin with a keyword.
func (r *secretRule) beginsAt(text []byte, at int) bool {
	return slices.ContainsFunc(r.heads, func(h head) bool { return h.at(text, at) })
}

// reach returns where a match that begins at the offset has ended.
func (r *secretRule) reach(text []byte, from int) int {
	end := min(len(text), from+r.most+utf8.UTFMax)
	if r.most < maxMatch {
		return end
	}
	for most := min(len(text), end+maxMatch); end < most && text[end] > ' '; {
		end++
	}
	return end
}

// around returns where matches lie that belong to a keyword at the offset, for a rule whose matches may begin elsewhere.
func (r *secretRule) around(text []byte, at int) (from, to int) {
	if r.sprawls { // they begin with it
		return at, r.reach(text, at)
	}
	return max(0, at-max(maxApart, min(r.most, 4*maxApart))), r.reach(text, min(len(text), at+maxApart))
}

// secretIn returns the secret of a match, given as regexp gives it.
func (r *secretRule) secretIn(text []byte, match []int, allowed *allowed) (workspace.Span, bool) {
	group := 2 * r.Group
	if group == 0 {
		for i := 2; i < len(match); i += 2 {
			if match[i] >= 0 && match[i+1] > match[i] {
				group = i
				break
			}
		}
	}
	if group >= len(match) || match[group] < 0 {
		group = 0
	}
	secret := text[match[group]:match[group+1]]
	if len(secret) == 0 || r.Entropy > 0 && entropy(secret) <= r.Entropy || allowed.is(secret) {
		return workspace.Span{}, false
	}
	if anyMatches(r.allow, secret) || anyMatches(r.allowMatch, text[match[0]:match[1]]) {
		return workspace.Span{}, false
	}
	return workspace.Span{Start: match[group], End: match[group+1], Kind: r.ID}, true
}

func anyMatches(list []*regexp.Regexp, text []byte) bool {
	return slices.ContainsFunc(list, func(re *regexp.Regexp) bool { return re.Match(text) })
}

// holdsAll tells whether text holds all words, which are in lower case.
func holdsAll(text []byte, words []string) bool {
	if len(words) == 0 {
		return true
	}
	text = bytes.ToLower(text)
	return !slices.ContainsFunc(words, func(w string) bool { return !bytes.Contains(text, []byte(w)) })
}

// entropy is Shannon's, in bits a byte.
func entropy(text []byte) float64 {
	var counts [256]int
	for _, c := range text {
		counts[c]++
	}
	sum := 0.0
	for _, n := range counts {
		if n > 0 {
			p := float64(n) / float64(len(text))
			sum -= p * math.Log2(p)
		}
	}
	return sum
}

// head is how a match begins: with a literal, and so many characters of a class.
type head struct {
	boundary bool // the character before is none of a word
	literal  string
	fold     bool
	class    []rune // pairs of bounds
	least    int
}

// headsOf returns all ways in which a match of the nodes one after the other can begin; false where it can begin with
// something else than a literal.
func headsOf(nodes []*syntax.Regexp, h head) ([]head, bool) {
	if len(nodes) == 0 {
		return []head{h}, h.literal != ""
	}
	node, rest := nodes[0], nodes[1:]
	switch node.Op {
	case syntax.OpEmptyMatch:
		return headsOf(rest, h)
	case syntax.OpWordBoundary:
		if h.literal != "" {
			return []head{h}, true
		}
		h.boundary = true
		return headsOf(rest, h)
	case syntax.OpCapture, syntax.OpConcat:
		return headsOf(append(slices.Clone(node.Sub), rest...), h)
	case syntax.OpAlternate:
		return headsOfEach(node.Sub, rest, h)
	case syntax.OpLiteral:
		fold := node.Flags&syntax.FoldCase != 0
		if h.literal != "" && fold != h.fold {
			return []head{h}, true
		}
		h.literal, h.fold = h.literal+string(node.Rune), fold
		return headsOf(rest, h)
	}
	if h.literal == "" {
		return nil, false
	}
	h.class, h.least = classOf(node)
	return []head{h}, true
}

func headsOfEach(choices, rest []*syntax.Regexp, h head) ([]head, bool) {
	var all []head
	for _, choice := range choices {
		heads, ok := headsOf(append([]*syntax.Regexp{choice}, rest...), h)
		if !ok {
			return nil, false
		}
		all = append(all, heads...)
	}
	return all, true
}

// classOf returns the class that a node repeats, and how often at least.
func classOf(node *syntax.Regexp) (class []rune, least int) {
	switch {
	case node.Op == syntax.OpCharClass:
		return node.Rune, 1
	case node.Op == syntax.OpPlus && node.Sub[0].Op == syntax.OpCharClass:
		return node.Sub[0].Rune, 1
	case node.Op == syntax.OpRepeat && node.Sub[0].Op == syntax.OpCharClass:
		return node.Sub[0].Rune, node.Min
	}
	return nil, 0
}

// at tells whether text goes on at the offset as the head does.
func (h *head) at(text []byte, at int) bool {
	end := at + len(h.literal)
	if end > len(text) || h.boundary && at > 0 && isWordByte(text[at-1]) {
		return false
	}
	begin := text[at:end]
	if h.fold && !bytes.EqualFold(begin, []byte(h.literal)) || !h.fold && string(begin) != h.literal {
		return false
	}
	for range h.least {
		r, size := utf8.DecodeRune(text[end:])
		if size == 0 || !inClass(h.class, r) {
			return false
		}
		end += size
	}
	return true
}

func isWordByte(c byte) bool {
	return c == '_' || '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
}

func inClass(class []rune, r rune) bool {
	for i := 0; i < len(class); i += 2 {
		if class[i] <= r && r <= class[i+1] {
			return true
		}
	}
	return false
}

// longest returns how many bytes a match can have at most; false where there is no bound.
func longest(node *syntax.Regexp) (most int, bounded bool) {
	switch node.Op {
	case syntax.OpLiteral:
		return utf8.UTFMax * len(node.Rune), true
	case syntax.OpCharClass:
		if n := len(node.Rune); n > 0 && node.Rune[n-1] <= unicode.MaxASCII {
			return 1, true
		}
		return utf8.UTFMax, true
	case syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		return utf8.UTFMax, true
	case syntax.OpStar, syntax.OpPlus:
		return 0, false
	case syntax.OpRepeat:
		most, bounded = longest(node.Sub[0])
		return most * node.Max, bounded && node.Max >= 0
	case syntax.OpAlternate:
		for _, sub := range node.Sub {
			n, ok := longest(sub)
			if !ok {
				return 0, false
			}
			most = max(most, n)
		}
		return most, true
	}
	for _, sub := range node.Sub {
		n, ok := longest(sub)
		if !ok {
			return 0, false
		}
		most += n
	}
	return most, true
}

// sprawls tells whether a part of the expression takes any text of any length.
func sprawls(node *syntax.Regexp) bool {
	if node.Op == syntax.OpStar || node.Op == syntax.OpPlus {
		if op := node.Sub[0].Op; op == syntax.OpAnyChar || op == syntax.OpAnyCharNotNL {
			return true
		}
	}
	return slices.ContainsFunc(node.Sub, sprawls)
}
