package workspace

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"unicode/utf8"

	"writ/contract"
)

// Query is what [Reader.Search] looks for.
type Query struct {
	Pattern    string
	Regexp     bool // else Pattern is the text itself, which may hold line ends
	IgnoreCase bool
	Base       contract.Path // a directory, or the one file to search
	Glob       contract.Glob // which files below Base; the zero Glob is all. Of a Base that is a file, its name or its path
	Context    int           // lines to show before and after each hit
	Window     Window        // which hits to show
	MaxBytes   int           // bounds the text that is shown, which then ends with a whole hit; 0: no bound
}

// Hit is one line that matches.
type Hit struct {
	Path    contract.Path
	Version contract.Version
	Line    int // counted from 1
	Column  int // of the first match, in characters, counted from 1
	Text    string
	// Cut tells that Text is only the part of a long line around the match.
	Cut           bool
	Before, After []string // as many lines as the query wants and the file has, each cut like Text
}

// bytes returns how much text the hit shows.
func (h *Hit) bytes() int {
	n := len(h.Path.String()) + len(h.Text)
	for _, lines := range [][]string{h.Before, h.After} {
		for _, l := range lines {
			n += len(l)
		}
	}
	return n
}

// SearchResult is what a search found.
type SearchResult struct {
	Hits  []Hit // those in the window, by the bytes of their paths and then by line
	Total int   // lines that match
	// TotalIsExact tells that all files were searched to their end.
	TotalIsExact bool
	Files        int // files that were searched
	Skipped      Skips
	TimedOut     bool // the deadline came first: all that is said is true, but there may be more
	// LeftOut tells that the base is a file which the glob does not match, so that nothing was searched.
	LeftOut bool
}

const (
	// maxHitBytes is how much of a line is shown, and shownBefore how much of that may stand before the match.
	maxHitBytes = 400
	shownBefore = 120
	// keptBuffer is the size up to which a worker keeps the buffer that a file was read to.
	keptBuffer = 1 << 20
)

// Search looks for a pattern in the text files below a base, or in one file. A file that is not text throughout is
// skipped, whatever was found in it. One that the guard refuses for what it holds is as if it were not there, unless it is
// the base itself: that is the guard's error. All lines that match are counted, those in the window are shown. A deadline of ctx
// ends the search early and is no error.
func (r Reader) Search(ctx context.Context, q Query) (SearchResult, error) {
	p, err := compilePattern(q)
	if err != nil {
		return SearchResult{}, err
	}
	s := &searching{reader: r, ctx: ctx, query: q, pattern: p, workers: make([]searchWorker, workers())}
	for i := range s.workers {
		s.workers[i].machine = newMachine(p.auto)
	}
	s.content, _ = r.guard.(ContentGuard)
	s.best.want = q.Window.Offset + q.Window.Limit
	if q.Window.Limit <= 0 {
		s.best.want = -1
	}
	w := &walking{visit: s.visit}
	if !q.Glob.IsZero() {
		w.choose = chooseByGlob(q.Glob)
		w.visit = func(worker int, v *Visited) {
			if w.single && !q.wantsBase(v.Path()) {
				s.leftOut = true // one file, so one visit
				return
			}
			s.visit(worker, v)
		}
	}
	skips, err := w.run(ctx, r, q.Base)
	timedOut := errors.Is(err, context.DeadlineExceeded)
	if err != nil && !timedOut {
		return SearchResult{}, timedOutOr(err)
	}
	if err := s.refused.Load(); err != nil && w.single {
		return SearchResult{}, *err
	}
	return s.result(skips, timedOut), nil
}

// searching is one search.
type searching struct {
	reader  Reader
	ctx     context.Context
	query   Query
	pattern *pattern
	workers []searchWorker
	best    bestFiles
	content ContentGuard // nil: whatever files hold may be told
	refused atomic.Pointer[error]
	leftOut bool
}

// wantsBase tells whether the glob matches the base, which is the file at that path or a link to it.
func (q *Query) wantsBase(at contract.Path) bool {
	choose := chooseByGlob(q.Glob)
	for _, p := range []contract.Path{q.Base, at} {
		if choose("").Match(p.Base()) || choose(p.Dir().String()).Match(p.Base()) {
			return true
		}
	}
	return false
}

// searchWorker is what one worker of the walk has for itself.
type searchWorker struct {
	buf     []byte
	machine *machine
	files   int
	total   int
	cut     bool // the deadline came within a file
	skips   Skips
}

// visit searches one file.
func (s *searching) visit(worker int, v *Visited) {
	w := &s.workers[worker]
	data, err := v.scan.read(v.name, w.buf, s.reader.w.options.FileBytes)
	if cap(data) <= keptBuffer && cap(data) > cap(w.buf) {
		w.buf = data[:0]
	}
	if err == nil && s.content != nil && s.content.Suspects(data) {
		if err := s.content.AllowContent(v.Path(), data); err != nil {
			s.refused.Store(&err) // neither counted nor told of
			return
		}
	}
	if errors.Is(err, errTooLarge) {
		w.skips.Add(SkipTooLarge, v.Path().String())
		return
	}
	if err != nil {
		if reason, ok := reasonOf(err); ok {
			w.skips.Add(reason, v.Path().String())
		}
		return
	}
	text, ok := s.text(data, v)
	if !ok {
		w.skips.Add(SkipBinary, v.Path().String())
		return
	}
	found := s.search(w.machine, text, data, v)
	// Only what is still where the guard allowed it may be told of.
	if found.total > 0 && !v.scan.isFileHere() {
		w.skips.Add(SkipChanged, v.Path().String())
		return
	}
	w.files++
	w.cut = w.cut || found.cut
	if w.total += found.total; found.total > 0 {
		s.best.add(found)
	}
}

