package client

import (
	"bytes"
	"fmt"
	"reflect"
	"slices"
	"unicode/utf8"
)

// syntax is a format of configuration files. Texts are without byte order mark; an empty one is an empty document.
type syntax interface {
	// decode reads a document into plain values.
	decode(text []byte) (map[string]any, error)
	// set returns the text with the entry in its section, added or in the place of the one that is there.
	set(text []byte, section, name string, entry object) ([]byte, error)
	// remove returns the text without the entry, which is there.
	remove(text []byte, section, name string) ([]byte, error)
}

var mark = []byte("\xef\xbb\xbf") // the byte order mark

// edit sets the entry, or removes it where it is nil, and makes sure that nothing else is different. The result is only
// ever as good as its second reading: an edit that went wrong is ErrForm.
func edit(s syntax, file []byte, section, name string, entry object) ([]byte, error) {
	text, marked := bytes.CutPrefix(file, mark)
	before, err := read(s, text)
	if err != nil {
		return nil, err
	}
	var changed []byte
	if entry == nil {
		changed, err = s.remove(text, section, name)
	} else {
		changed, err = s.set(text, section, name, entry)
	}
	if err != nil {
		return nil, err
	}
	after, err := s.decode(changed)
	if err != nil || !reflect.DeepEqual(alike(without(after, section, name)), alike(without(before, section, name))) {
		return nil, ErrForm
	}
	if found, err := find(s, changed, section, name); err != nil || !reflect.DeepEqual(alike(found), entry.orNil()) {
		return nil, ErrForm
	}
	if marked {
		changed = append(slices.Clone(mark), changed...)
	}
	return changed, nil
}

// read decodes a document, or returns why it is ErrUnreadable.
func read(s syntax, text []byte) (map[string]any, error) {
	if !utf8.Valid(text) {
		return nil, fmt.Errorf("%w: it is not UTF-8", ErrUnreadable)
	}
	document, err := s.decode(text)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrUnreadable, err)
	}
	return document, nil
}

// find returns the entry as it stands in the file, nil where there is none.
func find(s syntax, file []byte, section, name string) (any, error) {
	document, err := read(s, bytes.TrimPrefix(file, mark))
	if err != nil {
		return nil, err
	}
	switch entries := document[section].(type) {
	case nil:
		return nil, nil
	case map[string]any:
		return entries[name], nil
	}
	return nil, fmt.Errorf("%w: %q holds no entries", ErrForm, section)
}

// splice is the exchange of a stretch of text for another.
type splice struct {
	from, to int
	text     string
}

// apply makes the splices, which follow each other and do not overlap.
func apply(text []byte, splices ...splice) []byte {
	var out []byte
	at := 0
	for _, s := range splices {
		out = append(append(out, text[at:s.from]...), s.text...)
		at = s.to
	}
	return append(out, text[at:]...)
}

// endingOf is how the lines of a text end: as the first one does.
func endingOf(text []byte) string {
	if i := bytes.IndexByte(text, '\n'); i > 0 && text[i-1] == '\r' {
		return "\r\n"
	}
	return "\n"
}

func isBlank(text []byte) bool { return len(bytes.TrimSpace(text)) == 0 }

// appended returns text with a block of lines behind it, separated by an empty line; whether the last line ends stays
// as it was.
func appended(text []byte, block, eol string) []byte {
	if isBlank(text) {
		return append(slices.Clone(text), block...)
	}
	if !bytes.HasSuffix(text, []byte("\n")) {
		return append(slices.Clone(text), (eol + eol + block[:len(block)-len(eol)])...)
	}
	if !bytes.HasSuffix(text, []byte(eol+eol)) {
		block = eol + block
	}
	return append(slices.Clone(text), block...)
}
