package workspace

import (
	"errors"

	"writ/envelope"
)

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
