package gate

import (
	"bytes"
	"cmp"
	_ "embed"
	"encoding/json"
	"regexp"
	"slices"
	"sync"

	"writ/policy"
	"writ/workspace"
)

// What is taken for a secret: the public rules of gitleaks as data (secrets.json, made by .ci/secrets.py), private keys
// as PEM has them, passwords in URLs and those of netrc files. It is a net with holes and not the boundary: what must
// not be read belongs in no zone. A known hole: since a version is a hash of the true bytes, a short password can be tried out
// against it.
//
// A rule is asked only about the surroundings of its keywords. That a text is looked at in parts is no difference as
// long as a part comes with its surroundings, see [workspace.SecretFinder].

//go:embed secrets.json
var secretData []byte

// Secrets finds secrets in text. The zero value is ready; it may be used from many goroutines.
type Secrets struct{}

// SecretsOf returns what finds the secrets that the policy keeps back; nil where it keeps none back.
func SecretsOf(p *policy.Policy) workspace.SecretFinder {
	if !p.Redact() {
		return nil
	}
	return Secrets{}
}

// secretRules are all rules, ready to be asked.
type secretRules struct {
	rules   []*secretRule
	words   *automaton
	byWord  [][]int // rules, by the number of their word; beginPEM stands for the rule that is none
	kinds   map[string]bool
	allowed allowed
}

const (
	privateKey = "private-key"
	beginPEM   = "-----begin"
	noRule     = -1
)

// ownRules are those that gitleaks lacks.
var ownRules = []*secretRule{
	{
		ID: "url-password", Keywords: []string{"://"},
		Regex: "://[^\\s/?#:@'\"<>`]*:([^\\s/?#'\"<>`]{1,200})@[\\w.\\[%-]",
		Allow: []string{`(?i)^(?:pass(?:word|wd)?|pwd|redacted|x+)$`, `^[$%{\[]`},
	},
	{
		ID: "netrc-password", Keywords: []string{"machine", "default"},
		Regex: `(?i)\b(?:machine\s{1,8}\S{1,253}|default)(?:\s{1,8}(?:login|account)\s{1,8}\S{1,200}){1,2}\s{1,8}password\s{1,8}(\S{1,200})`,
	},
	{
		ID: "netrc-password", Keywords: []string{"machine", "default"},
		Regex: `(?i)\b(?:machine\s{1,8}\S{1,253}|default)\s{1,8}password\s{1,8}(\S{1,200})\s{1,8}login\b`,
	},
}

var loadSecretRules = sync.OnceValue(func() *secretRules {
	var data struct {
		Allow     []string      `json:"allow"`
		Stopwords []string      `json:"stopwords"`
		Rules     []*secretRule `json:"rules"`
	}
	if err := json.Unmarshal(secretData, &data); err != nil {
		panic("gate: secrets.json: " + err.Error())
	}
	s := &secretRules{rules: append(data.Rules, ownRules...), allowed: allowed{expressions: data.Allow, stopwords: data.Stopwords}}
	words := []string{beginPEM}
	s.byWord = [][]int{{noRule}}
	numbers := map[string]int{}
	s.kinds = map[string]bool{privateKey: true}
	for i, r := range s.rules {
		s.kinds[r.ID] = true
		for _, word := range r.Keywords {
			number, known := numbers[word]
			if !known {
				number = len(words)
				numbers[word] = number
				words = append(words, word)
				s.byWord = append(s.byWord, nil)
			}
			s.byWord[number] = append(s.byWord[number], i)
		}
	}
	s.words = newAutomaton(words)
	return s
})

// Find implements [workspace.SecretFinder].
func (Secrets) Find(text []byte) []workspace.Span {
	s := search{secretRules: loadSecretRules(), text: text}
	s.words.each(text, s.meet)
	for rule, windows := range s.windows {
		for _, w := range windows {
			s.within(s.rules[rule], w)
		}
	}
	return merge(s.found)
}

// search is one search for secrets in one text.
type search struct {
	*secretRules
	text    []byte
	found   []workspace.Span
	windows map[int][]window // by rule: where its matches may be, merged
}

type window struct{ from, to int }

// meet asks the rules of a word that stands at the offset.
func (s *search) meet(at, word int) {
	for _, number := range s.byWord[word] {
		if number == noRule {
			s.pem(at)
			continue
		}
		r := s.rules[number]
		r.prepare.Do(r.study)
		if r.heads == nil {
			s.put(number, at)
			continue
		}
		if !r.beginsAt(s.text, at) {
			continue
		}
		r.compile.Do(r.compileAll)
		s.add(r, at, r.anchored.FindSubmatchIndex(s.text[at:r.reach(s.text, at)]))
	}
}

