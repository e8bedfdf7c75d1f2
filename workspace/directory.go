package workspace

import (
	"context"
	"errors"
	"io/fs"

	"writ/contract"
	"writ/envelope"
)

// MakeDirectory makes the directory p and those above it that are missing. One that is there already is no change; a
// file in its place is a *[Conflict] of code already-exists.
func (w Writer) MakeDirectory(ctx context.Context, p contract.Path) (done Written, err error) {
	err = w.onSettledGround(ctx, func() error {
		done, err = w.makeDirectoryOnce(ctx, p)
		return err
	})
	return done, err
}

func (w Writer) makeDirectoryOnce(ctx context.Context, p contract.Path) (Written, error) {
	if p.IsTop() {
		return w.directoryIsThere(ctx, p)
	}
	q, err := w.w.question(w.guard, p, Write)
	if err != nil {
		return Written{}, err
	}
	if q.rel == "" {
		return w.directoryIsThere(ctx, p)
	}
	s, err := w.openAnySite(ctx, p)
	if err != nil {
		return Written{}, err
	}
	defer s.close()
	if s.isTaken() {
		return w.directoryIsThere(ctx, p)
	}
	// The entry itself is one more directory to make.
	s.at.missing, s.missing = append(s.at.missing, s.at.leaf), append(s.missing, s.place)
	in := contract.Intent{Kind: contract.ChangeMkdir, Path: s.place, Directories: s.missing}
	if w.rehearses() {
		return Written{}, w.rehearse(ctx, in, nil, nil)
	}
	c, err := w.begin(ctx, in)
	if err != nil {
		return Written{}, err
	}
	if err := s.makeAll(ctx); err != nil {
		s.unmake()
		return Written{}, c.notDone(err)
	}
	made := s.madeHere()
	if len(made) == 0 { // somebody else made them all in the same moment
		c.end(contract.OutcomeNotDone)
		return Written{Path: p, Resolved: s.place, Changed: envelope.No}, nil
	}
	c.end(contract.OutcomeDone)
	return Written{Path: p, Resolved: s.place, ChangeID: c.id, Changed: envelope.Yes, Directories: made}, nil
}

func (s *site) makeAll(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return timedOut(err)
	}
	if !s.inPlaceBefore() {
		return changedDuringCall(s.quoted())
	}
	if err := s.make(); err != nil {
		return err
	}
	if !s.inPlace() {
		return changedDuringCall(s.quoted())
	}
	if err := s.sync(); err != nil {
		return fault(err, s.quoted())
	}
	return nil
}

// inPlaceBefore is inPlace before the directories are made.
func (s *site) inPlaceBefore() bool { return s.question.root.confirmDir(&s.at) }

// directoryIsThere answers for a place that is taken.
func (w Writer) directoryIsThere(ctx context.Context, p contract.Path) (Written, error) {
	info, err := w.Stat(ctx, p)
	switch {
	case errors.Is(err, fs.ErrNotExist), envelope.CodeOf(err) == envelope.PathNotFound:
		return Written{}, changedDuringCall(contract.Quote(p.String()))
	case err != nil:
		return Written{}, err
	case info.Kind == KindLink:
		return Written{}, envelope.Errorf(envelope.NotARegularFile,
			"%s is a link to a place that does not exist. Links are not written.", contract.Quote(p.String()))
	case info.Kind != KindDirectory:
		return Written{}, &Conflict{Cause: envelope.Errorf(envelope.AlreadyExists,
			"%s exists already and is not a directory. Nothing was changed.", contract.Quote(p.String()))}
	}
	return Written{Path: p, Resolved: info.Resolved, Changed: envelope.No}, nil
}
