package tools

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"writ/contract"
	"writ/workspace"
)

// MostCompletions is how many completions an answer holds.
const MostCompletions = 100

var _ = serves(contract.Contract{
	Name:  "complete_word",
	Title: "Complete a word",
	Doc:   "Complete the beginning of a path, a tag, or the name of an artifact or a change. Only what the caller may read is named.",
	Codes: placeCodes,
}, runCompleteWord)

type completeWordIn struct {
	What  string `json:"what" enum:"file,note,artifact,change,tag"`
	Start string `json:"start" max:"4096"`
}

// Completions are the words that begin as was asked.
type Completions struct {
	Values []string `json:"values" text:"file"`
	Total  int      `json:"total"`
	More   bool     `json:"more"` // there are others, which are not counted
}

func runCompleteWord(ctx context.Context, r Reader, in completeWordIn) (Completions, error) {
	var c Completions
	var err error
	switch in.What {
	case "tag":
		c, err = completeTag(ctx, r, in.Start)
	case KindArtifact:
		c.Values = r.Artifacts.Names(listedArtifacts)
		c.keep(in.Start)
	case KindChange:
		c, err = completeChange(ctx, r, in.Start)
	default:
		c = completePath(ctx, r, in)
	}
	c.Total = len(c.Values)
	c.Values = append([]string{}, c.Values[:min(c.Total, MostCompletions)]...)
	c.More = c.More || c.Total > len(c.Values)
	return c, err
}

// keep drops what does not begin with start.
func (c *Completions) keep(start string) {
	c.Values = slices.DeleteFunc(c.Values, func(v string) bool { return !strings.HasPrefix(v, start) })
}

func completeChange(ctx context.Context, r Reader, start string) (Completions, error) {
	changes, total, err := r.Log.Changes(ctx, contract.Path{}, 0, 5*MostCompletions)
	c := Completions{More: total > len(changes)}
	for _, change := range changes {
		c.Values = append(c.Values, change.ID)
	}
	c.keep(start)
	return c, err
}

// completePath completes the last name of a path. A directory ends in a slash, so that it can be gone on with.
func completePath(ctx context.Context, r Reader, in completeWordIn) Completions {
	directory, start := "", in.Start
	if i := strings.LastIndexByte(in.Start, '/'); i >= 0 {
		directory, start = in.Start[:i], in.Start[i+1:]
	}
	var at contract.Path
	if directory != "" {
		var err error
		if at, err = contract.ParsePath(directory); err != nil {
			return Completions{} // nothing begins so
		}
	}
	listing, err := r.Files.List(ctx, at, workspace.Window{})
	if err != nil {
		return Completions{}
	}
	var c Completions
	for _, e := range listing.Entries {
		if !strings.HasPrefix(e.Name, start) {
			continue
		}
		switch p := at.Join(e.Name); {
		case e.Kind == workspace.KindDirectory:
			c.Values = append(c.Values, p.String()+"/")
		case in.What == KindFile, r.Notes.IsNote(p):
			c.Values = append(c.Values, p.String())
		}
	}
	return c
}

// completeTag completes a tag from the notes that are found by its beginning. Those are the best of many, and a beginning
// of one letter finds none.
func completeTag(ctx context.Context, r Reader, start string) (Completions, error) {
	start = strings.TrimPrefix(start, "#")
	word := strings.Map(func(c rune) rune {
		if unicode.IsLetter(c) || unicode.IsDigit(c) {
			return c
		}
		return ' '
	}, start)
	if utf8.RuneCountInString(strings.TrimSpace(word)) < 2 {
		return Completions{More: true}, nil
	}
	found, err := r.Notes.SearchNotes(ctx, word+"*", 0)
	if err != nil {
		return Completions{}, err
	}
	seen := map[string]int{}
	for _, m := range found.Matches {
		for _, tag := range m.Tags {
			if len(tag) >= len(start) && strings.EqualFold(tag[:len(start)], start) {
				seen[tag]++
			}
		}
	}
	c := Completions{More: found.Total > len(found.Matches)}
	for tag := range seen {
		c.Values = append(c.Values, tag)
	}
	slices.SortFunc(c.Values, func(a, b string) int { return cmp.Or(seen[b]-seen[a], strings.Compare(a, b)) })
	return c, nil
}
