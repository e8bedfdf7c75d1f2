package tools

import (
	"context"

	"writ/contract"
	"writ/envelope"
	"writ/workspace"
)

var readFiles = reads(contract.Contract{
	Name:  "read_files",
	Title: "Read several text files",
	Bulk:  true,
	Doc: "Read up to 50 text files in one call. The answer is a JSON envelope with a status for each file, then one text block for each path, in order, " +
		"empty for a file that failed. The files share the room of one answer; use read_file for the rest of a long one.",
	Codes: readCodes,
}, runReadFiles)

type readFilesIn struct {
	Paths []string `json:"paths" min:"1" max:"50" doc:"files, relative to the root"`
}

type fileItem struct {
	Path   string          `json:"path"`
	Status envelope.Status `json:"status"`
	*textFacts
}

type readFilesOut struct {
	envelope.Notes
	Files     []fileItem `json:"files"`
	Completed int        `json:"completed"`
	Failed    int        `json:"failed"`
	Untrusted bool       `json:"untrusted"`
}

// TextPlace tells where the text of that index begins.
func (o *readFilesOut) TextPlace(i int) (path string, line int) {
	if o.Files[i].textFacts == nil {
		return o.Files[i].Path, 0
	}
	return o.Files[i].Path, o.Files[i].FirstLine
}

// WithTexts returns the answer with the texts of the files in it.
func (o *readFilesOut) WithTexts(texts []string) any {
	type whole struct {
		fileItem
		Content string `json:"content"`
	}
	files := make([]whole, len(o.Files))
	for i, f := range o.Files {
		files[i] = whole{f, texts[i]}
	}
	return struct {
		Files     []whole `json:"files"`
		Completed int     `json:"completed"`
		Failed    int     `json:"failed"`
		Untrusted bool    `json:"untrusted"`
	}{files, o.Completed, o.Failed, o.Untrusted}
}

func runReadFiles(ctx context.Context, r Reader, in readFilesIn) (readFilesOut, error) {
	out := readFilesOut{Files: []fileItem{}, Untrusted: true}
	room, keep := r.Limits.ResultBytes, r.Limits.ArtifactBytes
	items := &envelope.Items{}
	for i, name := range in.Paths {
		facts, notes := &textFacts{}, envelope.Notes{}
		text, err := facts.readNamed(ctx, r, name, &notes, room/(len(in.Paths)-i), &keep)
		room -= len(text)
		out.Texts = append(out.Texts, text)
		out.warnAbout(name, notes.Warnings)
		if err != nil {
			out.Files = append(out.Files, fileItem{name, envelope.Cause(err).Code.Status(), nil})
			items.Failed = append(items.Failed, envelope.ItemError{Item: i, Err: err})
			continue
		}
		out.Files = append(out.Files, fileItem{name, envelope.OK, facts})
		items.Done++
	}
	out.Completed, out.Failed = items.Done, len(items.Failed)
	if out.Failed > 0 {
		return out, items
	}
	return out, nil
}

// warnAbout takes over the warnings about one of the files.
func (o *readFilesOut) warnAbout(name string, warnings []envelope.Warning) {
	for _, w := range warnings {
		w.Message = contract.Quote(name) + ": " + w.Message
		if w.Code == envelope.Cut {
			w.Message += " read_file of this file alone has room for more."
		}
		o.Warn(w)
	}
}

// readNamed reads the file of that name, and keeps up to keep bytes of what there is no room for. The names of a batch
// are parsed one by one, so that a bad one fails alone.
func (f *textFacts) readNamed(ctx context.Context, r Reader, name string, notes *envelope.Notes, maxBytes int, keep *int) (string, error) {
	path, err := contract.ParsePath(name)
	if err != nil {
		return "", err
	}
	text, err := f.read(ctx, r, readFileIn{Path: path}, notes, maxBytes)
	if t := f.Truncated; err == nil && t != nil && t.Artifact == "" && *keep > 0 {
		*keep -= f.keepRest(ctx, r, path, notes, workspace.LineRange{Offset: t.NextOffset, MaxBytes: *keep})
	}
	return text, err
}
