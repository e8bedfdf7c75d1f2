package workspace

import (
	"context"
	"io/fs"
	"os"
	"sync"
	"time"

	"writ/contract"
	"writ/envelope"
)

// The facts about a large file, its version among them, cost a pass over all of it. So they are kept, by the file's
// stamp, for as long as that stays the same.
//
// A stamp can lie: a file that is changed through a mapping, or twice within one tick of the clock, may keep it. The
// second is excluded as git does it, see settled. What a stale entry can do is show an old version: a write that
// observes it is then a conflict, since writes never use what is kept here but hash the bytes on disk. It can't lose an
// update.

// Facts are what is known of a file's bytes.
type Facts struct {
	Info
	Version contract.Version
	// The rest is zero for a file that is no text.
	Encoding     string // IANA's name, in lower case
	BOM          bool
	LineEndings  string // lf, crlf, mixed or none
	FinalNewline bool
	Lines        int
}

// IsText tells whether the file is text.
func (f Facts) IsText() bool { return f.Encoding != "" }

// findings are Facts without the place, and what finds lines in the text.
type findings struct {
	Facts
	index lineIndex
	// plain tells that the text is the file's bytes from offset on.
	plain   bool
	offset  int64
	refusal error // why the file is no text
}

// stampKey names a state of a file, read in an encoding that the policy names.
type stampKey struct {
	stamp
	encoding string
}

// maxFindings bounds how many files are remembered.
const maxFindings = 512

// factCache remembers findings. The zero value is empty.
type factCache struct {
	mu    sync.Mutex
	known map[stampKey]*findings
}

func (c *factCache) get(k stampKey) *findings {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.known[k]
}

func (c *factCache) put(k stampKey, f *findings) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.known == nil || len(c.known) >= maxFindings {
		c.known = make(map[stampKey]*findings)
	}
	c.known[k] = f
}

func (c *factCache) drop(k stampKey) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.known, k)
}

const (
	// smallBytes is the size up to which a file is read and hashed anew at each call, since that costs no more than
	// finding out that nothing has changed.
	smallBytes = 64 << 10
	// parallelBytes is the size from which a file is hashed beside the search for its lines.
	parallelBytes = 512 << 10
)

// study reads data, which must not change any more, as text in the encoding that the policy names.
func study(data []byte, encoding string) (*findings, *Text) {
	f := &findings{}
	hashed := make(chan contract.Version, 1)
	hash := func() { hashed <- contract.VersionOf(data) }
	if len(data) >= parallelBytes {
		go hash()
	} else {
		hash()
	}
	text, err := DecodeText(data, encoding)
	if err != nil {
		f.refusal = err
		f.Version = <-hashed
		return f, nil
	}
	content := text.Bytes()
	f.index = newLineIndex(content)
	f.Encoding, f.BOM, f.LineEndings = text.Encoding(), text.BOM(), text.LineEndings()
	f.FinalNewline, f.Lines = text.FinalNewline(), f.index.lines
	f.plain = f.Encoding == utf8Charset.name
	f.offset = int64(len(data) - len(content))
	f.Version = <-hashed
	return f, text
}

// opened is a file as a call has come to it: in memory, or large, open and known by its stamp.
type opened struct {
	*findings
	info Info
	text *Text    // nil if the file was not read, or is no text
	file *os.File // nil if the file was read
	key  stampKey
}

func (o *opened) close() {
	if o.file != nil {
		o.file.Close()
	}
}

// examine opens p and learns what is known of its bytes. Only what can't be known otherwise is read.
func (r Reader) examine(ctx context.Context, p contract.Path) (*opened, error) {
	q, err := r.w.question(r.guard, p, Read)
	if err != nil {
		return nil, err
	}
	most := r.w.options.FileBytes
	data, fact, resolved, err := q.root.tree.load(ctx, q, min(smallBytes, most))
	if envelope.CodeOf(err) == envelope.TooLarge && most > smallBytes {
		return r.examineLarge(ctx, q)
	}
	if err == nil {
		err = q.admit(resolved, data)
	}
	if err != nil {
		return nil, err
	}
	info, err := r.describeFile(q, p, fact, resolved)
	if err != nil {
		return nil, err
	}
	o := &opened{info: info}
	o.findings, o.text = study(data, r.Encoding(info.Resolved))
	o.info.Size = int64(len(data))
	r.w.contents.add(o.Version, data)
	return o, nil
}

func (r Reader) describeFile(q *question, p contract.Path, fact fs.FileInfo, resolved string) (Info, error) {
	info := newInfo(fact)
	info.Path = p
	var err error
	info.Resolved, err = q.path(resolved)
	return info, err
}

func (r Reader) examineLarge(ctx context.Context, q *question) (o *opened, err error) {
	err = settle(ctx, q.root.tree, q, func() error {
		began := time.Now()
		f, resolved, err := q.root.tree.openFile(ctx, q)
		if err != nil {
			return err
		}
		if o, err = r.studyOpen(q, f, resolved, began); err != nil || o.file == nil {
			f.Close()
		}
		return err
	})
	return o, err
}

// studyOpen looks at an open file, and reads it unless what was found out before still holds.
func (r Reader) studyOpen(q *question, f *os.File, resolved string, began time.Time) (*opened, error) {
	fact, err := f.Stat()
	if err != nil {
		return nil, err
	}
	info, err := r.describeFile(q, q.spelled, fact, resolved)
	if err != nil {
		return nil, err
	}
	o := &opened{info: info, key: stampKey{stampOf(fact), r.Encoding(info.Resolved)}}
	if o.findings = r.w.facts.get(o.key); o.findings != nil && (o.plain || o.refusal != nil) {
		if err := q.admitOpen(resolved, f); err != nil {
			return nil, err
		}
		o.file = f
		return o, nil
	}
	data, err := readWhole(f, fact, q.named(resolved), r.w.options.FileBytes)
	if err != nil {
		return nil, err
	}
	if err := q.admit(resolved, data); err != nil {
		return nil, err
	}
	o.findings, o.text = study(data, o.key.encoding)
	r.w.contents.add(o.Version, data)
	after, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if stampOf(after) == o.key.stamp && o.key.settled(began) {
		r.w.facts.put(o.key, o.findings)
	}
	return o, nil
}

// Facts returns what is known of the bytes of the file p. A file that is larger than the limit is an Error of code
// too-large; one that is no text has a version all the same.
func (r Reader) Facts(ctx context.Context, p contract.Path) (Facts, error) {
	o, err := r.examine(ctx, p)
	if err != nil {
		return Facts{}, err
	}
	defer o.close()
	f := o.findings.Facts
	f.Info = o.info
	return f, nil
}
