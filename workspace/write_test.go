package workspace

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"writ/contract"
	"writ/envelope"
)

// diary is a journal that keeps what it was told.
type diary struct {
	mu      sync.Mutex
	intents []contract.Intent
	ends    []contract.Outcome
	refuse  error
}

func (d *diary) Begin(_ context.Context, in contract.Intent) (string, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.refuse != nil {
		return "", d.refuse
	}
	d.intents = append(d.intents, in)
	return fmt.Sprint("c", len(d.intents)), nil
}

func (d *diary) End(_ context.Context, _ string, o contract.Outcome) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.ends = append(d.ends, o)
	return nil
}

// bench is a root with a writer.
type bench struct {
	Writer
	t     testing.TB
	root  string
	diary *diary
}

func newBench(t testing.TB, portable bool, files map[string]string) *bench {
	t.Helper()
	root := world(t, files)
	w := open(t, Options{Roots: []Root{{Dir: root}}, State: t.TempDir(), portable: portable})
	d := &diary{}
	return &bench{Writer: w.Writer(anyone{}, d, contract.Origin{Tool: "test"}), t: t, root: root, diary: d}
}

func (b *bench) onDisk(name string) string {
	b.t.Helper()
	data, err := os.ReadFile(filepath.Join(b.root, name))
	if errors.Is(err, fs.ErrNotExist) {
		return "(nothing)"
	}
	if err != nil {
		b.t.Fatal(err)
	}
	return string(data)
}

// put replaces the whole file.
func (b *bench) put(name, old, now string) (Written, error) {
	b.t.Helper()
	return b.Replace(context.Background(), path(b.t, name), contract.VersionOf([]byte(old)), whole(now))
}

func whole(now string) func(*File) ([]contract.Splice, error) {
	return func(old *File) ([]contract.Splice, error) {
		return []contract.Splice{{Length: int64(len(old.Data)), New: []byte(now)}}, nil
	}
}

// wantTidy fails if a temporary file is left anywhere.
func (b *bench) wantTidy() {
	b.t.Helper()
	err := filepath.WalkDir(filepath.Dir(b.root), func(p string, e fs.DirEntry, err error) error {
		if err == nil && isTempName(e.Name()) {
			b.t.Errorf("%s is left behind", p)
		}
		return err
	})
	if err != nil {
		b.t.Error(err)
	}
	b.diary.mu.Lock()
	defer b.diary.mu.Unlock()
	if len(b.diary.intents) != len(b.diary.ends) {
		b.t.Errorf("%d intents and %d outcomes", len(b.diary.intents), len(b.diary.ends))
	}
}

func TestReplace(t *testing.T) {
	forms(t, func(t *testing.T, portable bool) {
		b := newBench(t, portable, map[string]string{"d/f": "one two three"})
		old := "one two three"
		splices := []contract.Splice{{Offset: 0, Length: 3, New: []byte("1")}, {Offset: 8, Length: 0, New: []byte("and ")}}
		got, err := b.Replace(context.Background(), path(t, "d/f"), contract.VersionOf([]byte(old)), func(f *File) ([]contract.Splice, error) {
			if string(f.Data) != old {
				t.Errorf("edit was given %q", f.Data)
			}
			return splices, nil
		})
		if err != nil {
			t.Fatal(err)
		}
		want := "1 two and three"
		if b.onDisk("d/f") != want || got.After != contract.VersionOf([]byte(want)) || got.Changed != envelope.Yes ||
			got.ChangeID != "c1" || string(got.New) != want || string(got.Old) != old || got.Resolved.String() != "d/f" {
			t.Errorf("got %+v, disk %q", got, b.onDisk("d/f"))
		}
		if weak := len(got.Warnings) == 1 && got.Warnings[0].Code == envelope.WeakGuarantee; weak != portable {
			t.Errorf("warnings %v", got.Warnings)
		}
		in := b.diary.intents[0]
		back, err := splice([]byte(want), in.Undo)
		if err != nil || string(bytes.Join(back, nil)) != old {
			t.Errorf("undo makes %q, %v", bytes.Join(back, nil), err)
		}
		if in.Kind != contract.ChangeEdit || in.Before != contract.VersionOf([]byte(old)) || in.After != got.After ||
			in.Mode != 0o644 || !isTempName(in.Temp) || in.Tool != "test" || in.Path.String() != "d/f" {
			t.Errorf("intent %+v", in)
		}
		if !slices.Equal(b.diary.ends, []contract.Outcome{contract.OutcomeDone}) {
			t.Errorf("outcomes %v", b.diary.ends)
		}
		if data, ok := b.Recall(got.After); !ok || string(data) != want {
			t.Error("the new content is not remembered")
		}
		b.wantTidy()
	})
}

