package workspace

import (
	"bytes"
	"slices"
	"strings"
	"unsafe"

	"writ/contract"
	"writ/envelope"
)

// Secrets are kept back where text is shown, and nowhere else: files, versions and edits are of the true bytes. In what is
// shown each line has a placeholder in the place of what it holds of a secret, and line ends stay, so that line numbers
// are those of the file.
//
// Nothing else may tell of a secret either. What is found, counted or diagnosed is a function of what is shown: a text
// that occurs within a secret does not occur, or a caller could guess it bit by bit.

// Span is a secret in a text: its bytes from Start to End, and its kind as the caller is told.
type Span struct {
	Start, End int
	Kind       string
}

// SecretMargin is how much of a text is looked at before and behind the part that is shown.
const SecretMargin = 32 << 10

// SecretFinder finds secrets. Find returns those of text, by their place and without overlap. It is given a large text
// in parts that have [SecretMargin] bytes of their surroundings on either side, and need not find longer secrets.
type SecretFinder interface {
	Find(text []byte) []Span
}

// veilBlock is how much of a text is looked at at once.
const veilBlock = 128 << 10

// veil knows the secrets of one text. It looks for them when that part of the text is first asked for. A nil veil keeps
// nothing back and knows no text. It is for one goroutine.
type veil struct {
	finder SecretFinder
	text   []byte
	blocks [][]Span // nil: not looked at yet
	extra  []Span   // kept back whatever the finder says
}

// newVeil returns the veil of text; one that keeps nothing back where finder is nil.
func newVeil(finder SecretFinder, text []byte) *veil {
	if finder == nil {
		return &veil{text: text}
	}
	return &veil{finder: finder, text: text, blocks: make([][]Span, len(text)/veilBlock+1)}
}

// in returns what is kept back of the text from from to to, cut to it, by place and without overlap.
func (v *veil) in(from, to int) []Span {
	if v == nil || from >= to || v.finder == nil && v.extra == nil {
		return nil
	}
	var spans []Span
	for n := from / veilBlock; n <= (to-1)/veilBlock && v.finder != nil; n++ {
		spans = append(spans, v.block(n)...)
	}
	if v.extra != nil {
		spans = append(spans, v.extra...)
		slices.SortFunc(spans, func(a, b Span) int { return a.Start - b.Start })
	}
	return clipped(spans, from, to)
}

// clipped cuts sorted spans to the range and joins those that overlap, or meet and are of one kind.
func clipped(spans []Span, from, to int) []Span {
	kept := spans[:0]
	for _, s := range spans {
		s.Start, s.End = max(s.Start, from), min(s.End, to)
		if s.Start >= s.End {
			continue
		}
		if n := len(kept); n > 0 && (s.Start < kept[n-1].End || s.Start == kept[n-1].End && s.Kind == kept[n-1].Kind) {
			kept[n-1].End = max(s.End, kept[n-1].End)
			continue
		}
		kept = append(kept, s)
	}
	return kept
}

func (v *veil) block(n int) []Span {
	if v.blocks[n] == nil {
		start, end := n*veilBlock, min((n+1)*veilBlock, len(v.text))
		from, to := max(0, start-SecretMargin), min(len(v.text), end+SecretMargin)
		found := slices.Clone(v.finder.Find(v.text[from:to]))
		for i := range found {
			found[i].Start += from
			found[i].End += from
		}
		v.blocks[n] = append([]Span{}, clipped(found, start, end)...)
	}
	return v.blocks[n]
}

// hides tells whether any of the text from from to to is kept back.
func (v *veil) hides(from, to int) bool { return len(v.in(from, to)) > 0 }

// HidesLine tells whether something of the line of that number, counted from 1, is kept back.
func (t *Text) HidesLine(n int) bool {
	if t.veil == nil || n < 1 {
		return false
	}
	from := 0
	for ; n > 1; n-- {
		i := bytes.IndexByte(t.content[from:], '\n')
		if i < 0 {
			return false
		}
		from += i + 1
	}
	to := len(t.content)
	if i := bytes.IndexByte(t.content[from:], '\n'); i >= 0 {
		to = from + i
	}
	return t.veil.hides(from, to)
}

