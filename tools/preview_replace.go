package tools

import (
	"context"
	"slices"

	"writ/contract"
	"writ/envelope"
	"writ/workspace"
)

var previewReplace = reads(contract.Contract{
	Name:  "preview_replace",
	Title: "Preview a replacement",
	Core:  true,
	Doc: "Show what replace_text would answer to the same arguments, with the diff, and change nothing. " +
		"For a large or risky edit; a plain one needs no preview.",
	Codes: slices.DeleteFunc(slices.Clone(replaceText.Codes), func(c envelope.Code) bool {
		return c == envelope.ApprovalRequired || c == envelope.ApprovalDeclined || c == envelope.AlreadyApplied || c == envelope.DiskFull || c == envelope.OutcomeUnknown // it makes no change
	}),
	Effect: contract.Effect{Prepares: true},
}, runPreviewReplace)

type previewReplaceOut struct {
	envelope.Notes
	Diff      *string          `json:"diff,omitempty" text:"file" doc:"what would change, as a unified diff"`
	Line      int              `json:"line,omitempty"`
	Version   contract.Version `json:"version,omitzero" doc:"the file's version now"`
	Checks    []Check          `json:"checks,omitempty" outline:"-" doc:"what the built-in checkers would say"`
	Untrusted bool             `json:"untrusted,omitempty" outline:"-"`
	Truncated *truncated       `json:"truncated,omitempty" outline:"-"`
	rebase    `outline:"-"`
	miss      `outline:"-"`
}

func runPreviewReplace(ctx context.Context, r Reader, in replaceTextIn) (previewReplaceOut, error) {
	var would replaceTextOut
	version, err := would.preview(ctx, r, in)
	if err != nil {
		would.explain(ctx, r.Files, collision{in.Path, in.ObservedVersion, in.OldText, err})
	}
	would.keepDiff(ctx, r)
	return previewReplaceOut{
		Notes: would.Notes, Diff: would.Diff, Line: would.Line, Version: version, Checks: would.Checks, Untrusted: would.Untrusted,
		Truncated: would.Truncated, rebase: would.rebase, miss: would.miss,
	}, err
}

// preview does all that runReplaceText does before it would touch the disk.
func (o *replaceTextOut) preview(ctx context.Context, r Reader, in replaceTextIn) (contract.Version, error) {
	none := contract.Version{}
	if in.OldText == in.NewText {
		return none, errNoChange
	}
	file, err := r.Files.Load(ctx, in.Path)
	if err != nil {
		return none, err
	}
	if err := o.judge(r, file.Resolved); err != nil {
		return none, err
	}
	if err := file.CheckWritable(); err != nil {
		return none, err
	}
	if file.Version != in.ObservedVersion {
		return none, workspace.NewConflict(file)
	}
	o.shown.place = file.Resolved
	splices, err := o.plan(file, in, r.Files)
	if err != nil {
		return none, err
	}
	if err := r.Files.CheckSize(file, splices); err != nil {
		return none, err
	}
	o.Checks = r.Checks.Foresee(file.Resolved, file.Data, workspace.ApplySplices(file.Data, splices))
	o.sent(in.NewText)
	return file.Version, nil
}

// judge asks whether the file may be written. That a person must approve it is told, and hinders no preview.
func (o *replaceTextOut) judge(r Reader, resolved contract.Path) error {
	err := r.Files.Judge(workspace.Write, resolved)
	if envelope.CodeOf(err) != envelope.ApprovalRequired {
		return err
	}
	o.Warn(envelope.Warning{Code: envelope.ApprovalNeeded, Message: "A person must approve this change: replace_text will wait for that, or tell you how the user can approve it."})
	return nil
}
