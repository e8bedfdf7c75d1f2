package workspace

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"io"
	"io/fs"
	"os"
	"strings"

	"writ/contract"
	"writ/envelope"
)

// What all changes have in common. None is made in place: new bytes are put in order in a file of their own, and one
// step of the file system, which can't stop halfway, gives it its name. What that step displaced is looked at before it
// is let go.

var (
	// errNoExchange tells that the file system can't swap two entries in one step.
	errNoExchange = errors.New("the file system offers no exchange")
	// errAccessList tells that a new file may not have the access list of the one before.
	errAccessList = errors.New("the access list may not be given to the new file")
	// errReadBack tells that a new file does not hold what was written to it.
	errReadBack = errors.New("what was written reads back as something else")
	// errNoUnnamed tells that the file system can't hold a file without a name.
	errNoUnnamed = errors.New("the file system offers no file without a name")
)

// editDir is an open directory whose entries can be changed. As with dir, a name is that of one entry.
type editDir interface {
	dir
	// unnamed opens a new file without a name, to be named by link. The mode is subject to the umask.
	unnamed(mode fs.FileMode) (*os.File, error)
	// create opens a new file; the mode is subject to the umask.
	create(name string, mode fs.FileMode) (*os.File, error)
	// link names a file that unnamed made. It never replaces.
	link(f *os.File, name string) error
	// exchange swaps two entries.
	exchange(a, b string) error
	// moveTo renames an entry. It never replaces.
	moveTo(name string, to editDir, as string) error
	// replace renames an entry, over another if there is one.
	replace(name, over string) error
	remove(name string) error
	mkdir(name string) error
	rmdir(name string) error
	// openEdit opens a directory to change its entries.
	openEdit(name string) (editDir, error)
	// writable returns an error where this process may not write the file, whatever the directory allows.
	writable(name string) error
	sync() error
	// identity names the directory among all of this machine.
	identity() (string, error)
}

// Conflict tells that a file is not in the state that the caller observed. It wraps the *envelope.Error that says so.
type Conflict struct {
	Cause *envelope.Error
	// Current is the version that the file has now, and CurrentData its bytes. Both are zero where it can't be told,
	// which includes a place that is taken by something else than a file.
	Current     contract.Version
	CurrentData []byte
	Place       contract.Path // where that is, links followed; the top where it can't be told
}

func (c *Conflict) Error() string { return c.Cause.Error() }
func (c *Conflict) Unwrap() error { return c.Cause }

// Written tells what a change did.
type Written struct {
	Path     contract.Path // as asked for
	Resolved contract.Path // the place that was changed; of a move: the destination
	Before   contract.Version
	After    contract.Version
	ChangeID string // "" where nothing was changed or there is no journal
	Changed  envelope.Changed
	// Directories are those that were made on the way, outermost first.
	Directories []contract.Path
	// Old and New are the bytes before and after; nil where there are none, and for large files.
	Old, New []byte
	Warnings []envelope.Warning
}

// The names of temporary files, which no walk or listing shows. A draft is one that is not yet whole.
const (
	tempPrefix = ".writ-"
	draftMark  = ".part"
	tempSuffix = ".tmp"
	tempDigits = 16
)

func tempName() string {
	var b [tempDigits / 2]byte
	rand.Read(b[:])
	return tempPrefix + hex.EncodeToString(b[:]) + tempSuffix
}

// draftName returns the name of the draft of a temporary file.
func draftName(temp string) string {
	return strings.TrimSuffix(temp, tempSuffix) + draftMark + tempSuffix
}

// isTempName tells whether a name is one that tempName or draftName makes.
func isTempName(name string) bool {
	digits, ok := strings.CutPrefix(name, tempPrefix)
	if !ok {
		return false
	}
	digits, ok = strings.CutSuffix(digits, tempSuffix)
	digits = strings.TrimSuffix(digits, draftMark)
	return ok && len(digits) == tempDigits && strings.Trim(digits, "0123456789abcdef") == ""
}

// pieces are a file's bytes as the parts they consist of, so that an edit of a large file needs no second copy of it.
type pieces [][]byte

