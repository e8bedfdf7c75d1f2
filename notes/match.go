package notes

import (
	"slices"
	"strings"

	"writ/contract"
)

// mayBeAt tells whether the query's path filters let a note at p be found.
func (q *Query) mayBeAt(p contract.Path) bool {
	for _, f := range q.filters {
		if f.key == "path" && !f.holds(p.String()) {
			return false
		}
	}
	return true
}

// admits tells whether the note has the tags and the title that the query's filters want.
func (q *Query) admits(note *Note) bool {
	for _, f := range q.filters {
		if f.key == "tag" && !f.holdsTag(note.Tags) || f.key == "title" && !f.holds(note.Title) {
			return false
		}
	}
	return true
}

func (q *Query) levelOf(values []float32) level {
	terms, atoms := values[:len(q.terms)], values[len(q.terms):]
	missing := func(of []float32) func(int) bool { return func(i int) bool { return of[i] == 0 } }
	switch {
	case !slices.Contains(terms, 0):
		return allTerms
	case !slices.ContainsFunc(q.kept, missing(terms)):
		return allButNoise
	case !slices.ContainsFunc(q.loose, missing(atoms)):
		return allAtoms
	}
	return someAtoms
}

func (q *Query) standingIn(note *Note) standing {
	best := unnamed
	if q.words == "" {
		return best
	}
	best = q.standingTo(note.Title)
	for _, alias := range note.Aliases {
		best = max(best, q.standingTo(alias))
	}
	return best
}

func (q *Query) standingTo(title string) standing {
	words := plainWords(title)
	rest, starts := strings.CutPrefix(words, q.words)
	switch {
	case words == q.words:
		return isTitle
	case starts && (rest[0] == ' ' || newNeedle(q.words, false).stands([]byte(words), 0)):
		return startsTitle
	}
	folded := []byte(fold(title))
	for _, i := range q.kept {
		if q.terms[i].needle.index(folded, 0) < 0 {
			return unnamed
		}
	}
	return allInTitle
}
