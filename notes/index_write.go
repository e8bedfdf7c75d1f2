package notes

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"slices"

	"writ/contract"
	"writ/envelope"
)

// Notes are read while the database is held for writing. So when two processes index a note that changes at that
// moment, the one that writes last has also read last, and an older state never covers a newer one.

const (
	batchNotes = 2048    // at most so many notes in one transaction, since others wait for it
	batchBytes = 8 << 20 // of text
	// manyLists is how many rows of the vocabulary are made one.
	manyLists = 256
)

// writer is the connection that writes, and its statements.
type writer struct {
	conn       *sql.Conn
	visibility string
	all        []*sql.Stmt

	begin, commit, rollback      *sql.Stmt
	find, insert, update, remove *sql.Stmt
	addText, removeText          *sql.Stmt
	addTag, removeTags           *sql.Stmt
	count, addWords              *sql.Stmt

	segments segments
	lists    int64 // rows of the vocabulary
	changed  totals
	bytes    int // of text in this transaction
}

// totals are what changes in the table of that name.
type totals struct{ notes, bytes, removed int }

func (w *writer) prepare(ctx context.Context) error {
	for _, p := range []struct {
		to  **sql.Stmt
		sql string
	}{
		{&w.begin, "BEGIN IMMEDIATE"},
		{&w.commit, "COMMIT"},
		{&w.rollback, "ROLLBACK"},
		{&w.find, "SELECT id, state, length, skip FROM notes WHERE path = ?"},
		{&w.insert, "INSERT INTO notes(state, modified, length, skip, folded_path, folded_title, path) VALUES(?, ?, ?, ?, ?, ?, ?)"},
		{&w.update, "UPDATE notes SET state = ?, modified = ?, length = ?, skip = ?, folded_path = ?, folded_title = ? WHERE id = ?"},
		{&w.remove, "DELETE FROM notes WHERE id = ?"},
		{&w.addText, "INSERT INTO text(rowid, body, title, headings, tags, path, matter) VALUES(?, ?, ?, ?, ?, ?, ?)"},
		{&w.removeText, "DELETE FROM text WHERE rowid = ?"},
		{&w.addTag, "INSERT OR IGNORE INTO tags(id, tag) VALUES(?, ?)"},
		{&w.removeTags, "DELETE FROM tags WHERE id = ?"},
		{&w.count, "UPDATE totals SET generation = generation + 1, notes = notes + ?, bytes = bytes + ?, removed = removed + ?"},
		{&w.addWords, "INSERT INTO vocabulary(words) VALUES(?)"},
	} {
		stmt, err := w.conn.PrepareContext(ctx, p.sql)
		if err != nil {
			return err
		}
		*p.to, w.all = stmt, append(w.all, stmt)
	}
	return nil
}

// close closes the statements first: SQLite keeps a connection with statements open.
func (w *writer) close() error {
	var errs []error
	for _, stmt := range w.all {
		errs = append(errs, stmt.Close())
	}
	return errors.Join(append(errs, w.conn.Close())...)
}

// transaction runs f between BEGIN IMMEDIATE and COMMIT.
func (s *store) transaction(ctx context.Context, f func(w *writer) error) error {
	s.writing.Lock()
	defer s.writing.Unlock()
	w := s.writer
	if _, err := w.begin.ExecContext(ctx); err != nil {
		return err
	}
	w.changed, w.bytes = totals{}, 0
	err := f(w)
	if err == nil {
		_, err = w.count.ExecContext(ctx, w.changed.notes, w.changed.bytes, w.changed.removed)
	}
	if err == nil {
		_, err = w.commit.ExecContext(ctx)
	}
	if err != nil {
		// The context may be what ended it. It fails where SQLite has rolled back by itself.
		_, _ = w.rollback.ExecContext(context.WithoutCancel(ctx))
	}
	return err
}

// readNotes indexes the notes as they are now.
func (s *store) readNotes(ctx context.Context, vault Vault, files []contract.Path) error {
	if !s.merges.Load() { // who built it may have been killed before the end
		if err := s.mergeSoon(ctx); err != nil {
			return err
		}
	}
	lists := int64(0)
	for len(files) > 0 {
		err := s.transaction(ctx, func(w *writer) (err error) {
			w.segments.words = newVocabulary()
			if files, err = w.read(ctx, vault, files); err != nil {
				return err
			}
			err = w.keepWords(ctx, w.segments.words.list)
			lists = w.lists
			return err
		})
		if err != nil {
			return err
		}
	}
	if lists > manyLists {
		return s.mergeWords(ctx)
	}
	return nil
}

// build indexes many notes, in transactions that do not keep others waiting for long. It tells how many each did.
func (s *store) build(ctx context.Context, vault Vault, files []contract.Path, tell func(notes int)) error {
	if err := s.mergeLate(ctx); err != nil {
		return err
	}
	if err := s.transaction(ctx, func(w *writer) error { return w.recallWords(ctx) }); err != nil {
		return err
	}
	for len(files) > 0 {
		batch := files[:min(len(files), batchNotes)]
		var left []contract.Path
		err := s.transaction(ctx, func(w *writer) (err error) {
			w.segments.words.list = w.segments.words.list[:0]
			if left, err = w.read(ctx, vault, batch); err != nil {
				return err
			}
			return w.keepWords(ctx, w.segments.words.list)
		})
		if err != nil {
			return err
		}
		tell(len(batch) - len(left))
		files = slices.Concat(left, files[len(batch):])
	}
	if err := s.mergeWords(ctx); err != nil {
		return err
	}
	if err := s.mergeSoon(ctx); err != nil {
		return err
	}
	return s.mergeParts(ctx)
}

