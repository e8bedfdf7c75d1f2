package workspace

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"strings"
	"sync"
	"syscall"
	"time"

	"writ/contract"
	"writ/envelope"
)

const (
	ignoreName = ".gitignore"
	// maxIgnoreBytes bounds a .gitignore; a larger one is no rule file but a trap.
	maxIgnoreBytes = 1 << 20
	// maxIgnoreFiles bounds how many parsed files a root keeps.
	maxIgnoreFiles = 4096
)

// ignores are the .gitignore files of one root, read as they are needed and kept for as long as they stay the same. A
// file that can't be read, or is too large to be, counts as one that ignores everything beside and below it: what it
// would have kept out must not come in because of it. A link counts as none, as it does for git.
type ignores struct {
	tree tree

	mu    sync.Mutex
	files map[string]ignoreFile // by the file's path below the root
}

type ignoreFile struct {
	stamp stamp
	rules []ignoreRule
}

func newIgnores(t tree) *ignores {
	return &ignores{tree: t, files: make(map[string]ignoreFile)}
}

// ignoreView is what the ignore files say during one resolution: each is looked at once.
type ignoreView struct {
	ignores *ignores
	levels  []ignoreLevel // from the root down: directories that are not ignored
}

type ignoreLevel struct {
	dir   string
	chain *ignoreChain
}

func (ig *ignores) view() *ignoreView { return &ignoreView{ignores: ig} }

// ignored returns how many segments the shortest ignored prefix of rel has, 0 if none is ignored. The directories of
// rel must be free of links.
func (v *ignoreView) ignored(rel string, as form) int {
	if rel == "" {
		return 0
	}
	n, _ := v.descend(rel, as)
	return n
}

// above returns what [ignoreView.ignored] does for the directory rel, and the files that hold in the directory above it.
func (v *ignoreView) above(rel string) (int, *ignoreChain) {
	if rel == "" {
		return 0, nil
	}
	return v.descend(rel, asDirectory)
}

// descend goes down to rel or to the first name that is ignored, and returns the files that hold where it ended.
func (v *ignoreView) descend(rel string, as form) (int, *ignoreChain) {
	level := v.reach(rel)
	for {
		next, whole := nextPrefix(level.dir, rel)
		kind := asDirectory
		if whole {
			kind = as
		}
		switch {
		case level.chain.ignores(next, kind):
			return strings.Count(next, "/") + 1, level.chain
		case whole:
			return 0, level.chain
		}
		level = v.enter(level, next)
	}
}

// reach returns the deepest level that is known on the way to rel and forgets those that are not on it.
func (v *ignoreView) reach(rel string) ignoreLevel {
	for n := len(v.levels); n > 0; n-- {
		if dir := v.levels[n-1].dir; dir == "" || strings.HasPrefix(rel, dir) && len(rel) > len(dir) && rel[len(dir)] == '/' {
			v.levels = v.levels[:n]
			return v.levels[n-1]
		}
	}
	v.levels = v.levels[:0]
	return v.enter(ignoreLevel{}, "")
}

func (v *ignoreView) enter(above ignoreLevel, dir string) ignoreLevel {
	level := ignoreLevel{dir: dir, chain: above.chain.below(dir, v.ignores.rules(dir))}
	v.levels = append(v.levels, level)
	return level
}

// nextPrefix returns dir with the next name of rel, and whether that is all of rel.
func nextPrefix(dir, rel string) (prefix string, whole bool) {
	from := len(dir)
	if dir != "" {
		from++
	}
	if i := strings.IndexByte(rel[from:], '/'); i >= 0 {
		return rel[:from+i], false
	}
	return rel, true
}

// ignoreChain is the ignore files that hold in a directory, the deepest first. Only directories that have one add a
// link to it; nil is none at all.
type ignoreChain struct {
	above *ignoreChain
	dir   string // where the file lies
	rules []ignoreRule
}

// below returns the chain that holds in dir, whose own file has the rules.
func (c *ignoreChain) below(dir string, rules []ignoreRule) *ignoreChain {
	if len(rules) == 0 {
		return c
	}
	return &ignoreChain{above: c, dir: dir, rules: rules}
}

// ignores tells whether the entry at rel is ignored, in a directory that is not.
func (c *ignoreChain) ignores(rel string, as form) bool {
	for ; c != nil; c = c.above {
		subject := rel
		if c.dir != "" {
			subject = rel[len(c.dir)+1:]
		}
		if v := judge(c.rules, subject, as); v != unmentioned {
			return v == ignored
		}
	}
	return false
}

// ignoreAll are the rules of a file that can't be read.
var ignoreAll = sync.OnceValue(func() []ignoreRule { return parseIgnore([]byte("*\n")) })

// rules returns what the .gitignore in dir says, nil where there is none.
func (ig *ignores) rules(dir string) []ignoreRule {
	rel := joinRel(dir, ignoreName)
	current, err := lstatBelow(ig.tree, rel)
	switch {
	case isAbsent(err), errors.Is(err, syscall.ELOOP), err == nil && !current.mode.IsRegular():
		return nil // a circle of links is no directory
	case err != nil, current.size > maxIgnoreBytes:
		return ignoreAll()
	}
	ig.mu.Lock()
	known, ok := ig.files[rel]
	ig.mu.Unlock()
	if ok && known.stamp == current.stamp {
		return known.rules
	}
	return ig.load(rel)
}

// load reads the file at rel. It is kept only if its stamp can't hide a later change.
func (ig *ignores) load(rel string) []ignoreRule {
	began := time.Now()
	f, err := openUnasked(ig.tree, rel)
	if isAbsent(err) {
		return nil // it went away
	}
	if err != nil {
		return ignoreAll()
	}
	defer f.Close()
	before, err := f.Stat()
	if err != nil {
		return ignoreAll()
	}
	data, err := io.ReadAll(io.LimitReader(f, maxIgnoreBytes+1))
	if err != nil || len(data) > maxIgnoreBytes {
		return ignoreAll()
	}
	rules := parseIgnore(data)
	after, err := f.Stat()
	if err != nil {
		return rules
	}
	if s := stampOf(after); s == stampOf(before) && s.settled(began) {
		ig.keep(rel, ignoreFile{stamp: s, rules: rules})
	}
	return rules
}

// isAbsent tells whether the error says that nothing is there.
func isAbsent(err error) bool {
	code := envelope.CodeOf(err)
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) || code == envelope.PathNotFound || code == envelope.NotADirectory
}

func (ig *ignores) keep(rel string, file ignoreFile) {
	ig.mu.Lock()
	defer ig.mu.Unlock()
	if len(ig.files) >= maxIgnoreFiles {
		clear(ig.files)
	}
	ig.files[rel] = file
}

// everything is the guard of our own reading: of rules that decide what others may see, and of directories about which
// a walk has asked the caller's guard already.
type everything struct{}

func (everything) Allow(Access, Place) error { return nil }

// unasked is the question about a place below t that no guard is asked about.
func unasked(t tree, rel string) (*question, error) {
	q := &question{guard: everything{}, root: &root{tree: t}, rel: rel, want: Read}
	if rel == "" {
		return q, nil
	}
	var err error
	q.spelled, err = contract.ParsePath(rel)
	return q, err
}

// openUnasked opens the regular file at rel itself, which no link may lead to.
func openUnasked(t tree, rel string) (*os.File, error) {
	q, err := unasked(t, rel)
	if err != nil {
		return nil, err
	}
	f, resolved, err := t.openFile(context.Background(), q)
	if err != nil {
		return nil, err
	}
	if resolved != rel {
		f.Close()
		return nil, errMoved
	}
	return f, nil
}