func TestReplaceRefuses(t *testing.T) {
	forms(t, func(t *testing.T, portable bool) {
		b := newBench(t, portable, map[string]string{"f": "now", "ro": "now", "d/": "", "out": "->../outside/secret.txt", "none": "->nowhere"})
		if err := os.Chmod(filepath.Join(b.root, "ro"), 0o444); err != nil {
			t.Fatal(err)
		}
		_, err := b.put("f", "before", "new")
		wantErr(t, err, envelope.VersionChanged)
		c, ok := errors.AsType[*Conflict](err)
		if !ok || string(c.CurrentData) != "now" || c.Current != contract.VersionOf([]byte("now")) {
			t.Errorf("conflict %+v", c)
		}
		for name, code := range map[string]envelope.Code{
			"ro": envelope.ReadOnlyFile, "d": envelope.IsDirectory, "out": envelope.OutsideRoot,
			"none": envelope.PathNotFound, "nothing": envelope.PathNotFound, "f/x": envelope.NotADirectory,
		} {
			_, err := b.put(name, "now", "new")
			if envelope.CodeOf(err) != code {
				t.Errorf("%s: got %v, want %s", name, err, code)
			}
		}
		if b.onDisk("f") != "now" || b.onDisk("ro") != "now" || b.onDisk("../outside/secret.txt") != "SECRET" {
			t.Error("something was changed")
		}
		if len(b.diary.intents) != 0 {
			t.Errorf("intents %v", b.diary.intents)
		}
		b.wantTidy()
	})
}

func TestReplaceWithTheSameBytes(t *testing.T) {
	forms(t, func(t *testing.T, portable bool) {
		b := newBench(t, portable, map[string]string{"f": "same"})
		for name, edit := range map[string]func(*File) ([]contract.Splice, error){
			"the same bytes": whole("same"),
			"no splices":     func(*File) ([]contract.Splice, error) { return nil, nil },
		} {
			got, err := b.Replace(context.Background(), path(t, "f"), contract.VersionOf([]byte("same")), edit)
			if err != nil || got.Changed != envelope.No || got.ChangeID != "" || got.After != got.Before {
				t.Errorf("%s: %+v, %v", name, got, err)
			}
		}
		if len(b.diary.intents) != 0 {
			t.Error("there is an intent")
		}
		b.wantTidy()
	})
}

func TestReplaceThroughALink(t *testing.T) {
	forms(t, func(t *testing.T, portable bool) {
		b := newBench(t, portable, map[string]string{"d/f": "old", "l": "->d/f"})
		got, err := b.put("l", "old", "new")
		if err != nil || got.Resolved.String() != "d/f" || got.Path.String() != "l" {
			t.Fatalf("%+v, %v", got, err)
		}
		if target, err := os.Readlink(filepath.Join(b.root, "l")); err != nil || target != "d/f" || b.onDisk("d/f") != "new" {
			t.Errorf("link to %q, %v; content %q", target, err, b.onDisk("d/f"))
		}
	})
}

