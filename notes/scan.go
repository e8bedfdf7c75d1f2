package notes

import (
	"cmp"
	"context"
	"errors"
	"sync"

	"writ/envelope"
)

// A scan reads every note once and keeps numbers, not text: how many notes hold each word, and for the notes that match
// one small record each. The query's words are found token by token; where a term is more than one token (a phrase, a
// name such as fs.readFile) and a note has all of them, the note's folded text is searched for the term itself.

type scan struct {
	query      *Query
	visibility string
	table      atomTable
	needles    []needle   // the atoms
	lost       []lostWord // words to find neighbours for

	mu   sync.Mutex
	idle []*worker
	all  []*worker
}

// worker looks at one note at a time.
type worker struct {
	*scan
	tally
	tokens tokenizer
	met    map[neighbour]struct{} // words of the note in hand that are like one that is looked for
	hits   []float32              // weight of each atom's occurrences in the note in hand
	folded []byte                 // the note in hand, folded; empty until it is needed
	field  []byte                 // room for one folded field
}

func newScan(q *Query, visibility string) *scan {
	s := &scan{query: q, visibility: visibility, table: newAtomTable(q.atoms)}
	for _, a := range q.atoms {
		s.needles = append(s.needles, a.needle())
	}
	return s
}

func (s *scan) run(ctx context.Context, source Source) (tally, error) {
	left, err := source.Notes(ctx, func(c Candidate) error {
		if err := ctx.Err(); err != nil {
			return err
		}
		w := s.borrow()
		defer s.giveBack(w)
		return w.visit(c)
	})
	if err != nil {
		return tally{}, err
	}
	t := s.total()
	t.leftOut = left
	return t, nil
}

// total is what all workers have counted.
func (s *scan) total() tally {
	total := s.newTally()
	for _, w := range s.all {
		total.add(&w.tally)
	}
	return total
}

func (s *scan) borrow() *worker {
	s.mu.Lock()
	defer s.mu.Unlock()
	if n := len(s.idle); n > 0 {
		w := s.idle[n-1]
		s.idle = s.idle[:n-1]
		return w
	}
	w := &worker{scan: s, tally: s.newTally(), hits: make([]float32, len(s.query.atoms)), met: map[neighbour]struct{}{}}
	s.all = append(s.all, w)
	return w
}

func (s *scan) giveBack(w *worker) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.idle = append(s.idle, w)
}

func (s *scan) newTally() tally {
	return tally{
		docs:    make([]int, len(s.query.terms)+len(s.query.atoms)),
		near:    make([]map[string]int, len(s.query.atoms)),
		skipped: map[envelope.Code]int{},
	}
}

func (w *worker) visit(c Candidate) error {
	if !w.query.mayBeAt(c.Path) {
		return nil
	}
	text, err := c.Text()
	if err != nil {
		return w.skip(err)
	}
	if r, _, ok := w.examine(c.Path, text); ok {
		r.modified = c.Modified
		w.keep(r)
	}
	return nil
}

// skip counts a file that can't be searched. One that is gone by now is no loss, and of a private one nothing is told.
func (w *worker) skip(err error) error {
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	code := cmp.Or(envelope.CodeOf(err), envelope.IO)
	if code != envelope.PathNotFound && code != envelope.PrivateNote {
		w.skipped[code]++
	}
	return nil
}
