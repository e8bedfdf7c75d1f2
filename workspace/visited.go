package workspace

import (
	"context"
	"errors"

	"writ/contract"
	"writ/envelope"
)

// Visit calls visit, for one at a time, with those of files that are regular files which the guard lets be read, and with
// no others: one that is not visited is not there under that path. It reads each directory once, however many of its files
// are asked for. An error says that nobody knows what is there.
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
		_, err := w.run(ctx, r, dir)
		if code := envelope.CodeOf(err); ctx.Err() != nil || code == envelope.IO || code == envelope.ChangedDuringCall || err != nil && code == "" {
			return errors.Join(ctx.Err(), err)
		}
	}
	return nil
}

// chosen chooses some names.
type chosen map[string]bool

func (c chosen) Match(name string) bool { return c[name] }
func (c chosen) Below() bool            { return false }

// TextOf returns the text of a file during its visit. An *envelope.Error of code not-text, too-large, permission or
// changed-during-call tells why there is none.
func (r Reader) TextOf(v *Visited) (*Text, error) {
	data, err := v.scan.read(v.name, nil, r.w.options.FileBytes)
	if err != nil {
		return nil, unreadable(err)
	}
	if !v.scan.isFileHere() {
		return nil, unreadable(errMoved) // it may be hidden by now, so what it holds is not told
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