// text returns the text of a file, false if it is none. For the usual file it is the bytes themselves.
func (s *searching) text(data []byte, v *Visited) ([]byte, bool) {
	named := ""
	if s.reader.w.options.Encoding != nil {
		named = s.reader.Encoding(v.Path())
	}
	if _, mark := sniff(data); mark == 0 && named == "" {
		return data, bytes.IndexByte(data, 0) < 0 && validUTF8(data)
	}
	// The decoded text of UTF-8 is a part of data, that of any other encoding is new.
	text, err := DecodeText(data, named)
	if err != nil {
		return nil, false
	}
	return text.Bytes(), true
}

// fileHits are the hits of one file.
type fileHits struct {
	path  contract.Path
	hits  []Hit // the first ones, as many as can be wanted
	total int
	cut   bool
}

// checkEvery is after how many matching lines of a file the deadline is looked at.
const checkEvery = 256

func (s *searching) search(m *machine, text, data []byte, v *Visited) fileHits {
	var f fileHits
	room, known := 0, false
	number, counted := 1, 0
	var seen *veil
	s.pattern.each(text, m, func(l line) bool {
		if seen == nil {
			seen = newVeil(s.reader.w.options.Secrets, text)
		}
		if !s.pattern.unveiled(seen, &l) {
			return true
		}
		if !known {
			known = true
			f.path = v.Path()
			room = s.best.room(f.path)
		}
		if f.total++; f.total%checkEvery == 0 && s.ctx.Err() != nil {
			f.cut = true
			return false
		}
		if len(f.hits) < room {
			number += bytes.Count(text[counted:l.start], []byte("\n"))
			counted = l.start
			f.hits = append(f.hits, s.hit(seen, l, number))
		}
		return true
	})
	if len(f.hits) > 0 {
		version := contract.VersionOf(data)
		for i := range f.hits {
			f.hits[i].Path, f.hits[i].Version = f.path, version
		}
	}
	return f
}

// hit shows the line, which is number so and so, as it may be seen.
func (s *searching) hit(seen *veil, l line, number int) Hit {
	h := Hit{Line: number, Column: utf8.RuneCount(l.shown[:l.match]) + 1}
	h.Text, h.Cut = around(l.shown, l.match)
	text := seen.text
	for from := l.start; len(h.Before) < s.query.Context && from > 0; {
		start := bytes.LastIndexByte(text[:from-1], '\n') + 1
		h.Before = append(h.Before, contextLine(seen.show(start, from-1)))
		from = start
	}
	slices.Reverse(h.Before)
	for len(h.After) < s.query.Context {
		from := l.start + afterLines(text[l.start:], len(h.After)+1)
		if from >= len(text) {
			break
		}
		end := from + afterLines(text[from:], 1)
		h.After = append(h.After, contextLine(bytes.TrimSuffix(seen.show(from, end), []byte("\n"))))
	}
	return h
}

// around returns the line, or if it is long the part of it around the match.
func around(content []byte, match int) (text string, cut bool) {
	if len(content) <= maxHitBytes {
		return string(content), false
	}
	from := runeBoundary(content, min(max(0, match-shownBefore), len(content)-maxHitBytes))
	to := runeBoundary(content, from+maxHitBytes)
	return string(content[from:to]), true
}

func contextLine(content []byte) string {
	text, _ := around(bytes.TrimSuffix(content, []byte("\r")), 0)
	return text
}

// result puts together what the workers have found.
func (s *searching) result(skips Skips, timedOut bool) SearchResult {
	res := SearchResult{Skipped: skips, TimedOut: timedOut, TotalIsExact: !timedOut, LeftOut: s.leftOut}
	for i := range s.workers {
		w := &s.workers[i]
		res.Files += w.files
		res.Total += w.total
		res.Skipped.merge(w.skips)
		if w.cut {
			res.TimedOut, res.TotalIsExact = true, false
		}
	}
	hits := s.best.hits()
	from, to := s.query.Window.cut(len(hits))
	res.Hits = hits[from:to]
	shown := 0
	for i := range res.Hits {
		if shown += res.Hits[i].bytes(); s.query.MaxBytes > 0 && shown > s.query.MaxBytes && i > 0 {
			res.Hits = res.Hits[:i:i]
			break
		}
	}
	return res
}

// bestFiles keeps the hits of the first files by path, as many as it takes to fill a window: which files those are is
// known only at the end, and all hits of a large tree need not fit in memory.
type bestFiles struct {
	mu    sync.Mutex
	want  int // hits; -1: all
	files []fileHits
	kept  int // hits in files
}

// room returns how many hits of the file can be wanted, as far as is known by now.
func (b *bestFiles) room(path contract.Path) int {
	if b.want < 0 {
		return int(^uint(0) >> 1)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.kept >= b.want && len(b.files) > 0 && comparePaths(path, b.files[len(b.files)-1].path) > 0 {
		return 0
	}
	return b.want
}

// add takes in the hits of a file and drops those of the last files that can't be wanted any more.
func (b *bestFiles) add(f fileHits) {
	if len(f.hits) == 0 {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	at, _ := slices.BinarySearchFunc(b.files, f, func(a, f fileHits) int { return strings.Compare(a.path.String(), f.path.String()) })
	b.files = slices.Insert(b.files, at, f)
	b.kept += len(f.hits)
	for last := len(b.files) - 1; b.want >= 0 && last >= 0 && b.kept-len(b.files[last].hits) >= b.want; last-- {
		b.kept -= len(b.files[last].hits)
		b.files[last] = fileHits{}
		b.files = b.files[:last]
	}
}

func (b *bestFiles) hits() []Hit {
	var all []Hit
	for _, f := range b.files {
		all = append(all, f.hits...)
	}
	return all
}
