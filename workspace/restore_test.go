package workspace

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"writ/contract"
	"writ/envelope"
)

func TestRestoreKeepsTheMode(t *testing.T) {
	forms(t, func(t *testing.T, portable bool) {
		b := newBench(t, portable, map[string]string{"d/x": ""})
		for _, mode := range []os.FileMode{0o750, 0o600, 0o666, 0o444} {
			name := "d/new/f" + mode.String()
			if _, err := b.Restore(context.Background(), path(t, name), []byte("text"), mode); err != nil {
				t.Fatal(err)
			}
			info, err := os.Stat(filepath.Join(b.root, name))
			if err != nil || info.Mode() != mode || b.onDisk(name) != "text" {
				t.Errorf("got %v %q, %v, want %v", info.Mode(), b.onDisk(name), err, mode)
			}
		}
		_, err := b.Restore(context.Background(), path(t, "d/x"), []byte("text"), 0o644)
		if envelope.CodeOf(err) != envelope.AlreadyExists || b.onDisk("d/x") != "" {
			t.Errorf("a place that is taken: %v", err)
		}
		b.wantTidy()
	})
}

// A name that no new file is given comes back if it was there before.
func TestRevertingBringsBackAnyName(t *testing.T) {
	b := newBench(t, false, nil)
	name := path(t, `odd\name`)
	if _, err := b.Create(context.Background(), name, nil); envelope.CodeOf(err) != envelope.PathNotAllowed {
		t.Errorf("create: %v", err)
	}
	if _, err := b.Reverting("chg_000000000000").Restore(context.Background(), name, nil, 0o644); err != nil {
		t.Errorf("restore: %v", err)
	}
	if in := b.diary.intents[0]; in.Reverts != "chg_000000000000" {
		t.Errorf("the intent %+v names no change that it reverts", in)
	}
}

func TestRemoveEmpty(t *testing.T) {
	forms(t, func(t *testing.T, portable bool) {
		b := newBench(t, portable, map[string]string{"a/b/c/": "", "d/e/f/": "", "d/keep": "", "real/empty/": "", "link": "->real"})
		ctx := context.Background()
		b.RemoveEmpty(ctx, []contract.Path{path(t, "a"), path(t, "a/b"), path(t, "a/b/c")})
		b.RemoveEmpty(ctx, []contract.Path{path(t, "d"), path(t, "d/e"), path(t, "d/e/f")})
		b.RemoveEmpty(ctx, []contract.Path{path(t, "link"), path(t, "link/empty")})
		for name, want := range map[string]bool{"a": false, "d": true, "d/e": false, "d/keep": true, "link": true, "real/empty": true} {
			if _, err := os.Lstat(filepath.Join(b.root, name)); (err == nil) != want {
				t.Errorf("%s is there: %v, want %v", name, err == nil, want)
			}
		}
	})
}

func TestRemoveDirectories(t *testing.T) {
	forms(t, func(t *testing.T, portable bool) {
		b := newBench(t, portable, map[string]string{"a/b/c/": "", "d/e/f/": "", "d/e/kept": "", "g/h/i/": "", "g/h/i/kept": ""})
		chain := func(names ...string) (list []contract.Path) {
			for _, name := range names {
				list = append(list, path(t, name))
			}
			return list
		}
		ctx := context.Background()
		if done, err := b.RemoveDirectories(ctx, chain("a", "a/b", "a/b/c")); err != nil || done.Changed != envelope.Yes || b.onDisk("a") != "(nothing)" {
			t.Errorf("empty: %+v, %v", done, err)
		}
		for _, dirs := range [][]contract.Path{chain("d", "d/e", "d/e/f"), chain("g", "g/h", "g/h/i")} {
			_, err := b.RemoveDirectories(ctx, dirs)
			if _, statErr := os.Stat(filepath.Join(b.root, dirs[2].String())); envelope.CodeOf(err) != envelope.NotEmpty || statErr != nil {
				t.Errorf("%v: %v, %v", dirs, err, statErr)
			}
		}
		_, err := b.RemoveDirectories(ctx, chain("gone"))
		if envelope.CodeOf(err) != envelope.PathNotFound {
			t.Errorf("gone: %v", err)
		}
		b.wantTidy()
	})
}

func TestSettleRemoval(t *testing.T) {
	b := newBench(t, false, map[string]string{"a/b/": "", "c/d/e/": ""})
	half := contract.Intent{Kind: contract.ChangeRmdir, Path: path(t, "a/b/gone"), Directories: []contract.Path{path(t, "a"), path(t, "a/b"), path(t, "a/b/gone")}}
	none := contract.Intent{Kind: contract.ChangeRmdir, Path: path(t, "c/d/e"), Directories: []contract.Path{path(t, "c"), path(t, "c/d"), path(t, "c/d/e")}}
	if o, err := b.w.Settle(context.Background(), half); o != contract.OutcomeDone || err != nil || b.onDisk("a") != "(nothing)" {
		t.Errorf("half: %s, %v", o, err)
	}
	if o, err := b.w.Settle(context.Background(), none); o != contract.OutcomeNotDone || err != nil {
		t.Errorf("none: %s, %v", o, err)
	}
}
