package workspace

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"io/fs"
	"strings"

	"writ/contract"
	"writ/envelope"
)

// Sweep removes what a change that has an outcome left under its temporary name, if it is what the change can have left
// there. Usually nothing is; but a power cut can undo the removal of a name while the outcome is on record.
func (w *Workspace) Sweep(ctx context.Context, in contract.Intent) error {
	q, err := w.question(everything{}, in.Path, Write)
	if err != nil {
		return err
	}
	return settle(ctx, q.root.tree, q, func() error {
		at, err := q.root.tree.parent(ctx, q)
		if err != nil && !errors.Is(err, errMoved) && ctx.Err() == nil {
			return nil // there is no way to the place any more
		}
		if err != nil {
			return err
		}
		defer at.dir.Close()
		if len(at.missing) > 0 || !isThere(at.dir, in.Temp) && !isThere(at.dir, draftName(in.Temp)) {
			return nil
		}
		return w.sweep(ctx, in, at)
	})
}

func (w *Workspace) sweep(ctx context.Context, in contract.Intent, at parent) error {
	release, err := w.locks.acquire(ctx, at.dir, at.leaf)
	if err != nil {
		return err
	}
	defer release()
	s := &scene{intent: in, dir: at.dir, leaf: at.leaf}
	if err := s.look(w.options.FileBytes); err != nil {
		return err
	}
	if s.temp != in.Before && s.temp != in.After {
		return nil
	}
	return s.removeTemp()
}

func isThere(d dir, name string) bool {
	_, err := d.stat(name)
	return err == nil
}

// Settle finds out what became of a change whose process ended before it could tell, and brings it to an end: a
// temporary file of it is removed, a deleted file that was not yet removed is, and what is told is durable. If what is
// on disk is not what the change could have left, the outcome is unknown and everything is kept. It must not be asked
// about a change that is still under way.
func (w *Workspace) Settle(ctx context.Context, in contract.Intent) (contract.Outcome, error) {
	q, err := w.question(everything{}, in.Path, Write)
	if err != nil {
		return contract.OutcomeUnknown, err
	}
	outcome := contract.OutcomeUnknown
	err = settle(ctx, q.root.tree, q, func() error {
		found, err := w.settleOnce(ctx, q, in)
		if err == nil {
			outcome = found
		}
		return err
	})
	return outcome, err
}

// settleOnce is Settle, and gives errMoved where it is to begin again.
func (w *Workspace) settleOnce(ctx context.Context, q *question, in contract.Intent) (contract.Outcome, error) {
	if in.Kind == contract.ChangeRmdir {
		return w.settleRemoval(ctx, in)
	}
	at, err := q.root.tree.parent(ctx, q)
	if err != nil {
		return contract.OutcomeUnknown, err
	}
	defer at.dir.Close()
	release, err := w.locks.acquire(ctx, at.dir, at.leaf)
	if err != nil {
		return contract.OutcomeUnknown, err
	}
	defer release()
	outcome, err := w.judge(ctx, in, at)
	if err == nil {
		err = w.makeLasting(ctx, in, at, outcome)
	}
	if err != nil && !errors.Is(err, errMoved) {
		err = fault(err, q.quoted())
	}
	return outcome, err
}

// judge finds out what became of a change at a place, and tidies up after it.
func (w *Workspace) judge(ctx context.Context, in contract.Intent, at parent) (contract.Outcome, error) {
	switch {
	case in.Kind == contract.ChangeMove:
		return w.judgeMove(ctx, in, at)
	case in.Kind == contract.ChangeMkdir:
		return judgeDirectory(at)
	case len(at.missing) > 0:
		return absentOutcome(in), nil
	}
	s := &scene{intent: in, dir: at.dir, leaf: at.leaf}
	if err := s.look(w.options.FileBytes); err != nil {
		return contract.OutcomeUnknown, err
	}
	return s.settle()
}

// absentOutcome is what became of a change whose directory is not there.
func absentOutcome(in contract.Intent) contract.Outcome {
	if in.Kind == contract.ChangeCreate {
		return contract.OutcomeNotDone
	}
	return contract.OutcomeUnknown
}

// makeLasting makes durable what is about to be told, and takes the directories away again of what was not done.
func (w *Workspace) makeLasting(ctx context.Context, in contract.Intent, at parent, outcome contract.Outcome) error {
	switch outcome {
	case contract.OutcomeUnknown:
		return nil
	case contract.OutcomeNotDone:
		err := at.dir.sync()
		Writer{Reader: w.Reader(everything{})}.RemoveEmpty(ctx, in.Directories)
		return err
	}
	if len(in.Directories) > 0 {
		c, err := w.openChain(ctx, in.Directories)
		if err != nil {
			return err
		}
		defer c.close()
		if err := c.sync(); err != nil {
			return err
		}
	}
	return at.dir.sync()
}

// scene is what an interrupted change left.
type scene struct {
	intent contract.Intent
	dir    editDir
	leaf   string
	// What is under the two names; the zero version where nothing is.
	place, temp contract.Version
}

// notOurs stands for the version of what no change of ours can have left: a link, a directory, a file that is too large.
var notOurs = contract.VersionFromSum([sha256.Size]byte(bytes.Repeat([]byte{0xff}, sha256.Size)))

