package notes

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"modernc.org/sqlite"
	codes "modernc.org/sqlite/lib"
)

// IndexVersion is the version of the tables and of what tokens are. An index of another version is made anew; it belongs
// into the name of the file, or servers of two versions would take the index from each other.
const IndexVersion = 3

// The database is expendable: whatever is wrong with it, it is made anew from the notes. Its text is contentless, so
// that it holds the words of the notes and where they stand, and no note's text. The tokens are ours (see tokens.go);
// the tokenizer named here only cuts at the spaces between them.
const (
	storeID     = 0x6e777274 // "nwrt", in the header of the file
	storeSchema = `
CREATE TABLE notes(
	id INTEGER PRIMARY KEY,
	path TEXT NOT NULL UNIQUE,
	state INTEGER NOT NULL,      -- see Candidate.State
	modified INTEGER NOT NULL,   -- nanoseconds since 1970
	length INTEGER NOT NULL,     -- bytes of text
	skip TEXT NOT NULL,          -- why it can't be found: "hidden" or a code; '' if it can
	folded_path TEXT NOT NULL,
	folded_title TEXT NOT NULL
);
CREATE INDEX skipped ON notes(skip) WHERE skip <> '';
CREATE TABLE tags(id INTEGER NOT NULL, tag TEXT NOT NULL, PRIMARY KEY(id, tag)) WITHOUT ROWID;
CREATE TABLE vocabulary(id INTEGER PRIMARY KEY, words TEXT NOT NULL); -- the words of some notes, a line each
CREATE TABLE totals(generation INTEGER NOT NULL, notes INTEGER NOT NULL, bytes INTEGER NOT NULL, removed INTEGER NOT NULL);
INSERT INTO totals VALUES(0, 0, 0, 0);
CREATE VIRTUAL TABLE text USING fts5(body, title, headings, tags, path, matter,
	content='', contentless_delete=1, tokenize='ascii');
INSERT INTO text(text, rank) VALUES('rank', 'bm25(1, 100, 20, 20, 20, 2)'); -- the weights of examine.go
`
)

// hidden is the skip of a note that the visibility keeps from callers. Nothing of it is stored but its path and state.
const hidden = "hidden"

// opening says what is to be done where there is no database.
type opening int

const (
	existing opening = iota // nothing
	orNew                   // make one
)

// location says where a database is and what is in it.
type location struct {
	file       string
	visibility string
}

// store is the opened database: one connection that writes, and a few that ask.
type store struct {
	location
	opened  os.FileInfo // to notice that another process has replaced it
	readers *sql.DB
	writers *sql.DB
	writing sync.Mutex // guards writer
	writer  *writer

	merges     atomic.Bool // parts are merged as they come
	untidy     atomic.Bool
	counting   sync.Mutex
	counts     map[string]int // answers of generation
	generation int64
}

// openStore opens the database; nil where there is none and none is to be made. One that is of another version, or
// nobody's, is made anew. One process does this at a time.
func openStore(ctx context.Context, at location, how opening) (*store, error) {
	if _, err := os.Stat(at.file); how == existing && errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	unlock, err := lockStore(ctx, at.file)
	if err != nil {
		return nil, err
	}
	defer unlock()
	s, err := at.open(ctx)
	if errors.Is(err, errOtherVersion) || isDamaged(err) {
		if err := removeFiles(at.file); err != nil {
			return nil, err
		}
		if how == existing {
			return nil, nil
		}
		return at.open(ctx)
	}
	return s, err
}

// removeStore removes the database.
func removeStore(ctx context.Context, file string) error {
	unlock, err := lockStore(ctx, file)
	if err != nil {
		return err
	}
	defer unlock()
	return removeFiles(file)
}

