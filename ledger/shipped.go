package ledger

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
)

// shippedLine names a line of the audit, by number and by the SHA-256 that the chain gives it. The zero value stands
// before the first.
type shippedLine struct {
	seq  int64
	hash string // hexadecimal
}

// String has a fixed width, so that a position is written over the one before.
func (l shippedLine) String() string {
	return fmt.Sprintf("%019d %s\n", l.seq, cmp.Or(l.hash, strings.Repeat("0", 2*sha256.Size)))
}

// shippedFile is the file while lines are added.
type shippedFile struct {
	*shipper
	position *os.File
	last     shippedLine // the last line that is in it, or in those before
	noted    shippedLine // what the position says
	f        *os.File    // nil until the first line
	size     int64
	buf      []byte
}

// findLast finds the last line that was shipped. The position can be behind the file, by a crash, and the file can be
// new. One that is not in the database is of a database that was lost: then the file is begun anew.
func (w *shippedFile) findLast(ctx context.Context, s *store) error {
	if err := w.readPosition(); err != nil {
		return err
	}
	written, err := w.lastLine()
	if err != nil {
		return err
	}
	w.last = w.noted
	if written.seq > w.last.seq {
		w.last = written
	}
	if w.last.seq == 0 {
		return nil
	}
	var hash []byte
	err = s.readers.QueryRowContext(ctx, "SELECT hash FROM calls WHERE seq = ?", w.last.seq).Scan(&hash)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return err
	}
	if hex.EncodeToString(hash) == w.last.hash {
		return nil
	}
	if err := w.rotate(); err != nil {
		return err
	}
	w.last = shippedLine{}
	return w.note()
}

func (w *shippedFile) readPosition() error {
	text := make([]byte, len(shippedLine{}.String()))
	n, err := w.position.ReadAt(text, 0)
	if err != nil && err != io.EOF {
		return err
	}
	if n == 0 {
		return nil // it is new
	}
	if _, err := fmt.Sscanf(string(text[:n]), "%d %64s\n", &w.noted.seq, &w.noted.hash); err != nil {
		return fmt.Errorf("%s does not name a line of the audit: %w", w.position.Name(), err)
	}
	return nil
}

// note puts the position down. The lines before it are durable.
func (w *shippedFile) note() error {
	if w.noted == w.last {
		return nil
	}
	if _, err := w.position.WriteAt([]byte(w.last.String()), 0); err != nil {
		return err
	}
	w.noted = w.last
	return nil
}

// lastLine returns the last line of the file, the zero value where there is none, and cuts off what a crash left of half
// a line.
func (p *shipper) lastLine() (shippedLine, error) {
	f, err := os.OpenFile(p.File, os.O_RDWR, 0)
	if errors.Is(err, os.ErrNotExist) {
		return shippedLine{}, nil
	}
	if err != nil {
		return shippedLine{}, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil || info.Size() == 0 {
		return shippedLine{}, err
	}
	line, half, err := lastLines(f, info.Size())
	if err != nil {
		return shippedLine{}, err
	}
	if len(half) > 0 {
		if !startsAsRow(half) {
			return shippedLine{}, fmt.Errorf("%s: %w", p.File, errNotShipped)
		}
		if err := f.Truncate(info.Size() - int64(len(half))); err != nil {
			return shippedLine{}, err
		}
	}
	if len(line) == 0 {
		return shippedLine{}, nil
	}
	var r auditRow
	if err := json.Unmarshal(line, &r); err != nil || r.Seq < 1 {
		return shippedLine{}, fmt.Errorf("%s: %w", p.File, errNotShipped)
	}
	sum := sha256.Sum256(line)
	return shippedLine{r.Seq, hex.EncodeToString(sum[:])}, nil
}

// errNotShipped keeps a file that somebody else wrote from being changed.
var errNotShipped = errors.New("the file holds something else than lines of the audit")

// rowStart is what every row begins with.
const rowStart = `{"seq":`

func startsAsRow(half []byte) bool {
	n := min(len(half), len(rowStart))
	return string(half[:n]) == rowStart[:n]
}

// lastLines returns the last whole line, without its end, and what stands behind it. It reads little if it can: rows are
// short, but one that names a hundred long paths.
func lastLines(f io.ReaderAt, size int64) (line, half []byte, err error) {
	for most := int64(16 << 10); ; most *= 8 {
		tail := make([]byte, min(size, most))
		if _, err := f.ReadAt(tail, size-int64(len(tail))); err != nil && err != io.EOF {
			return nil, nil, err
		}
		end := bytes.LastIndexByte(tail, '\n')
		start := bytes.LastIndexByte(tail[:max(end, 0)], '\n') + 1
		switch {
		case end >= 0 && (start > 0 || int64(len(tail)) == size):
			return tail[start:end], tail[end+1:], nil
		case int64(len(tail)) == size:
			return nil, tail, nil
		}
	}
}

// copyLines adds the lines after the last one.
func (w *shippedFile) copyLines(ctx context.Context, s *store) error {
	rows, err := s.readers.QueryContext(ctx, "SELECT seq, line, hash FROM calls WHERE seq > ? ORDER BY seq", w.last.seq)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var seq int64
		var line, hash []byte
		if err := rows.Scan(&seq, &line, &hash); err != nil {
			return err
		}
		if err := w.add(line); err != nil {
			return err
		}
		w.last = shippedLine{seq, hex.EncodeToString(hash)}
	}
	return rows.Err()
}

func (w *shippedFile) add(line []byte) error {
	if w.f == nil {
		if err := w.open(); err != nil {
			return err
		}
	}
	if w.size > 0 && w.size+int64(len(line))+1 > w.Bytes {
		if err := w.beginAnew(); err != nil {
			return err
		}
	}
	w.buf = append(append(w.buf[:0], line...), '\n')
	n, err := w.f.Write(w.buf) // in one: half a line is rare then, and cut off by the next
	w.size += int64(n)
	return err
}

// beginAnew puts a full file aside. The position is noted first, since the new file does not tell it.
func (w *shippedFile) beginAnew() error {
	for _, step := range []func() error{w.finish, w.rotate, w.open} {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

func (w *shippedFile) open() (err error) {
	if w.f, err = os.OpenFile(w.File, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600); err != nil {
		w.f = nil
		return err
	}
	info, err := w.f.Stat()
	if err == nil {
		w.size = info.Size()
	}
	return err
}

// finish makes the lines durable, and then the position.
func (w *shippedFile) finish() error {
	if w.f == nil {
		return nil
	}
	f := w.f
	w.f = nil
	if err := errors.Join(f.Sync(), f.Close()); err != nil {
		return err
	}
	return w.note()
}

// rotate gives each full file the next number; that with the last one goes.
func (p *shipper) rotate() error {
	for i := p.Files - 1; i >= 0; i-- {
		if err := os.Rename(p.numbered(i), p.numbered(i+1)); err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
	}
	return nil
}

// numbered returns the name of a full file, or of that which is written where i is 0.
func (p *shipper) numbered(i int) string {
	if i == 0 {
		return p.File
	}
	return fmt.Sprintf("%s.%d", p.File, i)
}
