package ledger

import (
	"context"
	"time"

	"writ/contract"
)

// A batch is a change of kind batch, the head, and the changes that name it. All of an atomic batch are begun in one
// transaction and end in one, so that at any time either all of them are open or none is. Its end is durable before the
// call is answered: a batch that is found open was never acknowledged, so that whoever finds it may finish it or take it
// back, as long as it is done with all of it.

// BeginBatch makes the intents of a batch durable, all of them or none, and returns the names of the head and of each
// change. An error means that none of the changes may be made.
func (l *Ledger) BeginBatch(ctx context.Context, b contract.Batch) (batchID string, changeIDs []string, err error) {
	if err := ctx.Err(); err != nil {
		return "", nil, err
	}
	s, err := l.open(ctx)
	if err != nil {
		return "", nil, err
	}
	ids, err := s.beginBatch(l.clock(), b)
	if err != nil {
		return "", nil, l.fail(s, err)
	}
	for _, id := range ids {
		changeIDs = append(changeIDs, nameOf(id))
	}
	return changeIDs[0], changeIDs[1:], nil
}

// beginBatch returns the number of the head, then those of the changes.
func (s *store) beginBatch(now time.Time, b contract.Batch) ([]int64, error) {
	rows := make([]packed, len(b.Intents))
	outside := make([][][]byte, len(b.Intents))
	for i, in := range b.Intents {
		rows[i], outside[i] = pack(in.Undo)
		if outside[i] == nil {
			continue
		}
		rows[i].image = sumOf(outside[i])
		if err := s.images.place(rows[i].image, outside[i]); err != nil {
			return nil, err
		}
	}
	ids, err := s.insertBatch(now, b, rows)
	if err != nil {
		return nil, err
	}
	for i := range rows {
		if err == nil {
			err = s.confirmImage(rows[i].image, outside[i])
		}
		s.tidying.count(rows[i].size)
	}
	if err == nil {
		err = s.wal.wait()
	}
	if err != nil {
		_ = s.settleAll(ids, contract.OutcomeNotDone) // see beginChange
		return nil, err
	}
	return ids, nil
}

func (s *store) insertBatch(now time.Time, b contract.Batch, rows []packed) (ids []int64, err error) {
	err = s.promise(func() error {
		head, err := s.insertHead(now, b)
		if err != nil {
			return err
		}
		ids = []int64{head}
		for i, in := range b.Intents {
			in.Batch = nameOf(head)
			id, err := s.insertRow(now, in, rows[i])
			if err != nil {
				return err
			}
			ids = append(ids, id)
		}
		return nil
	})
	return ids, err
}

func (s *store) insertHead(now time.Time, b contract.Batch) (int64, error) {
	row, _ := pack(nil)
	return s.insertRow(now, contract.Intent{Origin: b.Origin, Kind: contract.ChangeBatch, Reverts: b.Reverts}, row)
}

// OpenBatch returns the name of a head for changes that are begun one by one and stand alone. It becomes durable with
// the first of them.
func (l *Ledger) OpenBatch(ctx context.Context, b contract.Batch) (batchID string, err error) {
	s, err := l.open(ctx)
	if err != nil {
		return "", err
	}
	id, err := s.openBatch(l.clock(), b)
	if err != nil {
		return "", l.fail(s, err)
	}
	return nameOf(id), nil
}

func (s *store) openBatch(now time.Time, b contract.Batch) (head int64, err error) {
	err = s.together(func() error {
		if head, err = s.insertHead(now, b); err != nil {
			return err
		}
		return s.settleRow(head, contract.OutcomeDone)
	})
	return head, err
}

// EndBatch records what became of a batch and of each change in it, in one transaction. If all of it was done, that is
// durable when EndBatch returns. Changes that have an outcome keep it.
func (l *Ledger) EndBatch(ctx context.Context, batchID string, outcomes map[string]contract.Outcome) error {
	ids := make(map[int64]contract.Outcome, len(outcomes)+1)
	for name, o := range outcomes {
		id, err := parseName(name)
		if err != nil {
			return err
		}
		ids[id] = o
	}
	head, err := parseName(batchID)
	if err != nil {
		return err
	}
	ids[head] = outcomeOfAll(outcomes)
	s, err := l.open(context.WithoutCancel(ctx))
	if err != nil {
		return err
	}
	err = s.endBatch(ids)
	if err == nil && ids[head] == contract.OutcomeDone {
		err = s.wal.wait()
	}
	if err != nil {
		return l.fail(s, err)
	}
	return nil
}

func outcomeOfAll(outcomes map[string]contract.Outcome) contract.Outcome {
	count := map[contract.Outcome]int{}
	for _, o := range outcomes {
		count[o]++
	}
	for _, o := range []contract.Outcome{contract.OutcomeDone, contract.OutcomeNotDone} {
		if count[o] == len(outcomes) {
			return o
		}
	}
	return contract.OutcomeUnknown
}

func (s *store) endBatch(ids map[int64]contract.Outcome) error {
	return s.together(func() error {
		for id, o := range ids {
			if err := s.settleRow(id, o); err != nil {
				return err
			}
		}
		return nil
	})
}

func (s *store) settleAll(ids []int64, o contract.Outcome) error {
	all := make(map[int64]contract.Outcome, len(ids))
	for _, id := range ids {
		all[id] = o
	}
	return s.endBatch(all)
}

// IsOpen tells whether a change has no outcome yet.
func (l *Ledger) IsOpen(ctx context.Context, changeID string) (open bool, err error) {
	id, err := parseName(changeID)
	if err != nil {
		return false, err
	}
	s, err := l.upToDate(ctx)
	if err != nil {
		return false, err
	}
	row := s.readers.QueryRowContext(ctx, "SELECT count(*) FROM changes WHERE id = ? AND outcome IS NULL", id)
	if err := row.Scan(&open); err != nil {
		return false, l.fail(s, err)
	}
	return open, nil
}
