package tools

import (
	"context"

	"writ/contract"
	"writ/envelope"
)

var deleteFile = writes(contract.Contract{
	Name:   "delete_file",
	Title:  "Delete a file",
	Doc:    "Delete one file. Links and directories are not deleted. The content is kept, and revert_change with the change_id that comes back restores it.",
	Effect: contract.Effect{Destroys: true},
	Codes: []envelope.Code{
		envelope.PathNotAllowed, envelope.OutsideRoot, envelope.OutsideScope, envelope.OutsideWriteScope, envelope.NotARegularFile,
		envelope.ApprovalRequired, envelope.ApprovalDeclined, envelope.ProtectedName, envelope.PrivateNote, envelope.VersionChanged, envelope.PathNotFound, envelope.ChangedDuringCall,
		envelope.ReadOnlyFile, envelope.TooLarge, envelope.IsDirectory, envelope.NotADirectory, envelope.LinkLoop,
		envelope.Permission, envelope.OutcomeUnknown,
	},
}, runDeleteFile)

type deleteFileIn struct {
	Path            contract.Path    `json:"path" doc:"file to delete, relative to the root"`
	ObservedVersion contract.Version `json:"observed_version" doc:"version from your read"`
}

type deleteFileOut struct{ written }

func runDeleteFile(ctx context.Context, w Writer, in deleteFileIn) (deleteFileOut, error) {
	var out deleteFileOut
	result, err := w.Files.Delete(ctx, in.Path, in.ObservedVersion)
	if err != nil {
		out.conflict(ctx, w.Reader.Files, collision{path: in.Path, observed: in.ObservedVersion, err: err})
		return out, err
	}
	out.record(result)
	return out, nil
}
