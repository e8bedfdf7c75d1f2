package notes

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"writ/contract"
	"writ/envelope"
	"writ/workspace"
)

// vaults are a directory whose changes the system tells of, and one that must be walked over each time.
func vaults(t *testing.T, test func(t *testing.T, v Vault, d disk)) {
	t.Run("followed", func(t *testing.T) {
		d := disk{t.TempDir()}
		test(t, openFiles(t, d.root), d)
	})
	t.Run("walked over", func(t *testing.T) {
		d := disk{t.TempDir()}
		test(t, watchless{d}, d)
	})
}

func wantFound(t *testing.T, x *Index, source Source, query string, want ...string) {
	t.Helper()
	r := search(t, x, source, query)
	got := strings.Join(paths(r), " ")
	if got != strings.Join(want, " ") || r.Total != len(want) {
		t.Errorf("%q finds %q, total %d; want %q", query, got, r.Total, want)
	}
}

func TestIndexIsAsFreshAsTheDisk(t *testing.T) {
	cases := []struct {
		name string
		do   func(t *testing.T, d disk)
		want []string // that "sensor" finds afterwards; garden.md has it before
	}{
		{"nothing", func(*testing.T, disk) {}, []string{"garden.md"}},
		{"a note made", func(t *testing.T, d disk) { d.write(t, "more.md", "sensor\n") }, []string{"garden.md", "more.md"}},
		{"a note made in a new directory", func(t *testing.T, d disk) { d.write(t, "a/b/more.md", "sensor\n") }, []string{"a/b/more.md", "garden.md"}},
		{"a word written into a note", func(t *testing.T, d disk) { d.write(t, "other.md", "sensor\n") }, []string{"garden.md", "other.md"}},
		{"the word taken out", func(t *testing.T, d disk) { d.write(t, "garden.md", "nothing\n") }, nil},
		{"the word taken out, size and time kept", func(t *testing.T, d disk) { d.write(t, "garden.md", "zzzzzz\n") }, nil},
		{"the note removed", func(t *testing.T, d disk) { os.Remove(filepath.Join(d.root, "garden.md")) }, nil},
		{"the note renamed", func(t *testing.T, d disk) {
			os.Rename(filepath.Join(d.root, "garden.md"), filepath.Join(d.root, "yard.md"))
		}, []string{"yard.md"}},
		{"another note renamed over it", func(t *testing.T, d disk) {
			os.Rename(filepath.Join(d.root, "other.md"), filepath.Join(d.root, "garden.md"))
		}, nil},
		{"its directory renamed", func(t *testing.T, d disk) {
			os.Rename(filepath.Join(d.root, "sub"), filepath.Join(d.root, "bus"))
		}, []string{"garden.md"}},
		{"marked private", func(t *testing.T, d disk) { d.write(t, "garden.md", "---\nprivate: true\n---\nsensor\n") }, nil},
		{"no text any more", func(t *testing.T, d disk) { d.write(t, "garden.md", "sensor\xff\x00\n") }, nil},
		{"a directory in its place", func(t *testing.T, d disk) {
			os.Remove(filepath.Join(d.root, "garden.md"))
			d.write(t, "garden.md/in.txt", "sensor\n")
		}, nil},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			vaults(t, func(t *testing.T, v Vault, d disk) {
				for name, text := range map[string]string{"garden.md": "sensor\n", "other.md": "word\n", "sub/deep.md": "deep\n"} {
					d.write(t, name, text)
				}
				x := indexOf(t, v, IndexOptions{})
				wantFound(t, x, v, "sensor", "garden.md")
				c.do(t, d)
				wantFound(t, x, v, "sensor", c.want...)
				wantFound(t, x, v, "deep", map[bool]string{true: "bus/deep.md", false: "sub/deep.md"}[c.name == "its directory renamed"])
			})
		})
	}
}

