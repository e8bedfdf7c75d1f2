package tools

import (
	"context"
	"slices"

	"writ/contract"
	"writ/envelope"
	"writ/workspace"
)

var overwriteFile = writes(contract.Contract{
	Name:  "overwrite_file",
	Title: "Overwrite a file",
	Doc: "Replace the whole text of an existing file. Only when most of it changes: use replace_text for an edit, create_file for a new file. " +
		"A byte order mark and the file's encoding stay; line endings are written as sent. Returns the new version and a diff.",
	Effect: contract.Effect{Destroys: true},
	Codes: slices.DeleteFunc(slices.Clone(appendText.Codes), func(c envelope.Code) bool {
		return c == envelope.ShowsSecret // who sends the whole text knows it
	}),
}, runOverwriteFile)

type overwriteFileIn struct {
	Path            contract.Path    `json:"path" doc:"file, relative to the root"`
	Content         string           `json:"content" doc:"the whole new text"`
	ObservedVersion contract.Version `json:"observed_version" doc:"version from your read"`
}

type overwriteFileOut struct{ written }

func runOverwriteFile(ctx context.Context, w Writer, in overwriteFileIn) (overwriteFileOut, error) {
	var out overwriteFileOut
	result, err := w.Files.Replace(ctx, in.Path, in.ObservedVersion, func(f *workspace.File) ([]contract.Splice, error) {
		text, err := w.Files.Decode(f.Data, in.Path)
		if err != nil {
			return nil, err
		}
		out.show(writeDiffLines, func(maxLines int) string { return w.Files.Diff(in.Path, text.String(), in.Content, maxLines) })
		return text.Overwrite(in.Content)
	})
	if err != nil {
		out.conflict(ctx, w.Reader.Files, collision{path: in.Path, observed: in.ObservedVersion, err: err})
		return out, err
	}
	out.record(result)
	out.check(ctx, w.Checks, result)
	out.sent(in.Content)
	return out, nil
}
