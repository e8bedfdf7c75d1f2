package workspace

import (
	"context"
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

const settledTemp = ".writ-0123456789abcdef.tmp"

func settledIntent(t *testing.T, kind contract.ChangeKind, p string) contract.Intent {
	return contract.Intent{
		Kind: kind, Path: path(t, p), Before: contract.VersionOf([]byte("before")), After: contract.VersionOf([]byte("after")), Temp: settledTemp,
	}
}

// What is told of an interrupted change is durable.
func TestSettlingIsDurable(t *testing.T) {
	forms(t, func(t *testing.T, portable bool) {
		create := settledIntent(t, contract.ChangeCreate, "d/e/after")
		create.Directories = []contract.Path{path(t, "d"), path(t, "d/e")}
		mkdir := settledIntent(t, contract.ChangeMkdir, "d/e")
		mkdir.Directories = create.Directories
		move := settledIntent(t, contract.ChangeMove, "gone")
		move.To = path(t, "d/e/before")
		moveBack := settledIntent(t, contract.ChangeMove, "d/e/before")
		moveBack.To = path(t, "gone")
		for name, c := range map[string]struct {
			in   contract.Intent
			want []string // the directories that are to be synced
		}{
			"create":        {create, []string{"", "d", "d/e"}},
			"mkdir":         {mkdir, []string{"", "d"}},
			"move":          {move, []string{"", "d/e"}},
			"move not done": {moveBack, []string{"", "d/e"}},
			"edit":          {settledIntent(t, contract.ChangeEdit, "d/e/after"), []string{"d/e"}},
			"edit not done": {settledIntent(t, contract.ChangeEdit, "d/e/before"), []string{"d/e"}},
			"delete":        {settledIntent(t, contract.ChangeDelete, "d/e/gone"), []string{"d/e"}},
		} {
			t.Run(name, func(t *testing.T) {
				b := newBench(t, portable, map[string]string{"d/e/after": "after", "d/e/before": "before"})
				var synced []string
				b.faulty(func(step string, make func() error) error { return make() })
				b.tree().synced = func(directory string) { synced = append(synced, directory) }
				got, err := b.w.Settle(context.Background(), c.in)
				if err != nil || got == contract.OutcomeUnknown {
					t.Errorf("got %s, %v", got, err)
				}
				slices.Sort(synced)
				if synced = slices.Compact(synced); !slices.Equal(synced, c.want) {
					t.Errorf("synced are %q, want %q", synced, c.want)
				}
				b.faulty(func(step string, make func() error) error {
					if step == "sync" {
						return syscall.EIO
					}
					return make()
				})
				if got, err := b.w.Settle(context.Background(), c.in); err == nil || got != contract.OutcomeUnknown {
					t.Errorf("with a directory that can't be synced: got %s, %v", got, err)
				}
			})
		}
	})
}

// A tree that moves while a change is settled makes it begin again.
func TestSettlingBeginsAgain(t *testing.T) {
	for _, step := range []string{"parent", "open"} {
		t.Run(step, func(t *testing.T) {
			b := newBench(t, false, map[string]string{"f": "after"})
			b.faulty(once(step, func(func() error) error { return errMoved }))
			got, err := b.w.Settle(context.Background(), settledIntent(t, contract.ChangeEdit, "f"))
			if err != nil || got != contract.OutcomeDone {
				t.Errorf("got %s, %v", got, err)
			}
		})
	}
}

// So does one that moves while a file is opened to be changed.
func TestOpeningToChangeBeginsAgain(t *testing.T) {
	for name, failure := range map[string]error{"moved": errMoved, "something else for a moment": fs.ErrInvalid} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, false, map[string]string{"f": "old"})
			b.faulty(once("open", func(func() error) error { return failure }))
			if _, err := b.put("f", "old", "new"); err != nil {
				t.Error(err)
			}
		})
	}
}

