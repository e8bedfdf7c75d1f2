package tools

import (
	"context"
	"errors"

	"writ/contract"
	"writ/envelope"
	"writ/workspace"
)

var replaceText = writes(contract.Contract{
	Name:  "replace_text",
	Title: "Replace text in a file",
	Core:  true,
	Doc: "Replace old_text, which must occur exactly once, by new_text, byte for byte. Read the file first and send its version. " +
		"Not for new files (create_file). E.g. {\"path\":\"docs/plan.md\",\"old_text\":\"draft\",\"new_text\":\"final\",\"observed_version\":\"…\"}. " +
		"Returns the new version and a diff. On conflict, read again.",
	Effect: contract.Effect{Destroys: true},
	Codes: []envelope.Code{
		envelope.NoChange, envelope.PathNotAllowed, envelope.OutsideRoot, envelope.OutsideScope, envelope.OutsideWriteScope,
		envelope.NotARegularFile, envelope.ApprovalRequired, envelope.ApprovalDeclined, envelope.ProtectedName, envelope.PrivateNote, envelope.ShowsSecret, envelope.VersionChanged, envelope.AlreadyApplied,
		envelope.TextNotFound, envelope.TextNotUnique, envelope.PathNotFound, envelope.ChangedDuringCall, envelope.NotText,
		envelope.NotEncodable, envelope.ReadOnlyFile, envelope.TooLarge, envelope.IsDirectory, envelope.NotADirectory,
		envelope.LinkLoop, envelope.Permission, envelope.DiskFull, envelope.OutcomeUnknown,
	},
}, runReplaceText)

type replaceTextIn struct {
	Path            contract.Path    `json:"path" doc:"file, relative to the root"`
	OldText         string           `json:"old_text" min:"1" doc:"exact text, with enough context to be unique"`
	NewText         string           `json:"new_text" doc:"exact text to put there"`
	ObservedVersion contract.Version `json:"observed_version" doc:"version from your read"`
}

type replaceTextOut struct {
	written
	Line int `json:"line,omitempty" doc:"first line of the change, from 1"`
	miss `outline:"-"`
}

// miss is why old_text could not be replaced.
type miss struct {
	Diagnosis *workspace.Diagnosis   `json:"diagnosis,omitempty" doc:"the closest place, and what differs there"`
	Matches   []workspace.MatchPlace `json:"matches,omitempty" doc:"where old_text occurs"`
	Total     int                    `json:"total,omitempty" doc:"how often old_text occurs"`
}

func runReplaceText(ctx context.Context, w Writer, in replaceTextIn) (replaceTextOut, error) {
	var out replaceTextOut
	if in.OldText == in.NewText {
		return out, errNoChange
	}
	result, err := w.Files.Replace(ctx, in.Path, in.ObservedVersion, func(f *workspace.File) ([]contract.Splice, error) {
		return out.plan(f, in, w.Reader.Files)
	})
	if err != nil {
		out.explain(ctx, w.Reader.Files, collision{in.Path, in.ObservedVersion, in.OldText, err})
		return out, err
	}
	out.record(result)
	out.check(ctx, w.Checks, result)
	out.sent(in.NewText)
	return out, nil
}

var errNoChange = envelope.Errorf(envelope.NoChange,
	"old_text and new_text are the same, so there is nothing to change. Send the text that should stand there afterwards.")

// plan finds the one place of old_text and shows what the file will look like there.
func (o *replaceTextOut) plan(f *workspace.File, in replaceTextIn, files workspace.Reader) ([]contract.Splice, error) {
	text, err := files.Decode(f.Data, in.Path)
	if err != nil {
		return nil, err
	}
	plan, err := workspace.PlanReplace(text, in.OldText, in.NewText)
	if err != nil {
		return nil, err
	}
	o.Line = plan.Line
	o.written.plan(in.Path, text, plan)
	return plan.Splices, nil
}

// explain fills in what helps the caller to get it right the next time.
func (o *replaceTextOut) explain(ctx context.Context, files workspace.Reader, c collision) {
	o.conflict(ctx, files, c)
	o.Line = 0
	if missing, ok := errors.AsType[*workspace.NoMatchError](c.err); ok {
		o.Diagnosis, o.Untrusted = &missing.Diagnosis, true
	}
	if many, ok := errors.AsType[*workspace.ManyMatchesError](c.err); ok {
		o.Matches, o.Total, o.Untrusted = many.Matches, many.Total, true
	}
}
