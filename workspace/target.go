package workspace

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"hash"
	"io/fs"
	"os"

	"writ/contract"
	"writ/envelope"
)

// target is a file that is about to change: locked against other changes of ours, held open, read, and watched where
// the system can do that.
type target struct {
	question *question
	at       parent
	place    contract.Path // resolved
	f        *os.File
	fact     fs.FileInfo
	watch    watch
	data     []byte
	release  func()

	summed chan struct{} // closed when the two below are there
	sum    checkpoints
	names  contract.Version

	due *contract.Version // what the caller observed, where that is yet to be checked
}

// openTarget opens the file that p stands for, links followed, to be changed.
func (w Writer) openTarget(ctx context.Context, p contract.Path) (*target, error) {
	q, err := w.w.question(w.guard, p, Write)
	if err != nil {
		return nil, err
	}
	return w.settleTarget(ctx, q, func() (parent, error) { return behindLinks(ctx, q) })
}

// openEntry opens the file that p itself names, to be taken away. A link is refused, and so is a file that may not be
// written or is not at the observed version.
func (w Writer) openEntry(ctx context.Context, p contract.Path, observed contract.Version) (*target, error) {
	q, err := w.w.question(w.guard, p, Write)
	if err != nil {
		return nil, err
	}
	t, err := w.settleTarget(ctx, q, func() (parent, error) { return entry(ctx, q) })
	if err != nil {
		return nil, err
	}
	if err := cmp.Or(t.checkWritable(), t.check(observed)); err != nil {
		t.close()
		return nil, err
	}
	return t, nil
}

func (w Writer) settleTarget(ctx context.Context, q *question, find func() (parent, error)) (*target, error) {
	var t *target
	err := settle(ctx, q.root.tree, q, func() error {
		at, err := find()
		if err != nil {
			return err
		}
		t, err = w.take(ctx, q, at)
		if err != nil {
			at.dir.Close()
		}
		return err
	})
	return t, err
}

// behindLinks returns the place of the regular file that q names.
func behindLinks(ctx context.Context, q *question) (parent, error) {
	found, err := q.root.tree.locate(ctx, q)
	if err != nil {
		return parent{}, err
	}
	mode := found.node.info().Mode()
	found.node.close()
	if err := refuseKind(mode, q.named(found.resolved)); err != nil {
		return parent{}, err
	}
	resolved, err := q.path(found.resolved)
	if err != nil {
		return parent{}, err
	}
	straight := &question{guard: q.guard, root: q.root, spelled: resolved, rel: found.resolved, want: q.want}
	at, err := q.root.tree.parent(ctx, straight)
	if err != nil {
		return parent{}, err
	}
	if len(at.missing) > 0 || at.resolved != found.resolved {
		at.dir.Close()
		return parent{}, errMoved
	}
	return at, nil
}

// entry returns the place of the regular file that q names without a link.
func entry(ctx context.Context, q *question) (parent, error) {
	at, err := q.root.tree.parent(ctx, q)
	if err != nil {
		return parent{}, err
	}
	if err := checkEntry(q, &at); err != nil {
		at.dir.Close()
		return parent{}, err
	}
	return at, nil
}

func checkEntry(q *question, at *parent) error {
	if len(at.missing) > 0 {
		return notFound(q.quoted())
	}
	fact, err := at.dir.stat(at.leaf)
	if err != nil {
		return fault(err, q.quoted())
	}
	if err := refuseKind(fact.Mode(), q.quoted()); err != nil {
		return err
	}
	if !q.root.tree.foldsNames() {
		return nil
	}
	return respellEntry(q, at, fact)
}

// respellEntry asks the guard about the name under which the directory lists the entry, and goes on with that.
func respellEntry(q *question, at *parent, fact fs.FileInfo) error {
	listed, err := spellingIn(at.dir, at.leaf, fact)
	if err != nil || listed == at.leaf {
		return err
	}
	directory, _ := parentRel(at.resolved)
	at.leaf, at.resolved = listed, joinRel(directory, listed)
	return q.askWhole(at.resolved)
}

func refuseKind(mode fs.FileMode, place string) error {
	switch {
	case mode.IsDir():
		return isDirectory(place)
	case !mode.IsRegular():
		return notRegular(place)
	}
	return nil
}

// take locks and opens the file at a place. It takes the place over unless it fails.
func (w Writer) take(ctx context.Context, q *question, at parent) (*target, error) {
	release, err := w.w.locks.acquire(ctx, at.dir, at.leaf)
	if err != nil {
		return nil, err
	}
	t, err := w.hold(ctx, q, at)
	if err != nil {
		release()
		return nil, err
	}
	t.release = release
	return t, nil
}

// hold opens the file at a place whose lock the caller has. It takes the place over unless it fails.
func (w Writer) hold(ctx context.Context, q *question, at parent) (_ *target, err error) {
	t := &target{question: q, at: at, release: func() {}}
	if t.place, err = q.path(at.resolved); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			t.drop()
		}
	}()
	if t.f, err = at.dir.open(at.leaf); err != nil {
		return nil, openFault(err, t.quoted())
	}
	// The directory may have been moved to a hidden place, and a hidden file into it, before the file was opened.
	if !q.root.tree.confirm(t.f, at.resolved) {
		return nil, errMoved
	}
	if t.fact, err = t.f.Stat(); err != nil {
		return nil, fault(err, t.quoted())
	}
	if t.watch, err = watchFile(ctx, t.f); err != nil {
		return nil, t.watchFault(err)
	}
	if t.data, err = readWhole(t.f, t.fact, t.quoted(), w.w.options.FileBytes); err != nil {
		return nil, err
	}
	if err = q.admit(at.resolved, t.data); err != nil {
		return nil, err
	}
	t.beginSum()
	return t, nil
}