func TestReplaceKeepsFacts(t *testing.T) {
	forms(t, func(t *testing.T, portable bool) {
		b := newBench(t, portable, map[string]string{"f": "old"})
		name := filepath.Join(b.root, "f")
		if err := errors.Join(os.Chmod(name, 0o751), os.Link(name, filepath.Join(b.root, "other"))); err != nil {
			t.Fatal(err)
		}
		if os.Geteuid() == 0 {
			if err := os.Chown(name, 1234, 2345); err != nil {
				t.Fatal(err)
			}
		}
		attribute := setAttribute(name)
		got, err := b.put("f", "old", "new")
		if err != nil {
			t.Fatal(err)
		}
		if !slices.ContainsFunc(got.Warnings, func(w envelope.Warning) bool { return w.Code == envelope.HardLinkBroken }) {
			t.Errorf("warnings %v", got.Warnings)
		}
		if b.onDisk("other") != "old" || b.onDisk("f") != "new" {
			t.Error("the other name changed too")
		}
		info, err := os.Stat(name)
		if err != nil || info.Mode().Perm() != 0o751 {
			t.Errorf("mode %v, %v", info.Mode(), err)
		}
		if os.Geteuid() == 0 && ownerOf(info) != "1234:2345" {
			t.Errorf("owner %s", ownerOf(info))
		}
		if attribute && getAttribute(name) != "kept" {
			t.Error("the extended attribute is gone")
		}
	})
}

func TestReplacePassesOnErrors(t *testing.T) {
	forms(t, func(t *testing.T, portable bool) {
		b := newBench(t, portable, map[string]string{"f": "old"})
		mine := errors.New("mine")
		_, err := b.Replace(context.Background(), path(t, "f"), contract.VersionOf([]byte("old")), func(*File) ([]contract.Splice, error) { return nil, mine })
		if !errors.Is(err, mine) {
			t.Error(err)
		}
		_, err = b.Replace(context.Background(), path(t, "f"), contract.VersionOf([]byte("old")), func(*File) ([]contract.Splice, error) {
			return []contract.Splice{{Offset: 2, Length: 1}, {Offset: 1, Length: 1}}, nil
		})
		if err == nil {
			t.Error("splices that are not sorted were taken")
		}
		b.diary.refuse = mine
		if _, err := b.put("f", "old", "new"); !errors.Is(err, mine) {
			t.Error(err)
		}
		if _, err := b.Create(context.Background(), path(t, "new/f"), nil); !errors.Is(err, mine) {
			t.Error(err)
		}
		if b.onDisk("f") != "old" || b.onDisk("new/f") != "(nothing)" {
			t.Error("something was changed")
		}
		b.wantTidy()
	})
}

func TestNoStateNoWriting(t *testing.T) {
	w := open(t, Options{Roots: []Root{{Dir: world(t, map[string]string{"f": "old"})}}})
	_, err := w.Writer(anyone{}, nil, contract.Origin{}).Replace(context.Background(), path(t, "f"), contract.VersionOf([]byte("old")), whole("new"))
	if err == nil {
		t.Error("written without a lock")
	}
}

// Large files take other ways: written beside the hashing, and hashed from a checkpoint on.
func TestReplaceInALargeFile(t *testing.T) {
	forms(t, func(t *testing.T, portable bool) {
		old := make([]byte, 5<<20+123)
		r := rand.New(rand.NewPCG(1, 2))
		for i := range old {
			old[i] = byte(r.Uint32())
		}
		b := newBench(t, portable, map[string]string{"f": string(old)})
		for _, at := range []int64{0, 1, checkpointBytes - 1, checkpointBytes, checkpointBytes + 1, 3 << 20, int64(len(old)) - 1} {
			want := slices.Concat(old[:at], []byte("inserted"), old[at+1:])
			got, err := b.Replace(context.Background(), path(t, "f"), contract.VersionOf(old), func(*File) ([]contract.Splice, error) {
				return []contract.Splice{{Offset: at, Length: 1, New: []byte("inserted")}}, nil
			})
			if err != nil {
				t.Fatal(err)
			}
			if got.After != contract.VersionOf(want) || b.onDisk("f") != string(want) || got.Old != nil || got.New != nil {
				t.Fatalf("edit at %d: wrong", at)
			}
			old = want
		}
		b.wantTidy()
	})
}