// A note that was changed while no index was open is found as it is, and so it is by a process that shares the file.
func TestIndexOfAnEarlierProcess(t *testing.T) {
	vaults(t, func(t *testing.T, v Vault, d disk) {
		d.write(t, "a.md", "apple\n")
		d.write(t, "b.md", "berry\n")
		file := filepath.Join(t.TempDir(), "notes.db")
		first := indexOf(t, v, IndexOptions{File: file})
		wantFound(t, first, v, "apple", "a.md")
		second := patient(IndexOptions{File: file, Vault: v, Log: slog.New(slog.NewTextHandler(faithful{t}, nil))})
		defer second.Close()
		wantFound(t, second, v, "berry", "b.md")
		d.write(t, "a.md", "berry\n")
		wantFound(t, second, v, "berry", "a.md", "b.md")
		wantFound(t, first, v, "berry", "a.md", "b.md")
		if err := first.Close(); err != nil {
			t.Fatal(err)
		}
		d.write(t, "c.md", "berry\n")
		third := patient(IndexOptions{File: file, Vault: v, Log: slog.New(slog.NewTextHandler(faithful{t}, nil))})
		defer third.Close()
		wantFound(t, third, v, "berry", "a.md", "b.md", "c.md")
	})
}

// What a private note says is in no answer, and not in the file.
func TestIndexHoldsNothingOfHiddenNotes(t *testing.T) {
	d := vault(t, map[string]string{
		"open.md":   "the gardener\n",
		"secret.md": "---\nprivate: true\ntags: [quixotic]\n---\n# Zanzibar\nxylophones and sensors\n",
	})
	file := filepath.Join(t.TempDir(), "notes.db")
	x := indexOf(t, watchless{d}, IndexOptions{File: file})
	for _, query := range []string{"xylophones", "xylophonez", "tag:quixotic", "zanzibar", "title:zanzibar", "sensors gardener", "path:secret"} {
		r := search(t, x, d, query)
		if len(r.Repaired) > 0 || r.Total > 1 || len(r.Matches) > 0 && r.Matches[0].Path.String() != "open.md" {
			t.Errorf("%q tells of a private note: %+v", query, r)
		}
	}
	d.write(t, "open.md", "---\nprivate: true\n---\nthe gardener\n")
	wantFound(t, x, d, "gardener")
	if r := search(t, x, d, "gardner"); len(r.Repaired) > 0 {
		t.Errorf("a repair tells of a note that is private now: %v", r.Repaired)
	}
	x.tidyUp(context.Background())
	if err := x.Close(); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{file, file + "-wal"} {
		raw, err := os.ReadFile(name)
		if err != nil {
			continue
		}
		for _, word := range []string{"xylophone", "quixotic", "zanzibar", "Zanzibar", "gardener"} {
			if strings.Contains(string(raw), word) {
				t.Errorf("%s holds %q", filepath.Base(name), word)
			}
		}
	}
}

// Whoever asks decides what is shown.
func TestIndexShowsWhatTheSourceHandsOut(t *testing.T) {
	d := vault(t, map[string]string{"a.md": "apple\n", "b.md": "apple\n"})
	x := indexOf(t, watchless{d}, IndexOptions{})
	if r := search(t, x, denying{d, "a.md"}, "apple"); len(r.Matches) != 1 || r.Matches[0].Path.String() != "b.md" || r.Total != 1 {
		t.Errorf("found %q, total %d", paths(r), r.Total)
	}
}

type denying struct {
	disk
	path string
}

func (s denying) Load(ctx context.Context, path contract.Path) (Loaded, error) {
	if path.String() == s.path {
		return Loaded{}, envelope.Errorf(envelope.OutsideScope, "not for you")
	}
	return s.disk.Load(ctx, path)
}

// Until the index is there, and whenever it is damaged, notes are found by scanning; and then it is there again.
func TestIndexIsBegunAndMended(t *testing.T) {
	d := disk{t.TempDir()}
	for i := range fewNotes + 10 {
		d.write(t, fmt.Sprintf("n%d.md", i), fmt.Sprintf("apple word%d\n", i))
	}
	f := openFiles(t, d.root)
	file := filepath.Join(t.TempDir(), "notes.db")
	quiet := slog.New(slog.NewTextHandler(io.Discard, nil))
	x := patient(IndexOptions{File: file, Vault: f, Log: quiet})
	defer x.Close()
	ready := func() {
		t.Helper()
		for range 500 {
			q, _ := ParseQuery("word7")
			r, err := x.Search(context.Background(), q, f)
			if err != nil || r.Total != 1 {
				t.Fatalf("word7 is found %d times: %v", r.Total, err)
			}
			if _, ok := x.searchIndex(context.Background(), &q, f); ok {
				return
			}
			time.Sleep(10 * time.Millisecond)
		}
		t.Fatal("there is no index after a while")
	}
	ready()
	for _, at := range []int64{0, 4096, 20_000} {
		if err := x.store.close(); err != nil { // so that what is damaged is not in memory
			t.Fatal(err)
		}
		x.store, x.stale = nil, true
		damage(t, file, at)
		ready()
		if err := x.Verify(context.Background()); err != nil {
			x.Search(context.Background(), Query{}, f)
			ready()
		}
	}
	if err := x.Verify(context.Background()); err != nil {
		t.Error(err)
	}
}

