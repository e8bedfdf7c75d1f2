package notes

import (
	"cmp"
	"context"
	"hash/maphash"
	"slices"
	"strings"
)

// vocabulary gathers words, each once. It knows a word again by a hash, so that the collector of garbage has nothing to
// look through; that two words have the same one is as good as impossible, and would cost a repair.
type vocabulary struct {
	seed   maphash.Seed
	met    map[uint64]struct{}
	recent [4096]uint64 // of met, since most words of a text are few, and a map is slow
	list   []byte       // the words that were not known before, a line each
}

func newVocabulary() vocabulary {
	return vocabulary{seed: maphash.MakeSeed(), met: map[uint64]struct{}{}}
}

// meet takes note of a token if a word that is repaired could be near it.
func (v *vocabulary) meet(token []byte) {
	if v.isNew(token) && isVocabulary(token) {
		v.list = append(append(v.list, token...), '\n')
	}
}

func (v *vocabulary) isNew(token []byte) bool {
	hash := maphash.Bytes(v.seed, token) | 1 // no hash is an empty place's
	recent := &v.recent[hash/2%uint64(len(v.recent))]
	if *recent == hash {
		return false
	}
	*recent = hash
	if _, known := v.met[hash]; known {
		return false
	}
	v.met[hash] = struct{}{}
	return true
}

// wordLists calls visit with each list of words that the database has.
func (w *writer) wordLists(ctx context.Context, visit func(list []byte)) error {
	rows, err := w.conn.QueryContext(ctx, "SELECT words FROM vocabulary")
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var list []byte
		if err := rows.Scan(&list); err != nil {
			return err
		}
		visit(list)
	}
	return rows.Err()
}

// recallWords makes the words that the database has those that are not new.
func (w *writer) recallWords(ctx context.Context) error {
	w.segments.words = newVocabulary()
	return w.wordLists(ctx, func(list []byte) {
		eachWord(list, func(word []byte) { w.segments.words.isNew(word) })
	})
}

// mergeWords makes one list of the vocabulary's many.
func (s *store) mergeWords(ctx context.Context) error {
	return s.transaction(ctx, func(w *writer) error {
		words := newVocabulary()
		if err := w.wordLists(ctx, func(list []byte) { eachWord(list, words.meet) }); err != nil {
			return err
		}
		return w.replaceWords(ctx, words.list)
	})
}

func (w *writer) replaceWords(ctx context.Context, list []byte) error {
	if _, err := w.conn.ExecContext(ctx, "DELETE FROM vocabulary"); err != nil {
		return err
	}
	return w.keepWords(ctx, list)
}

// keepWords stores words that a repair may choose. Words stay when the last note that has them goes; so whoever
// chooses one asks first whether any note has it.
func (w *writer) keepWords(ctx context.Context, list []byte) error {
	if len(list) == 0 {
		return nil
	}
	result, err := w.addWords.ExecContext(ctx, string(list))
	if err != nil {
		return err
	}
	w.lists, err = result.LastInsertId()
	return err
}

// near is a word like a lost one.
type near struct {
	text     string
	distance int
	start    int // 1 if it has the same first letter
}

// neighbours returns the words of the vocabulary that are like the lost ones, the nearest first. No note may have them
// any more.
func (a *asking) neighbours(lost []lostWord) ([][]near, error) {
	found := make([][]near, len(lost))
	rows, err := a.tx.QueryContext(a.ctx, "SELECT words FROM vocabulary")
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	seen := map[string]bool{}
	for _, at := range a.query.atoms {
		seen[at.text] = seen[at.text] || !at.prefix // a word is not read as another one of the query
	}
	for rows.Next() {
		var list []byte
		if err := rows.Scan(&list); err != nil {
			return nil, err
		}
		eachWord(list, func(word []byte) {
			for i := range lost {
				if lost[i].isNear(word) && !seen[string(word)] {
					letters := []rune(string(word))
					found[i] = append(found[i], near{string(word), distance(lost[i].letters, letters), sameStart(lost[i].letters, letters)})
				}
			}
		})
	}
	for i := range found {
		slices.SortFunc(found[i], func(a, b near) int {
			return cmp.Or(cmp.Compare(a.distance, b.distance), cmp.Compare(b.start, a.start), strings.Compare(a.text, b.text))
		})
		found[i] = slices.Compact(found[i])
	}
	return found, rows.Err()
}

func eachWord(list []byte, visit func([]byte)) {
	start := 0
	for i, c := range list {
		if c == '\n' {
			visit(list[start:i])
			start = i + 1
		}
	}
	if start < len(list) {
		visit(list[start:])
	}
}

// repairs fills in what a scan would know of the words like those that occur nowhere, and chooses as it does.
func (a *asking) repairs(t *tally) (map[string]string, error) {
	s := newScan(a.query, a.scanner.Visibility)
	s.findNeighbours()
	s.lost = slices.DeleteFunc(s.lost, func(l lostWord) bool { return t.docs[len(a.query.terms)+l.atom] > 0 })
	if len(s.lost) == 0 {
		return nil, nil
	}
	found, err := a.neighbours(s.lost)
	if err != nil {
		return nil, err
	}
	for i, l := range s.lost {
		best, err := a.living(found[i])
		if err != nil {
			return nil, err
		}
		t.near[l.atom] = best
	}
	return s.repairs(t), nil
}

// living returns the nearest words that notes have, with how many do: those as near as the first one that any has.
func (a *asking) living(words []near) (map[string]int, error) {
	best := map[string]int{}
	for i, word := range words {
		if len(best) > 0 && (word.distance > words[i-1].distance || word.start < words[i-1].start) {
			break
		}
		docs, err := a.count(a.lookupAtom(atom{text: word.text}, byPath))
		if err != nil {
			return nil, err
		}
		if docs > 0 {
			best[word.text] = docs
		}
	}
	return best, nil
}

// pruneWords keeps of the vocabulary what the text still has.
func (s *store) pruneWords(ctx context.Context) error {
	return s.transaction(ctx, func(w *writer) error {
		if _, err := w.conn.ExecContext(ctx, "CREATE VIRTUAL TABLE IF NOT EXISTS temp.terms USING fts5vocab(main, text, row)"); err != nil {
			return err
		}
		rows, err := w.conn.QueryContext(ctx, "SELECT term FROM temp.terms")
		if err != nil {
			return err
		}
		defer rows.Close()
		words := newVocabulary()
		for rows.Next() {
			var term []byte
			if err := rows.Scan(&term); err != nil {
				return err
			}
			words.meet(term)
		}
		if err := rows.Err(); err != nil {
			return err
		}
		return w.replaceWords(ctx, words.list)
	})
}