// errEnough ends a transaction that has read as much as others should wait for.
var errEnough = errors.New("enough for one transaction")

// read indexes the notes as they are now, and forgets those that are none any more. It returns those that were too much
// for one transaction.
func (w *writer) read(ctx context.Context, vault Vault, files []contract.Path) (left []contract.Path, err error) {
	done := make(map[contract.Path]bool, len(files))
	err = vault.Some(ctx, files, func(c Candidate) error {
		if w.bytes >= batchBytes {
			return errEnough
		}
		done[c.Path] = true
		return w.put(ctx, c)
	})
	rest := slices.DeleteFunc(slices.Clone(files), func(p contract.Path) bool { return done[p] })
	if errors.Is(err, errEnough) {
		return rest, nil
	}
	for _, p := range rest {
		if err == nil {
			err = w.forget(ctx, p)
		}
	}
	return nil, err
}

// stored is what the database has of a note.
type stored struct {
	id     int64 // 0: nothing
	state  int64
	length int
	skip   string
}

func (w *writer) stored(ctx context.Context, path contract.Path) (stored, error) {
	var s stored
	err := w.find.QueryRowContext(ctx, path.String()).Scan(&s.id, &s.state, &s.length, &s.skip)
	if errors.Is(err, sql.ErrNoRows) {
		return stored{}, nil
	}
	return s, err
}

func (w *writer) put(ctx context.Context, c Candidate) error {
	old, err := w.stored(ctx, c.Path)
	if err != nil || old.id != 0 && old.state == c.State && c.State != 0 {
		return err // another process was here first
	}
	text, err := c.Text()
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	if code := envelope.CodeOf(err); code == envelope.PathNotFound {
		return w.forget(ctx, c.Path)
	}
	note := Parse(c.Path, text)
	in := incoming{stored{state: c.State, length: len(text)}, c, &note, text}
	switch {
	case envelope.CodeOf(err) == envelope.PrivateNote:
		in.skip = hidden
	case err != nil:
		in.skip = string(cmp.Or(envelope.CodeOf(err), envelope.IO))
		if in.skip == string(envelope.IO) || in.skip == string(envelope.ChangedDuringCall) {
			in.state = 0 // it may pass
		}
	case note.Hidden(w.visibility):
		in.skip = hidden
	}
	return w.replace(ctx, old, in)
}

// incoming is a note on its way into the database.
type incoming struct {
	stored
	candidate Candidate
	note      *Note
	text      []byte
}

func (w *writer) replace(ctx context.Context, old stored, in incoming) error {
	if err := w.clear(ctx, old); err != nil {
		return err
	}
	in.id = old.id
	if err := w.record(ctx, &in); err != nil {
		return err
	}
	if in.skip != "" {
		w.vanished(old)
		return nil
	}
	return w.index(ctx, &in)
}

// record stores what is known of a note beside its words, under the id that it has or is given here.
func (w *writer) record(ctx context.Context, in *incoming) error {
	title := ""
	if in.skip == "" {
		title = fold(in.note.Title)
	}
	path := in.candidate.Path.String()
	values := []any{in.state, in.candidate.Modified.UnixNano(), in.length, in.skip, fold(path), title}
	if in.id != 0 {
		_, err := w.update.ExecContext(ctx, append(values, in.id)...)
		return err
	}
	result, err := w.insert.ExecContext(ctx, append(values, path)...)
	if err != nil {
		return err
	}
	in.id, err = result.LastInsertId()
	return err
}

// index stores the words of a note.
func (w *writer) index(ctx context.Context, in *incoming) error {
	w.segments.cut(in.note, in.text)
	values := []any{in.id}
	for _, column := range w.segments.columns {
		values = append(values, string(column))
	}
	if _, err := w.addText.ExecContext(ctx, values...); err != nil {
		return err
	}
	for _, tag := range in.note.Tags {
		if _, err := w.addTag.ExecContext(ctx, in.id, fold(tag)); err != nil {
			return err
		}
	}
	w.changed.notes++
	w.changed.bytes += in.length
	w.bytes += in.length
	return nil
}

// clear removes the words of a note.
func (w *writer) clear(ctx context.Context, old stored) error {
	if old.id == 0 || old.skip != "" {
		return nil
	}
	if _, err := w.removeText.ExecContext(ctx, old.id); err != nil {
		return err
	}
	if _, err := w.removeTags.ExecContext(ctx, old.id); err != nil {
		return err
	}
	w.changed.notes--
	w.changed.bytes -= old.length
	w.changed.removed++
	return nil
}

func (w *writer) forget(ctx context.Context, path contract.Path) error {
	old, err := w.stored(ctx, path)
	if err != nil || old.id == 0 {
		return err
	}
	if err := w.clear(ctx, old); err != nil {
		return err
	}
	_, err = w.remove.ExecContext(ctx, old.id)
	w.vanished(old)
	return err
}

// vanished notes that the words of a note must leave the file.
func (w *writer) vanished(old stored) {
	if old.id != 0 && old.skip == "" {
		w.changed.removed += tidyDue
	}
}