// look finds out what is under the names. A draft is removed at once: it never had a place.
func (s *scene) look(most int64) (err error) {
	if s.place, err = versionIn(s.dir, s.leaf, most); err != nil || s.intent.Temp == "" {
		return err
	}
	if !isTempName(s.intent.Temp) {
		return errors.New("the intent names no temporary file")
	}
	if err := s.dir.remove(draftName(s.intent.Temp)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	s.temp, err = versionIn(s.dir, s.intent.Temp, most)
	return err
}

// versionIn returns the version of a file, zero where nothing is.
func versionIn(d dir, name string, most int64) (contract.Version, error) {
	fact, err := d.stat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return contract.Version{}, nil
	case err != nil:
		return contract.Version{}, err
	case !fact.Mode().IsRegular(), fact.Size() > most:
		return notOurs, nil
	}
	f, err := d.open(name)
	if err != nil {
		return contract.Version{}, openFault(err, contract.Quote(name))
	}
	defer f.Close()
	if fact, err = f.Stat(); err != nil {
		return contract.Version{}, err
	}
	data, err := readWhole(f, fact, contract.Quote(name), most)
	return contract.VersionOf(data), err
}

func (s *scene) settle() (contract.Outcome, error) {
	if !s.temp.IsZero() && s.temp != s.intent.Before && s.temp != s.intent.After && s.intent.Kind != contract.ChangeDelete {
		return contract.OutcomeUnknown, s.keptAside()
	}
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

// keptAside tells of a file under the temporary name that can be the only copy of what another program wrote.
func (s *scene) keptAside() error {
	return envelope.Errorf(envelope.OutcomeUnknown, "It can't be told whether %s was changed. What another program wrote is kept beside it as %s.",
		contract.Quote(s.intent.Path.String()), contract.Quote(s.intent.Temp))
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
	case s.place.IsZero() || s.temp == s.intent.After:
		return contract.OutcomeNotDone, s.removeTemp()
	}
	return contract.OutcomeUnknown, nil
}

// settleDelete ends a deletion that took the right file away, and gives another one its name back.
func (s *scene) settleDelete() (contract.Outcome, error) {
	before := s.intent.Before
	switch {
	case s.temp == before && s.place == before:
		return contract.OutcomeNotDone, s.removeTemp()
	case s.temp == before:
		return contract.OutcomeDone, s.removeTemp()
	case s.temp.IsZero() && s.place == before:
		return contract.OutcomeNotDone, nil
	case s.temp.IsZero() && s.place.IsZero():
		return contract.OutcomeDone, nil
	case s.place.IsZero():
		return contract.OutcomeNotDone, s.dir.moveTo(s.intent.Temp, s.dir, s.leaf)
	case s.temp.IsZero():
		return contract.OutcomeUnknown, nil
	}
	return contract.OutcomeUnknown, s.keptAside()
}

func (s *scene) removeTemp() error {
	if s.temp.IsZero() {
		return nil
	}
	return errors.Join(s.dir.remove(s.intent.Temp), s.dir.sync())
}

// judgeMove looks at both places of a move.
func (w *Workspace) judgeMove(ctx context.Context, in contract.Intent, from parent) (contract.Outcome, error) {
	q, err := w.question(everything{}, in.To, Write)
	if err != nil {
		return contract.OutcomeUnknown, err
	}
	to, err := q.root.tree.parent(ctx, q)
	if err != nil {
		return contract.OutcomeUnknown, err
	}
	defer to.dir.Close()
	source, err := from.version(w.options.FileBytes)
	if err != nil {
		return contract.OutcomeUnknown, err
	}
	destination, err := to.version(w.options.FileBytes)
	if err != nil {
		return contract.OutcomeUnknown, err
	}
	switch {
	case source.IsZero() && destination == in.Before:
		return contract.OutcomeDone, to.dir.sync()
	case source == in.Before && destination.IsZero():
		return contract.OutcomeNotDone, to.dir.sync()
	case source == in.Before && destination == in.Before:
		return judgeBothNames(q.root.tree, from, to)
	}
	return contract.OutcomeUnknown, nil
}

// version returns the version of the file at a place, zero where nothing is.
func (p *parent) version(most int64) (contract.Version, error) {
	if len(p.missing) > 0 {
		return contract.Version{}, nil
	}
	return versionIn(p.dir, p.leaf, most)
}

// judgeBothNames judges a move after which both names are there. They can be one name in two spellings, of which the
// directory lists one; or the file got the new name and did not lose the old one yet, see moveTo.
func judgeBothNames(t tree, from, to parent) (contract.Outcome, error) {
	fact, err1 := from.dir.stat(from.leaf)
	other, err2 := to.dir.stat(to.leaf)
	if err := errors.Join(err1, err2); err != nil || !sameFile(fact, other) {
		return contract.OutcomeUnknown, err
	}
	if from.directory != to.directory || !t.foldsNames() || !strings.EqualFold(from.leaf, to.leaf) {
		return contract.OutcomeNotDone, errors.Join(to.dir.remove(to.leaf), to.dir.sync())
	}
	switch listed, err := spellingIn(from.dir, from.leaf, fact); {
	case err != nil:
		return contract.OutcomeUnknown, err
	case listed == to.leaf:
		return contract.OutcomeDone, nil
	case listed == from.leaf:
		return contract.OutcomeNotDone, nil
	}
	return contract.OutcomeUnknown, nil
}

func judgeDirectory(at parent) (contract.Outcome, error) {
	if len(at.missing) > 0 {
		return contract.OutcomeNotDone, nil
	}
	fact, err := at.dir.stat(at.leaf)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return contract.OutcomeNotDone, nil
	case err != nil || !fact.IsDir():
		return contract.OutcomeUnknown, err
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