// A large file is checked while its edit is planned and written; in another state than the observed one it stays as it is.
func TestLargeFileInAnotherState(t *testing.T) {
	forms(t, func(t *testing.T, portable bool) {
		now := string(bytes.Repeat([]byte("now"), worthAnotherCPU))
		b := newBench(t, portable, map[string]string{"f": now})
		mine := errors.New("mine")
		for name, edit := range map[string]func(*File) ([]contract.Splice, error){
			"an edit": whole("new"), "no edit": whole(now), "an edit that can't be planned": func(*File) ([]contract.Splice, error) { return nil, mine },
			"splices that do not fit": func(f *File) ([]contract.Splice, error) {
				return []contract.Splice{{Offset: int64(len(f.Data)), Length: 1}}, nil
			},
		} {
			_, err := b.Replace(context.Background(), path(t, "f"), contract.VersionOf([]byte("before")), edit)
			c, ok := errors.AsType[*Conflict](err)
			if !ok || c.Current != contract.VersionOf([]byte(now)) {
				t.Errorf("%s: got %v", name, err)
			}
		}
		if _, err := b.Replace(context.Background(), path(t, "f"), contract.VersionOf([]byte(now)), func(*File) ([]contract.Splice, error) { return nil, mine }); !errors.Is(err, mine) {
			t.Error(err)
		}
		if b.onDisk("f") != now || len(b.diary.intents) > 0 {
			t.Error("something was changed")
		}
		b.wantTidy()
	})
}

func TestWritesAreBounded(t *testing.T) {
	root := world(t, map[string]string{"f": "12345678"})
	w := open(t, Options{Roots: []Root{{Dir: root}}, State: t.TempDir(), FileBytes: 8})
	wr := w.Writer(anyone{}, nil, contract.Origin{})
	_, err := wr.Replace(context.Background(), path(t, "f"), contract.VersionOf([]byte("12345678")), whole("123456789"))
	wantErr(t, err, envelope.TooLarge)
	_, err = wr.Create(context.Background(), path(t, "g"), []byte("123456789"))
	wantErr(t, err, envelope.TooLarge)
}

func TestCreate(t *testing.T) {
	forms(t, func(t *testing.T, portable bool) {
		b := newBench(t, portable, map[string]string{"d/": "", "l": "->d"})
		for _, c := range []struct {
			path, resolved string
			directories    []string
		}{
			{"top.md", "top.md", nil}, {"d/f.md", "d/f.md", nil}, {"a/b/c.md", "a/b/c.md", []string{"a", "a/b"}},
			{"l/through.md", "d/through.md", nil}, {"l/x/y.md", "d/x/y.md", []string{"d/x"}},
		} {
			got, err := b.Create(context.Background(), path(t, c.path), []byte("text"))
			if err != nil {
				t.Fatal(c.path, err)
			}
			var made []string
			for _, d := range got.Directories {
				made = append(made, d.String())
			}
			if b.onDisk(c.resolved) != "text" || got.Resolved.String() != c.resolved || !slices.Equal(made, c.directories) ||
				got.After != contract.VersionOf([]byte("text")) || got.Changed != envelope.Yes {
				t.Errorf("%s: %+v", c.path, got)
			}
			info, err := os.Stat(filepath.Join(b.root, c.resolved))
			if err != nil || info.Mode().Perm() != 0o666&^umask() || linkCount(info) != 1 {
				t.Errorf("%s: %v, %v", c.path, info.Mode(), err)
			}
			if in := b.diary.intents[len(b.diary.intents)-1]; in.Mode != info.Mode().Perm() && !portable {
				t.Errorf("%s: the intent has mode %v", c.path, in.Mode)
			}
		}
		b.wantTidy()
	})
}

func TestCreateNeverReplaces(t *testing.T) {
	forms(t, func(t *testing.T, portable bool) {
		b := newBench(t, portable, map[string]string{
			"f": "there", "d/": "", "l": "->f", "none": "->nowhere", "none-dir": "->nowhere/at/all", "out": "->../outside/new", "out-dir": "->../outside",
		})
		for name, code := range map[string]envelope.Code{
			"f": envelope.AlreadyExists, "d": envelope.AlreadyExists, "l": envelope.AlreadyExists,
			"none": envelope.NotARegularFile, "none/x": envelope.NotARegularFile, "none-dir/x": envelope.NotARegularFile,
			"out": envelope.OutsideRoot, "out-dir/x": envelope.OutsideRoot, "f/x": envelope.NotADirectory,
			"~": envelope.PathNotAllowed, "~/x": envelope.PathNotAllowed, `a\b`: envelope.PathNotAllowed, "a\tb/x": envelope.PathNotAllowed,
			"a\u0085b": envelope.PathNotAllowed, ".writ-0123456789abcdef.tmp": envelope.PathNotAllowed,
		} {
			_, err := b.Create(context.Background(), path(t, name), []byte("new"))
			if envelope.CodeOf(err) != code {
				t.Errorf("%s: got %v, want %s", name, err, code)
			}
			if c, ok := errors.AsType[*Conflict](err); ok && (name == "f" || name == "l") && string(c.CurrentData) != "there" {
				t.Errorf("%s: conflict %+v", name, c)
			}
		}
		if b.onDisk("f") != "there" || b.onDisk("nowhere") != "(nothing)" || b.onDisk("../outside/new") != "(nothing)" {
			t.Error("something was changed")
		}
		b.wantTidy()
	})
}

