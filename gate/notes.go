package gate

import (
	"context"
	"sync/atomic"

	"writ/contract"
	"writ/notes"
	"writ/policy"
	"writ/workspace"
)

// noteFinder searches the notes that a caller may read.
type noteFinder struct {
	search notes.Searcher
	source noteSource
}

// SearchNotes returns the notes that answer the query, best first.
func (f noteFinder) SearchNotes(ctx context.Context, query string, most int) (notes.Result, error) {
	q, err := notes.ParseQuery(query)
	if err != nil {
		return notes.Result{}, err
	}
	q.Most = most
	return f.search.Search(ctx, q, f.source)
}

// IsNote tells whether a file at that path counts as a note.
func (f noteFinder) IsNote(path contract.Path) bool { return f.source.policy.NotesInclude(path) }

// noteSource hands out the notes among the files that the caller may read. Their text is as it may be seen, so that no
// search and no index knows a secret.
type noteSource struct {
	policy *policy.Policy
	files  workspace.Reader
	// tell is told how many notes have been visited; it may be nil.
	tell func(done, total float64, message string)
}

// tellEvery is after how many notes a caller is told how far the walk is.
const tellEvery = 250

// Notes calls visit for each file that the policy counts as a note.
func (s noteSource) Notes(ctx context.Context, visit func(notes.Candidate) error) (left workspace.Skips, err error) {
	err = s.each(ctx, s.telling(visit), func(ctx context.Context, see func(*workspace.Visited)) (err error) {
		left, err = s.files.Walk(ctx, contract.Path{}, see)
		return err
	})
	return left, err
}

// telling is visit, which also tells how far it is.
func (s noteSource) telling(visit func(notes.Candidate) error) func(notes.Candidate) error {
	if s.tell == nil {
		return visit
	}
	var visited atomic.Int64
	return func(c notes.Candidate) error {
		if n := visited.Add(1); n%tellEvery == 0 {
			s.tell(float64(n), 0, "notes are read one by one")
		}
		return visit(c)
	}
}

// each calls visit for the notes among the files of a walk, and ends the walk at the first error that visit returns.
func (s noteSource) each(ctx context.Context, visit func(notes.Candidate) error, walk func(context.Context, func(*workspace.Visited)) error) error {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	err := walk(ctx, func(v *workspace.Visited) {
		if ctx.Err() != nil || !s.policy.NotesInclude(v.Path()) {
			return
		}
		candidate, err := s.candidate(v)
		if err != nil {
			return // it is gone
		}
		if err := visit(candidate); err != nil {
			stop(err)
		}
	})
	if cause := context.Cause(ctx); cause != nil {
		return cause
	}
	return err
}

func (s noteSource) candidate(v *workspace.Visited) (notes.Candidate, error) {
	stamp, err := v.Stamp()
	if err != nil {
		return notes.Candidate{}, err
	}
	return notes.Candidate{Path: v.Path(), Modified: stamp.Modified, State: stamp.State, Text: func() ([]byte, error) {
		text, err := s.files.TextOf(v)
		if err != nil {
			return nil, err
		}
		return text.Shown(), nil
	}}, nil
}

// Load reads one note.
func (s noteSource) Load(ctx context.Context, path contract.Path) (notes.Loaded, error) {
	file, err := s.files.Load(ctx, path)
	if err != nil {
		return notes.Loaded{}, err
	}
	text, err := s.files.Decode(file.Data, path)
	if err != nil {
		return notes.Loaded{}, err
	}
	return notes.Loaded{Text: text.Shown(), Version: file.Version}, nil
}
