// Package notes is Markdown notes: what they say about themselves in front matter, titles, headings, tags and links,
// and the search over them.
//
// There are two searchers. A [Scanner] reads every note for each search: there is nothing to keep up to date. An [Index]
// keeps what it has read, so that many notes are searched as fast as few. Both take the same [Query], cut text into the
// same tokens, look at the notes themselves for what a match says, and find the same notes.
//
// Missing on purpose: stemming, dictionaries, operators. A query is words; nothing in it can be a syntax error.
package notes

import (
	"context"
	"time"

	"writ/contract"
	"writ/envelope"
	"writ/workspace"
)

// Source hands out the notes that a caller may read, and no others.
type Source interface {
	// Notes calls visit once for each note, from several goroutines at once and in no order. It stops at the first
	// error that visit returns, and returns it. It returns too what could not be looked into, where notes may be.
	Notes(ctx context.Context, visit func(Candidate) error) (workspace.Skips, error)
	// Load reads one note. An *envelope.Error of code not-found says that it is gone.
	Load(ctx context.Context, path contract.Path) (Loaded, error)
}

// Candidate is a note as a Source meets it.
type Candidate struct {
	Path     contract.Path
	Modified time.Time
	// State names the state of the file: the same State, the same text. It is 0 where that can't be told.
	State int64
	// Text reads the note's text: UTF-8, without BOM, line endings as they are. It is valid until visit returns. An
	// *envelope.Error tells why a file can't be searched; it is skipped and counted, but for one of code private-note.
	Text func() ([]byte, error)
}

// Loaded is a note with its text and the version of the bytes that the text was decoded from.
type Loaded struct {
	Text    []byte
	Version contract.Version
}

// Searcher finds notes.
type Searcher interface {
	Search(ctx context.Context, q Query, s Source) (Result, error)
}

// Tier says how closely the notes of a result match the query.
type Tier string

// The tiers, each tried when the one before finds nothing. TierNone is that of an empty result.
const (
	TierNone  Tier = "none"
	TierExact Tier = "exact" // every term as it was written
	TierAll   Tier = "all"   // every word somewhere in the note, or its nearest neighbour
	TierSome  Tier = "some"  // at least one of the query's rarest words
)

// Result is what a search found.
type Result struct {
	Matches []Match // best first; never nil
	Total   int     // how many notes match, of those that the caller may see
	Tier    Tier
	// Repaired tells which words of the query occur nowhere and what they were read as instead.
	Repaired map[string]string
	// Skipped counts the files that could not be searched, by reason.
	Skipped map[envelope.Code]int
	// LeftOut counts what could not even be looked into, such as a directory: notes in it are unknown.
	LeftOut workspace.Skips
	// Building is set while the notes are being indexed. The result is complete; it took longer to find.
	Building *Progress
	// Unsettled is set where the index could not yet be compared with the disk: each match is one, but notes that were
	// written since the index was used last may be missing, and Total counts the Matches alone.
	Unsettled bool
}

// Progress is how far an [Index] is in reading the notes that it does not know.
type Progress struct{ Done, Total int }

// Match is one note that was found.
type Match struct {
	Path    contract.Path
	Title   string
	Line    int     // where the snippet starts, counted from 1
	Heading string  // the nearest heading at or above Line, "" where there is none
	Snippet string  // verbatim from the note, at most [SnippetBytes]; one or two lines, or a heading and what is below it
	Score   float64 // higher is better; comparable within one result only
	Version contract.Version
	Tags    []string // never nil
}
