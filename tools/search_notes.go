package tools

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"writ/contract"
	"writ/envelope"
	"writ/notes"
)

// NoteFinder searches the notes that the caller may read.
type NoteFinder interface {
	// SearchNotes returns the best notes, at most most of them or, where that is 0, as many as a page has.
	SearchNotes(ctx context.Context, query string, most int) (notes.Result, error)
	// IsNote tells whether a file at that path counts as a note.
	IsNote(path contract.Path) bool
}

// ListedNotes is how many notes the artifact of a search lists.
const ListedNotes = 1000

var searchNotes = reads(contract.Contract{
	Name:  "search_notes",
	Title: "Search notes",
	Core:  true,
	Doc: "Find Markdown notes by words in title, headings, tags, path or text, best first, in any language; a whole question works too. " +
		"Also \"exact phrase\", word*, tag:x, path:x, title:x. E.g. {\"query\":\"garden sensor tag:project\"}. " +
		"Returns titles, lines and snippets; read_file has the text. Exact strings in any file: search_text.",
	Codes: []envelope.Code{envelope.ChangedDuringCall},
}, runSearchNotes)

type searchNotesIn struct {
	Query string `json:"query" min:"1" max:"200" doc:"words to look for"`
}

type noteMatch struct {
	Path    contract.Path    `json:"path"`
	Title   string           `json:"title" text:"file"`
	Line    int              `json:"line"`
	Heading string           `json:"heading,omitempty" text:"file"`
	Snippet string           `json:"snippet" text:"line"`
	Score   float64          `json:"score"`
	Version contract.Version `json:"version"`
	Tags    []string         `json:"tags" text:"file"`
}

type searchNotesOut struct {
	envelope.Notes
	Matches   []noteMatch `json:"matches"`
	Total     int         `json:"total"`
	Tier      string      `json:"tier" enum:"none,exact,all,some" doc:"exact: every word as it stands; all: every word or its nearest neighbour; some: the rarest words"`
	Truncated *truncated  `json:"truncated,omitempty"`
	Untrusted bool        `json:"untrusted,omitempty" outline:"-"`
}

func runSearchNotes(ctx context.Context, r Reader, in searchNotesIn) (searchNotesOut, error) {
	result, err := r.Notes.SearchNotes(ctx, in.Query, 0)
	if err != nil {
		return searchNotesOut{}, err
	}
	out := searchNotesOut{Matches: make([]noteMatch, 0, len(result.Matches)), Total: result.Total, Tier: string(result.Tier), Untrusted: len(result.Matches) > 0}
	for _, m := range result.Matches {
		out.Matches = append(out.Matches, noteMatch(m))
	}
	if out.Total > len(out.Matches) {
		out.cut(ctx, r, in.Query)
	}
	out.unread(in.Query)
	out.repaired(result.Repaired)
	warnSkippedNotes(&out.Notes, result.Skipped)
	warnSkipped(&out.Notes, result.LeftOut)
	if b := result.Building; b != nil {
		out.Warn(envelope.Warning{Code: envelope.IndexBuilding, Message: fmt.Sprintf(
			"All notes were searched, one by one. The index that makes this fast is being built: %d of %d notes are done.", b.Done, max(b.Total, result.Total))})
	}
	if result.Unsettled {
		out.Warn(envelope.Warning{Code: envelope.IndexBuilding, Message: "The server has just started and is still comparing its index with the files. " +
			"The notes shown do match; others that were written since its last run may be missing, and total counts only those shown. Ask again in a second for all."})
	}
	return out, nil
}

// cut tells that there are more notes, and where they are listed. To list them takes a second look at each, so that is
// done when the list is read.
func (o *searchNotesOut) cut(ctx context.Context, r Reader, query string) {
	o.Truncated = &truncated{Returned: len(o.Matches), Total: o.Total, Unit: "notes"}
	o.Warn(envelope.Warning{Code: envelope.Cut, Message: fmt.Sprintf(
		"These are the best %d of %d notes. Use more or rarer words to see others.", len(o.Matches), o.Total)})
	list := "The whole list is"
	if o.Total > ListedNotes {
		list = fmt.Sprintf("A list of the best %d is", ListedNotes)
	}
	r.keep(ctx, &o.Notes, o.Truncated, Artifact{Query: query}, list)
}

// ListNotes returns the notes of a result, one a line as JSON.
func ListNotes(result notes.Result) string {
	var text []byte
	for _, m := range result.Matches {
		text = append(envelope.AppendValue(text, noteMatch(m)), '\n')
	}
	return string(text)
}

// unread tells what in the query was not understood as its author may think: an empty list would be taken for an answer.
func (o *searchNotesOut) unread(query string) {
	q, err := notes.ParseQuery(query)
	if err != nil {
		return
	}
	if q.IsEmpty() {
		o.Warn(envelope.Warning{Code: envelope.QueryUnread,
			Message: "The query has no word to look for, so this is no answer. Give words; search_text finds signs."})
	}
	if signs := q.Operators(); len(signs) > 0 {
		o.Warn(envelope.Warning{Code: envelope.QueryUnread, Message: fmt.Sprintf(
			"A query has no operators, so %s was read as a word. Ask for alternatives one by one; nothing can be excluded.", contract.Quote(strings.Join(signs, " ")))})
	}
}

// repaired tells which words occur nowhere and what they were read as.
func (o *searchNotesOut) repaired(words map[string]string) {
	for _, word := range slices.Sorted(maps.Keys(words)) {
		o.Warn(envelope.Warning{
			Code:    envelope.QueryRepaired,
			Message: fmt.Sprintf("No note has %s; it was read as %s.", contract.Quote(word), contract.Quote(words[word])),
		})
	}
}

// warnSkippedNotes tells how many notes could not be searched, and why.
func warnSkippedNotes(n *envelope.Notes, skipped map[envelope.Code]int) {
	for _, code := range slices.Sorted(maps.Keys(skipped)) {
		n.Warn(envelope.Warning{
			Code:    envelope.Skipped,
			Message: fmt.Sprintf("%d notes could not be searched (%s).", skipped[code], code),
			Details: map[string]any{"reason": string(code), "count": skipped[code]},
		})
	}
}
