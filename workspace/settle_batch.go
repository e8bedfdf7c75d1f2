package workspace

import (
	"context"
	"errors"
	"io/fs"

	"writ/contract"
	"writ/envelope"
)

// How a batch that was cut short ends:
//
//   - If every place holds the bytes after, all swaps were made, and the batch is done.
//   - If not, it is taken back: every place that holds the bytes after gets those before again, worked out from the undo
//     data, which are durable since before the first swap.
//   - A place that holds neither, or no regular file, or that can't be reached any more, was changed by another program
//     since. That is left as it is, and its outcome is unknown, unless our own new file still waits under the temporary
//     name: then the swap was not made. One such place keeps no other from being taken back.
//   - What another program is in the way of at the moment, or the disk, leaves the batch open, to be settled later.
//
// Nobody was told that the batch is done, since its end is durable before that, so that either end is right as long as
// it is the same for all places. Taking back never makes every place hold the bytes after, so a crash in the midst of
// this is settled by doing it again.
//
// Who makes a batch holds the locks of all its places until its end is on record. Here they are all held too, from the
// first look until the end is on record. So a batch that is found open under them is no longer being made, whether its
// process lives or not, and no change of ours comes in between: the journal begins none at a place of an open batch.

// UnendedBatch is a batch that was left open, as its journal knows it.
type UnendedBatch interface {
	// IsOpen tells whether the batch is still open: another process may have settled it.
	IsOpen() (bool, error)
	// End records what became of each intent, in their order.
	End(outcomes []contract.Outcome) error
}

// SettleBatch brings a batch that was cut short to an end and puts it on record. The intents must hold their undo data;
// one whose data are lost can't be taken back. An error means that the batch is still open, and may be settled later.
func (w *Workspace) SettleBatch(ctx context.Context, intents []contract.Intent, batch UnendedBatch) error {
	s := &aftermath{w: w}
	defer s.close()
	if err := s.lock(ctx, intents); err != nil {
		return err
	}
	if open, err := batch.IsOpen(); err != nil || !open {
		return err
	}
	outcomes, err := s.settle(ctx)
	if err != nil {
		return err
	}
	return batch.End(outcomes)
}

// aftermath is what an interrupted batch left.
type aftermath struct {
	w       *Workspace
	scenes  []*batchScene
	release func()
}

// batchScene is one place of it.
type batchScene struct {
	scene
	question *question
	at       parent
	foreign  bool // no regular file is there, no directory for it, or none that can be reached
}

// lock finds and locks every place.
func (s *aftermath) lock(ctx context.Context, intents []contract.Intent) error {
	var slots []int
	for _, in := range intents {
		b := &batchScene{scene: scene{intent: in}}
		s.scenes = append(s.scenes, b)
		if err := b.find(ctx, s.w); err != nil {
			return err
		}
		if b.foreign {
			continue
		}
		n, err := s.w.locks.slotOf(b.dir, b.leaf)
		if err != nil {
			return err
		}
		slots = append(slots, n)
	}
	release, err := s.w.locks.acquireAll(ctx, slots)
	if err != nil {
		return err
	}
	s.release = release
	return nil
}

// find finds the place, and marks it as foreign where the way to it is not as it was. Its error may be gone later.
func (b *batchScene) find(ctx context.Context, w *Workspace) (err error) {
	if b.question, err = w.question(everything{}, b.intent.Path, Write); err != nil {
		return b.markForeign(ctx, err)
	}
	if b.at, err = b.question.root.tree.parent(ctx, b.question); err != nil {
		return b.markForeign(ctx, fault(err, b.question.quoted()))
	}
	b.dir, b.leaf = b.at.dir, b.at.leaf
	b.foreign = len(b.at.missing) > 0 || b.at.resolved != b.question.rel || !isTempName(b.intent.Temp)
	return nil
}

// markForeign takes an error for the work of another program, unless it may be gone at the next try.
func (b *batchScene) markForeign(ctx context.Context, err error) error {
	if mayPass(ctx, err) {
		return err
	}
	b.foreign = true
	return nil
}

// mayPass tells whether an error is one of the moment.
func mayPass(ctx context.Context, err error) bool {
	if err == nil {
		return false
	}
	code := envelope.CodeOf(err)
	switch code {
	case envelope.IO, envelope.DiskFull, "":
		return true
	}
	return ctx.Err() != nil || code.Status() == envelope.Unavailable
}

