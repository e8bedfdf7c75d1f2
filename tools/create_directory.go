package tools

import (
	"context"

	"writ/contract"
	"writ/envelope"
)

var createDirectory = writes(contract.Contract{
	Name:   "create_directory",
	Title:  "Create a directory",
	Doc:    "Create a directory and those on the way. One that is there already is no error (changed: no). create_file makes its own directories.",
	Effect: contract.Effect{Idempotent: true},
	Codes: []envelope.Code{
		envelope.PathNotAllowed, envelope.OutsideRoot, envelope.OutsideScope, envelope.OutsideWriteScope, envelope.NotARegularFile,
		envelope.ApprovalRequired, envelope.ApprovalDeclined, envelope.ProtectedName, envelope.AlreadyExists, envelope.ChangedDuringCall, envelope.NotADirectory,
		envelope.LinkLoop, envelope.Permission, envelope.DiskFull, envelope.OutcomeUnknown,
	},
}, runCreateDirectory)

type createDirectoryIn struct {
	Path contract.Path `json:"path" doc:"directory, relative to the root"`
}

type createDirectoryOut struct {
	envelope.Notes
	CreatedDirectories []contract.Path `json:"created_directories,omitzero" doc:"directories that did not exist before, outermost first"`
	ChangeID           string          `json:"change_id,omitempty"`
}

func runCreateDirectory(ctx context.Context, w Writer, in createDirectoryIn) (createDirectoryOut, error) {
	var out createDirectoryOut
	result, err := w.Files.MakeDirectory(ctx, in.Path)
	if err != nil {
		return out, err
	}
	out.Changed, out.Repeatable = result.Changed, result.Changed == envelope.No
	out.ChangeID = result.ChangeID
	out.CreatedDirectories = append([]contract.Path{}, result.Directories...)
	return out, nil
}