// What is no file is none of ours, and settles for good.
func TestSettleWhereNoFileIs(t *testing.T) {
	forms(t, func(t *testing.T, portable bool) {
		b := newBench(t, portable, map[string]string{"link": "->f", "f": "after", "dir/": ""})
		for _, name := range []string{"link", "dir"} {
			got, err := b.w.Settle(context.Background(), settledIntent(t, contract.ChangeEdit, name))
			if err != nil || got != contract.OutcomeUnknown {
				t.Errorf("%s: got %s, %v", name, got, err)
			}
		}
	})
}

func TestSettleMove(t *testing.T) {
	forms(t, func(t *testing.T, portable bool) {
		b := newBench(t, portable, map[string]string{"f": "before", "link": "->f", "d/": ""})
		if err := os.Link(filepath.Join(b.root, "f"), filepath.Join(b.root, "d/second")); err != nil {
			t.Fatal(err)
		}
		for _, c := range []struct {
			name, from, to string
			want           contract.Outcome
		}{
			{"the destination is a link to such a file", "gone", "link", contract.OutcomeUnknown},
			{"the source is such a link", "link", "gone", contract.OutcomeUnknown},
			{"the file has both names", "f", "d/second", contract.OutcomeNotDone},
			{"the new name was taken away", "f", "d/second", contract.OutcomeNotDone},
		} {
			in := settledIntent(t, contract.ChangeMove, c.from)
			in.To = path(t, c.to)
			if got, err := b.w.Settle(context.Background(), in); err != nil || got != c.want {
				t.Errorf("%s: got %s, %v", c.name, got, err)
			}
		}
		b.wantDisk(map[string]string{"f": "before", "d/second": "(nothing)"})
	})
}

// Where README stands for readme, the directory tells which of the two spellings the file has.
func TestSettleRespelling(t *testing.T) {
	for listed, want := range map[string]contract.Outcome{"README": contract.OutcomeDone, "readme": contract.OutcomeNotDone} {
		b := newBench(t, false, map[string]string{"d/" + listed: "before"})
		b.faulty(func(step string, make func() error) error { return make() })
		b.tree().folds = true
		in := settledIntent(t, contract.ChangeMove, "d/readme")
		in.To = path(t, "d/README")
		if got, err := b.w.Settle(context.Background(), in); err != nil || got != want {
			t.Errorf("%s: got %s, %v, want %s", listed, got, err, want)
		}
		b.wantDisk(map[string]string{"d/" + listed: "before"})
	}
}

// What was not done leaves no directory of its own.
func TestSettlingTakesDirectoriesAway(t *testing.T) {
	forms(t, func(t *testing.T, portable bool) {
		for name, kind := range map[string]contract.ChangeKind{
			"create": contract.ChangeCreate, "move": contract.ChangeMove, "mkdir": contract.ChangeMkdir,
		} {
			for _, made := range []string{"a/", "a/b/"} {
				if kind == contract.ChangeMkdir && made == "a/b/" {
					continue // then it is done
				}
				b := newBench(t, portable, map[string]string{made: "", "f": "before"})
				in := settledIntent(t, kind, "a/b/f")
				in.Directories = []contract.Path{path(t, "a"), path(t, "a/b")}
				switch kind {
				case contract.ChangeMove:
					in.Path, in.To = path(t, "f"), in.Path
				case contract.ChangeMkdir:
					in.Path = path(t, "a/b")
				}
				if got, err := b.w.Settle(context.Background(), in); err != nil || got != contract.OutcomeNotDone {
					t.Errorf("%s with %s: got %s, %v", name, made, got, err)
				}
				if _, err := os.Stat(filepath.Join(b.root, "a")); err == nil {
					t.Errorf("%s with %s: the directory is left", name, made)
				}
			}
		}
	})
}

// A draft is hidden, and a name for it is not given.
func TestDraftNames(t *testing.T) {
	b := newBench(t, false, map[string]string{draftName(settledTemp): "half"})
	if _, err := b.Create(context.Background(), path(t, draftName(tempName())), nil); envelope.CodeOf(err) != envelope.PathNotAllowed {
		t.Error(err)
	}
	if strings.Contains(settledTemp, draftMark) || !isTempName(draftName(settledTemp)) {
		t.Error(draftName(settledTemp))
	}
}
