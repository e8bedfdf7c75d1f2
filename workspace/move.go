package workspace

import (
	"context"
	"errors"
	"io/fs"
	"strings"
	"syscall"

	"writ/contract"
	"writ/envelope"
)

// Move gives the regular file at from the path to, if its bytes are those that observed names. It never replaces: a
// destination that is taken is a *[Conflict] of code already-exists. Links and directories are not moved. Where the
// file system takes several spellings for one name, a file can be given another spelling of its own.
func (w Writer) Move(ctx context.Context, from, to contract.Path, observed contract.Version) (done Written, err error) {
	err = w.onSettledGround(ctx, func() error {
		done, err = w.moveOnce(ctx, from, to, observed)
		return err
	})
	return done, err
}

func (w Writer) moveOnce(ctx context.Context, from, to contract.Path, observed contract.Version) (Written, error) {
	t, err := w.openEntry(ctx, from, observed)
	if err != nil {
		return Written{}, err
	}
	defer t.close()
	s, err := w.openAnySite(ctx, to)
	if err != nil {
		return Written{}, err
	}
	defer s.close()
	m := &move{w: w, target: t, site: s}
	if s.isTaken() && !m.isRespelling() {
		return Written{}, w.taken(ctx, s)
	}
	return m.run(ctx)
}

// move is a Move that has both its places.
type move struct {
	w      Writer
	target *target
	site   *site
	change *change
}

// isRespelling tells whether the destination is another spelling of the source's own name.
func (m *move) isRespelling() bool {
	t, s := m.target, m.site
	if !s.question.root.tree.foldsNames() || t.at.directory != s.at.directory || t.question.root != s.question.root {
		return false
	}
	fact, err := s.at.dir.stat(s.at.leaf)
	return err == nil && sameFile(fact, t.fact) && t.at.leaf != s.at.leaf && strings.EqualFold(t.at.leaf, s.at.leaf)
}

func (m *move) run(ctx context.Context) (_ Written, err error) {
	t, s := m.target, m.site
	in := contract.Intent{
		Kind: contract.ChangeMove, Path: t.place, To: s.place, Before: t.version(), After: t.version(),
		Mode: t.fact.Mode().Perm(), Directories: s.missing,
	}
	if m.w.rehearses() {
		return Written{}, m.w.rehearse(ctx, in, nil, nil)
	}
	if m.change, err = m.w.begin(ctx, in); err != nil {
		return Written{}, err
	}
	if err := m.ready(ctx); err != nil {
		s.unmake()
		return Written{}, m.change.notDone(err)
	}
	respells := m.isRespelling()
	if err := m.rename(); err != nil && !m.isMade() {
		return Written{}, m.notMade(ctx, err)
	}
	if respells && m.keepsSpelling() {
		return Written{}, m.change.notDone(envelope.Errorf(envelope.IO,
			"%s keeps its name: this file system does not tell the two spellings apart. Move it to another name first, and from there to this one.", t.quoted()))
	}
	if err := m.verify(); err != nil {
		return Written{}, err
	}
	m.change.end(contract.OutcomeDone)
	return Written{
		Path: s.asked, Resolved: s.place, Before: t.version(), After: t.version(),
		ChangeID: m.change.id, Changed: envelope.Yes, Directories: s.madeHere(),
	}, nil
}

func (m *move) ready(ctx context.Context) error {
	if err := m.site.make(); err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return timedOut(err)
	}
	if !m.target.inPlace() || !m.site.inPlace() {
		return changedDuringCall(m.target.quoted())
	}
	return nil
}

func (m *move) rename() error {
	t, s := m.target, m.site
	if m.isRespelling() {
		return t.at.dir.replace(t.at.leaf, s.at.leaf)
	}
	return t.at.dir.moveTo(t.at.leaf, s.dir(), s.at.leaf)
}

// isMade tells whether a renaming was made that answered with an error. A file system on another machine can do that.
func (m *move) isMade() bool {
	t, s := m.target, m.site
	if m.isRespelling() {
		return false
	}
	fact, err := s.dir().stat(s.at.leaf)
	return err == nil && sameFile(fact, t.fact) && !t.isAt(t.at.leaf)
}

// keepsSpelling tells whether a file still has its old name after it was given another spelling of it: a file system may
// take the two for the same and do nothing.
func (m *move) keepsSpelling() bool {
	t := m.target
	listed, err := spellingIn(t.at.dir, t.at.leaf, t.fact)
	return err == nil && listed == t.at.leaf
}

// notMade ends a move whose renaming failed.
func (m *move) notMade(ctx context.Context, err error) error {
	t, s := m.target, m.site
	_, looked := s.dir().stat(s.at.leaf)
	switch isTaken := errors.Is(err, fs.ErrExist); {
	case isTaken && t.isAt(t.at.leaf):
		s.unmake()
		return m.change.notDone(m.w.taken(ctx, s))
	case !m.isRespelling() && !errors.Is(looked, fs.ErrNotExist):
		return m.change.unknownOutcome(t.quoted(), "it may be at "+s.quoted()+" now, or at both.", err)
	}
	s.unmake()
	return m.change.notDone(m.fault(err))
}

// verify looks at what was moved, and brings back what is not the observed file.
func (m *move) verify() error {
	t, s := m.target, m.site
	fact, err := s.dir().stat(s.at.leaf)
	if err == nil && sameFile(fact, t.fact) && t.unchanged() {
		if err := errors.Join(s.sync(), t.at.dir.sync()); err != nil {
			return m.change.unknownOutcome(s.quoted(), "the directories could not be made durable.", err)
		}
		return nil
	}
	if err := s.dir().moveTo(s.at.leaf, t.at.dir, t.at.leaf); err != nil {
		return m.change.unknownOutcome(t.quoted(), "another program was changing it at the same time. It may be at "+s.quoted()+" now.", err)
	}
	if err := errors.Join(t.at.dir.sync(), s.sync()); err != nil {
		return m.change.unknownOutcome(t.quoted(), "the directories could not be made durable.", err)
	}
	s.unmake()
	return m.change.notDone(&Conflict{Cause: envelope.Errorf(envelope.VersionChanged,
		"%s was changed by another program at the same moment, and was not moved. Read it again.", t.quoted())})
}

func (m *move) fault(err error) error {
	if errors.Is(err, syscall.EXDEV) {
		return envelope.Errorf(envelope.IO,
			"%s can't be moved to %s: they are on different file systems. Create the file there and delete it here.", m.target.quoted(), m.site.quoted())
	}
	return stageFault(err, m.target.quoted())
}
