package ledger

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"modernc.org/sqlite"

	"writ/envelope"
)

// The names in the state directory.
const (
	databaseName = "ledger.db"
	imagesDir    = "images"
	processesDir = "processes"
)

// busyWait is how long a statement waits for another process that writes.
const busyWait = 5 * time.Second

// store is the opened database. Writes go through one connection, one at a time; questions through a few others.
type store struct {
	dir     string
	log     *slog.Logger
	process *process
	images  images
	wal     *wal
	file    fs.FileInfo // of the database, as it was opened

	readers *sql.DB
	writers *sql.DB    // the pool that conn is the one connection of
	write   sync.Mutex // guards conn and its statements
	conn    *sql.Conn
	statements
	queue queue // of writes that wait for conn

	tidying tidying
}

// statements are prepared on the writing connection.
type statements struct {
	begin, commit, rollback        *sql.Stmt
	insertChange, settleChange     *sql.Stmt
	readHead, insertCall, moveHead *sql.Stmt

	all []*sql.Stmt
}

// opening is what opening a store takes.
type opening struct {
	dir     string
	log     *slog.Logger
	now     time.Time
	process *process // nil: make a mark
	suspect bool     // look through the whole database
	roots   string   // see Options
}

// errDamaged is a database that opens and yet does not hold together.
var errDamaged = errors.New("the database fails its check")

// openStore opens the database of the state directory, and makes it if there is none. One that is damaged beyond use is
// set aside, and a new one begun. One process does this at a time: SQLite's switch to the write-ahead log does not wait
// for others, and nothing may be set aside under their hands.
func openStore(ctx context.Context, o opening) (*store, error) {
	for _, name := range []string{imagesDir, processesDir} {
		if err := os.MkdirAll(filepath.Join(o.dir, name), 0o700); err != nil {
			return nil, err
		}
	}
	unlock, err := lockDir(ctx, o.dir)
	if err != nil {
		return nil, err
	}
	defer unlock()
	if o.process != nil {
		return openOrReplace(o)
	}
	if o.process, err = register(o.dir); err != nil {
		return nil, err
	}
	s, err := openOrReplace(o)
	if err != nil {
		o.process.leave()
		return nil, err
	}
	return s, nil
}

func openOrReplace(o opening) (*store, error) {
	s, err := openDatabase(o)
	if isDamage(err) {
		return replaceDamaged(o, err)
	}
	return s, err
}

// openDatabase closes what it opened where it fails.
func openDatabase(o opening) (*store, error) {
	_, dead, err := o.process.others(o.dir)
	if err != nil {
		return nil, err
	}
	database := filepath.Join(o.dir, databaseName)
	if err := createFile(database); err != nil {
		return nil, err
	}
	s := &store{dir: o.dir, log: o.log, process: o.process, images: images{filepath.Join(o.dir, imagesDir)}}
	s.tidying.suspect = dead > 0
	if err := s.connect(database); err != nil {
		return nil, errors.Join(err, s.disconnect())
	}
	if err := s.prepare(database, o); err != nil {
		return nil, errors.Join(err, s.disconnect())
	}
	return s, nil
}

// createFile makes the database's file if it is missing, so that it is for its owner only; SQLite gives its other files
// the same mode. A file that is there must not be opened beside SQLite: closing it would drop SQLite's locks.
func createFile(name string) error {
	f, err := os.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if errors.Is(err, os.ErrExist) {
		return nil
	}
	if err != nil {
		return err
	}
	return f.Close()
}

func (s *store) connect(database string) error {
	var err error
	if s.writers, err = openPool(database, "_txlock=immediate", "_pragma=wal_autocheckpoint(8000)"); err != nil {
		return err
	}
	if s.readers, err = openPool(database, "_query_only=1"); err != nil {
		return err
	}
	s.writers.SetMaxOpenConns(1)
	s.readers.SetMaxOpenConns(4)
	s.readers.SetConnMaxIdleTime(time.Minute)
	s.conn, err = s.writers.Conn(context.Background())
	return err
}

