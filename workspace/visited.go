package workspace

import (
	"cmp"
	"context"
	"errors"

	"writ/contract"
	"writ/envelope"
)

// Visit calls visit, for one at a time, with those of files that are regular files which the guard lets be read, and with
// no others: one that is not visited is not there under that path. It reads each directory once, however many of its files
// are asked for. An error of code io or changed-during-call says that nobody knows what is there.
func (r Reader) Visit(ctx context.Context, files []contract.Path, visit func(*Visited)) error {
	var dirs []contract.Path
	names := map[contract.Path]chosen{}
	for _, p := range files {
		dir := p.Dir()
		if names[dir] == nil {
			names[dir] = chosen{}
			dirs = append(dirs, dir)
		}
		names[dir][p.Base()] = true
	}
	for _, dir := range dirs {
		w := &walking{alone: true, choose: func(string) chooser { return names[dir] }, visit: func(_ int, v *Visited) {
			if v.dir.path == dir { // no link led to another place
				visit(v)
			}
		}}
		skips, err := w.run(ctx, r, dir)
		if err := cmp.Or(ctx.Err(), unsure(err), skips.unsure()); err != nil {
			return err
		}
	}
	return nil
}

// unsure returns err unless it says that there is nothing which may be read.
func unsure(err error) error {
	switch envelope.CodeOf(err) {
	case envelope.IO, envelope.ChangedDuringCall, "":
		return err
	default:
		return nil
	}
}

// IsUnsure tells whether something was left out that may be there at the next look.
func (s Skips) IsUnsure() bool { return s.Count(SkipIO)+s.Count(SkipChanged) > 0 }

func (s Skips) unsure() error {
	if !s.IsUnsure() {
		return nil
	}
	return &envelope.Error{Code: envelope.ChangedDuringCall, Message: "A directory could not be read, or was moved meanwhile.", Next: envelope.Wait}
}

// chosen chooses some names.
type chosen map[string]bool

func (c chosen) Match(name string) bool { return c[name] }
func (c chosen) Below() bool            { return false }

// TextOf returns the text of a file during its visit. An *envelope.Error of code not-text, too-large, permission or
// changed-during-call tells why there is none, or it is the guard's about what the file holds.
func (r Reader) TextOf(v *Visited) (*Text, error) {
	data, err := v.scan.read(v.name, nil, r.w.options.FileBytes)
	if err != nil {
		return nil, unreadable(err)
	}
	if !v.scan.isFileHere() {
		return nil, unreadable(errMoved) // it may be hidden by now, so what it holds is not told
	}
	if err := r.admits(v.Path(), data); err != nil {
		return nil, err
	}
	return r.Decode(data, v.Path())
}

// unreadable says for a walk why a file could not be read. Nothing of it is shown to a caller but the code.
func unreadable(err error) error {
	code := envelope.ChangedDuringCall
	if errors.Is(err, errTooLarge) {
		code = envelope.TooLarge
	} else if reason, _ := reasonOf(err); reason == SkipPermission {
		code = envelope.Permission
	} else if reason == SkipIO {
		code = envelope.IO
	}
	return &envelope.Error{Code: code, Message: "The file could not be read.", Err: err}
}
