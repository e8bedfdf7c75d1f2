package notes

import (
	"context"
	"database/sql"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"writ/contract"
	"writ/envelope"
)

// A search by index takes the same steps as a scan (see finder), but asks the database which notes to look at. The
// database knows tokens: where a term is more than its tokens (fs.readFile, "a phrase", C++), the notes that have the
// tokens are read to see whether they have the term. Where it is not, only the best are read, for their order and for
// what is shown of them.

const (
	// spare is how many more notes than are shown are read and put in order.
	spare = 5
	// many notes are not all put in order by the database.
	many = 500
	// keptNotes is how many notes are kept from ordering for showing.
	keptNotes = 100
	keptBytes = 256 << 10 // of one note
)

// asking carries out one search.
type asking struct {
	ctx     context.Context
	store   *store
	tx      *sql.Tx // one state of the database for the whole search
	scanner Scanner
	source  Source
	query   *Query
	totals  totals
}

func (s *store) search(ctx context.Context, scanner Scanner, q *Query, source Source) (Result, error) {
	result := emptyResult()
	tx, err := s.readers.BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
	if err != nil {
		return result, err
	}
	defer func() { _ = tx.Rollback() }()
	a := &asking{ctx: ctx, store: s, tx: tx, scanner: scanner, source: source, query: q}
	if err := a.begin(); err != nil {
		return result, err
	}
	if result.Skipped, err = a.skipped(); err != nil {
		return result, err
	}
	sel, err := a.find()
	if err != nil || sel.total == 0 {
		return result, err
	}
	return scanner.present(ctx, source, sel, result)
}

// begin learns how many notes there are, and forgets counts of an earlier state.
func (a *asking) begin() error {
	var generation int64
	err := a.tx.QueryRowContext(a.ctx, "SELECT generation, notes, bytes, removed FROM totals").Scan(&generation, &a.totals.notes, &a.totals.bytes, &a.totals.removed)
	if err != nil {
		return err
	}
	s := a.store
	s.untidy.Store(a.totals.removed >= tidyDue)
	s.counting.Lock()
	defer s.counting.Unlock()
	if generation != s.generation || len(s.counts) > 10_000 {
		clear(s.counts)
		s.generation = generation
	}
	path := a.lookup(byPath)
	if len(path.where) == 0 {
		return nil
	}
	return a.tx.QueryRowContext(a.ctx, "SELECT count(*), coalesce(sum(n.length), 0)"+path.from(), path.values()...).Scan(&a.totals.notes, &a.totals.bytes)
}

// skipped counts the files that can't be searched.
func (a *asking) skipped() (map[envelope.Code]int, error) {
	skipped := map[envelope.Code]int{}
	where, values := "", []any{}
	for _, f := range a.query.filters {
		if f.key == "path" {
			condition, arg := f.condition("folded_path")
			where += " AND " + condition
			values = append(values, arg)
		}
	}
	rows, err := a.tx.QueryContext(a.ctx, "SELECT skip, count(*) FROM notes WHERE skip <> ''"+where+" GROUP BY skip", values...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var code string
		var n int
		if err := rows.Scan(&code, &n); err != nil {
			return nil, err
		}
		if code != hidden {
			skipped[envelope.Code(code)] = n
		}
	}
	return skipped, rows.Err()
}

// find returns what the first tier has that finds any.
func (a *asking) find() (found, error) {
	first, err := a.strictly()
	if err != nil || first.total > 0 {
		return first, err
	}
	if first, err = a.loosely(); err != nil || first.total > 0 {
		return first, err
	}
	repairs, err := a.repairs(first.tally)
	if err != nil {
		return found{}, err
	}
	if len(repairs) > 0 {
		repaired := a.query.repaired(repairs)
		b := *a
		b.query = &repaired
		second, err := b.loosely()
		if err != nil || second.total > 0 {
			second.repaired = repairs
			return second, err
		}
	}
	return a.sentence(first)
}

func (a *asking) strictly() (found, error) {
	all := make([]int, len(a.query.terms))
	for i := range all {
		all[i] = i
	}
	for _, terms := range [][]int{all, a.query.kept} {
		f, err := a.gather(a.lookupTerms(terms), selection{tier: TierExact, columns: terms}, a.query.isTokens(terms))
		if err != nil || f.total > 0 {
			return f, err
		}
		if len(terms) == len(a.query.kept) {
			break
		}
	}
	return found{}, nil
}

