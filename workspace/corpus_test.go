package workspace

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"writ/contract"
)

// The corpus of the benchmarks is made when one asks for it, and is kept in WRIT_BENCH_DIR if that is set.

const corpusFiles = 20_000

var corpusWords = strings.Fields("alpha beta gamma delta handler server client request response context error value index buffer reader writer token parse encode decode file path folder note link title count total result option default config cache entry node tree walk match search replace insert remove update select where range return import package string number")

// corpusText is size bytes, or a line more, of lines of words, one line in eight with characters beyond ASCII.
func corpusText(r *rand.Rand, size int) []byte {
	var b bytes.Buffer
	for b.Len() < size {
		for range 4 + r.IntN(9) {
			b.WriteString(corpusWords[r.IntN(len(corpusWords))])
			b.WriteByte(' ')
		}
		if r.IntN(8) == 0 {
			b.WriteString("– é →")
		}
		b.WriteByte('\n')
	}
	return b.Bytes()
}

// corpusTree returns a directory of 20,000 files in 1,000 directories: 200 are named *.qtx, 50 hold zqNeedle.literal[7],
// 50 others zqHandler_ and three digits.
func corpusTree(b *testing.B) string {
	b.Helper()
	dir := os.Getenv("WRIT_BENCH_DIR")
	if dir == "" {
		dir = b.TempDir()
	}
	dir = filepath.Join(dir, "tree20k")
	if _, err := os.Stat(filepath.Join(dir, "made")); err == nil {
		return dir
	}
	r := rand.New(rand.NewPCG(42, 42))
	for i := range corpusFiles {
		d := r.IntN(1000)
		in := fmt.Sprintf("%s%02d/%s%02d", corpusWords[d/20%len(corpusWords)], d/20, corpusWords[d%len(corpusWords)], d%20)
		if d%5 == 4 {
			in += "/deep/er"
		}
		name := fmt.Sprintf("f%05d.md", i)
		text := corpusText(r, 600+r.IntN(3000))
		if r.IntN(10) == 0 {
			text = corpusText(r, 3600+r.IntN(24000))
		}
		switch {
		case i%100 == 50:
			name = fmt.Sprintf("f%05d.qtx", i)
		case i%400 == 1:
			text = append(text, "\n\treturn zqNeedle.literal[7] + 1\n"...)
		case i%400 == 3:
			text = fmt.Appendf(text, "\nfunc zqHandler_%03d(ctx context.Context) error {\n", i%1000)
		}
		at := filepath.Join(dir, filepath.FromSlash(in))
		if err := os.MkdirAll(at, 0o755); err != nil {
			b.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(at, name), text, 0o644); err != nil {
			b.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "made"), nil, 0o644); err != nil {
		b.Fatal(err)
	}
	return dir
}

func glob(t testing.TB, pattern string) contract.Glob {
	t.Helper()
	g, err := contract.ParseGlob(pattern)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// plainAnyone is anyone who answers for whole directories.
type plainAnyone struct{ anyone }

func (plainAnyone) AllowsPlain(Access, contract.Path) bool { return true }

func BenchmarkFind20k(b *testing.B) {
	r := open(b, Options{Roots: []Root{{Dir: corpusTree(b)}}}).Reader(plainAnyone{})
	g := glob(b, "**/*.qtx")
	for b.Loop() {
		f, err := r.Find(b.Context(), contract.Path{}, g, Window{Limit: 1000})
		if err != nil || f.Total != 200 {
			b.Fatal(f.Total, err)
		}
	}
}

func BenchmarkFindAll20k(b *testing.B) {
	r := open(b, Options{Roots: []Root{{Dir: corpusTree(b)}}}).Reader(plainAnyone{})
	g := glob(b, "**")
	for b.Loop() {
		f, err := r.Find(b.Context(), contract.Path{}, g, Window{Limit: 1000})
		if err != nil || f.Total != corpusFiles+1 {
			b.Fatal(f.Total, err)
		}
	}
}

func BenchmarkList5000(b *testing.B) {
	dir := b.TempDir()
	for i := range 5000 {
		name := filepath.Join(dir, fmt.Sprintf("entry_%05d.txt", i))
		if err := os.WriteFile(name, nil, 0o644); err != nil {
			b.Fatal(err)
		}
	}
	r := open(b, Options{Roots: []Root{{Dir: dir}}}).Reader(plainAnyone{})
	for b.Loop() {
		l, err := r.List(b.Context(), contract.Path{}, Window{Limit: 1000})
		if err != nil || l.Total != 5000 || len(l.Entries) != 1000 {
			b.Fatal(l.Total, err)
		}
	}
}

func BenchmarkSearch20k(b *testing.B) {
	r := open(b, Options{Roots: []Root{{Dir: corpusTree(b)}}}).Reader(plainAnyone{})
	for name, c := range map[string]struct {
		query Query
		want  int
	}{
		"literal":     {Query{Pattern: "zqNeedle.literal[7]"}, 50},
		"ignore-case": {Query{Pattern: "ZQNEEDLE.literal[7]", IgnoreCase: true}, 50},
		"regexp":      {Query{Pattern: `zqHandler_[0-9]{3}\(ctx`, Regexp: true}, 50},
		"no-literal":  {Query{Pattern: `\b[a-z]{2}[A-Z][a-z]+_[0-9]{3}\b`, Regexp: true}, 50},
	} {
		b.Run(name, func(b *testing.B) {
			c.query.Window.Limit = 200
			for b.Loop() {
				s, err := r.Search(b.Context(), c.query)
				if err != nil || s.Total != c.want || s.Files != corpusFiles+1 {
					b.Fatal(s.Total, s.Files, s.Skipped, err)
				}
			}
		})
	}
}

func BenchmarkLines1KB(b *testing.B) {
	dir := b.TempDir()
	plant(b, dir, map[string]string{"read/1k.txt": string(corpusText(rand.New(rand.NewPCG(1, 1)), 1024))})
	r := open(b, Options{Roots: []Root{{Dir: dir}}}).Reader(plainAnyone{})
	p := path(b, "read/1k.txt")
	for b.Loop() {
		if page, err := r.Lines(b.Context(), p, LineRange{Limit: 2000, MaxBytes: 256 << 10}); err != nil || page.Text == "" {
			b.Fatal(err)
		}
	}
}

func BenchmarkLinesMiddle10MB(b *testing.B) {
	dir := b.TempDir()
	plant(b, dir, map[string]string{"10m.txt": string(corpusText(rand.New(rand.NewPCG(1, 1)), 10<<20))})
	r := open(b, Options{Roots: []Root{{Dir: dir}}}).Reader(plainAnyone{})
	p := path(b, "10m.txt")
	time.Sleep(2 * settling)
	for b.Loop() {
		if page, err := r.Lines(b.Context(), p, LineRange{Offset: 80_000, Limit: 20}); err != nil || page.Text == "" {
			b.Fatal(err)
		}
	}
}

// The first read of a large file has to read and hash all of it.
func BenchmarkLinesFirst10MB(b *testing.B) {
	dir := b.TempDir()
	plant(b, dir, map[string]string{"10m.txt": string(corpusText(rand.New(rand.NewPCG(1, 1)), 10<<20))})
	w := open(b, Options{Roots: []Root{{Dir: dir}}})
	r := w.Reader(plainAnyone{})
	p := path(b, "10m.txt")
	for b.Loop() {
		w.facts = factCache{}
		if page, err := r.Lines(b.Context(), p, LineRange{Offset: 80_000, Limit: 20}); err != nil || page.Text == "" {
			b.Fatal(err)
		}
	}
}
