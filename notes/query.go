package notes

import (
	"iter"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"writ/envelope"
)

// The language of a query:
//
//	kv cache 缓存        words, in any order; a run of Chinese, Japanese or Korean is found anywhere in a longer run
//	"exact phrase"      these words side by side; “…” and 「…」 too
//	sens*               words that start so, from two letters on
//	#tag                notes that have the tag, or one below it
//	tag:x path:x title:x   only notes whose tag, path or title is so; x may stand in quotes, and a * in it for anything
//
// All else is plain input. There are no operators: AND, OR, NOT and NEAR are words like others, and are left out if
// with them nothing is found; -word is looked for as it stands.

// MaxQuery is the longest query, in characters.
const MaxQuery = 200

// Query is a parsed query. The zero Query finds nothing.
type Query struct {
	Most int // how many matches are wanted; 0: as many as the searcher returns

	terms   []term
	atoms   []atom // of all terms, each once
	filters []filter
	kept    []int  // the terms without noise
	loose   []int  // the atoms of those terms
	words   string // the terms as plainWords, to compare with titles
	phrase  string // the terms as they were written, folded
	signs   []string
	// sentence says that some of the words may stand for all.
	sentence bool
}

// term is one thing that is asked for.
type term struct {
	needle needle
	atoms  []int // into Query.atoms
	kind   termKind
}

type termKind uint8

const (
	plain  termKind = iota
	quoted          // a phrase
	tagged          // #tag: needle.text is the tag
	noise           // AND and the like
)

// ParseQuery returns the query, or an Error of code length. It never fails for what the query says.
func ParseQuery(s string) (Query, error) {
	switch n := utf8.RuneCountInString(s); {
	case n == 0:
		return Query{}, envelope.Errorf(envelope.Length, "The query is empty. Give the words to look for, such as: garden sensor.")
	case n > MaxQuery:
		return Query{}, envelope.Errorf(envelope.Length, "The query has %d characters and may have %d. Give the few words that matter.", n, MaxQuery)
	}
	p := queryParser{rest: s}
	for p.next() {
	}
	return p.finish(), nil
}

// IsEmpty tells whether the query asks for nothing that could be found, such as "?!".
func (q *Query) IsEmpty() bool { return len(q.terms) == 0 && len(q.filters) == 0 }

// repaired returns the query with each atom as a term of its own and words replaced as told.
func (q *Query) repaired(replace map[string]string) Query {
	r := Query{filters: q.filters}
	for _, i := range q.loose {
		a := q.atoms[i]
		if other, ok := replace[a.text]; ok {
			a.text = other
		}
		r.add(term{needle: a.needle()}, []atom{a})
	}
	r.finish()
	return r
}

// Operators returns what in the query is an operator elsewhere and is none here, as written.
func (q *Query) Operators() []string {
	if len(q.terms)+len(q.filters) < 2 {
		return nil
	}
	return q.signs
}

func (q *Query) add(t term, atoms []atom) {
	if len(atoms) == 0 || slices.ContainsFunc(q.terms, func(o term) bool { return o.needle == t.needle && o.kind == t.kind }) {
		return
	}
	for _, a := range atoms {
		at := slices.Index(q.atoms, a)
		if at < 0 {
			at = len(q.atoms)
			q.atoms = append(q.atoms, a)
		}
		t.atoms = append(t.atoms, at)
	}
	q.terms = append(q.terms, t)
}

// finish prepares what is compared with whole titles and texts. Words that could be operators are meant as words where
// there is nothing else.
func (q *Query) finish() {
	if !slices.ContainsFunc(q.terms, func(t term) bool { return t.kind != noise }) {
		for i := range q.terms {
			q.terms[i].kind = plain
		}
	}
	var texts []string
	for i, t := range q.terms {
		texts = append(texts, t.needle.text)
		if t.kind == noise {
			continue
		}
		q.kept = append(q.kept, i)
		for _, a := range t.atoms {
			if !slices.Contains(q.loose, a) {
				q.loose = append(q.loose, a)
			}
		}
	}
	q.words = plainWords(strings.Join(texts, " "))
	q.sentence = q.readsAsSentence()
}

// isVerbatim tells whether finding the term's one atom is not yet finding the term.
func (q *Query) isVerbatim(t term) bool {
	return len(t.atoms) != 1 || q.atoms[t.atoms[0]].needle() != t.needle
}

// readsAsSentence tells whether some of the words may stand for all: not for a single word, name or phrase.
func (q *Query) readsAsSentence() bool {
	if len(q.kept) != 1 {
		return len(q.kept) > 1
	}
	const word = 4 // characters of a run that are likely to be one word
	t := q.terms[q.kept[0]]
	return t.kind == plain && len(t.atoms) >= word && !strings.ContainsFunc(t.needle.text, func(r rune) bool { return !isUnspaced(r) })
}

// queryParser takes a query apart from left to right.
type queryParser struct {
	query  Query
	rest   string
	spoken []string // what is no filter, as written
}

func (p *queryParser) finish() Query {
	p.query.finish()
	p.query.phrase = strings.TrimSpace(fold(strings.Join(p.spoken, " ")))
	return p.query
}