func TestCreateTakesDirectoriesAwayAgain(t *testing.T) {
	forms(t, func(t *testing.T, portable bool) {
		b := newBench(t, portable, nil)
		ctx, cancel := context.WithCancel(context.Background())
		b.journal = interrupting{b.diary, cancel}
		if _, err := b.Create(ctx, path(t, "a/b/f"), []byte("x")); err == nil {
			t.Fatal("no error")
		}
		if _, err := os.Stat(filepath.Join(b.root, "a")); err == nil {
			t.Error("a is left behind")
		}
		if !slices.Equal(b.diary.ends, []contract.Outcome{contract.OutcomeNotDone}) {
			t.Errorf("outcomes %v", b.diary.ends)
		}
		b.wantTidy()
	})
}

// interrupting is a journal that ends the call when it is told of the intent.
type interrupting struct {
	*diary
	cancel context.CancelFunc
}

func (i interrupting) Begin(ctx context.Context, in contract.Intent) (string, error) {
	defer i.cancel()
	return i.diary.Begin(ctx, in)
}

func TestInterruptedBeforeTheChange(t *testing.T) {
	forms(t, func(t *testing.T, portable bool) {
		b := newBench(t, portable, map[string]string{"f": "old"})
		for name, change := range map[string]func(ctx context.Context) error{
			"replace": func(ctx context.Context) error {
				_, err := b.Replace(ctx, path(t, "f"), contract.VersionOf([]byte("old")), whole("new"))
				return err
			},
			"move": func(ctx context.Context) error {
				_, err := b.Move(ctx, path(t, "f"), path(t, "a/g"), contract.VersionOf([]byte("old")))
				return err
			},
			"delete": func(ctx context.Context) error {
				_, err := b.Delete(ctx, path(t, "f"), contract.VersionOf([]byte("old")))
				return err
			},
			"mkdir": func(ctx context.Context) error {
				_, err := b.MakeDirectory(ctx, path(t, "a/b"))
				return err
			},
		} {
			ctx, cancel := context.WithCancel(context.Background())
			b.journal = interrupting{b.diary, cancel}
			if err := change(ctx); err == nil {
				t.Errorf("%s: no error", name)
			}
			if _, err := os.Stat(filepath.Join(b.root, "a")); err == nil || b.onDisk("f") != "old" {
				t.Errorf("%s: something was changed", name)
			}
			if b.diary.ends[len(b.diary.ends)-1] != contract.OutcomeNotDone {
				t.Errorf("%s: outcome %v", name, b.diary.ends)
			}
		}
		b.wantTidy()
	})
}

