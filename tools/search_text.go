package tools

import (
	"context"
	"fmt"

	"writ/contract"
	"writ/envelope"
	"writ/workspace"
)

var searchText = reads(contract.Contract{
	Name:  "search_text",
	Title: "Search text in files",
	Core:  true,
	Doc: "Find every line that holds pattern, in all files that you may read: code, logs, exact strings. Literal text; literal:false makes it a " +
		"regular expression (RE2). Returns line and column, from 1, and the file's version. For notes by topic use search_notes.",
	Codes: append([]envelope.Code{envelope.BadPattern, envelope.NotARegularFile, envelope.PrivateNote}, placeCodes...),
}, runSearchText)

type searchTextIn struct {
	Pattern      string        `json:"pattern" min:"1" max:"10000" doc:"text to find"`
	Path         contract.Path `json:"path,omitzero" doc:"file or directory; the root if absent"`
	Glob         contract.Glob `json:"glob,omitzero" doc:"only files that match below path, e.g. **/*.go"`
	Literal      bool          `json:"literal,omitempty" default:"true" doc:"false: a regular expression"`
	IgnoreCase   bool          `json:"ignore_case,omitempty" doc:"A and a are the same"`
	ContextLines int           `json:"context_lines,omitempty" min:"0" max:"20" doc:"lines to show before and after"`
	Offset       int           `json:"offset,omitempty" min:"0" max:"10000" doc:"matches to skip"`
}

// maxMatchOffset is the largest offset of a search: all matches before the page must be held until it is known which
// files come first.
const maxMatchOffset = 10_000

type textMatch struct {
	Path    contract.Path    `json:"path"`
	Line    int              `json:"line"`
	Column  int              `json:"column"`
	Text    string           `json:"text" text:"line"`
	Cut     bool             `json:"cut,omitempty" doc:"text is a part of a long line"`
	Before  []string         `json:"before,omitempty" text:"file"`
	After   []string         `json:"after,omitempty" text:"file"`
	Version contract.Version `json:"version"`
}

func (m textMatch) path() contract.Path { return m.Path }

func matchOf(h workspace.Hit) textMatch {
	return textMatch{h.Path, h.Line, h.Column, h.Text, h.Cut, h.Before, h.After, h.Version}
}

func matchesOf(hits []workspace.Hit) []textMatch {
	matches := make([]textMatch, len(hits))
	for i, h := range hits {
		matches[i] = matchOf(h)
	}
	return matches
}

type searchTextOut struct {
	envelope.Notes
	Matches       []textMatch `json:"matches"`
	Total         int         `json:"total" doc:"matching lines; a lower bound where total_is_exact is false"`
	TotalIsExact  bool        `json:"total_is_exact"`
	FilesSearched int         `json:"files_searched"`
	Truncated     *truncated  `json:"truncated,omitempty"`
	Untrusted     bool        `json:"untrusted,omitempty" outline:"-"`
}

func runSearchText(ctx context.Context, r Reader, in searchTextIn) (searchTextOut, error) {
	p := page{offset: in.Offset, limit: r.Limits.Matches, last: maxMatchOffset}
	window, most := workspace.Window{Offset: p.offset, Limit: p.limit}, r.Limits.ResultBytes
	if p.offset == 0 { // what the page has no room for is kept
		window.Limit, most = max(p.limit, keptMatches), max(most, r.Limits.ArtifactBytes)
	}
	result, err := r.Files.Search(ctx, workspace.Query{
		Pattern: in.Pattern, Regexp: !in.Literal, IgnoreCase: in.IgnoreCase, Base: in.Path, Glob: in.Glob,
		Context: in.ContextLines, Window: window, MaxBytes: most,
	})
	if err != nil {
		return searchTextOut{}, err
	}
	out := searchTextOut{
		Matches: make([]textMatch, 0, min(len(result.Hits), p.limit)), Total: result.Total, TotalIsExact: result.TotalIsExact,
		FilesSearched: result.Files, Untrusted: len(result.Hits) > 0,
	}
	room := r.Limits.ResultBytes
	for i, h := range result.Hits[:min(len(result.Hits), p.limit)] {
		m := matchOf(h)
		if room -= len(envelope.AppendValue(nil, m)); room < 0 && i > 0 {
			break // escaped, the text takes more room than it has bytes
		}
		out.Matches = append(out.Matches, m)
		if w, found := workspace.HiddenWarning(h.Text, h.Line); found && len(out.Warnings) == 0 {
			out.Warn(w)
		}
	}
	out.Truncated = p.rest(&out.Notes, len(out.Matches), out.Total, "matches")
	if p.offset == 0 && out.Truncated != nil {
		keepList(ctx, r, &out.Notes, out.Truncated, keptList[textMatch]{entries: matchesOf(result.Hits), about: textMatch.path, inexact: !out.TotalIsExact})
	}
	if result.TimedOut {
		out.Warn(envelope.Warning{Code: envelope.Cut, Message: fmt.Sprintf(
			"The time for one call ran out after %d files: there may be more matches. Search a smaller part with path or glob.", result.Files)})
	}
	if result.LeftOut {
		out.Warn(envelope.Warning{Code: envelope.QueryUnread, Message: "path is one file, and glob matches neither its name nor its path, so nothing was searched. Leave out glob."})
	}
	warnSkipped(&out.Notes, result.Skipped)
	return out, nil
}
