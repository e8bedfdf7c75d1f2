package tools

import (
	"context"

	"writ/contract"
	"writ/envelope"
	"writ/workspace"
)

var appendText = writes(contract.Contract{
	Name:  "append_text",
	Title: "Append text to a file",
	Core:  true,
	Doc: "Add text at the very end of an existing file, byte for byte: begin it with a newline if the file does not end in one. " +
		"For logs and lists. Returns the new version. A repeated call is a conflict: nothing is added twice.",
	Codes: []envelope.Code{
		envelope.PathNotAllowed, envelope.OutsideRoot, envelope.OutsideScope, envelope.OutsideWriteScope, envelope.NotARegularFile,
		envelope.ApprovalRequired, envelope.ApprovalDeclined, envelope.ProtectedName, envelope.PrivateNote, envelope.ShowsSecret, envelope.VersionChanged, envelope.AlreadyApplied, envelope.PathNotFound,
		envelope.ChangedDuringCall, envelope.NotText, envelope.NotEncodable, envelope.ReadOnlyFile, envelope.TooLarge,
		envelope.IsDirectory, envelope.NotADirectory, envelope.LinkLoop, envelope.Permission, envelope.DiskFull,
		envelope.OutcomeUnknown,
	},
}, runAppendText)

type appendTextIn struct {
	Path            contract.Path    `json:"path" doc:"file, relative to the root"`
	Text            string           `json:"text" min:"1" doc:"exact text to add"`
	ObservedVersion contract.Version `json:"observed_version" doc:"version from your read"`
}

type appendTextOut struct {
	written
	Line int `json:"line,omitempty" doc:"line on which the added text begins, from 1"`
}

func runAppendText(ctx context.Context, w Writer, in appendTextIn) (appendTextOut, error) {
	var out appendTextOut
	result, err := w.Files.Replace(ctx, in.Path, in.ObservedVersion, func(f *workspace.File) ([]contract.Splice, error) {
		text, err := w.Files.Decode(f.Data, in.Path)
		if err != nil {
			return nil, err
		}
		plan, err := workspace.PlanAppend(text, in.Text)
		if err != nil {
			return nil, err
		}
		out.Line = plan.Line
		out.plan(in.Path, text, plan)
		return plan.Splices, nil
	})
	if err != nil {
		out.Line = 0
		out.conflict(ctx, w.Reader.Files, collision{path: in.Path, observed: in.ObservedVersion, err: err})
		return out, err
	}
	out.record(result)
	out.check(ctx, w.Checks, result)
	out.sent(in.Text)
	return out, nil
}