func removeFiles(file string) error {
	var errs []error
	for _, end := range []string{"-wal", "-shm", ""} {
		if err := os.Remove(file + end); !errors.Is(err, os.ErrNotExist) {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

// lockStore makes this the one process that opens or removes the database.
func lockStore(ctx context.Context, file string) (unlock func(), err error) {
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		return nil, err
	}
	f, err := os.OpenFile(file+".lock", os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	for {
		locked, err := tryLock(f)
		if locked {
			return func() { f.Close() }, nil
		}
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			f.Close()
			return nil, err
		}
		time.Sleep(5 * time.Millisecond)
	}
}

var errOtherVersion = errors.New("the notes index is of another version")

func (l location) open(ctx context.Context) (*store, error) {
	f, err := os.OpenFile(l.file, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err == nil {
		err = f.Close() // SQLite gives its other files the same mode
	}
	if err != nil && !errors.Is(err, os.ErrExist) {
		return nil, err
	}
	s := &store{location: l, counts: map[string]int{}}
	if s.opened, err = os.Stat(l.file); err != nil {
		return nil, err
	}
	if err := s.connect(ctx); err != nil {
		return nil, errors.Join(err, s.close())
	}
	return s, nil
}

func (s *store) connect(ctx context.Context) (err error) {
	if s.writers, err = pool(s.file, "_txlock=immediate", "_pragma=cache_size(-16000)", "_pragma=temp_store(memory)", "_pragma=journal_size_limit(4000000)", "_pragma=secure_delete(fast)"); err != nil {
		return err
	}
	if s.readers, err = pool(s.file, "_query_only=1", "_pragma=cache_size(-8000)", "_pragma=temp_store(memory)"); err != nil {
		return err
	}
	s.writers.SetMaxOpenConns(1)
	s.readers.SetMaxOpenConns(2)
	s.readers.SetMaxIdleConns(2)
	s.readers.SetConnMaxIdleTime(time.Minute) // with what it caches
	conn, err := s.writers.Conn(ctx)
	if err != nil {
		return err
	}
	s.writer = &writer{conn: conn, visibility: s.visibility}
	if err := s.identify(ctx, conn); err != nil {
		return err
	}
	return s.writer.prepare(ctx)
}

func pool(file string, settings ...string) (*sql.DB, error) {
	name := filepath.ToSlash(file)
	if !strings.HasPrefix(name, "/") {
		name = "/" + name // C:/… on Windows
	}
	settings = append(settings, "_defensive=1", "_dqs=0", "_synchronous=NORMAL", "_busy_timeout=5000")
	dsn := url.URL{Scheme: "file", Path: name, RawQuery: strings.Join(settings, "&")}
	c, err := sqlite.NewConnector(dsn.String())
	if err != nil {
		return nil, err
	}
	return sql.OpenDB(c), nil
}

// identify lays out an empty database and refuses one that is not of this version.
func (s *store) identify(ctx context.Context, conn *sql.Conn) error {
	var id, version, tables int
	const question = "SELECT (SELECT application_id FROM pragma_application_id), (SELECT user_version FROM pragma_user_version), (SELECT count(*) FROM sqlite_schema)"
	if err := conn.QueryRowContext(ctx, question).Scan(&id, &version, &tables); err != nil {
		return err
	}
	switch {
	case id == storeID && version == IndexVersion:
		return nil
	case tables > 0:
		return errOtherVersion
	}
	if _, err := conn.ExecContext(ctx, "PRAGMA auto_vacuum=INCREMENTAL; PRAGMA journal_mode=WAL"); err != nil {
		return err
	}
	layOut := fmt.Sprintf("BEGIN IMMEDIATE; %s PRAGMA application_id=%d; PRAGMA user_version=%d; COMMIT", storeSchema, storeID, IndexVersion)
	_, err := conn.ExecContext(ctx, layOut)
	return err
}

// isReplaced tells whether another process has removed the database, and perhaps made another.
func (s *store) isReplaced() bool {
	now, err := os.Stat(s.file)
	return err != nil || !os.SameFile(now, s.opened)
}

func (s *store) close() error {
	s.writing.Lock()
	defer s.writing.Unlock()
	var errs []error
	if s.writer != nil {
		errs = append(errs, s.writer.close())
	}
	for _, db := range []*sql.DB{s.readers, s.writers} {
		if db != nil {
			errs = append(errs, db.Close())
		}
	}
	return errors.Join(errs...)
}

// errDamaged is a database that answers and yet does not hold together.
var errDamaged = errors.New("the database fails its check")

// isDamaged tells whether the database is broken. One that is busy, full or forbidden is not.
func isDamaged(err error) bool {
	if errors.Is(err, errDamaged) {
		return true
	}
	e, ok := errors.AsType[*sqlite.Error](err)
	if !ok {
		return false
	}
	code := e.Code() & 0xff
	return code == codes.SQLITE_CORRUPT || code == codes.SQLITE_NOTADB
}

// check reads the whole database and returns errDamaged if it does not hold together.
func (s *store) check(ctx context.Context) error {
	var verdict string
	if err := s.readers.QueryRowContext(ctx, "PRAGMA quick_check(1)").Scan(&verdict); err != nil {
		return err
	}
	if verdict != "ok" {
		return fmt.Errorf("%w: %s", errDamaged, verdict)
	}
	s.writing.Lock()
	defer s.writing.Unlock()
	_, err := s.writer.conn.ExecContext(ctx, "INSERT INTO text(text) VALUES('integrity-check')")
	return err
}

// states returns the state of each file that the database knows. A row costs more to hand over than to read, so they
// come a thousand at a time.
func (s *store) states(ctx context.Context) (map[string]int64, error) {
	const question = "SELECT group_concat(path || char(0) || state, char(0)) FROM notes GROUP BY id / 1000"
	rows, err := s.readers.QueryContext(ctx, question)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	known := map[string]int64{}
	for rows.Next() {
		var list string
		if err := rows.Scan(&list); err != nil {
			return nil, err
		}
		for list != "" {
			var path, number string
			path, list, _ = strings.Cut(list, "\x00")
			number, list, _ = strings.Cut(list, "\x00")
			state, err := strconv.ParseInt(number, 10, 64)
			if err != nil {
				return nil, fmt.Errorf("%w: %w", errDamaged, err)
			}
			known[path] = state
		}
	}
	return known, rows.Err()
}