// beginSum begins to work out the version. That of a large file takes so long that something else is done meanwhile.
func (t *target) beginSum() {
	t.summed = make(chan struct{})
	work := func() {
		defer close(t.summed)
		t.names = t.sum.add(t.data)
	}
	if t.isLarge() {
		go work()
		return
	}
	work()
}

func (t *target) isLarge() bool { return len(t.data) >= worthAnotherCPU }

// version returns the version of the bytes that were read.
func (t *target) version() contract.Version {
	<-t.summed
	return t.names
}

// openFault is fault for what was a regular file a moment ago.
func openFault(err error, place string) error {
	if errors.Is(err, errMoved) || errors.Is(err, fs.ErrInvalid) {
		return errMoved
	}
	return fault(err, place)
}

func (t *target) watchFault(err error) error {
	if !errors.Is(err, errHeld) {
		return err
	}
	return envelope.Errorf(envelope.Busy,
		"Another program has %s open for writing, and what it writes would be lost. Try again when it has closed the file.", t.quoted())
}

func (t *target) quoted() string { return contract.Quote(t.place.String()) }

// close gives the place free.
func (t *target) close() {
	t.drop()
	t.at.dir.Close()
}

func (t *target) drop() {
	t.letGo()
	t.release()
}

// letGo closes the file, whose place stays locked: Windows replaces an open file on some file systems only.
func (t *target) letGo() {
	if t.f != nil {
		t.f.Close()
		t.f = nil
	}
}

// check compares the file with what the caller observed.
func (t *target) check(observed contract.Version) error {
	if t.version() == observed {
		return nil
	}
	return t.conflict(envelope.VersionChanged, "%s was changed since it was read. Read it again and redo the edit.")
}

// checkDue is check where that was put off.
func (t *target) checkDue() error {
	if t.due == nil {
		return nil
	}
	return t.check(*t.due)
}

// conflict makes a Conflict that tells what the file is now. format has one verb, for the place.
func (t *target) conflict(code envelope.Code, format string) *Conflict {
	return &Conflict{Cause: envelope.Errorf(code, format, t.quoted()), Current: t.version(), CurrentData: t.data, Place: t.place}
}

// checkWritable returns an error if the file is marked as read-only, which root would not be told.
func (t *target) checkWritable() error {
	if t.fact.Mode().Perm()&0o200 == 0 || t.at.dir.writable(t.at.leaf) != nil {
		return readOnlyFile(t.quoted())
	}
	return nil
}

func readOnlyFile(place string) error {
	return envelope.Errorf(envelope.ReadOnlyFile, "%s has no write permission, so it is not changed.", place)
}

// isAt tells whether the very file that was read is what name stands for.
func (t *target) isAt(name string) bool {
	fact, err := t.at.dir.stat(name)
	return err == nil && sameFile(fact, t.fact)
}

// inPlace tells whether the directory is still where the guard allowed the change.
func (t *target) inPlace() bool { return t.question.root.confirmDir(&t.at) }

// unchanged tells whether the file still holds the bytes that were read.
func (t *target) unchanged() bool {
	if t.watch.leased {
		return t.watch.whole()
	}
	same, err := pieces{t.data}.equal(t.f)
	return err == nil && same
}

// file returns the target as callers of Load get it, with the version that it has or, where that is yet to be checked,
// should have.
func (t *target) file(asked contract.Path) *File {
	f := &File{Info: newInfo(t.fact), Data: t.data}
	if t.due != nil {
		f.Version = *t.due
	} else {
		f.Version = t.version()
	}
	f.Path, f.Resolved = asked, t.place
	return f
}

// checkpoints are states of a SHA-256 on its way through a file, so that the sum of other bytes that begin alike need
// not begin at the start.
type checkpoints struct{ states []hash.Cloner }

const checkpointBytes = 512 << 10

func (c *checkpoints) add(data []byte) contract.Version {
	h := sha256.New()
	for len(data) > checkpointBytes {
		h.Write(data[:checkpointBytes])
		data = data[checkpointBytes:]
		if state, err := h.(hash.Cloner).Clone(); err == nil {
			c.states = append(c.states, state)
		}
	}
	h.Write(data)
	return contract.VersionFromSum([sha256.Size]byte(h.Sum(nil)))
}

// version returns the version of content, whose first same bytes are those that the checkpoints were made of.
func (c *checkpoints) version(content pieces, same int64) contract.Version {
	h, skip := sha256.New(), int64(0)
	if n := min(int(same/checkpointBytes), len(c.states)); n > 0 {
		if state, err := c.states[n-1].Clone(); err == nil {
			h, skip = state, int64(n)*checkpointBytes
		}
	}
	for _, part := range content {
		n := min(skip, int64(len(part)))
		h.Write(part[n:])
		skip -= n
	}
	return contract.VersionFromSum([sha256.Size]byte(h.Sum(nil)))
}
