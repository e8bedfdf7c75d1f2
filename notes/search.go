package notes

import (
	"cmp"
	"context"
	"math"

	"writ/envelope"
	"writ/workspace"
)

// DefaultLimit is how many notes a search returns where nothing else is said.
const DefaultLimit = 20

// Bounds of what a match says about a note, so that no note can fill the answer.
const (
	maxTitle = 200 // bytes
	maxTags  = 20
)

// Scanner is a [Searcher] that reads all notes for each search.
type Scanner struct {
	Visibility string // VisibilityUnmarked if empty
	Limit      int    // how many matches are returned; zero means DefaultLimit
}

// Search implements [Searcher]. It returns the notes of the first tier that finds any.
func (s Scanner) Search(ctx context.Context, q Query, source Source) (Result, error) {
	result, _, err := s.search(ctx, &q, source)
	return result, err
}

// search also tells how many notes it has read.
func (s Scanner) search(ctx context.Context, q *Query, source Source) (Result, int, error) {
	result := emptyResult()
	if q.IsEmpty() {
		return result, 0, nil
	}
	s = s.limited(q)
	f := finder{scanner: s, source: source, query: q}
	selected, err := f.find(ctx)
	if err != nil {
		return result, 0, err
	}
	result.Skipped, result.LeftOut = f.skipped, f.leftOut
	if selected.total > 0 {
		result, err = s.present(ctx, source, selected, result)
	}
	return result, f.notes, err
}

func emptyResult() Result { return Result{Matches: []Match{}, Tier: TierNone} }

// finder carries out one search.
type finder struct {
	scanner Scanner
	source  Source
	query   *Query
	skipped map[envelope.Code]int
	leftOut workspace.Skips
	notes   int
}

// found is what a tier found: a query, the numbers of a scan for it, and what of them to go by.
type found struct {
	selection
	query    *Query
	tally    *tally
	total    int
	repaired map[string]string
}

func (f *finder) find(ctx context.Context) (found, error) {
	q := f.query
	scan := newScan(q, f.scanner.Visibility)
	scan.findNeighbours()
	t, err := scan.run(ctx, f.source)
	if err != nil {
		return found{}, err
	}
	f.skipped, f.leftOut, f.notes = t.skipped, t.leftOut, t.notes
	first := found{query: q, tally: &t}
	if first.strictly() || first.loosely() {
		return first, nil
	}
	repairs := scan.repairs(&t)
	if len(repairs) == 0 {
		return first.sentence(), nil
	}
	return f.findRepaired(ctx, first, repairs)
}

// findRepaired looks again with other words in place of those that occur nowhere. Guesses count only where one note has
// them all; else it is the words that were right which may stand for the sentence.
func (f *finder) findRepaired(ctx context.Context, first found, repairs map[string]string) (found, error) {
	q := f.query.repaired(repairs)
	t, err := newScan(&q, f.scanner.Visibility).run(ctx, f.source)
	if err != nil {
		return found{}, err
	}
	second := found{query: &q, tally: &t, repaired: repairs}
	if second.loosely() {
		return second, nil
	}
	return first.sentence(), nil
}

// strictly selects the notes with all terms; failing that, those with all but the words that could be operators.
func (f *found) strictly() bool {
	columns := make([]int, len(f.query.terms))
	for i := range columns {
		columns[i] = i
	}
	f.selection = selection{tier: TierExact, columns: columns}
	f.total = f.tally.totals[allTerms]
	if f.total == 0 {
		f.columns = f.query.kept
		f.total = f.tally.totals[allButNoise]
	}
	return f.total > 0
}

// loosely selects the notes with all words, wherever they stand.
func (f *found) loosely() bool {
	f.selection = selection{tier: TierAll, columns: f.query.atomColumns(f.query.loose)}
	f.total = f.tally.totals[allTerms] + f.tally.totals[allButNoise] + f.tally.totals[allAtoms]
	return f.total > 0
}

// sentence selects the notes with any of the query's rarest words, if the query is more than one name.
func (f found) sentence() found {
	f.total = 0
	if f.query.sentence {
		f.selection = f.query.rarest(f.tally)
		f.total = f.tally.countMasked(f.mask)
	}
	return f
}

// present shows the best notes of what was found. Those that ranking has not kept are read once more; one that has gone
// or changed in between, so that it is no match any more, is left out.
func (s Scanner) present(ctx context.Context, source Source, sel found, result Result) (Result, error) {
	result.Tier, result.Total, result.Repaired = sel.tier, sel.total, sel.repaired
	shown := presenter{found: sel, worker: newScan(sel.query, s.Visibility).borrow(), targets: sel.targets(sel.columns), parts: sel.targets(sel.query.atomColumns(sel.query.loose))}
	for _, r := range sel.tally.rank(sel.selection) {
		if len(result.Matches) == s.limit() {
			break
		}
		if err := ctx.Err(); err != nil {
			return result, err
		}
		if match, ok := shown.match(ctx, source, r); ok {
			result.Matches = append(result.Matches, match)
		} else {
			result.Total--
		}
	}
	if err := ctx.Err(); err != nil {
		return result, err // what failed to load may still be there
	}
	if len(result.Matches) == 0 {
		result.Tier, result.Total, result.Repaired = TierNone, 0, nil
	}
	return result, nil
}

// limited is the scanner with the limit that the query sets.
func (s Scanner) limited(q *Query) Scanner {
	s.Limit = cmp.Or(q.Most, s.Limit)
	return s
}

func (s Scanner) limit() int { return cmp.Or(s.Limit, DefaultLimit) }

// targets are what snippets should show of the columns. A word that all notes have still is one.
func (f *found) targets(columns []int) []target {
	weights := f.tally.weights(columns)
	targets := make([]target, len(columns))
	for i, c := range columns {
		targets[i] = target{f.query.needleOf(c), max(weights[i], 0.01)}
	}
	return targets
}

// needleOf returns what stands in a text where a column of a record is above zero.
func (q *Query) needleOf(column int) needle {
	if column < len(q.terms) {
		return q.terms[column].needle
	}
	return q.atoms[column-len(q.terms)].needle()
}

// presenter makes matches of records.
type presenter struct {
	found
	worker  *worker
	targets []target
	parts   []target
}

func (p *presenter) match(ctx context.Context, source Source, r ranked) (Match, bool) {
	read := r.read
	if read == nil {
		loaded, err := source.Load(ctx, r.path)
		if err != nil {
			return Match{}, false
		}
		now, note, ok := p.worker.examine(r.path, loaded.Text)
		if !ok || !p.takes(&now) {
			return Match{}, false
		}
		read = &readNote{loaded, note}
	}
	return p.show(r, read), true
}

func (p *presenter) show(r ranked, read *readNote) Match {
	note := read.note
	cut := cutter{text: read.loaded.Text, targets: p.targets, parts: p.parts}
	best := cut.excerpt(note.Body)
	return Match{
		Path:    r.path,
		Title:   clip(note.Title),
		Line:    best.line,
		Heading: clip(note.headingAt(best.line)),
		Snippet: string(best.text),
		Score:   math.Round(r.score*1000) / 1000,
		Version: read.loaded.Version,
		Tags:    shortTags(note.Tags),
	}
}

func clip(s string) string { return string(cutAtRune([]byte(s), maxTitle)) }

func shortTags(tags []string) []string {
	short := make([]string, 0, min(len(tags), maxTags))
	for _, tag := range tags[:min(len(tags), maxTags)] {
		short = append(short, clip(tag))
	}
	return short
}