func TestMove(t *testing.T) {
	forms(t, func(t *testing.T, portable bool) {
		b := newBench(t, portable, map[string]string{"f": "text", "taken": "there", "d/": "", "l": "->f", "none": "->nowhere", "ro": "text"})
		v := contract.VersionOf([]byte("text"))
		for _, c := range []struct {
			from, to string
			code     envelope.Code
		}{
			{"f", "taken", envelope.AlreadyExists}, {"f", "d", envelope.AlreadyExists}, {"f", "l", envelope.AlreadyExists},
			{"f", "f", envelope.AlreadyExists}, {"f", "none", envelope.NotARegularFile}, {"l", "g", envelope.NotARegularFile},
			{"d", "e", envelope.IsDirectory}, {"nothing", "g", envelope.PathNotFound}, {"taken", "g", envelope.VersionChanged},
			{"f", `x\y`, envelope.PathNotAllowed}, {"f", "~", envelope.PathNotAllowed},
		} {
			_, err := b.Move(context.Background(), path(t, c.from), path(t, c.to), v)
			if envelope.CodeOf(err) != c.code {
				t.Errorf("%s to %s: got %v, want %s", c.from, c.to, err, c.code)
			}
		}
		got, err := b.Move(context.Background(), path(t, "f"), path(t, "new/dir/g"), v)
		if err != nil {
			t.Fatal(err)
		}
		if b.onDisk("f") != "(nothing)" || b.onDisk("new/dir/g") != "text" || len(got.Directories) != 2 || got.After != v {
			t.Errorf("got %+v", got)
		}
		if in := b.diary.intents[0]; in.Kind != contract.ChangeMove || in.Path.String() != "f" || in.To.String() != "new/dir/g" {
			t.Errorf("intent %+v", in)
		}
		if _, err := b.Move(context.Background(), path(t, "new/dir/g"), path(t, "new/dir/G"), v); err != nil {
			t.Errorf("another case: %v", err)
		}
		b.wantTidy()
	})
}

func TestDelete(t *testing.T) {
	forms(t, func(t *testing.T, portable bool) {
		b := newBench(t, portable, map[string]string{"f": "text", "d/": "", "l": "->f", "none": "->nowhere"})
		for name, code := range map[string]envelope.Code{
			"d": envelope.IsDirectory, "l": envelope.NotARegularFile, "none": envelope.NotARegularFile, "nothing": envelope.PathNotFound,
		} {
			_, err := b.Delete(context.Background(), path(t, name), contract.VersionOf([]byte("text")))
			if envelope.CodeOf(err) != code {
				t.Errorf("%s: got %v, want %s", name, err, code)
			}
		}
		_, err := b.Delete(context.Background(), path(t, "f"), contract.VersionOf([]byte("other")))
		wantErr(t, err, envelope.VersionChanged)
		got, err := b.Delete(context.Background(), path(t, "f"), contract.VersionOf([]byte("text")))
		if err != nil || b.onDisk("f") != "(nothing)" || got.Changed != envelope.Yes || !got.After.IsZero() {
			t.Errorf("got %+v, %v", got, err)
		}
		in := b.diary.intents[0]
		if back, err := splice(nil, in.Undo); err != nil || string(bytes.Join(back, nil)) != "text" {
			t.Errorf("undo makes %q", bytes.Join(back, nil))
		}
		b.wantTidy()
	})
}

func TestMakeDirectory(t *testing.T) {
	forms(t, func(t *testing.T, portable bool) {
		b := newBench(t, portable, map[string]string{"f": "x", "d/": "", "l": "->d", "none": "->nowhere", "out": "->../outside"})
		got, err := b.MakeDirectory(context.Background(), path(t, "a/b/c"))
		if err != nil || len(got.Directories) != 3 || got.Changed != envelope.Yes {
			t.Fatalf("got %+v, %v", got, err)
		}
		for _, name := range []string{"a/b/c", "d", "l"} {
			if got, err := b.MakeDirectory(context.Background(), path(t, name)); err != nil || got.Changed != envelope.No || len(got.Directories) != 0 {
				t.Errorf("%s: got %+v, %v", name, got, err)
			}
		}
		for name, code := range map[string]envelope.Code{
			"f": envelope.AlreadyExists, "f/x": envelope.NotADirectory, "none": envelope.NotARegularFile,
			"out": envelope.OutsideRoot, "out/x": envelope.OutsideRoot, "~/x": envelope.PathNotAllowed,
		} {
			_, err := b.MakeDirectory(context.Background(), path(t, name))
			if envelope.CodeOf(err) != code {
				t.Errorf("%s: got %v, want %s", name, err, code)
			}
		}
		b.wantTidy()
	})
}

