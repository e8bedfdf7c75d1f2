package workspace

import (
	"slices"

	"writ/envelope"
)

// A secret is known by what stands around it. A caller who may change that could make it look like any other word, and
// read it. So an edit that leaves a secret in the file must leave it such that it is kept back still.

// nearSecret is how far from a secret a change can matter: more than any rule looks at beside one.
const nearSecret = 4 << 10

// CheckCovered returns an Error of code shows-secret if a secret that is kept back of the text would no longer be, once
// these edits are made. They are sorted and do not overlap.
func (t *Text) CheckCovered(edits ...TextEdit) error {
	if t.veil == nil || t.veil.finder == nil {
		return nil
	}
	for len(edits) > 0 {
		n := 1
		for n < len(edits) && edits[n].Start-edits[n-1].End < 2*nearSecret {
			n++
		}
		if err := t.checkCoveredNear(edits[:n]); err != nil {
			return err
		}
		edits = edits[n:]
	}
	return nil
}

// checkCoveredNear is CheckCovered for edits that are near each other.
func (t *Text) checkCoveredNear(edits []TextEdit) error {
	last := edits[len(edits)-1]
	from, to := max(0, edits[0].Start-nearSecret), min(len(t.content), last.End+nearSecret)
	secrets := t.veil.in(from, to)
	if len(secrets) == 0 {
		return nil
	}
	first, end := max(0, from-SecretMargin), min(len(t.content), to+SecretMargin)
	after := newVeil(t.veil.finder, editedPart(t.content, first, end, edits))
	for _, s := range secrets {
		shift, grown := -first, 0
		for _, e := range edits {
			switch {
			case e.End <= s.Start:
				shift += len(e.New) - (e.End - e.Start)
			case e.Start == e.End && e.Start < s.End: // it parts the secret
				grown += len(e.New)
			}
		}
		if !slices.ContainsFunc(edits, s.loses) && !after.hidesAll(s.Start+shift, s.End+shift+grown) {
			return envelope.Errorf(envelope.ShowsSecret,
				"After this edit a secret in the file would no longer be kept back, since the words beside it would not tell of it. Leave them as they are, or ask the user to make the edit.")
		}
	}
	return nil
}

// loses tells whether the edit takes something of the secret away.
func (s Span) loses(e TextEdit) bool { return e.Start < e.End && e.Start < s.End && s.Start < e.End }

// editedPart returns the content from from to to as the edits within it leave it.
func editedPart(content []byte, from, to int, edits []TextEdit) []byte {
	var part []byte
	for _, e := range edits {
		part = append(append(part, content[from:e.Start]...), e.New...)
		from = e.End
	}
	return append(part, content[from:to]...)
}

// hidesAll tells whether all of the text from from to to is kept back.
func (v *veil) hidesAll(from, to int) bool {
	for _, s := range v.in(from, to) {
		if s.Start > from {
			return false
		}
		from = s.End
	}
	return from >= to
}
