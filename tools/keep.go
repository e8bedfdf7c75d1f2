package tools

import (
	"context"
	"fmt"
	"strings"

	"writ/contract"
	"writ/envelope"
)

// What an answer has no room for is kept as an artifact, within these bounds and that of Limits.ArtifactBytes. Nothing is
// kept of an answer that is whole, nor again for each further page.
const (
	keptEntries   = 10_000 // of a list
	keptMatches   = 1_000  // of a search in text, which has to hold them all while it runs
	keptDiffLines = 10_000
)

// keep keeps a, and names it in t and in the warning that told of the cut. holds says what is in it. An answer is no
// less true where nothing can be kept.
func (r Reader) keep(ctx context.Context, n *envelope.Notes, t *truncated, a Artifact, holds string) {
	if a.Text+a.Query == "" || len(a.Text) > r.Limits.ArtifactBytes {
		return
	}
	name, err := r.Artifacts.Keep(ctx, a)
	if err != nil {
		return
	}
	t.Artifact = name
	told := fmt.Sprintf(" %s kept: %s.", holds, r.Artifacts.HowToRead(name))
	for i := len(n.Warnings) - 1; i >= 0; i-- {
		if n.Warnings[i].Code == envelope.Cut {
			n.Warnings[i].Message += told
			return
		}
	}
	n.Warn(envelope.Warning{Code: envelope.Cut, Message: strings.TrimPrefix(told, " ")})
}

// keepList keeps the entries of a list of which the answer t is a part, one a line as JSON. total is how many there are
// in all; entries may be fewer. about tells of which file an entry is.
func keepList[T any](ctx context.Context, r Reader, n *envelope.Notes, t *truncated, l keptList[T]) {
	if t == nil {
		return
	}
	var text []byte
	kept := 0
	a := Artifact{Names: l.names}
	for _, e := range l.entries[:min(len(l.entries), keptEntries)] {
		before := len(text)
		text = append(envelope.AppendValue(text, e), '\n')
		if len(text) > r.Limits.ArtifactBytes {
			text = text[:before]
			break
		}
		kept++
		if p := l.about(e); len(a.About) == 0 || p != a.About[len(a.About)-1] {
			a.About = append(a.About, p)
		}
	}
	if kept <= t.Returned {
		return
	}
	a.Text = string(text)
	r.keep(ctx, n, t, a, l.told(kept, t))
}

// keptList is a list of which an answer shows a part.
type keptList[T any] struct {
	entries []T
	about   func(T) contract.Path
	names   bool // an entry tells no more of its file than the name
	inexact bool // there may be more than anybody has counted
}

func (l keptList[T]) told(kept int, t *truncated) string {
	if l.inexact {
		return fmt.Sprintf("%d of those that were found are", kept)
	}
	if kept >= t.Total {
		return fmt.Sprintf("All %d are", t.Total)
	}
	return fmt.Sprintf("The first %d are", kept)
}