func (p pieces) size() int64 {
	n := int64(0)
	for _, part := range p {
		n += int64(len(part))
	}
	return n
}

// bytes returns the pieces joined, or nil where they are too large to be remembered.
func (p pieces) bytes() []byte {
	switch {
	case p.size() > memoryContentBytes:
		return nil
	case len(p) == 1:
		return p[0]
	}
	return bytes.Join(p, nil)
}

// worthJoining is the size up to which a copy costs less than another call of the system.
const worthJoining = 64 << 10

func (p pieces) writeTo(f io.Writer) error {
	if p.size() <= worthJoining {
		p = pieces{bytes.Join(p, nil)}
	}
	for _, part := range p {
		if len(part) == 0 {
			continue
		}
		if _, err := f.Write(part); err != nil {
			return err
		}
	}
	return nil
}

// equalBytes tells whether the pieces joined are data.
func (p pieces) equalBytes(data []byte) bool {
	if p.size() != int64(len(data)) {
		return false
	}
	for _, part := range p {
		if !bytes.Equal(part, data[:len(part)]) {
			return false
		}
		data = data[len(part):]
	}
	return true
}

// equal tells whether f holds just these bytes.
func (p pieces) equal(f io.ReaderAt) (bool, error) {
	buf := make([]byte, min(p.size()+1, 256<<10))
	if p.size() <= worthJoining {
		n, err := f.ReadAt(buf, 0)
		return p.equalBytes(buf[:n]), ignoreEOF(err)
	}
	at := int64(0)
	for _, part := range p {
		for len(part) > 0 {
			chunk := buf[:min(len(part), len(buf))]
			if n, err := f.ReadAt(chunk, at); n < len(chunk) {
				return false, ignoreEOF(err)
			}
			if !bytes.Equal(chunk, part[:len(chunk)]) {
				return false, nil
			}
			part, at = part[len(chunk):], at+int64(len(chunk))
		}
	}
	n, err := f.ReadAt(buf[:1], at)
	return n == 0, ignoreEOF(err)
}

func ignoreEOF(err error) error {
	if err == io.EOF {
		return nil
	}
	return err
}

// staged is a new file that is being put in order and has no place yet.
type staged struct {
	dir     editDir
	f       *os.File
	name    string   // the temporary name
	named   bool     // it stands under name
	drafted bool     // it stands under the draft's name
	notKept []string // what of the facts about the file before it may not have; there once it is written
	written chan error
}

// stage begins a new file in dir. Where the file system can, it has no name at first, so that a crash leaves nothing.
func stage(dir editDir, name string, mode fs.FileMode) (*staged, error) {
	f, err := dir.unnamed(mode)
	if errors.Is(err, errNoUnnamed) {
		return &staged{dir: dir, name: name}, nil
	}
	if err != nil {
		return nil, err
	}
	return &staged{dir: dir, f: f, name: name}, nil
}

// begun tells whether the file is there. One that needs a name from the start is made after the intent is durable; that
// name is one that no other file gets, whatever is displaced, so that after a crash it is known for a draft.
func (s *staged) begun() bool { return s.f != nil }

func (s *staged) begin(mode fs.FileMode) (err error) {
	s.f, err = s.dir.create(draftName(s.name), mode)
	s.drafted = err == nil
	return err
}

// write begins to write the content, make the file like what it should be like (nil: like any new one), make both
// durable and read the content back. The flush runs beside that of the intent, which halves the time that the two take.
func (s *staged) write(content pieces, like model) {
	s.written = make(chan error, 1)
	if content.size() >= worthAnotherCPU {
		go func() { s.written <- s.fillAndFlush(content, like) }()
		return
	}
	if err := s.fill(content, like); err != nil {
		s.written <- err
		return
	}
	go func() { s.written <- s.flush(content) }()
}

// worthAnotherCPU is the size from which writing a file beside hashing it pays.
const worthAnotherCPU = 256 << 10

func (s *staged) fill(content pieces, like model) error {
	if err := content.writeTo(s.f); err != nil {
		return err
	}
	if like == nil {
		return nil
	}
	var err error
	s.notKept, err = like.give(s.f)
	return err
}

