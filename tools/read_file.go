package tools

import (
	"context"
	"fmt"

	"writ/contract"
	"writ/envelope"
	"writ/workspace"
)

var readFile = reads(contract.Contract{
	Name:  "read_file",
	Title: "Read a text file",
	Core:  true,
	Bulk:  true,
	Doc: "Read lines of one text file, exactly as they are. The answer is a JSON envelope, then the text in a block of its own. " +
		"Send the version back as observed_version when you write. 2,000 lines at most unless limit says otherwise; " +
		"truncated.next_offset tells where to go on. E.g. {\"path\":\"docs/plan.md\",\"offset\":-20} for the last 20 lines.",
	Codes: readCodes,
}, runReadFile)

// placeCodes are those of a tool that goes to a place, whatever it does there.
var placeCodes = []envelope.Code{
	envelope.PathNotAllowed, envelope.OutsideRoot, envelope.OutsideScope, envelope.PathNotFound, envelope.ChangedDuringCall,
	envelope.NotADirectory, envelope.LinkLoop, envelope.Permission,
}

// readCodes are those of a tool that reads the text of a file.
var readCodes = append([]envelope.Code{
	envelope.NotARegularFile, envelope.PrivateNote, envelope.NotText, envelope.TooLarge, envelope.IsDirectory,
}, placeCodes...)

type readFileIn struct {
	Path   contract.Path `json:"path" doc:"file, relative to the root"`
	Offset int           `json:"offset,omitempty" doc:"first line, from 1; negative counts from the end"`
	Limit  int           `json:"limit,omitempty" min:"1" doc:"lines to return"`
}

// textFacts is what a read tells of a text file beside its text.
type textFacts struct {
	Version      contract.Version `json:"version,omitzero"`
	FirstLine    int              `json:"first_line"`
	LastLine     int              `json:"last_line"`
	TotalLines   int              `json:"total_lines"`
	Encoding     string           `json:"encoding"`
	BOM          bool             `json:"bom"`
	LineEndings  string           `json:"line_endings"`
	FinalNewline bool             `json:"final_newline"`
	Truncated    *truncated       `json:"truncated,omitempty"`
	Untrusted    bool             `json:"untrusted"`
}

type readFileOut struct {
	envelope.Notes
	textFacts
}

// TextPlace tells where the text begins.
func (o *readFileOut) TextPlace(int) (path string, line int) { return "", o.FirstLine }

// WithTexts returns the answer with the text in it.
func (o *readFileOut) WithTexts(texts []string) any {
	return struct {
		*readFileOut
		Content string `json:"content"`
	}{o, texts[0]}
}

func runReadFile(ctx context.Context, r Reader, in readFileIn) (readFileOut, error) {
	var out readFileOut
	text, err := out.read(ctx, r, in, &out.Notes, r.Limits.ResultBytes)
	if err != nil {
		return readFileOut{}, err
	}
	out.Texts = []string{text}
	return out, nil
}

// read fills in the facts and returns the text; at most maxBytes of it.
func (f *textFacts) read(ctx context.Context, r Reader, in readFileIn, notes *envelope.Notes, maxBytes int) (string, error) {
	limit := in.Limit
	if limit == 0 {
		limit = r.Limits.Lines
	}
	page, err := r.Files.Lines(ctx, in.Path, workspace.LineRange{Offset: in.Offset, Limit: limit, MaxBytes: maxBytes})
	if err != nil {
		return "", err
	}
	*f = textFacts{
		Version: page.Version, FirstLine: page.FirstLine, LastLine: page.LastLine, TotalLines: page.Lines,
		Encoding: page.Encoding, BOM: page.BOM, LineEndings: page.LineEndings, FinalNewline: page.FinalNewline, Untrusted: true,
	}
	f.note(page, in, notes)
	if page.CutLine {
		f.keepRest(ctx, r, in.Path, notes, workspace.LineRange{Offset: page.LastLine, Limit: 1, MaxBytes: r.Limits.ArtifactBytes})
	}
	return page.Text, nil
}

// keepRest keeps lines that the answer had no room for, if the file still is as it was read, and returns how many bytes
// those are.
func (f *textFacts) keepRest(ctx context.Context, r Reader, p contract.Path, notes *envelope.Notes, want workspace.LineRange) int {
	rest, err := r.Files.Lines(ctx, p, want)
	if err != nil || rest.Version != f.Version {
		return 0
	}
	holds := fmt.Sprintf("Lines %d to %d are", rest.FirstLine, rest.LastLine)
	switch {
	case rest.CutLine:
		holds = fmt.Sprintf("The first %d bytes of line %d are", len(rest.Text), rest.LastLine)
	case rest.FirstLine == rest.LastLine:
		holds = fmt.Sprintf("All of line %d is", rest.LastLine)
	}
	r.keep(ctx, notes, f.Truncated, Artifact{Text: rest.Text, About: []contract.Path{rest.Resolved}}, holds)
	return len(rest.Text)
}

func (f *textFacts) note(page workspace.Page, in readFileIn, notes *envelope.Notes) {
	lines := page.LastLine - page.FirstLine + 1
	complete := in.Limit > 0 && lines >= in.Limit || page.NextOffset == 0
	switch {
	case page.CutLine:
		f.Truncated = &truncated{Returned: lines, Total: page.Lines, Unit: "lines", NextOffset: page.NextOffset}
		notes.Warn(envelope.Warning{Code: envelope.Cut, Message: fmt.Sprintf(
			"Line %d is longer than the room in this answer: only its beginning is here. search_text finds what the rest of it holds.%s", page.LastLine, goOn(page.NextOffset))})
	case !complete:
		f.Truncated = cut(notes, truncated{Returned: lines, Total: page.Lines, Unit: "lines", NextOffset: page.NextOffset})
	case page.FirstLine > page.Lines && page.FirstLine > 1:
		notes.Warn(envelope.Warning{Code: envelope.PastEnd, Message: fmt.Sprintf(
			"The offset %d lies behind the last line: the file has %d lines.", page.FirstLine, page.Lines)})
	}
	if w, mixed := workspace.MixedLineEndings(page.LineEndings); mixed {
		notes.Warn(w)
	}
	if w, found := workspace.HiddenWarning(page.Text, page.FirstLine); found {
		notes.Warn(w)
	}
}

func goOn(nextOffset int) string {
	if nextOffset == 0 {
		return ""
	}
	return fmt.Sprintf(" Call again with offset %d for the lines after it.", nextOffset)
}
