package workspace

import (
	"cmp"
	"context"
	"io/fs"
	"slices"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"writ/contract"
)

const (
	maxNear      = 5
	maxNearNames = 5000 // of the one directory that is read
	maxNearDirs  = 64   // in which the very name is looked for
)

// Near returns paths that a caller may have meant by p, which is not there: at most five, the likeliest first, and only
// such as the guard lets be seen. It reads one directory, the deepest that is there on the way to p.
func (r Reader) Near(ctx context.Context, p contract.Path) []string {
	dir, name, rest := r.deepest(ctx, p)
	visible := r.nearNames(ctx, dir)
	var near []string
	add := func(candidate contract.Path) {
		if s := candidate.String(); len(near) < maxNear && candidate != p && !slices.Contains(near, s) {
			near = append(near, s)
		}
	}
	for _, n := range rankNames(visible, name) {
		add(r.withRest(ctx, dir.Join(n), rest))
	}
	for _, place := range r.sameName(ctx, dir, visible, p.Base()) {
		add(place)
	}
	return near
}

// deepest returns the deepest directory on the way to p that is there, the name in it that is not, and what follows.
func (r Reader) deepest(ctx context.Context, p contract.Path) (dir contract.Path, name string, rest []string) {
	segments := p.Segments()
	dir = p
	for i := len(segments) - 1; i >= 0; i-- {
		dir = dir.Dir()
		if i == 0 {
			break
		}
		if at, err := r.look(ctx, dir, Look); err == nil && at.mode.IsDir() {
			return at.path, segments[i], segments[i+1:]
		}
	}
	if len(segments) == 0 {
		return dir, "", nil
	}
	return dir, segments[0], segments[1:]
}

// nearNames returns the names in dir that the guard lets be seen, none where dir can't be read or is too large.
func (r Reader) nearNames(ctx context.Context, dir contract.Path) []dirEntry {
	if dir.IsTop() && r.hasMounts() {
		var all []dirEntry
		for _, d := range r.mounts() {
			all = append(all, dirEntry{name: d.root.name, kind: fs.ModeDir})
		}
		return all
	}
	v, entries, err := r.scan(ctx, dir)
	if err != nil {
		return nil
	}
	defer v.scan.close()
	if len(entries) > maxNearNames {
		return nil
	}
	return slices.DeleteFunc(entries, func(e dirEntry) bool { return !v.maySee(e) })
}

// likeness says how much a name is like the one that was asked for; less is more.
type likeness struct {
	class    int // 0: the same but for its characters' form; 1: but for case, blanks and such; 2: similar
	distance int
}

// rankNames returns the names that are like the wanted one, the likeliest first.
func rankNames(entries []dirEntry, wanted string) []string {
	type ranked struct {
		name string
		likeness
	}
	var all []ranked
	composed, folded := norm.NFC.String(wanted), foldName(wanted)
	for _, e := range entries {
		if l, ok := alike(e.name, composed, folded); ok {
			all = append(all, ranked{e.name, l})
		}
	}
	slices.SortFunc(all, func(a, b ranked) int {
		return cmp.Or(cmp.Compare(a.class, b.class), cmp.Compare(a.distance, b.distance), strings.Compare(a.name, b.name))
	})
	names := make([]string, len(all))
	for i, r := range all {
		names[i] = r.name
	}
	return names
}

func alike(name, composed, folded string) (likeness, bool) {
	if norm.NFC.String(name) == composed {
		return likeness{}, true
	}
	f := foldName(name)
	if f == folded {
		return likeness{class: 1}, true
	}
	// One error in four characters, and in short names one at all.
	most := max(1, utf8.RuneCountInString(folded)/4)
	d := editDistance(f, folded, most)
	if d > most {
		if s := stem(folded); s == "" || stem(f) != s {
			return likeness{}, false
		}
		d = most // another ending of the same name
	}
	return likeness{class: 2, distance: d}, true
}

// stem returns name without its ending.
func stem(name string) string {
	if i := strings.LastIndexByte(name, '.'); i >= 0 {
		return name[:i]
	}
	return name
}

// foldName takes out what readers and writers of names confuse.
func foldName(name string) string {
	return fold(name, inSpaces|inIndentation|inQuotes|inDashes|inNormalization|inInvisible|inCase)
}

// editDistance returns how many characters have to be added, taken out, replaced or swapped with their neighbour to turn
// a into b, or a number above most if it is more than that.
func editDistance(a, b string, most int) int {
	x, y := []rune(a), []rune(b)
	if len(x)-len(y) > most || len(y)-len(x) > most {
		return most + 1
	}
	before, last, row := make([]int, len(y)+1), make([]int, len(y)+1), make([]int, len(y)+1)
	for j := range last {
		last[j] = j
	}
	for i := range x {
		row[0] = i + 1
		least := row[0]
		for j := range y {
			d := last[j]
			if x[i] != y[j] {
				d = 1 + min(last[j], last[j+1], row[j])
			}
			if i > 0 && j > 0 && x[i] == y[j-1] && x[i-1] == y[j] {
				d = min(d, before[j-1]+1)
			}
			row[j+1] = d
			least = min(least, d)
		}
		if least > most {
			return most + 1
		}
		before, last, row = last, row, before
	}
	return last[len(y)]
}

// withRest returns candidate with the rest of the path that was asked for, if that is there.
func (r Reader) withRest(ctx context.Context, candidate contract.Path, rest []string) contract.Path {
	whole := candidate
	for _, name := range rest {
		whole = whole.Join(name)
	}
	if len(rest) > 0 && r.isThere(ctx, whole) {
		return whole
	}
	return candidate
}

func (r Reader) isThere(ctx context.Context, p contract.Path) bool {
	_, err := r.look(ctx, p, Read)
	return err == nil
}

// sameName returns where the very name is in the directories of dir and in those above it.
func (r Reader) sameName(ctx context.Context, dir contract.Path, entries []dirEntry, name string) []contract.Path {
	var places []contract.Path
	try := func(in contract.Path) {
		if p := in.Join(name); len(places) < maxNear && r.isThere(ctx, p) {
			places = append(places, p)
		}
	}
	slices.SortFunc(entries, func(a, b dirEntry) int { return strings.Compare(a.name, b.name) })
	dirs := 0
	for _, e := range entries {
		if e.kind == fs.ModeDir && dirs < maxNearDirs {
			try(dir.Join(e.name))
			dirs++
		}
	}
	for up := dir; !up.IsTop(); {
		up = up.Dir()
		try(up)
	}
	return places
}
