package tools

import (
	"context"
	"fmt"
	"strings"

	"writ/contract"
	"writ/envelope"
)

// Kinds of resources.
const (
	KindFile     = "file"
	KindNote     = "note"
	KindArtifact = "artifact"
	KindChange   = "change"
)

var _ = serves(contract.Contract{
	Name:  "read_resource",
	Title: "Read a resource",
	Bulk:  true,
	Doc:   "Read a file, a note, an artifact or a change as an MCP resource.",
	Codes: append([]envelope.Code{envelope.NoArtifact, envelope.Expired, envelope.UnknownChange, envelope.NotEncodable}, readCodes...),
}, runReadResource)

type readResourceIn struct {
	Kind   string        `json:"kind" enum:"file,note,artifact,change"`
	Path   contract.Path `json:"path,omitzero" doc:"of a file or a note"`
	Name   string        `json:"name,omitempty" max:"64" doc:"of an artifact or a change"`
	Offset int           `json:"offset,omitempty" min:"0" doc:"lines, of an artifact bytes, to skip"`
}

// Resource is what a resource holds: a text, or a picture or sound in Media.
type Resource struct {
	envelope.Notes
	MediaType string           `json:"media_type,omitempty"`
	Version   contract.Version `json:"version,omitzero"`
	FirstLine int              `json:"first_line,omitempty"`
	Truncated *truncated       `json:"truncated,omitempty"`
	Untrusted bool             `json:"untrusted"`
}

// TextPlace tells where the text begins.
func (o *Resource) TextPlace(int) (path string, line int) { return "", o.FirstLine }

// WithTexts returns the answer with the text in it.
func (o *Resource) WithTexts(texts []string) any {
	return struct {
		*Resource
		Content string `json:"content"`
	}{o, texts[0]}
}

func runReadResource(ctx context.Context, r Reader, in readResourceIn) (Resource, error) {
	switch in.Kind {
	case KindArtifact:
		return artifactResource(ctx, r, in)
	case KindChange:
		return changeResource(ctx, r, in.Name)
	case KindNote:
		if !r.Notes.IsNote(in.Path) {
			return Resource{}, envelope.Errorf(envelope.PathNotFound, "%s is not counted as a note here. Read it as a file.", contract.Quote(in.Path.String()))
		}
	}
	if in.Path.IsTop() {
		return Resource{}, envelope.Errorf(envelope.IsDirectory, "A directory is no resource. Name a file.")
	}
	return fileResource(ctx, r, in)
}

func artifactResource(ctx context.Context, r Reader, in readResourceIn) (Resource, error) {
	out, err := runReadArtifact(ctx, r, readArtifactIn{in.Name, in.Offset})
	return Resource{Notes: out.Notes, MediaType: plainText, Truncated: out.Truncated, Untrusted: out.Untrusted}, err
}

const plainText = "text/plain"

// fileResource is the text of a file from a line on, or a picture or sound.
func fileResource(ctx context.Context, r Reader, in readResourceIn) (Resource, error) {
	out := Resource{MediaType: textType(in.Path)}
	var facts textFacts
	text, err := facts.read(ctx, r, readFileIn{Path: in.Path, Offset: in.Offset + 1, Limit: int(^uint(0) >> 1)}, &out.Notes, r.Limits.ResultBytes)
	if envelope.CodeOf(err) == envelope.NotText {
		return mediaResource(ctx, r, in.Path, err)
	}
	if err != nil {
		return Resource{}, err
	}
	if t := facts.Truncated; t != nil && t.NextOffset > 0 {
		t.NextOffset-- // a resource's offset counts from 0, as all offsets but that of read_file do
	}
	out.Texts = []string{text}
	out.Version, out.FirstLine, out.Truncated, out.Untrusted = facts.Version, facts.FirstLine, facts.Truncated, true
	return out, nil
}

func mediaResource(ctx context.Context, r Reader, p contract.Path, notText error) (Resource, error) {
	media, err := runReadMedia(ctx, r, readMediaIn{p})
	if envelope.CodeOf(err) == envelope.NotEncodable {
		return Resource{}, notText
	}
	return Resource{Notes: media.Notes, MediaType: media.MediaType, Version: media.Version, Untrusted: true}, err
}

// textType is the media type of a text file by its name.
func textType(p contract.Path) string {
	name := strings.ToLower(p.Base())
	switch name[strings.LastIndexByte(name, '.')+1:] {
	case "md", "markdown":
		return "text/markdown"
	case "json":
		return "application/json"
	case "html", "htm":
		return "text/html"
	case "css":
		return "text/css"
	case "csv":
		return "text/csv"
	}
	return plainText
}

// changeResource is a change: its facts in one line of JSON, then its diff as far as it can still be told. Programs that
// apply diffs skip the first line.
func changeResource(ctx context.Context, r Reader, id string) (Resource, error) {
	undo, err := r.Log.Undo(ctx, id)
	if undo.Change.ID == "" {
		return Resource{}, err
	}
	out := Resource{MediaType: "text/x-diff", Untrusted: true}
	parts := undo.Parts
	if undo.Change.Kind != contract.ChangeBatch {
		parts = []Undo{undo}
	}
	var text []byte
	for _, part := range parts {
		text = append(envelope.AppendValue(text, listed(part.Change)), '\n')
		text = append(text, changeDiff(ctx, r, part)...)
	}
	shown := wholeLines(string(text), r.Limits.ResultBytes)
	out.Texts = []string{shown}
	out.Truncated = page{}.rest(&out.Notes, len(shown), len(text), "bytes")
	if out.Truncated != nil {
		out.Truncated.NextOffset = 0
	}
	return out, nil
}

// changeDiff is the diff of one change, or a sentence that says why there is none.
func changeDiff(ctx context.Context, r Reader, u Undo) string {
	c := u.Change
	switch c.Kind {
	case contract.ChangeMkdir, contract.ChangeRmdir, contract.ChangeMove:
		return "[no text was changed]\n"
	}
	var after []byte
	if c.Kind != contract.ChangeDelete {
		file, err := r.Files.Load(ctx, c.Path)
		if err != nil || file.Version != c.After {
			return "[the file was changed since, so what this change did to it can't be shown]\n"
		}
		after = file.Data
	}
	before := []byte(nil)
	if c.Kind != contract.ChangeCreate {
		var err error
		if before, err = u.earlier(after); err != nil {
			return "[what was there before is no longer kept]\n"
		}
	}
	old, err1 := r.Files.Decode(before, c.Path)
	fresh, err2 := r.Files.Decode(after, c.Path)
	if err1 != nil || err2 != nil {
		return fmt.Sprintf("[the file is no text: %d bytes before, %d after]\n", len(before), len(after))
	}
	return r.Files.Diff(c.Path, old.String(), fresh.String(), keptDiffLines)
}