func openPool(database string, settings ...string) (*sql.DB, error) {
	name := filepath.ToSlash(database)
	if !strings.HasPrefix(name, "/") {
		name = "/" + name // C:/… on Windows
	}
	settings = append(settings, "_defensive=1", "_dqs=0", "_synchronous=NORMAL",
		fmt.Sprintf("_busy_timeout=%d", busyWait.Milliseconds()))
	dsn := url.URL{Scheme: "file", Path: name, RawQuery: strings.Join(settings, "&")}
	c, err := sqlite.NewConnector(dsn.String())
	if err != nil {
		return nil, err
	}
	return sql.OpenDB(c), nil
}

// prepare makes the connection ready for use: whose database is it, is it sound, is it laid out.
func (s *store) prepare(database string, o opening) error {
	isNew, err := s.identify()
	if err != nil {
		return err
	}
	if o.suspect {
		if err := quickCheck(context.Background(), s.conn); err != nil {
			return err
		}
	}
	if isNew {
		if err := s.layOut(); err != nil {
			return err
		}
	}
	if _, err := s.conn.ExecContext(context.Background(), attributesTable); err != nil {
		return err
	}
	if err := s.belongTo(o.roots); err != nil {
		return err
	}
	if _, err := s.conn.ExecContext(context.Background(), approvalTables); err != nil {
		return err
	}
	if err := s.statements.prepare(s.conn); err != nil {
		return err
	}
	if s.file, err = os.Stat(database); err != nil {
		return err
	}
	s.wal, err = openWAL(database)
	return err
}

// errGone is a database that was taken out of the state directory, or replaced there, while it was in use. SQLite goes on
// writing to the file that it has open, and nobody would ever find there what was done.
var errGone = errors.New("the database in use is not the one in the state directory any more")

