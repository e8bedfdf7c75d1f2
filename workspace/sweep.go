package workspace

import (
	"context"
	"errors"
	"io/fs"

	"writ/contract"
	"writ/envelope"
)

// Sweep removes the temporary files at temps, which changes of ended processes left behind. Only a regular file whose
// name is one that the workspace gives to temporary files is removed; one that is not there is no error. Which files may
// be swept is for the caller to know: see [Workspace.Settle].
func (w *Workspace) Sweep(ctx context.Context, temps []contract.Path) error {
	var errs []error
	for _, p := range temps {
		if !isTempName(p.Base()) {
			errs = append(errs, envelope.Errorf(envelope.PathNotAllowed, "%s is no temporary file.", contract.Quote(p.String())))
			continue
		}
		errs = append(errs, w.sweep(ctx, p))
	}
	return errors.Join(errs...)
}

func (w *Workspace) sweep(ctx context.Context, p contract.Path) error {
	q, err := w.question(everything{}, p, Write)
	if err != nil {
		return err
	}
	at, err := entry(ctx, q)
	if envelope.CodeOf(err) == envelope.PathNotFound {
		return nil
	}
	if err != nil {
		return err
	}
	defer at.dir.Close()
	return fault(at.dir.remove(at.leaf), q.quoted())
}

// Settle finds out what became of a change whose process ended before it could tell, and brings it to an end: a
// temporary file of it is removed, and a deleted file that was not yet removed is. If what is on disk is not what the
// change could have left, the outcome is unknown and everything is kept. It must not be asked about a change that is
// still under way.
func (w *Workspace) Settle(ctx context.Context, in contract.Intent) (contract.Outcome, error) {
	switch in.Kind {
	case contract.ChangeMkdir:
		return w.settleDirectories(ctx, in)
	case contract.ChangeRmdir:
		return w.settleRemoval(ctx, in)
	case contract.ChangeMove:
		return w.settleMove(ctx, in)
	}
	q, err := w.question(everything{}, in.Path, Write)
	if err != nil {
		return contract.OutcomeUnknown, err
	}
	at, err := q.root.tree.parent(ctx, q)
	if err != nil {
		return contract.OutcomeUnknown, err
	}
	defer at.dir.Close()
	if len(at.missing) > 0 {
		return absentOutcome(in), nil
	}
	release, err := w.locks.acquire(ctx, at.dir, at.leaf)
	if err != nil {
		return contract.OutcomeUnknown, err
	}
	defer release()
	s := &scene{intent: in, dir: at.dir, leaf: at.leaf}
	if err := s.look(w.options.FileBytes); err != nil {
		return contract.OutcomeUnknown, fault(err, q.quoted())
	}
	outcome, err := s.settle()
	return outcome, fault(err, q.quoted())
}

// absentOutcome is what became of a change whose directory is not there.
func absentOutcome(in contract.Intent) contract.Outcome {
	if in.Kind == contract.ChangeCreate {
		return contract.OutcomeNotDone
	}
	return contract.OutcomeUnknown
}

// scene is what an interrupted change left.
type scene struct {
	intent contract.Intent
	dir    editDir
	leaf   string
	// What is under the two names; the zero version where nothing is.
	place, temp contract.Version
}

func (s *scene) look(most int64) (err error) {
	if s.place, err = versionIn(s.dir, s.leaf, most); err != nil || s.intent.Temp == "" {
		return err
	}
	if !isTempName(s.intent.Temp) {
		return fs.ErrInvalid
	}
	s.temp, err = versionIn(s.dir, s.intent.Temp, most)
	return err
}

// versionIn returns the version of a regular file, zero where nothing is.
func versionIn(d dir, name string, most int64) (contract.Version, error) {
	f, err := d.open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return contract.Version{}, nil
	}
	if err != nil {
		return contract.Version{}, err
	}
	defer f.Close()
	fact, err := f.Stat()
	if err != nil {
		return contract.Version{}, err
	}
	data, err := readWhole(f, fact, contract.Quote(name), most)
	return contract.VersionOf(data), err
}

func (s *scene) settle() (contract.Outcome, error) {
	switch s.intent.Kind {
	case contract.ChangeEdit:
		return s.settleEdit()
	case contract.ChangeCreate:
		return s.settleCreate()
	case contract.ChangeDelete:
		return s.settleDelete()
	}
	return contract.OutcomeUnknown, nil
}