func damage(t *testing.T, file string, at int64) {
	t.Helper()
	f, err := os.OpenFile(file, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.WriteAt([]byte(strings.Repeat("garbage ", 512)), at); err != nil {
		t.Fatal(err)
	}
}

// An index that can't be made keeps nobody from searching.
func TestIndexWithoutAPlace(t *testing.T) {
	d := disk{t.TempDir()}
	for i := range fewNotes + 10 {
		d.write(t, fmt.Sprintf("n%d.md", i), "apple\n")
	}
	blocked := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(blocked, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	x := patient(IndexOptions{File: filepath.Join(blocked, "notes.db"), Vault: watchless{d}})
	defer x.Close()
	for i := range 3 {
		q, _ := ParseQuery("apple")
		r, err := x.Search(context.Background(), q, d)
		if err != nil || r.Total != fewNotes+10 {
			t.Fatalf("found %d: %v", r.Total, err)
		}
		if i > 0 && r.Building != nil {
			t.Errorf("search %d says that an index is being built, which can't be", i)
		}
		x.work.Wait()
	}
}

// A call that runs out of time says so, and nothing is thought damaged for it.
func TestIndexSearchEndsWithItsContext(t *testing.T) {
	d := vault(t, map[string]string{"a.md": "apple\n"})
	x := indexOf(t, watchless{d}, IndexOptions{})
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	q, _ := ParseQuery("apple")
	if _, err := x.Search(ctx, q, d); err == nil {
		t.Error("a search whose time was over answered")
	}
	wantFound(t, x, d, "apple", "a.md")
}

// Several processes start at once, and each indexes what it finds; afterwards the file is whole and all is in it once.
func TestManyIndexOneVault(t *testing.T) {
	d := disk{t.TempDir()}
	for i := range 60 {
		d.write(t, fmt.Sprintf("n%d.md", i), fmt.Sprintf("apple word%d\n", i))
	}
	file := filepath.Join(t.TempDir(), "notes.db")
	var all []*Index
	var work sync.WaitGroup
	for i := range 6 {
		x := patient(IndexOptions{File: file, Vault: watchless{d}, Log: slog.New(slog.NewTextHandler(faithful{t}, nil))})
		defer x.Close()
		all = append(all, x)
		work.Go(func() {
			if err := x.Build(context.Background(), func(Progress) {}); err != nil {
				t.Errorf("process %d: %v", i, err)
			}
		})
	}
	work.Wait()
	for i, x := range all {
		work.Go(func() {
			d.write(t, fmt.Sprintf("n%d.md", i), "pear\n")
			if r := search(t, x, d, "apple"); r.Total < 54 || r.Total > 59 {
				t.Errorf("process %d finds %d", i, r.Total)
			}
		})
	}
	work.Wait()
	for _, x := range all {
		if r := search(t, x, d, "pear"); r.Total != 6 {
			t.Errorf("pear is found %d times", r.Total)
		}
	}
	if err := all[0].Verify(context.Background()); err != nil {
		t.Error(err)
	}
}

// Nothing that a query says is syntax to the database.
func FuzzIndexQuery(f *testing.F) {
	for _, seed := range []string{`"`, `a"b`, "a*", "*", "NEAR(a b)", "title:x", "{title}:x", "a AND", "- ^a", "col:val", "的", "\x00", "C++", `tag:"`, "a\u0301", "a OR b AND NOT c", "path:%_ x", "ſ ŉ K"} {
		f.Add(seed)
	}
	d := disk{f.TempDir()}
	for i, text := range []string{"---\ntags: [x, y/z]\n---\n# Title\na b C++ fs.readFile\n", "重跑gen-itgc后 的 花园传感器。\n", "e\u0301 ﬁ ŉ ſ K\n"} {
		d.write(f, fmt.Sprintf("n%d.md", i), text)
	}
	x := indexOf(f, watchless{d}, IndexOptions{Log: slog.New(slog.DiscardHandler)})
	f.Fuzz(func(t *testing.T, query string) {
		q, err := ParseQuery(query)
		if err != nil || q.IsEmpty() {
			return
		}
		r, ok := x.searchIndex(context.Background(), &q, d)
		if !ok {
			t.Fatalf("%q breaks the index", query)
		}
		scanned, err := Scanner{}.Search(context.Background(), q, d)
		if err != nil {
			t.Fatal(err)
		}
		agree(t, query, scanned, r)
	})
}

// What the system does not tell of is found after a while.
func TestIndexLooksAgain(t *testing.T) {
	d := vault(t, map[string]string{"a.md": "apple\n"})
	outside := filepath.Join(t.TempDir(), "other name")
	if err := os.Link(filepath.Join(d.root, "a.md"), outside); err != nil {
		t.Skip(err)
	}
	f := openFiles(t, d.root)
	x := indexOf(t, f, IndexOptions{})
	wantFound(t, x, f, "apple", "a.md")
	if err := os.WriteFile(outside, []byte("pear\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	wantFound(t, x, f, "apple") // it is looked at again before it is shown
	x.swept.Store(1)
	wantFound(t, x, f, "banana")
	x.work.Wait()
	wantFound(t, x, f, "pear", "a.md")
}

// What can't be looked into is told of, by scan and by index, until it can.
func TestSearchTellsWhatItCantLookInto(t *testing.T) {
	d := vault(t, map[string]string{"a.md": "apple\n"})
	odd := filepath.Join(d.root, "b\xff.md")
	if err := os.WriteFile(odd, []byte("apple\n"), 0o644); err != nil {
		t.Skip("a name must be valid UTF-8 here:", err)
	}
	f := openFiles(t, d.root)
	x := indexOf(t, f, IndexOptions{})
	for _, s := range []Searcher{x, Scanner{}} {
		if r := search(t, s, f, "apple"); r.Total != 1 || r.LeftOut.Count(workspace.SkipName) != 1 {
			t.Errorf("%T finds %d and leaves out %d", s, r.Total, r.LeftOut.Total())
		}
	}
	if err := os.Rename(odd, filepath.Join(d.root, "b.md")); err != nil {
		t.Fatal(err)
	}
	d.write(t, "sub/c.md", "apple\n") // a new directory, so that all is walked over
	for _, s := range []Searcher{x, Scanner{}} {
		if r := search(t, s, f, "apple"); r.Total != 3 || r.LeftOut.Total() != 0 {
			t.Errorf("%T finds %d and leaves out %d", s, r.Total, r.LeftOut.Total())
		}
	}
}

// unsure is a vault of which one directory can't be read at the moment.
type unsure struct {
	watchless
	away *bool
}

func (v unsure) Notes(ctx context.Context, visit func(Candidate) error) (workspace.Skips, error) {
	if !*v.away {
		return v.watchless.Notes(ctx, visit)
	}
	var left workspace.Skips
	left.Add(workspace.SkipIO, "sub")
	_, err := v.watchless.Notes(ctx, func(c Candidate) error {
		if strings.HasPrefix(c.Path.String(), "sub/") {
			return nil
		}
		return visit(c)
	})
	return left, err
}

// A disk that fails for a while does not make notes forgotten.
func TestIndexKeepsWhatIsAwayForAWhile(t *testing.T) {
	d := vault(t, map[string]string{"a.md": "apple\n", "sub/b.md": "apple\n"})
	away := false
	v := unsure{watchless{d}, &away}
	x := indexOf(t, v, IndexOptions{})
	away = true
	if r := search(t, x, v, "apple"); r.LeftOut.Count(workspace.SkipIO) != 1 {
		t.Errorf("nothing is told of the directory that can't be read: %+v", r)
	}
	status, err := x.Status(t.Context())
	if err != nil || status.Notes != 2 {
		t.Errorf("%d notes are left: %v", status.Notes, err)
	}
	away = false
	if r := search(t, x, v, "apple"); r.Total != 2 || r.LeftOut.Total() != 0 {
		t.Errorf("afterwards %d are found, %d left out", r.Total, r.LeftOut.Total())
	}
}
