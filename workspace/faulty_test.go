package workspace

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"writ/contract"
	"writ/envelope"
)

// faultyTree is a tree whose directories are on a file system that can't be trusted. around is called instead of each
// step that can fail, with the step itself, which is named as the method is.
type faultyTree struct {
	tree
	around func(step string, make func() error) error
	synced func(directory string)
	folds  bool // it takes README for readme
}

func (t *faultyTree) foldsNames() bool { return t.folds || t.tree.foldsNames() }

func (b *bench) tree() *faultyTree { return b.w.roots[0].tree.(*faultyTree) }

// faulty makes the only root of a bench faulty.
func (b *bench) faulty(around func(step string, make func() error) error) {
	inner := b.w.roots[0].tree
	if f, ok := inner.(*faultyTree); ok {
		inner = f.tree
	}
	b.w.roots[0].tree = &faultyTree{tree: inner, around: around}
}

func (t *faultyTree) parent(ctx context.Context, q *question) (at parent, err error) {
	err = t.around("parent", func() error {
		at, err = t.tree.parent(ctx, q)
		return err
	})
	if err != nil {
		return parent{}, err
	}
	at.dir = &faultyDir{at.dir, t, at.directory}
	return at, nil
}

type faultyDir struct {
	editDir
	tree *faultyTree
	at   string
}

// spelled returns a name as the directory lists it.
func (d *faultyDir) spelled(name string) string {
	if !d.tree.folds {
		return name
	}
	sub, err := d.editDir.openDir(".")
	if err != nil {
		return name
	}
	defer sub.Close()
	names, _ := sub.handle().Readdirnames(-1)
	if i := slices.IndexFunc(names, func(n string) bool { return strings.EqualFold(n, name) }); i >= 0 {
		return names[i]
	}
	return name
}

func (d *faultyDir) stat(name string) (fs.FileInfo, error) { return d.editDir.stat(d.spelled(name)) }

func (d *faultyDir) open(name string) (f *os.File, err error) {
	err = d.tree.around("open", func() error {
		f, err = d.editDir.open(d.spelled(name))
		return err
	})
	return f, err
}

func (d *faultyDir) link(f *os.File, name string) error {
	return d.tree.around("link", func() error { return d.editDir.link(f, name) })
}

func (d *faultyDir) exchange(a, b string) error {
	return d.tree.around("exchange", func() error { return d.editDir.exchange(a, b) })
}

func (d *faultyDir) replace(name, over string) error {
	return d.tree.around("replace", func() error { return d.editDir.replace(name, over) })
}

func (d *faultyDir) moveTo(name string, to editDir, as string) error {
	return d.tree.around("moveTo", func() error { return d.editDir.moveTo(name, to.(*faultyDir).editDir, as) })
}

func (d *faultyDir) sync() error {
	if d.tree.synced != nil {
		d.tree.synced(d.at)
	}
	return d.tree.around("sync", d.editDir.sync)
}

func (d *faultyDir) openEdit(name string) (editDir, error) {
	sub, err := d.editDir.openEdit(name)
	if err != nil {
		return nil, err
	}
	return &faultyDir{sub, d.tree, joinRel(d.at, name)}, nil
}

// once lets one step end in a way of its own.
func once(step string, act func(make func() error) error) func(string, func() error) error {
	done := false
	return func(now string, make func() error) error {
		if done || now != step {
			return make()
		}
		done = true
		return act(make)
	}
}

// liar makes a step and says that it failed.
func liar(make func() error) error {
	if err := make(); err != nil {
		return err
	}
	return syscall.EIO
}

// refusal does not make a step.
func refusal(func() error) error { return syscall.EIO }

// swapStep is the step that gives the new bytes of an edit their place.
func swapStep(portable bool) string {
	if portable {
		return "replace"
	}
	return "exchange"
}

func (b *bench) save(name, text string) {
	b.t.Helper()
	if err := os.WriteFile(filepath.Join(b.root, name), []byte(text), 0o644); err != nil {
		b.t.Fatal(err)
	}
}

func (b *bench) wantEnd(want contract.Outcome) {
	b.t.Helper()
	if !slices.Equal(b.diary.ends, []contract.Outcome{want}) {
		b.t.Errorf("outcomes %v, want %s", b.diary.ends, want)
	}
}

// temps returns what is kept under temporary names in the root.
func (b *bench) temps() map[string]string {
	b.t.Helper()
	entries, err := os.ReadDir(b.root)
	if err != nil {
		b.t.Fatal(err)
	}
	kept := map[string]string{}
	for _, e := range entries {
		if isTempName(e.Name()) {
			kept[e.Name()] = b.onDisk(e.Name())
		}
	}
	return kept
}

func TestStepThatFailsOnceMade(t *testing.T) {
	forms(t, func(t *testing.T, portable bool) {
		old := contract.VersionOf([]byte("old"))
		for _, c := range []struct {
			name, step string
			do         func(b *bench) error
			want       map[string]string
		}{
			{"edit", swapStep(portable), func(b *bench) error { _, err := b.put("f", "old", "new"); return err },
				map[string]string{"f": "new"}},
			{"create", map[bool]string{true: "moveTo", false: "link"}[portable], func(b *bench) error {
				_, err := b.Create(context.Background(), path(t, "d/g"), []byte("new"))
				return err
			}, map[string]string{"d/g": "new"}},
			{"delete", "moveTo", func(b *bench) error { _, err := b.Delete(context.Background(), path(t, "f"), old); return err },
				map[string]string{"f": "(nothing)"}},
			{"move", "moveTo", func(b *bench) error {
				_, err := b.Move(context.Background(), path(t, "f"), path(t, "d/g"), old)
				return err
			}, map[string]string{"f": "(nothing)", "d/g": "old"}},
		} {
			t.Run(c.name, func(t *testing.T) {
				b := newBench(t, portable, map[string]string{"f": "old"})
				b.faulty(once(c.step, liar))
				if err := c.do(b); err != nil {
					t.Error(err)
				}
				b.wantDisk(c.want)
				b.wantEnd(contract.OutcomeDone)
				b.wantTidy()
			})
			t.Run(c.name+", not made", func(t *testing.T) {
				b := newBench(t, portable, map[string]string{"f": "old"})
				b.faulty(once(c.step, refusal))
				wantErr(t, c.do(b), envelope.IO)
				b.wantDisk(map[string]string{"f": "old", "d/g": "(nothing)"})
				b.wantEnd(contract.OutcomeNotDone)
				b.wantTidy()
			})
		}
	})
}