// isInPlace returns errGone if the names of database and write-ahead log do not stand for the open files any more.
func (s *store) isInPlace() error {
	log, err := s.wal.file.Stat()
	if err != nil {
		return err
	}
	database := filepath.Join(s.dir, databaseName)
	for name, opened := range map[string]fs.FileInfo{database: s.file, database + "-wal": log} {
		now, err := os.Stat(name)
		if errors.Is(err, fs.ErrNotExist) || err == nil && !os.SameFile(now, opened) {
			return errGone
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// identify tells whether the database is empty, and refuses one that is not this program's or that is from a later one.
func (s *store) identify() (isNew bool, err error) {
	var application, version, tables int
	const question = "SELECT (SELECT application_id FROM pragma_application_id), (SELECT user_version FROM pragma_user_version), (SELECT count(*) FROM sqlite_schema)"
	if err := s.conn.QueryRowContext(context.Background(), question).Scan(&application, &version, &tables); err != nil {
		return false, err
	}
	switch {
	case application == 0 && version == 0 && tables == 0:
		return true, nil
	case application != applicationID:
		return false, envelope.Errorf(envelope.IO, "The state directory holds a ledger.db that is not writ's. A person must choose another state directory with --state.")
	case version > schemaVersion:
		return false, envelope.Errorf(envelope.IO, "The state directory was written by a newer writ. A person must update this writ, or choose another state directory with --state.")
	}
	return false, nil
}

// layOut makes the tables of a new database, and its name durable.
func (s *store) layOut() error {
	ctx := context.Background()
	var mode string
	if err := s.conn.QueryRowContext(ctx, "PRAGMA journal_mode=WAL").Scan(&mode); err != nil {
		return err
	}
	if mode != "wal" {
		return fmt.Errorf("the file system of the state directory can't hold a write-ahead log: %w", os.ErrPermission)
	}
	tx, err := s.conn.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }()
	if _, err := tx.Exec(schema + fmt.Sprintf("PRAGMA application_id=%d; PRAGMA user_version=%d;", applicationID, schemaVersion)); err != nil {
		return err
	}
	if err := tx.Commit(); err != nil {
		return err
	}
	return flushDir(s.dir)
}

// belongTo refuses a database of other roots. One that nobody has claimed yet is theirs from now on: that becomes durable
// with the first change, and before that nothing is in it that could be carried out in a wrong place.
func (s *store) belongTo(roots string) error {
	if roots == "" {
		return nil
	}
	ctx := context.Background()
	if _, err := s.conn.ExecContext(ctx, servedTable); err != nil {
		return err
	}
	var of string
	err := s.conn.QueryRowContext(ctx, "SELECT roots FROM served").Scan(&of)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		_, err = s.conn.ExecContext(ctx, "INSERT INTO served VALUES(1, ?)", roots)
		return err
	case err != nil || of == roots:
		return err
	}
	return envelope.Errorf(envelope.IO, "The state directory holds the change log of other roots than those served now. A person must choose another state directory with --state, or serve the roots that it belongs to.")
}

// querier is a connection or a pool of them.
type querier interface {
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

// quickCheck reads the whole database and returns an error that is damage if it does not hold together.
func quickCheck(ctx context.Context, q querier) error {
	var verdict string
	if err := q.QueryRowContext(ctx, "PRAGMA quick_check(1)").Scan(&verdict); err != nil {
		return err
	}
	if verdict != "ok" {
		return fmt.Errorf("%w: %s", errDamaged, verdict)
	}
	return nil
}

func (s *statements) prepare(c *sql.Conn) error {
	for _, p := range []struct {
		to  **sql.Stmt
		sql string
	}{
		{&s.begin, "BEGIN IMMEDIATE"},
		{&s.commit, "COMMIT"},
		{&s.rollback, "ROLLBACK"},
		{&s.insertChange, insertChange},
		{&s.settleChange, settleChange},
		{&s.readHead, "SELECT seq, hash FROM head"},
		{&s.insertCall, "INSERT INTO calls(seq, request_id, line, hash) VALUES(?, ?, ?, ?)"},
		{&s.moveHead, "UPDATE head SET seq = ?, hash = ?"},
	} {
		stmt, err := c.PrepareContext(context.Background(), p.sql)
		if err != nil {
			return err
		}
		*p.to, s.all = stmt, append(s.all, stmt)
	}
	return nil
}

// close must come before the connection's end: SQLite keeps a connection with statements open, and its locks with it.
func (s *statements) close() error {
	var errs []error
	for _, stmt := range s.all {
		errs = append(errs, stmt.Close())
	}
	return errors.Join(errs...)
}

// inTransaction runs f between BEGIN IMMEDIATE and COMMIT on the writing connection. The caller holds s.write.
func (s *store) inTransaction(f func() error) error {
	err := s.isInPlace()
	if err != nil {
		return err
	}
	if _, err := s.begin.Exec(); err != nil {
		return err
	}
	err = f()
	if err == nil {
		_, err = s.commit.Exec()
	}
	if err != nil {
		// It fails where SQLite has rolled back by itself, as on a full disk.
		_, _ = s.rollback.Exec()
	}
	return err
}

// close ends the background work first, then the connections. The last process to close empties the write-ahead log
// into the database.
func (s *store) close() error {
	s.tidying.stop()
	return errors.Join(s.catchUp(), s.disconnect())
}

// abandon is close for a store that others may still be using; its errors say nothing new.
func (s *store) abandon() {
	s.tidying.cancel()
	_ = s.catchUp()
	s.write.Lock()
	defer s.write.Unlock()
	_ = s.disconnect()
}

func (s *store) disconnect() error {
	errs := []error{s.statements.close()}
	if s.wal != nil {
		errs = append(errs, s.wal.file.Close())
	}
	if s.readers != nil {
		errs = append(errs, s.readers.Close())
	}
	if s.conn != nil {
		errs = append(errs, s.conn.Close())
	}
	if s.writers != nil {
		errs = append(errs, s.writers.Close())
	}
	return errors.Join(errs...)
}