// next takes one filter, phrase or word. It returns false when nothing is left.
func (p *queryParser) next() bool {
	p.rest = strings.TrimLeftFunc(p.rest, unicode.IsSpace)
	if p.rest == "" {
		return false
	}
	if !p.takeFilter() && !p.takePhrase() {
		p.takeWord()
	}
	return true
}

func (p *queryParser) takeFilter() bool {
	for _, key := range []string{"tag", "path", "title"} {
		if len(p.rest) <= len(key) || !strings.EqualFold(p.rest[:len(key)], key) {
			continue
		}
		value, found := strings.CutPrefix(p.rest[len(key):], ":")
		if !found || strings.HasPrefix(value, ":") {
			continue
		}
		text, after, ok := cutQuoted(value)
		if !ok {
			text, after = cutSpace(value)
		}
		text = strings.TrimSpace(fold(text))
		if key == "tag" {
			text = strings.Trim(text, "#/")
		}
		if text == "" {
			return false
		}
		p.query.filters = append(p.query.filters, filter{key, text})
		p.rest = after
		return true
	}
	return false
}

func (p *queryParser) takePhrase() bool {
	text, after, ok := cutQuoted(p.rest)
	if !ok {
		return false
	}
	p.rest = after
	p.spoken = append(p.spoken, text)
	folded := strings.TrimSpace(fold(text))
	p.query.add(term{needle: newNeedle(folded, false), kind: quoted}, atomsOf(folded))
	return true
}

func (p *queryParser) takeWord() {
	text, after := cutSpace(p.rest)
	if i := strings.IndexAny(text, "“„「『«"); i > 0 {
		text, after = p.rest[:i], p.rest[i:]
	}
	p.rest = after
	p.spoken = append(p.spoken, text)
	p.addWord(text)
}

// addWord adds a word as it stands between spaces. What glues CJK to other text is no border that a reader sees, so each
// side is a term.
func (p *queryParser) addWord(text string) {
	core := trimPunctuation(text)
	if looksLikeOperator(text) && !slices.Contains(p.query.signs, text) {
		p.query.signs = append(p.query.signs, text)
	}
	if slices.Contains(operators, core) {
		folded := fold(core)
		p.query.add(term{needle: newNeedle(folded, false), kind: noise}, atomsOf(folded))
		return
	}
	if tag, found := strings.CutPrefix(core, "#"); found && tagSize([]byte(tag)) == len(tag) {
		folded := fold(tag)
		p.query.add(term{needle: newNeedle(folded, false), kind: tagged}, atomsOf(folded))
		return
	}
	for piece := range splitScripts(fold(text)) {
		p.addPiece(piece)
	}
}

var operators = []string{"AND", "OR", "NOT", "NEAR"}

// looksLikeOperator tells whether a word is there to say something of the other words: OR, or -word.
func looksLikeOperator(word string) bool {
	rest, minus := strings.CutPrefix(word, "-")
	first, _ := utf8.DecodeRuneInString(rest)
	return slices.Contains(operators, word) || minus && unicode.IsLetter(first)
}

func (p *queryParser) addPiece(piece string) {
	text := trimPunctuation(piece)
	starred := strings.HasSuffix(strings.TrimRight(piece, `.,;:!?"')]}>`), "*")
	atoms := atomsOf(text)
	if len(atoms) == 0 {
		return
	}
	last := &atoms[len(atoms)-1]
	prefix := starred && utf8.RuneCountInString(last.text) >= 2 && strings.HasSuffix(text, last.text)
	last.prefix = last.prefix || prefix
	p.query.add(term{needle: newNeedle(text, last.prefix)}, atoms)
}

// splitScripts cuts folded text where a script that is written without spaces meets other text.
func splitScripts(folded string) iter.Seq[string] {
	return func(yield func(string) bool) {
		start, was := 0, false
		for i, r := range folded {
			is := isUnspaced(r)
			if i > start && is != was {
				if !yield(folded[start:i]) {
					return
				}
				start = i
			}
			was = is
		}
		if start < len(folded) {
			yield(folded[start:])
		}
	}
}

// trimPunctuation removes what a sentence puts around a word and leaves what belongs to a name: C++, .env, -1, $HOME.
func trimPunctuation(s string) string {
	s = strings.TrimLeft(s, " '\"“”‘’([{<*!?,;:，。、；：！？（《【…")
	return strings.TrimRight(s, " '\"“”‘’)]}>([{<*.,;:!?，。、；：！？）》】…")
}

// cutQuoted cuts the text in quotes at the start of s. A quote that nothing closes is plain input.
func cutQuoted(s string) (text, after string, ok bool) {
	first, size := utf8.DecodeRuneInString(s)
	var closing string
	switch first {
	case '"', '“', '”', '„':
		closing = `"“”`
	case '「':
		closing = "」"
	case '『':
		closing = "』"
	case '«':
		closing = "»"
	default:
		return "", "", false
	}
	end := strings.IndexAny(s[size:], closing)
	if end < 0 {
		return "", "", false
	}
	_, closer := utf8.DecodeRuneInString(s[size+end:])
	return s[size : size+end], s[size+end+closer:], true
}

func cutSpace(s string) (word, after string) {
	if i := strings.IndexFunc(s, unicode.IsSpace); i >= 0 {
		return s[:i], s[i:]
	}
	return s, ""
}
