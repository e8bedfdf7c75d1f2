package tools

import (
	"context"

	"writ/contract"
	"writ/envelope"
	"writ/workspace"
)

var createFile = writes(contract.Contract{
	Name:  "create_file",
	Title: "Create a file",
	Core:  true,
	Doc: "Create a new UTF-8 file with exactly this content, and the directories on the way. Never overwrites: an existing path is a conflict " +
		"(then read it and use replace_text). Returns the version.",
	Codes: []envelope.Code{
		envelope.PathNotAllowed, envelope.OutsideRoot, envelope.OutsideScope, envelope.OutsideWriteScope, envelope.NotARegularFile,
		envelope.ApprovalRequired, envelope.ApprovalDeclined, envelope.ProtectedName, envelope.AlreadyApplied, envelope.AlreadyExists, envelope.ChangedDuringCall,
		envelope.NotEncodable, envelope.TooLarge, envelope.NotADirectory, envelope.LinkLoop, envelope.Permission,
		envelope.DiskFull, envelope.OutcomeUnknown,
	},
}, runCreateFile)

type createFileIn struct {
	Path    contract.Path `json:"path" doc:"new file, relative to the root"`
	Content string        `json:"content" doc:"its whole text"`
}

type createFileOut struct {
	written
	CreatedDirectories []contract.Path `json:"created_directories,omitzero" doc:"directories that did not exist before"`
}

func runCreateFile(ctx context.Context, w Writer, in createFileIn) (createFileOut, error) {
	var out createFileOut
	data, err := workspace.EncodeText(in.Content, w.Files.Encoding(in.Path))
	if err != nil {
		return out, err
	}
	result, err := w.Files.Create(ctx, in.Path, data)
	if err != nil {
		return out, err
	}
	out.record(result)
	out.check(ctx, w.Checks, result)
	out.show(writeDiffLines, func(maxLines int) string { return w.Files.Diff(in.Path, "", in.Content, maxLines) })
	out.shown.place = contract.Path{} // the caller has sent it
	out.sent(in.Content)
	out.CreatedDirectories = append([]contract.Path{}, result.Directories...)
	return out, nil
}