// show returns the text from from to to as it may be seen. Where nothing is kept back that is the text itself.
func (v *veil) show(from, to int) []byte {
	shown, _ := v.cover(from, to)
	return shown
}

// cover returns what show does, and where the placeholders are in it.
func (v *veil) cover(from, to int) (shown []byte, placeholders []Span) {
	spans := v.in(from, to)
	if len(spans) == 0 {
		return v.text[from:to:to], nil
	}
	at := from
	for _, s := range spans {
		shown = append(shown, v.text[at:s.Start]...)
		for at = s.Start; at < s.End; {
			end := at + afterLines(v.text[at:s.End], 1)
			body := bytes.TrimRight(v.text[at:end], "\r\n")
			if len(body) > 0 {
				start := len(shown)
				shown = append(shown, redactedStart+s.Kind+"]"...)
				placeholders = append(placeholders, Span{start, len(shown), s.Kind})
			}
			shown = append(shown, v.text[at+len(body):end]...)
			at = end
		}
	}
	return append(shown, v.text[at:to]...), placeholders
}

// Redact returns a text that is shown by itself, without its secrets.
func Redact(finder SecretFinder, text string) string {
	return string(newVeil(finder, bytesOf(text)).show(0, len(text)))
}

// PlaceholderWarning returns the warning that a text deserves which holds a placeholder and was written to a file; false
// where it holds none.
func PlaceholderWarning(text string) (envelope.Warning, bool) {
	if !strings.Contains(text, redactedStart) {
		return envelope.Warning{}, false
	}
	return envelope.Warning{
		Code:    envelope.Redacted,
		Message: "The text that you sent holds [redacted:…], which now stands in the file as it is. If it was to stand for a secret, that is lost: revert_change brings it back.",
	}, true
}

// showPart returns the part of the text from from to to as it may be seen, looking at its surroundings only.
func showPart(finder SecretFinder, text []byte, from, to int) []byte {
	if finder == nil {
		return text[from:to]
	}
	first, last := max(0, from-SecretMargin), min(len(text), to+SecretMargin)
	return newVeil(finder, text[first:last]).show(from-first, to-first)
}

// Decode returns the bytes of the file p as text whose secrets are kept back wherever it is shown. Its errors are those
// of [DecodeText].
func (r Reader) Decode(data []byte, p contract.Path) (*Text, error) {
	t, err := DecodeText(data, r.Encoding(p))
	if err != nil {
		return nil, err
	}
	t.veil = newVeil(r.w.options.Secrets, t.content)
	return t, nil
}

// Diff returns the unified diff of two contents of the file p as it may be shown, see [unifiedDiff].
func (r Reader) Diff(p contract.Path, before, after string, maxLines int) string {
	a, b := newVeil(r.w.options.Secrets, bytesOf(before)), newVeil(r.w.options.Secrets, bytesOf(after))
	diff, _ := unifiedDiff(p.String(), side{before, a}, side{after, b}, maxLines)
	return diff
}

// bytesOf returns the bytes of s, which must not be changed.
func bytesOf(s string) []byte { return unsafe.Slice(unsafe.StringData(s), len(s)) }

func stringOf(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }

// shown returns the content from from to to as it may be seen.
func (t *Text) shown(from, to int) []byte {
	if t.veil == nil {
		return t.content[from:to:to]
	}
	return t.veil.show(from, to)
}

// Shown returns the content as it may be seen, line for line. The bytes must not be changed.
func (t *Text) Shown() []byte { return t.shown(0, len(t.content)) }

// asShown returns a text of which the content is what is shown of t, and its placeholders what is kept back.
func (t *Text) asShown() *Text {
	if t.veil == nil || !t.veil.hides(0, len(t.content)) {
		return t
	}
	shown := *t
	var placeholders []Span
	shown.content, placeholders = t.veil.cover(0, len(t.content))
	shown.veil = &veil{text: shown.content, extra: placeholders}
	return &shown
}