func (s *staged) fillAndFlush(content pieces, like model) error {
	if err := s.fill(content, like); err != nil {
		return err
	}
	return s.flush(content)
}

func (s *staged) flush(content pieces) error {
	if err := s.f.Sync(); err != nil {
		return err
	}
	same, err := content.equal(s.f)
	if err == nil && !same {
		err = errReadBack
	}
	return err
}

// isAt tells whether the file is what name stands for in a directory.
func (s *staged) isAt(in dir, name string) bool {
	fact, err := in.stat(name)
	if err != nil {
		return false
	}
	ours, err := s.f.Stat()
	return err == nil && sameFile(fact, ours)
}

// wait returns when the file is durable.
func (s *staged) wait() error {
	if s.written == nil {
		return nil
	}
	err := <-s.written
	s.written = nil
	return err
}

// giveName puts the file under its temporary name.
func (s *staged) giveName() error {
	if s.named {
		return nil
	}
	err := s.place(s.dir, s.name)
	if err != nil && s.isAt(s.dir, s.name) {
		err = nil
	}
	s.named = err == nil
	return err
}

// place gives the file, which is whole, its name in a directory. It never replaces.
func (s *staged) place(in editDir, name string) error {
	if !s.drafted {
		return in.link(s.f, name)
	}
	err := s.dir.moveTo(draftName(s.name), in, name)
	s.drafted = err != nil
	return err
}

// discard closes the file, and removes it where it still stands under its temporary name.
func (s *staged) discard() {
	if s.f == nil {
		return
	}
	s.wait()
	s.f.Close()
	s.f = nil
	if s.named {
		s.dir.remove(s.name)
	}
	if s.drafted {
		s.dir.remove(draftName(s.name))
	}
}

// close closes the file and leaves everything where it is.
func (s *staged) close() {
	if s.f != nil {
		s.wait()
		s.f.Close()
		s.f = nil
	}
}

// onSettledGround makes a change that may find that an earlier one of the place was cut short, or that the tree moved.
// Then the earlier one is settled, without a lock, and the change begins again.
func (w Writer) onSettledGround(ctx context.Context, change func() error) error {
	for range maxAttempts {
		err := change()
		switch {
		case errors.Is(err, contract.ErrInterrupted):
			if err := w.journal.Recover(ctx); err != nil {
				return err
			}
		case !errors.Is(err, errMoved):
			return err
		}
	}
	return changedDuringCall("What was to be changed")
}

// begin makes the intent of a change durable and returns the change.
func (w Writer) begin(ctx context.Context, in contract.Intent) (*change, error) {
	if err := ctx.Err(); err != nil {
		return nil, timedOut(err)
	}
	c := &change{journal: w.journal, ctx: context.WithoutCancel(ctx)}
	if w.journal == nil {
		return c, nil
	}
	in.Origin, in.Reverts = w.origin, w.reverts
	if w.batch != nil {
		if err := w.batch.open(ctx, w); err != nil {
			return nil, err
		}
		in.Batch = w.batch.id
	}
	id, err := w.journal.Begin(ctx, in)
	c.id = id
	return c, err
}

// change is a change whose intent is durable.
type change struct {
	journal Journal
	ctx     context.Context
	id      string
}

// end records what became of the change. That it can't be recorded does not undo the change: the journal settles what
// it finds open when it is opened again.
func (c *change) end(o contract.Outcome) {
	if c.journal != nil {
		_ = c.journal.End(c.ctx, c.id, o)
	}
}

// unknownOutcome is the answer where it can't be told whether a change was made. Nothing is deleted then.
func (c *change) unknownOutcome(place string, why string, err error) error {
	c.end(contract.OutcomeUnknown)
	return &envelope.Error{
		Code:    envelope.OutcomeUnknown,
		Message: "It can't be told whether " + place + " was changed: " + why + " Read it again before anything else.",
		Details: map[string]any{"change_id": c.id},
		Err:     err,
	}
}

// notDone ends a change that changed nothing.
func (c *change) notDone(err error) error {
	c.end(contract.OutcomeNotDone)
	return err
}
