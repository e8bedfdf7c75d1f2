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
//   - A place that holds neither was changed by another program since. That is left as it is, and its outcome is
//     unknown, unless our own new file still waits under the temporary name: then the swap was not made.
//
// Nobody was told that the batch is done, since its end is durable before that, so that either end is right as long as
// it is the same for all places. Taking back never makes every place hold the bytes after, so a crash in the midst of
// this is settled by doing it again. No change of ours comes in between: the journal begins none at a place with an
// open change of an ended process, and here all places are locked.

// SettleBatch brings a batch to an end whose process ended in its midst, and returns what became of each intent, nil if
// isOpen tells that another process has done it meanwhile. The intents must hold their undo data.
func (w *Workspace) SettleBatch(ctx context.Context, intents []contract.Intent, isOpen func() (bool, error)) ([]contract.Outcome, error) {
	s := &aftermath{w: w}
	defer s.close()
	if err := s.lock(ctx, intents); err != nil {
		return nil, err
	}
	if open, err := isOpen(); err != nil || !open {
		return nil, err
	}
	return s.settle(ctx)
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
	foreign  bool // no regular file is there, or no directory for it
}

// lock finds and locks every place.
func (s *aftermath) lock(ctx context.Context, intents []contract.Intent) error {
	var slots []int
	for _, in := range intents {
		q, err := s.w.question(everything{}, in.Path, Write)
		if err != nil {
			return err
		}
		at, err := q.root.tree.parent(ctx, q)
		if err != nil {
			return err
		}
		b := &batchScene{scene: scene{intent: in, dir: at.dir, leaf: at.leaf}, question: q, at: at, foreign: len(at.missing) > 0}
		s.scenes = append(s.scenes, b)
		if b.foreign {
			continue
		}
		n, err := s.w.locks.slotOf(at.dir, at.leaf)
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

func (s *aftermath) settle(ctx context.Context) ([]contract.Outcome, error) {
	complete := true
	for _, b := range s.scenes {
		if err := b.lookUnlessForeign(s.w.options.FileBytes); err != nil {
			return nil, fault(err, b.question.quoted())
		}
		complete = complete && b.place == b.intent.After
	}
	outcomes := make([]contract.Outcome, len(s.scenes))
	for i, b := range s.scenes {
		var err error
		outcomes[i] = contract.OutcomeDone
		if complete {
			err = b.removeOwnTemp()
		} else {
			outcomes[i], err = b.takeBack(ctx, s.w)
		}
		if err != nil {
			return nil, fault(err, b.question.quoted())
		}
	}
	return outcomes, nil
}

func (b *batchScene) lookUnlessForeign(most int64) error {
	if b.foreign {
		return nil
	}
	err := b.look(most)
	if errors.Is(err, fs.ErrInvalid) || envelope.CodeOf(err) == envelope.TooLarge {
		b.foreign = true
		return nil
	}
	return err
}

func (b *batchScene) takeBack(ctx context.Context, w *Workspace) (contract.Outcome, error) {
	in := b.intent
	switch {
	case b.foreign:
		return contract.OutcomeUnknown, nil
	case b.place == in.After:
		if err := b.removeOwnTemp(); err != nil {
			return "", err
		}
		return contract.OutcomeNotDone, w.unwrite(ctx, b.question, b.at, in)
	case b.place == in.Before, b.temp == in.After:
		return contract.OutcomeNotDone, b.removeOwnTemp()
	}
	return contract.OutcomeUnknown, nil
}

// removeOwnTemp removes the temporary file if it is one of the two that the change can have left there.
func (b *batchScene) removeOwnTemp() error {
	if b.temp != b.intent.Before && b.temp != b.intent.After {
		return nil
	}
	return b.removeTemp()
}

func (s *aftermath) close() {
	for _, b := range s.scenes {
		b.at.dir.Close()
	}
	if s.release != nil {
		s.release()
	}
}

// unwrite puts the bytes before an intent in the place of those after it. The caller has the lock. It uses the intent's
// own temporary name, so that a crash leaves nothing that would not be found again.
func (w *Workspace) unwrite(ctx context.Context, q *question, at parent, in contract.Intent) error {
	bare := Writer{Reader: w.Reader(everything{})}
	t, err := bare.hold(ctx, q, at)
	if err != nil {
		return err
	}
	defer t.drop()
	if t.version != in.After {
		return t.conflict(envelope.VersionChanged, "%s was changed by another program.")
	}
	r := &replacement{w: bare, target: t, temp: in.Temp}
	if err := r.prepare(in.Path, in.Undo); err != nil {
		return err
	}
	if r.result.After != in.Before {
		r.staged.discard()
		return errors.New("the undo data do not lead back to the bytes before")
	}
	return r.run(ctx)
}