// settleEdit goes by this: until the swap the temporary name holds ours, after it what was displaced. Ours under it
// therefore means that the swap was not made, or taken back.
func (s *scene) settleEdit() (contract.Outcome, error) {
	before, after := s.intent.Before, s.intent.After
	switch {
	case s.place == after && (s.temp.IsZero() || s.temp == before):
		return contract.OutcomeDone, s.removeTemp()
	case s.place == before || s.temp == after:
		return contract.OutcomeNotDone, s.removeTemp()
	}
	return contract.OutcomeUnknown, nil
}

func (s *scene) settleCreate() (contract.Outcome, error) {
	switch {
	case s.place == s.intent.After:
		return contract.OutcomeDone, s.removeTemp()
	case s.place.IsZero() || !s.temp.IsZero():
		return contract.OutcomeNotDone, s.removeTemp()
	}
	return contract.OutcomeUnknown, nil
}

// settleDelete ends a deletion that took the right file away, and gives another one its name back.
func (s *scene) settleDelete() (contract.Outcome, error) {
	before := s.intent.Before
	switch {
	case s.place == before:
		return contract.OutcomeNotDone, s.removeTempIf(before)
	case s.temp == before:
		return contract.OutcomeDone, s.removeTemp()
	case s.place.IsZero() && s.temp.IsZero():
		return contract.OutcomeDone, nil
	case s.place.IsZero():
		return contract.OutcomeNotDone, s.dir.moveTo(s.intent.Temp, s.dir, s.leaf)
	}
	return contract.OutcomeUnknown, nil
}

func (s *scene) removeTempIf(v contract.Version) error {
	if s.temp != v {
		return nil
	}
	return s.removeTemp()
}

func (s *scene) removeTemp() error {
	if s.temp.IsZero() {
		return nil
	}
	return errors.Join(s.dir.remove(s.intent.Temp), s.dir.sync())
}

func (w *Workspace) settleMove(ctx context.Context, in contract.Intent) (contract.Outcome, error) {
	from, err := w.versionAt(ctx, in.Path)
	if err != nil {
		return contract.OutcomeUnknown, err
	}
	to, err := w.versionAt(ctx, in.To)
	if err != nil {
		return contract.OutcomeUnknown, err
	}
	switch {
	case from.IsZero() && to == in.Before:
		return contract.OutcomeDone, nil
	case from == in.Before && to.IsZero():
		return contract.OutcomeNotDone, nil
	}
	return contract.OutcomeUnknown, nil
}

// versionAt returns the version of what is at a place, zero where nothing is.
func (w *Workspace) versionAt(ctx context.Context, p contract.Path) (contract.Version, error) {
	f, err := w.Reader(everything{}).Load(ctx, p)
	if envelope.CodeOf(err) == envelope.PathNotFound {
		return contract.Version{}, nil
	}
	if err != nil {
		return contract.Version{}, err
	}
	return f.Version, nil
}

func (w *Workspace) settleDirectories(ctx context.Context, in contract.Intent) (contract.Outcome, error) {
	info, err := w.Reader(everything{}).Stat(ctx, in.Path)
	switch {
	case envelope.CodeOf(err) == envelope.PathNotFound:
		return contract.OutcomeNotDone, nil
	case err != nil:
		return contract.OutcomeUnknown, err
	case info.Kind != KindDirectory:
		return contract.OutcomeUnknown, nil
	}
	return contract.OutcomeDone, nil
}

// settleRemoval goes by the innermost directory, which goes first, and removes the others that it left.
func (w *Workspace) settleRemoval(ctx context.Context, in contract.Intent) (contract.Outcome, error) {
	_, err := w.Reader(everything{}).Stat(ctx, in.Path)
	switch {
	case envelope.CodeOf(err) == envelope.PathNotFound:
		Writer{Reader: w.Reader(everything{})}.RemoveEmpty(ctx, in.Directories[:len(in.Directories)-1])
		return contract.OutcomeDone, nil
	case err != nil:
		return contract.OutcomeUnknown, err
	}
	return contract.OutcomeNotDone, nil
}