// settle does what can be done at every place, and returns the outcomes if that was all.
func (s *aftermath) settle(ctx context.Context) ([]contract.Outcome, error) {
	complete := true
	for _, b := range s.scenes {
		if err := b.inspect(ctx, s.w.options.FileBytes); err != nil {
			return nil, err
		}
		complete = complete && b.place == b.intent.After
	}
	outcomes := make([]contract.Outcome, len(s.scenes))
	var errs []error
	for i, b := range s.scenes {
		var err error
		if complete {
			outcomes[i], err = contract.OutcomeDone, b.tidy()
		} else {
			outcomes[i], err = b.takeBack(ctx, s.w)
		}
		if err != nil {
			outcomes[i], err = contract.OutcomeUnknown, b.markForeign(ctx, fault(err, b.question.quoted()))
		}
		errs = append(errs, err)
	}
	return outcomes, errors.Join(errs...)
}

// inspect looks at what is under the two names. What is odd under the temporary one is not ours, and counts as nothing.
func (b *batchScene) inspect(ctx context.Context, most int64) (err error) {
	if b.foreign {
		return nil
	}
	if !b.question.root.confirmDir(&b.at) {
		return changedDuringCall(b.question.quoted())
	}
	if b.place, err = b.versionUnder(b.leaf, most); err != nil {
		return b.markForeign(ctx, err)
	}
	if b.temp, err = b.versionUnder(b.intent.Temp, most); mayPass(ctx, err) {
		return err
	}
	return nil
}

// versionUnder returns the version of the regular file under a name, zero where nothing is.
func (b *batchScene) versionUnder(name string, most int64) (v contract.Version, err error) {
	fact, err := b.dir.stat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return v, nil
	case err == nil && !fact.Mode().IsRegular():
		return v, notRegular(b.question.quoted())
	case err == nil:
		v, err = versionIn(b.dir, name, most)
	}
	return v, fault(err, b.question.quoted())
}

func (b *batchScene) takeBack(ctx context.Context, w *Workspace) (contract.Outcome, error) {
	in := b.intent
	switch {
	case b.foreign:
		return contract.OutcomeUnknown, nil
	case b.place == in.After:
		if err := b.tidy(); err != nil {
			return "", err
		}
		err := w.unwrite(ctx, b.question, b.at, in)
		if errors.Is(err, errNoWayBack) {
			return contract.OutcomeUnknown, nil
		}
		return contract.OutcomeNotDone, err
	case b.place == in.Before, b.temp == in.After:
		return contract.OutcomeNotDone, b.tidy()
	}
	return contract.OutcomeUnknown, nil
}

// tidy removes the temporary file if it is one of the two that the change can have left there, and makes durable what
// the process had no time to.
func (b *batchScene) tidy() error {
	if !b.temp.IsZero() && (b.temp == b.intent.Before || b.temp == b.intent.After) {
		return b.removeTemp()
	}
	return b.dir.sync()
}

func (s *aftermath) close() {
	for _, b := range s.scenes {
		if b.at.dir != nil {
			b.at.dir.Close()
		}
	}
	if s.release != nil {
		s.release()
	}
}

// errNoWayBack tells that the undo data do not lead from the bytes after to those before.
var errNoWayBack = errors.New("the undo data do not lead back to the bytes before")

// unwrite puts the bytes before an intent in the place of those after it. The caller has the lock. It uses the intent's
// own temporary name, so that a crash leaves nothing that would not be found again.
func (w *Workspace) unwrite(ctx context.Context, q *question, at parent, in contract.Intent) error {
	bare := Writer{Reader: w.Reader(everything{})}
	t, err := bare.hold(ctx, q, at)
	if err != nil {
		return err
	}
	defer t.drop()
	if t.version() != in.After {
		return t.conflict(envelope.VersionChanged, "%s was changed by another program.")
	}
	before, err := splice(t.data, in.Undo)
	if err != nil || t.sum.version(before, 0) != in.Before {
		return errNoWayBack
	}
	r := &replacement{w: bare, target: t, temp: in.Temp}
	if err := r.prepare(in.Path, in.Undo); err != nil {
		return err
	}
	return r.run(ctx)
}