// put notes that the rule is to look around the offset.
func (s *search) put(rule, at int) {
	if s.windows == nil {
		s.windows = map[int][]window{}
	}
	list := s.windows[rule]
	from, to := s.rules[rule].around(s.text, at)
	if n := len(list); n > 0 && from <= list[n-1].to {
		list[n-1].to = max(list[n-1].to, to)
		return
	}
	s.windows[rule] = append(list, window{from, to})
}

func (s *search) within(r *secretRule, w window) {
	part := s.text[w.from:w.to]
	if !holdsAll(part, r.Needs) {
		return
	}
	r.compile.Do(r.compileAll)
	for _, match := range r.re.FindAllSubmatchIndex(part, -1) {
		s.add(r, w.from, match)
	}
}

// add takes in a match that was found in the text from an offset on; nil is none.
func (s *search) add(r *secretRule, from int, match []int) {
	if match == nil {
		return
	}
	if span, ok := r.secretIn(s.text[from:], match, &s.allowed); ok {
		span.Start += from
		span.End += from
		s.found = append(s.found, span)
	}
}

// Bounds of a private key: what its first line may hold, how long it may be, and how much there must be of it.
const (
	maxPEMHeader = 120
	maxPEM       = 24 << 10
	minPEM       = 64
)

// pem takes in the private key that begins at the offset, if one does: to its last line, or where that is missing, as
// far as its lines go on.
func (s *search) pem(at int) {
	header := s.text[at:min(len(s.text), at+maxPEMHeader)]
	name, _, ok := bytes.Cut(header[len(beginPEM):], []byte("-----"))
	if !ok || !bytes.Contains(bytes.ToUpper(name), []byte("PRIVATE KEY")) || bytes.IndexByte(name, '\n') >= 0 {
		return
	}
	body := at + len(beginPEM) + len(name) + len("-----")
	rest := s.text[body:min(len(s.text), body+maxPEM)]
	size := lengthOfKey(rest)
	last := -1
	if i := bytes.Index(rest, []byte("-----")); i >= 0 && bytes.HasPrefix(bytes.ToUpper(rest[i:min(len(rest), i+8)]), []byte("-----END")) {
		last = i
	}
	if last >= 0 {
		size = last + len("-----END")
		if closing := bytes.Index(rest[size:min(len(rest), size+maxPEMHeader)], []byte("-----")); closing >= 0 {
			size += closing + len("-----")
		}
	}
	if last >= 0 && last < minPEM || size < minPEM {
		return
	}
	s.found = append(s.found, workspace.Span{Start: at, End: body + size, Kind: privateKey})
}

// lengthOfKey returns how far text goes on as the lines of a key do.
func lengthOfKey(text []byte) int {
	end := 0
	for end < len(text) {
		line := text[end:]
		next := len(text)
		if i := bytes.IndexByte(line, '\n'); i >= 0 {
			line, next = line[:i], end+i+1
		}
		if end > 0 && !isKeyLine(line) {
			break
		}
		end = next
	}
	return len(bytes.TrimRight(text[:end], " \t\r\n"))
}

// isKeyLine tells whether a line may be one of a key: base64 or hexadecimal without a blank in it, or a header.
func isKeyLine(line []byte) bool {
	line = bytes.Trim(line, " \t\r\"'`,;+#*>|/")
	if bytes.Contains(line, []byte(": ")) {
		return len(line) < maxPEMHeader
	}
	return !bytes.ContainsFunc(line, func(r rune) bool {
		return !(r < 0x80 && isWordByte(byte(r))) && r != '+' && r != '/' && r != '=' && r != '\\' && r != '-'
	})
}

// merge sorts spans and joins those that overlap, under the kind of the longest.
func merge(spans []workspace.Span) []workspace.Span {
	slices.SortFunc(spans, func(a, b workspace.Span) int {
		return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(b.End, a.End), cmp.Compare(a.Kind, b.Kind))
	})
	merged := spans[:0]
	for _, s := range spans {
		n := len(merged)
		if n == 0 || s.Start >= merged[n-1].End {
			merged = append(merged, s)
			continue
		}
		last := &merged[n-1]
		if s.End-s.Start > last.End-last.Start {
			last.Kind = s.Kind
		}
		last.End = max(last.End, s.End)
	}
	return merged
}

// allowed is what is no secret by any rule, such as the name of a variable.
type allowed struct {
	expressions []string
	stopwords   []string

	once     sync.Once
	compiled []*regexp.Regexp
}

func (a *allowed) is(secret []byte) bool {
	a.once.Do(func() {
		for _, expression := range a.expressions {
			a.compiled = append(a.compiled, regexp.MustCompile(expression))
		}
	})
	lower := bytes.ToLower(secret)
	return anyMatches(a.compiled, secret) ||
		slices.ContainsFunc(a.stopwords, func(w string) bool { return bytes.Contains(lower, []byte(w)) })
}