func (b *bench) wantDisk(want map[string]string) {
	b.t.Helper()
	for name, text := range want {
		if b.onDisk(name) != text {
			b.t.Errorf("%s holds %q, want %q", name, b.onDisk(name), text)
		}
	}
}

// What a step that failed left can be neither the one nor the other. Then everything is kept.
func TestStepThatFailsHalfMade(t *testing.T) {
	forms(t, func(t *testing.T, portable bool) {
		b := newBench(t, portable, map[string]string{"f": "old"})
		b.faulty(once(swapStep(portable), func(make func() error) error {
			for name, text := range b.temps() {
				os.Rename(filepath.Join(b.root, name), filepath.Join(b.root, "ours"))
				b.save(name, text)
			}
			return syscall.EIO
		}))
		_, err := b.put("f", "old", "new")
		wantErr(t, err, envelope.OutcomeUnknown)
		if len(b.temps()) != 1 || b.onDisk("f") != "old" {
			t.Errorf("f holds %q, kept are %v", b.onDisk("f"), b.temps())
		}
		b.wantEnd(contract.OutcomeUnknown)
	})
}

// A program that saves into the new file as soon as it is there has changed it since; the edit is done.
func TestWrittenToOnceSwapped(t *testing.T) {
	forms(t, func(t *testing.T, portable bool) {
		b := newBench(t, portable, map[string]string{"f": "old"})
		b.faulty(once(swapStep(portable), func(make func() error) error {
			err := make()
			b.save("f", "formatted on save")
			return err
		}))
		done, err := b.put("f", "old", "new")
		if err != nil || done.After != contract.VersionOf([]byte("new")) || done.Changed != envelope.Yes {
			t.Errorf("got %+v, %v", done, err)
		}
		b.wantDisk(map[string]string{"f": "formatted on save"})
		b.wantEnd(contract.OutcomeDone)
		b.wantTidy()
	})
}

// Two other programs are at work: one has replaced the file before the swap, one saves into ours after it. Both keep
// what they wrote.
func TestSavedIntoBeforePuttingBack(t *testing.T) {
	b := newBench(t, false, map[string]string{"f": "old"})
	b.faulty(once("exchange", func(make func() error) error {
		b.save("theirs", "theirs")
		os.Rename(filepath.Join(b.root, "theirs"), filepath.Join(b.root, "f"))
		err := make()
		b.save("f", "an hour of work")
		return err
	}))
	_, err := b.put("f", "old", "new")
	wantErr(t, err, envelope.OutcomeUnknown)
	b.wantDisk(map[string]string{"f": "theirs"})
	wantKept(t, b, err, "an hour of work")
	b.wantEnd(contract.OutcomeUnknown)
}

// The other program has our file open still, and has written nothing yet.
func TestHeldOpenWhilePuttingBack(t *testing.T) {
	b := newBench(t, false, map[string]string{"f": "old"})
	var held *os.File
	b.faulty(once("exchange", func(make func() error) error {
		b.save("theirs", "theirs")
		os.Rename(filepath.Join(b.root, "theirs"), filepath.Join(b.root, "f"))
		err := make()
		held, _ = os.OpenFile(filepath.Join(b.root, "f"), os.O_WRONLY, 0)
		return err
	}))
	_, err := b.put("f", "old", "new")
	if _, writeErr := held.WriteString("an hour of work"); errors.Join(writeErr, held.Close()) != nil {
		t.Fatal(writeErr)
	}
	wantErr(t, err, envelope.OutcomeUnknown)
	wantKept(t, b, err, "an hour of work")
}

// wantKept fails unless just one file is kept, which holds the text and is named by the error.
func wantKept(t *testing.T, b *bench, err error, text string) {
	t.Helper()
	kept := b.temps()
	for name, held := range kept {
		if held != text || !strings.Contains(err.Error(), name) {
			t.Errorf("%s holds %q; the answer is %v", name, held, err)
		}
	}
	if len(kept) != 1 {
		t.Errorf("kept are %v", kept)
	}
}

func TestMovingBackIsDurable(t *testing.T) {
	forms(t, func(t *testing.T, portable bool) {
		b := newBench(t, portable, map[string]string{"f": "old"})
		replaced := false
		b.faulty(func(step string, make func() error) error {
			switch {
			case step == "moveTo" && !replaced:
				replaced = true
				b.save("theirs", "theirs")
				os.Rename(filepath.Join(b.root, "theirs"), filepath.Join(b.root, "f"))
			case step == "sync" && replaced:
				return syscall.EIO
			}
			return make()
		})
		_, err := b.Move(context.Background(), path(t, "f"), path(t, "g"), contract.VersionOf([]byte("old")))
		wantErr(t, err, envelope.OutcomeUnknown)
		b.wantDisk(map[string]string{"f": "theirs", "g": "(nothing)"})
	})
}
