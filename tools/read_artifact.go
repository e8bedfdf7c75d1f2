package tools

import (
	"context"
	"strings"
	"unicode/utf8"

	"writ/contract"
	"writ/envelope"
)

// Artifact is a result that is too large for an answer.
type Artifact struct {
	Text string // not empty
	// Query, where it is kept in the place of a text, makes the text that of the notes which answer it when it is read.
	Query string
	// About are the files that it tells of, links followed: who may not read them all may not read it.
	About []contract.Path
	Names bool // of those files it tells no more than their names
}

// Artifacts keeps what is too large for an answer, for a while.
type Artifacts interface {
	// Keep returns the name, artifact:…, under which a is kept.
	Keep(ctx context.Context, a Artifact) (name string, err error)
	// Artifact returns what is kept under the name, or an Error of code unknown-artifact or expired.
	Artifact(ctx context.Context, name string) (Artifact, error)
	// Names lists the artifacts that are kept for the caller, newest first, at most so many.
	Names(most int) []string
	// HowToRead tells a caller in words how to read the artifact of that name.
	HowToRead(name string) string
}

var readArtifact = reads(contract.Contract{
	Name:  "read_artifact",
	Title: "Read a result that was too large",
	Bulk:  true,
	Doc: "Read what an earlier answer had no room for, by the artifact that it named. The answer is a JSON envelope, then the text in a block of its own; " +
		"truncated.next_offset tells where to go on. Artifacts are kept for a day.",
	Codes: []envelope.Code{envelope.NoArtifact, envelope.Expired},
}, runReadArtifact)

type readArtifactIn struct {
	Artifact string `json:"artifact" min:"1" max:"64" doc:"artifact of an earlier answer"`
	Offset   int    `json:"offset,omitempty" min:"0" doc:"bytes to skip"`
}

type readArtifactOut struct {
	envelope.Notes
	Total     int        `json:"total" doc:"bytes in all"`
	Truncated *truncated `json:"truncated,omitempty"`
	Untrusted bool       `json:"untrusted"`
}

// WithTexts returns the answer with the text in it.
func (o *readArtifactOut) WithTexts(texts []string) any {
	return struct {
		*readArtifactOut
		Content string `json:"content"`
	}{o, texts[0]}
}

func runReadArtifact(ctx context.Context, r Reader, in readArtifactIn) (readArtifactOut, error) {
	a, err := r.Artifacts.Artifact(ctx, in.Artifact)
	if err != nil {
		return readArtifactOut{}, err
	}
	out := readArtifactOut{Total: len(a.Text), Untrusted: true}
	from := startOfCharacter(a.Text, in.Offset)
	text := wholeLines(a.Text[from:], r.Limits.ResultBytes)
	out.Texts = []string{text}
	out.Truncated = page{offset: from, limit: r.Limits.ResultBytes}.rest(&out.Notes, len(text), len(a.Text), "bytes")
	return out, nil
}

// startOfCharacter returns where the character that byte at belongs to begins, or the end of text: half a character is
// no text.
func startOfCharacter(text string, at int) int {
	if at >= len(text) {
		return len(text)
	}
	for at > 0 && !utf8.RuneStart(text[at]) {
		at--
	}
	return at
}

// wholeLines returns the beginning of text up to the last line that ends within most bytes, or where the first is longer
// than that, as many of its characters.
func wholeLines(text string, most int) string {
	if len(text) <= most {
		return text
	}
	if end := strings.LastIndexByte(text[:most], '\n'); end >= 0 {
		return text[:end+1]
	}
	end := most
	for end > 0 && !utf8.RuneStart(text[end]) {
		end--
	}
	return text[:end]
}
