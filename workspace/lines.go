package workspace

import (
	"context"
	"fmt"
	"io"
	"unsafe"

	"writ/contract"
)

// LineRange is what a caller wants of a file's lines.
type LineRange struct {
	Offset int // the first line, counted from 1; negative counts from the end; 0 stands for 1
	Limit  int // how many lines at most; 0: all
	// MaxBytes bounds the text, which then ends with a whole line; 0: no bound.
	MaxBytes int
}

// Page is a run of lines of a text file.
type Page struct {
	Facts
	Text      string // UTF-8, with the file's own line endings, without byte order mark
	FirstLine int    // of Text, counted from 1; beyond the last line of the file if Text is empty
	LastLine  int    // FirstLine - 1 if Text is empty
	// CutLine tells that the one line of Text is longer than MaxBytes: only its start is there.
	CutLine    bool
	NextOffset int // the line to go on with; 0 at the end
}

// Lines returns a run of lines of the file p. A file that is no text is an Error of code not-text, one that is larger
// than the limit of code too-large.
func (r Reader) Lines(ctx context.Context, p contract.Path, want LineRange) (Page, error) {
	for range maxAttempts {
		o, err := r.examine(ctx, p)
		if err != nil {
			return Page{}, err
		}
		page, err := r.page(o, want)
		o.close()
		if err != errMoved {
			return page, err
		}
		r.w.facts.drop(o.key)
	}
	return Page{}, changedDuringCall(contract.Quote(p.String()))
}

func (r Reader) page(o *opened, want LineRange) (Page, error) {
	if o.refusal != nil {
		return Page{}, o.refusal
	}
	lines := want.within(o.Lines)
	from, to, ends := o.index.region(lines.first, lines.last, lines.most)
	first, last := from, to
	if r.w.options.Secrets != nil { // what comes before and after may tell a secret
		first, last = max(0, from-SecretMargin), min(o.index.size, to+SecretMargin)
	}
	seen, err := o.read(first, last)
	if err != nil {
		return Page{}, err
	}
	cut := lines.take(seen[from-first:to-first], ends)
	start := from - first + cut.start
	page := Page{
		Facts: o.findings.Facts, Text: o.share(showPart(r.w.options.Secrets, seen, start, start+len(cut.text))),
		FirstLine: lines.first, LastLine: lines.first + cut.lines - 1, CutLine: cut.cutLine,
	}
	page.Info = o.info
	if page.LastLine < o.Lines && page.FirstLine <= o.Lines {
		page.NextOffset = page.LastLine + 1
	}
	return page, nil
}

// within makes the range definite for a text of so many lines.
func (w LineRange) within(total int) lineRange {
	first := w.Offset
	switch {
	case first == 0:
		first = 1
	case first < 0:
		first = max(1, total+1+first)
	}
	last := total
	if w.Limit > 0 && w.Limit < total-first+1 {
		last = first + w.Limit - 1
	}
	return lineRange{first: first, last: last, most: w.MaxBytes}
}

// read returns a part of the text. It returns errMoved if the file has changed since its facts were learnt.
func (o *opened) read(from, to int) ([]byte, error) {
	if o.text != nil {
		return o.text.Bytes()[from:to], nil
	}
	region := make([]byte, to-from)
	if _, err := o.file.ReadAt(region, o.offset+int64(from)); err == io.EOF {
		return nil, errMoved
	} else if err != nil {
		return nil, fault(err, contract.Quote(o.info.Path.String()))
	}
	fact, err := o.file.Stat()
	if err != nil {
		return nil, fmt.Errorf("stat after reading: %w", err)
	}
	if stampOf(fact) != o.key.stamp {
		return nil, errMoved
	}
	return region, nil
}

// share returns text as a string. It is not copied if it is most of what would be kept for its sake.
func (o *opened) share(text []byte) string {
	if o.text != nil && len(o.text.Bytes()) > smallBytes && len(text) < len(o.text.Bytes())/2 {
		return string(text)
	}
	return unsafe.String(unsafe.SliceData(text), len(text))
}
