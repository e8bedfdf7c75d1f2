package tools

import (
	"context"

	"writ/contract"
	"writ/envelope"
)

var moveFile = writes(contract.Contract{
	Name:  "move_file",
	Title: "Move or rename a file",
	Doc: "Give one file another path; directories on the way are created. Never overwrites: an existing destination, even a directory, is a conflict, " +
		"so name the full new path. Links and directories are not moved. Returns the change_id.",
	Effect: contract.Effect{Destroys: true},
	Codes: []envelope.Code{
		envelope.PathNotAllowed, envelope.OutsideRoot, envelope.OutsideScope, envelope.OutsideWriteScope, envelope.NotARegularFile,
		envelope.ApprovalRequired, envelope.ApprovalDeclined, envelope.ProtectedName, envelope.PrivateNote, envelope.VersionChanged, envelope.AlreadyApplied, envelope.AlreadyExists,
		envelope.PathNotFound, envelope.ChangedDuringCall, envelope.ReadOnlyFile, envelope.TooLarge, envelope.IsDirectory,
		envelope.NotADirectory, envelope.LinkLoop, envelope.Permission, envelope.DiskFull, envelope.OutcomeUnknown,
	},
}, runMoveFile)

type moveFileIn struct {
	Source          contract.Path    `json:"source" doc:"file to move, relative to the root"`
	Destination     contract.Path    `json:"destination" doc:"its full new path"`
	ObservedVersion contract.Version `json:"observed_version" doc:"version of the source, from your read"`
}

type moveFileOut struct {
	written
	CreatedDirectories []contract.Path `json:"created_directories,omitzero" doc:"directories that did not exist before"`
}

func runMoveFile(ctx context.Context, w Writer, in moveFileIn) (moveFileOut, error) {
	var out moveFileOut
	result, err := w.Files.Move(ctx, in.Source, in.Destination, in.ObservedVersion)
	if err != nil {
		out.conflict(ctx, w.Reader.Files, collision{path: in.Source, observed: in.ObservedVersion, err: err})
		return out, err
	}
	out.record(result)
	out.CreatedDirectories = append([]contract.Path{}, result.Directories...)
	return out, nil
}