func TestOneOfManyWins(t *testing.T) {
	forms(t, func(t *testing.T, portable bool) {
		b := newBench(t, portable, map[string]string{"f": "old"})
		const many = 20
		errs := make([]error, many)
		var wg sync.WaitGroup
		for i := range many {
			wg.Go(func() { _, errs[i] = b.put("f", "old", fmt.Sprint("writer ", i)) })
		}
		wg.Wait()
		won := -1
		for i, err := range errs {
			switch {
			case err == nil && won < 0:
				won = i
			case err == nil:
				t.Error("two writers won")
			default:
				wantErr(t, err, envelope.VersionChanged)
			}
		}
		if won < 0 || b.onDisk("f") != fmt.Sprint("writer ", won) {
			t.Errorf("writer %d won, the file holds %q", won, b.onDisk("f"))
		}
		b.wantTidy()
	})
}

func TestOneOfManyCreates(t *testing.T) {
	forms(t, func(t *testing.T, portable bool) {
		b := newBench(t, portable, nil)
		errs := make([]error, 20)
		var wg sync.WaitGroup
		for i := range errs {
			wg.Go(func() { _, errs[i] = b.Create(context.Background(), path(t, "d/f"), fmt.Append(nil, i)) })
		}
		wg.Wait()
		won := 0
		for i, err := range errs {
			switch {
			case err == nil:
				won++
				if b.onDisk("d/f") != fmt.Sprint(i) {
					t.Errorf("writer %d won, the file holds %q", i, b.onDisk("d/f"))
				}
			case envelope.CodeOf(err) != envelope.AlreadyExists && envelope.CodeOf(err) != envelope.ChangedDuringCall:
				t.Error(err)
			}
		}
		if won != 1 {
			t.Errorf("%d writers won", won)
		}
		b.wantTidy()
	})
}

func TestInverse(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for range 2000 {
		old := make([]byte, r.IntN(40))
		for i := range old {
			old[i] = byte('a' + r.IntN(3))
		}
		var splices []contract.Splice
		for at := 0; at <= len(old); {
			at += r.IntN(8)
			if at > len(old) {
				break
			}
			n := r.IntN(len(old) - at + 1)
			splices = append(splices, contract.Splice{Offset: int64(at), Length: int64(n), New: bytes.Repeat([]byte("X"), r.IntN(5))})
			at += n + 1
		}
		now, err := splice(old, splices)
		if err != nil {
			t.Fatal(err)
		}
		joined := bytes.Join(now, nil)
		back, err := splice(joined, inverse(old, splices))
		if err != nil || !bytes.Equal(bytes.Join(back, nil), old) {
			t.Fatalf("%q by %v to %q and back to %q", old, splices, joined, bytes.Join(back, nil))
		}
		var sum checkpoints
		sum.add(old)
		if len(splices) > 0 && sum.version(now, splices[0].Offset) != contract.VersionOf(joined) {
			t.Fatal("wrong version")
		}
	}
}

func TestTempNames(t *testing.T) {
	if name := tempName(); !isTempName(name) || name == tempName() {
		t.Error(name)
	}
	for _, name := range []string{"", ".writ-.tmp", ".writ-0123456789abcde.tmp", ".writ-0123456789abcdeg.tmp", "x.writ-0123456789abcdef.tmp", ".writ-0123456789abcdef.tmp~"} {
		if isTempName(name) {
			t.Errorf("%q is taken for one of ours", name)
		}
	}
}

// A file system that takes README for readme may answer that it gave a file its other spelling, and do nothing.
func TestMoveToASpellingThatIsNotTaken(t *testing.T) {
	for _, takes := range []bool{true, false} {
		b := newBench(t, false, map[string]string{"d/readme": "text"})
		b.faulty(func(step string, make func() error) error {
			if step == "replace" && !takes {
				return nil
			}
			return make()
		})
		b.tree().folds = true
		got, err := b.Move(context.Background(), path(t, "d/readme"), path(t, "d/README"), contract.VersionOf([]byte("text")))
		name, code, outcome := "d/README", envelope.Code(""), contract.OutcomeDone
		if !takes {
			name, code, outcome = "d/readme", envelope.IO, contract.OutcomeNotDone
		}
		if envelope.CodeOf(err) != code || takes != (got.Changed == envelope.Yes) || !slices.Equal(b.diary.ends, []contract.Outcome{outcome}) {
			t.Errorf("taken: %v, got %+v, %v, outcomes %v", takes, got, err, b.diary.ends)
		}
		b.wantDisk(map[string]string{name: "text"})
	}
}