func (a *asking) loosely() (found, error) {
	columns := a.query.atomColumns(a.query.loose)
	f, err := a.gather(a.lookupAtoms(a.query.loose, " AND "), selection{tier: TierAll, columns: columns}, true)
	if err != nil || f.total > 0 {
		return f, err
	}
	return f, a.countAtoms(f.tally)
}

// countAtoms counts the notes with each word. Of what a question is put with it is enough to know that it is there,
// while other words are.
func (a *asking) countAtoms(t *tally) error {
	others := false
	for _, functions := range []bool{false, true} {
		for _, i := range a.query.loose {
			if isFunctionWord(a.query.atoms[i].text) != functions {
				continue
			}
			l := a.lookupAtoms([]int{i}, "")
			count := a.count
			if functions && others {
				count = a.isAny
			}
			n, err := count(l)
			if err != nil {
				return err
			}
			t.docs[len(a.query.terms)+i] = n
			others = others || n > 0
		}
	}
	return nil
}

// sentence takes the notes with any of the query's rarest words.
func (a *asking) sentence(first found) (found, error) {
	first.total = 0
	if !a.query.sentence {
		return first, nil
	}
	s := a.query.rarest(first.tally)
	var atoms []int
	for _, c := range s.columns {
		atoms = append(atoms, c-len(a.query.terms))
	}
	if len(atoms) == 0 {
		return first, nil
	}
	return a.gatherAny(atoms, s)
}

// gatherAny is gather for the notes with any of the atoms, which are sorted with the rarest first. Those with rare words
// come before others, so no more words are used to find the best than give enough notes to choose from.
func (a *asking) gatherAny(atoms []int, s selection) (found, error) {
	all := a.lookupAtoms(atoms, " OR ")
	total, err := a.count(all)
	if err != nil {
		return found{}, err
	}
	few := 1
	for n := 0; few < len(atoms); few++ {
		docs, err := a.count(a.lookupAtoms(atoms[few-1:few], ""))
		if err != nil {
			return found{}, err
		}
		if n += docs; n > many {
			break
		}
	}
	f, err := a.gather(a.lookupAtoms(atoms[:few], " OR "), s, true)
	if err != nil {
		return f, err
	}
	chosen, err := a.count(a.lookupAtoms(atoms[:few], " OR "))
	f.total += total - chosen
	return f, err
}

// gather reads the notes that the lookup names and puts them in order. If the tokens say all, that is the best of them;
// else all, and only those count that the selection takes.
func (a *asking) gather(l lookup, s selection, tokensSayAll bool) (found, error) {
	f := found{selection: s, query: a.query}
	total, err := a.count(l)
	if err != nil || total == 0 {
		t := newScan(a.query, "").newTally()
		t.notes = a.totals.notes
		f.tally = &t
		return f, err
	}
	var rows []row
	if tokensSayAll {
		rows, err = a.best(l, total)
	} else {
		rows, err = a.rows(l, -1)
	}
	if err != nil {
		return found{}, err
	}
	t, taken, err := a.scan(rows, s)
	if err != nil {
		return found{}, err
	}
	f.tally, f.total = &t, taken
	if tokensSayAll {
		f.total = total - (len(rows) - taken)
	}
	return f, a.weighColumns(&t, s)
}

// best returns the notes of a lookup that promise most. To put very many in order takes long, so the database is first
// asked for those that have the words in the title, then in other places that say what a note is about.
func (a *asking) best(l lookup, total int) ([]row, error) {
	limit := a.scanner.limit() + spare
	if total > many && l.match != "" {
		for _, columns := range []string{"title", "title headings tags path"} {
			rows, err := a.rows(l.within(columns), limit)
			if err != nil {
				return nil, err
			}
			if len(rows) < limit {
				continue
			}
			tagged, err := a.rows(l.within("tags"), spare) // an alias counts as a title
			return distinctRows(rows, tagged), err
		}
	}
	return a.rows(l, limit)
}

func distinctRows(rows, more []row) []row {
	for _, r := range more {
		if !slices.ContainsFunc(rows, func(o row) bool { return o.path == r.path }) {
			rows = append(rows, r)
		}
	}
	return rows
}

