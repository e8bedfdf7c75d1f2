package workspace

import (
	"context"
	"errors"
	"io"
	"os"

	"writ/contract"
)

// A file can say itself who may have it. So after a guard allowed a place, it is asked about what was read there, on the
// very bytes, before anything of them is told: neither text nor version, neither a match nor that there is none.

// ContentGuard is a [Guard] that judges what a file holds, too. It must be pure, as a guard is.
type ContentGuard interface {
	Guard
	// Suspects tells whether AllowContent may refuse a file that begins so, wherever it is. It spares the question for
	// most files, so it must be cheap.
	Suspects(head []byte) bool
	// AllowContent returns nil, or the *envelope.Error that the caller is told. head is the file at p, from its start; of a
	// file larger than [ContentHead] it may be that much only.
	AllowContent(p contract.Path, head []byte) error
}

// ContentHead is how much of a file a [ContentGuard] is shown at least.
const ContentHead = 128 << 10

// admit asks the guard about what was read at the resolved place.
func (q *question) admit(resolved string, data []byte) error {
	g, ok := q.guard.(ContentGuard)
	if !ok || !g.Suspects(data) {
		return nil
	}
	p, err := q.path(resolved)
	if err != nil {
		return err
	}
	return g.AllowContent(p, data)
}

// admitOpen is admit for an open file.
func (q *question) admitOpen(resolved string, f *os.File) error {
	g, ok := q.guard.(ContentGuard)
	if !ok {
		return nil
	}
	var first [16]byte
	n, err := f.ReadAt(first[:], 0)
	if err == nil || errors.Is(err, io.EOF) {
		err = nil
		if !g.Suspects(first[:n]) {
			return nil
		}
	}
	head := make([]byte, ContentHead)
	if err == nil {
		n, err = f.ReadAt(head, 0)
	}
	if err != nil && !errors.Is(err, io.EOF) {
		return fault(err, q.named(resolved))
	}
	return q.admit(resolved, head[:n])
}

// admits tells whether the guard lets the caller have content at a resolved place.
func (r Reader) admits(resolved contract.Path, data []byte) error {
	if g, ok := r.guard.(ContentGuard); ok && g.Suspects(data) {
		return g.AllowContent(resolved, data)
	}
	return nil
}

// JudgeContent returns nil, or the error with which the guard refuses what the file at a resolved place holds now. What is
// not there, or can't be read, holds nothing.
func (r Reader) JudgeContent(ctx context.Context, resolved contract.Path) error {
	q, err := r.w.question(r.guard, resolved, Read)
	if err != nil {
		return err
	}
	f, at, err := q.root.tree.openFile(ctx, q)
	if err != nil {
		return nil
	}
	defer f.Close()
	return q.admitOpen(at, f)
}

// mayRestore is admits for content that an undoing brings back, since its answer shows it. What a caller writes of his own
// is not judged: he knows it.
func (w Writer) mayRestore(resolved contract.Path, content pieces) error {
	if w.reverts == "" {
		return nil
	}
	var head []byte
	for _, part := range content {
		head = append(head, part[:min(len(part), ContentHead-len(head))]...)
	}
	return w.admits(resolved, head)
}
