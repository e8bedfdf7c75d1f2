package policy

import (
	"fmt"
	"strings"

	"github.com/agnivade/levenshtein"
)

// Mistake is one thing that is wrong in a policy.
type Mistake struct {
	File    string // "" where the policy did not come from a file
	Line    int    // from 1; 0 where it stands on no line
	Column  int    // from 1, in characters
	Message string // one plain sentence
}

func (m Mistake) Error() string {
	switch {
	case m.File == "":
		return m.Message
	case m.Line == 0:
		return m.File + ": " + m.Message
	}
	return fmt.Sprintf("%s:%d:%d: %s", m.File, m.Line, m.Column, m.Message)
}

// Mistakes is everything that is wrong in a policy, in the order of its lines.
type Mistakes []Mistake

// Error returns one line for each mistake.
func (m Mistakes) Error() string {
	lines := make([]string, len(m))
	for i := range m {
		lines[i] = m[i].Error()
	}
	return strings.Join(lines, "\n")
}

// nearest returns the known word that was probably meant, or "". One letter in four may differ: include is not exclude.
func nearest(word string, known []string) string {
	best, least := "", 3
	for _, k := range known {
		distance := levenshtein.ComputeDistance(bare(word), bare(k))
		if distance < least && distance <= len(k)/4 {
			best, least = k, distance
		}
	}
	return best
}

// bare drops what people vary without meaning to: case, dashes and underscores.
func bare(word string) string {
	return strings.NewReplacer("_", "", "-", "").Replace(strings.ToLower(word))
}

// list joins words as a sentence does: a, b and c.
func list(words []string) string {
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	last := len(words) - 1
	return strings.Join(words[:last], ", ") + " and " + words[last]
}
