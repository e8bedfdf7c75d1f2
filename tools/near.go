package tools

import (
	"context"
	"errors"
	"strings"

	"writ/contract"
	"writ/envelope"
	"writ/workspace"
)

// withNearNames adds to a not-found the names that may have been meant, so that it is no dead end. A look-alike is only
// ever named, never used instead.
func withNearNames(ctx context.Context, files workspace.Reader, args contract.Args, err error) error {
	name := args.Text("path")
	if name == "" {
		name = args.Text("source")
	}
	path, parseErr := contract.ParsePath(name)
	if parseErr != nil {
		return err
	}
	return nearNames(ctx, files, path, err)
}

// nearNames is withNearNames for a path.
func nearNames(ctx context.Context, files workspace.Reader, path contract.Path, err error) error {
	cause, ok := errors.AsType[*envelope.Error](err)
	if !ok || cause.Details["near"] != nil {
		return err
	}
	near := files.Near(ctx, path)
	if len(near) == 0 {
		return err
	}
	told := cause.With("near", near)
	quoted := make([]string, len(near))
	for i, n := range near {
		quoted[i] = contract.Quote(n)
	}
	told.Message += " Near names: " + strings.Join(quoted, ", ") + "."
	return told
}