// weighColumns fills in how many notes have what is asked for, which says how much finding it tells.
func (a *asking) weighColumns(t *tally, s selection) error {
	t.notes, t.bytes = a.totals.notes, a.totals.bytes
	for _, c := range s.columns {
		if err := a.countColumn(t, c); err != nil {
			return err
		}
	}
	for i, term := range a.query.terms { // what snippets look for where no line has a whole term
		for _, at := range term.atoms {
			c := len(a.query.terms) + at
			if !slices.Contains(s.columns, c) {
				t.docs[c] = max(t.docs[i], 1)
			}
		}
	}
	return nil
}

func (a *asking) countColumn(t *tally, column int) error {
	var err error
	if i := column - len(a.query.terms); i >= 0 {
		t.docs[column], err = a.count(a.lookupAtoms([]int{i}, ""))
	} else {
		t.docs[column], err = a.count(a.lookupTerms([]int{column}))
	}
	return err
}

// row is a note that the database names.
type row struct {
	path     contract.Path
	modified time.Time
}

// rows returns the best notes of a lookup, or all.
func (a *asking) rows(l lookup, limit int) ([]row, error) {
	rows, err := a.tx.QueryContext(a.ctx, "SELECT n.path, n.modified"+l.from()+l.order()+" LIMIT ?", append(l.values(), limit)...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var list []row
	for rows.Next() {
		var name string
		var modified int64
		if err := rows.Scan(&name, &modified); err != nil {
			return nil, err
		}
		path, err := contract.ParsePath(name)
		if err != nil {
			return nil, fmt.Errorf("%w: %w", errDamaged, err)
		}
		list = append(list, row{path, time.Unix(0, modified)})
	}
	return list, rows.Err()
}

// isAny returns 1 if the lookup names a note, else 0.
func (a *asking) isAny(l lookup) (int, error) {
	var n int
	err := a.tx.QueryRowContext(a.ctx, "SELECT count(*) FROM (SELECT 1"+l.from()+" LIMIT 1)", l.values()...).Scan(&n)
	return n, err
}

// count returns how many notes a lookup names. What was counted is remembered for as long as nothing changes.
func (a *asking) count(l lookup) (int, error) {
	key := l.key()
	if n, known := a.store.counted(key); known {
		return n, nil
	}
	var n int
	from := l.from()
	if l.match != "" && len(l.where) == 0 {
		from = " FROM text WHERE text MATCH ?" // ten times as fast
	}
	if err := a.tx.QueryRowContext(a.ctx, "SELECT count(*)"+from, l.values()...).Scan(&n); err != nil {
		return 0, err
	}
	a.store.remember(key, n)
	return n, nil
}

func (s *store) counted(key string) (int, bool) {
	s.counting.Lock()
	defer s.counting.Unlock()
	n, known := s.counts[key]
	return n, known
}

func (s *store) remember(key string, n int) {
	s.counting.Lock()
	defer s.counting.Unlock()
	s.counts[key] = n
}

// scan examines the notes as a scan of them alone would, and counts those that the selection takes.
func (a *asking) scan(rows []row, s selection) (tally, int, error) {
	scan := newScan(a.query, a.scanner.Visibility)
	var next, taken atomic.Int64
	var wg sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), 1+len(rows)/4) {
		wg.Go(func() {
			w := scan.borrow()
			for i := next.Add(1) - 1; i < int64(len(rows)) && a.ctx.Err() == nil; i = next.Add(1) - 1 {
				r, ok := a.examine(w, rows[i])
				if ok && s.takes(&r) {
					taken.Add(1)
				}
				if ok {
					w.keep(r)
				}
			}
		})
	}
	wg.Wait()
	return scan.total(), int(taken.Load()), a.ctx.Err()
}

func (a *asking) examine(w *worker, at row) (record, bool) {
	loaded, err := a.source.Load(a.ctx, at.path)
	if err != nil {
		return record{}, false
	}
	r, note, ok := w.examine(at.path, loaded.Text)
	r.modified = at.modified
	if ok && len(w.records) < keptNotes && len(loaded.Text) < keptBytes {
		r.read = &readNote{loaded, note}
	}
	return r, ok
}
