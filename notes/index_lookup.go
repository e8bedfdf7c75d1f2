package notes

import (
	"strings"
	"unicode/utf8"
)

// lookup is a question to the database: which notes have these words, and pass these filters? Words reach the database
// as strings in quotes that hold one or more tokens; nothing of a query is ever syntax to it.
type lookup struct {
	match string // FTS5's expression; "" for all notes
	where []string
	args  []any
}

// scope says which of the query's filters hold.
type scope int

const (
	byAll scope = iota
	byPath
)

// lookup returns a lookup of all notes that pass the filters.
func (a *asking) lookup(s scope) lookup {
	var l lookup
	for _, f := range a.query.filters {
		switch {
		case f.key == "path":
			l.restrict(f.condition("n.folded_path"))
		case s == byPath:
		case f.key == "title":
			l.restrict(f.condition("n.folded_title"))
		case strings.Contains(f.text, "*"):
			l.restrict(`EXISTS (SELECT 1 FROM tags t WHERE t.id = n.id AND (t.tag LIKE ? ESCAPE '\' OR t.tag LIKE ? ESCAPE '\'))`,
				likeStars(f.text), likeStars(f.text+"/*"))
		default:
			l.restrictTag(f.text)
		}
	}
	return l
}

func (l *lookup) restrict(condition string, args ...string) {
	l.where = append(l.where, condition)
	for _, arg := range args {
		l.args = append(l.args, arg)
	}
}

// restrictTag keeps notes with the tag or one below it: '0' comes right after '/'.
func (l *lookup) restrictTag(tag string) {
	l.restrict("EXISTS (SELECT 1 FROM tags t WHERE t.id = n.id AND (t.tag = ? OR t.tag > ? AND t.tag < ?))", tag, tag+"/", tag+"0")
}

// lookupTerms asks for the notes that have the tokens of all the terms.
func (a *asking) lookupTerms(terms []int) lookup {
	l := a.lookup(byAll)
	var all []string
	for _, i := range terms {
		t := a.query.terms[i]
		if t.kind == tagged {
			l.restrictTag(t.needle.text)
		}
		all = append(all, a.query.tokens(t))
	}
	l.match = strings.Join(all, " AND ")
	return l
}

// tokens is the expression for the tokens of a term: in a row, unless the term could run from front matter into the
// text, which are two columns.
func (q *Query) tokens(t term) string {
	if t.kind != tagged && q.isVerbatim(t) && !strings.Contains(t.needle.text, "---") && !strings.Contains(t.needle.text, "...") {
		return phrase(t.needle)
	}
	var all []string
	for _, i := range t.atoms {
		all = append(all, q.atoms[i].match())
	}
	return strings.Join(all, " AND ")
}

// within is the same lookup, of words in these columns alone.
func (l *lookup) within(columns string) lookup {
	narrow := *l
	narrow.match = "{" + columns + "} : (" + l.match + ")"
	return narrow
}

// lookupAtoms asks for the notes that have the atoms.
func (a *asking) lookupAtoms(atoms []int, join string) lookup {
	l := a.lookup(byAll)
	var all []string
	for _, i := range atoms {
		all = append(all, a.query.atoms[i].match())
	}
	l.match = strings.Join(all, join)
	return l
}

func (a *asking) lookupAtom(at atom, s scope) lookup {
	l := a.lookup(s)
	l.match = at.match()
	return l
}

func (a atom) match() string {
	if a.prefix {
		return quoted5(a.text) + "*"
	}
	return quoted5(a.text)
}

// quoted5 is a string of FTS5.
func quoted5(tokens string) string { return `"` + strings.ReplaceAll(tokens, `"`, `""`) + `"` }

// phrase is the expression for a needle's tokens side by side. A run at the needle's end may go on in the text, so its
// last character is no token there; one that is all of a run is the start of a token.
func phrase(n needle) string {
	var tokens []string
	t := tokenizer{text: []byte(n.text)}
	prefix, runEnd := n.prefix, -1
	for t.next() {
		last := t.end == len(n.text)
		single := t.paired && utf8.RuneCount(t.token) == 1
		if last && single && t.end == runEnd {
			break
		}
		if t.paired {
			runEnd = t.end
		}
		prefix = prefix || last && single
		tokens = append(tokens, string(t.token))
	}
	if prefix {
		return quoted5(strings.Join(tokens, " ")) + "*"
	}
	return quoted5(strings.Join(tokens, " "))
}

// isTokens tells whether a note that has the tokens of these terms has the terms.
func (q *Query) isTokens(terms []int) bool {
	for _, i := range terms {
		t := q.terms[i]
		if t.kind != tagged && q.isVerbatim(t) && strings.ContainsFunc(t.needle.text, func(r rune) bool { return !isUnspaced(r) }) {
			return false
		}
	}
	return true
}

func (l *lookup) from() string {
	var b strings.Builder
	if l.match == "" {
		b.WriteString(" FROM notes n WHERE n.skip = ''")
	} else {
		b.WriteString(" FROM text f JOIN notes n ON n.id = f.rowid WHERE f.text MATCH ?")
	}
	for _, condition := range l.where {
		b.WriteString(" AND ")
		b.WriteString(condition)
	}
	return b.String()
}

func (l *lookup) order() string {
	if l.match == "" {
		return " ORDER BY n.modified DESC, n.path"
	}
	return " ORDER BY f.rank"
}

func (l *lookup) values() []any {
	if l.match == "" {
		return append([]any{}, l.args...)
	}
	return append([]any{l.match}, l.args...)
}

// key names the lookup among all others.
func (l *lookup) key() string {
	var b strings.Builder
	b.WriteString(l.match)
	for _, condition := range l.where {
		b.WriteString("\x00")
		b.WriteString(condition)
	}
	for _, arg := range l.args {
		b.WriteString("\x00")
		b.WriteString(arg.(string))
	}
	return b.String()
}
