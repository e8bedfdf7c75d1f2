package workspace

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"writ/contract"
	"writ/envelope"
)

func TestRestoreKeepsTheMode(t *testing.T) {
	forms(t, func(t *testing.T, portable bool) {
		b := newBench(t, portable, map[string]string{"d/x": ""})
		for _, mode := range []os.FileMode{0o750, 0o600, 0o666, 0o444} {
			name := "d/new/f" + mode.String()
			if _, err := b.Restore(context.Background(), path(t, name), []byte("text"), Former{Mode: mode}); err != nil {
				t.Fatal(err)
			}
			info, err := os.Stat(filepath.Join(b.root, name))
			if err != nil || info.Mode() != mode || b.onDisk(name) != "text" {
				t.Errorf("got %v %q, %v, want %v", info.Mode(), b.onDisk(name), err, mode)
			}
		}
		_, err := b.Restore(context.Background(), path(t, "d/x"), []byte("text"), Former{Mode: 0o644})
		if envelope.CodeOf(err) != envelope.AlreadyExists || b.onDisk("d/x") != "" {
			t.Errorf("a place that is taken: %v", err)
		}
		b.wantTidy()
	})
}

// What a file was beside its bytes comes back with it.
func TestRestoreKeepsTheAttributes(t *testing.T) {
	forms(t, func(t *testing.T, portable bool) {
		for size, data := range map[string][]byte{"small": []byte("text"), "large": bytes.Repeat([]byte("text"), 1<<18)} {
			b := newBench(t, portable, map[string]string{"d/f": string(data)})
			name := filepath.Join(b.root, "d/f")
			mode := os.FileMode(0o750)
			if runtime.GOOS != "windows" {
				mode |= os.ModeSetuid
			}
			if os.Getuid() == 0 {
				if err := os.Chown(name, 1234, 2345); err != nil {
					t.Fatal(err)
				}
			}
			if err := os.Chmod(name, mode); err != nil {
				t.Fatal(err)
			}
			marked := setAttribute(name)
			before, err := os.Stat(name)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := b.Delete(context.Background(), path(t, "d/f"), contract.VersionOf(data)); err != nil {
				t.Fatal(err)
			}
			in := b.diary.intents[0]
			done, err := b.Restore(context.Background(), in.Path, data, Former{in.Mode, in.Attributes})
			if err != nil || len(done.Warnings) > 0 {
				t.Fatalf("%s: %v, %v", size, err, done.Warnings)
			}
			after, err := os.Stat(name)
			if err != nil || after.Mode() != before.Mode() || ownerOf(after) != ownerOf(before) || b.onDisk("d/f") != string(data) {
				t.Errorf("%s: got %v, %v; want %v, and its owner", size, after.Mode(), err, before.Mode())
			}
			if marked && getAttribute(name) != "kept" {
				t.Errorf("%s: the extended attribute is %q", size, getAttribute(name))
			}
			b.wantTidy()
		}
	})
}

func TestStoredAttributesThatAreNone(t *testing.T) {
	b := newBench(t, false, nil)
	if _, err := b.Restore(context.Background(), path(t, "f"), nil, Former{Mode: 0o644, Attributes: []byte("{")}); err == nil || b.onDisk("f") != "(nothing)" {
		t.Errorf("%v; the file holds %q", err, b.onDisk("f"))
	}
}

// A deep tree is taken away in one walk, with more directories than a look at each from the top could do in good time.
func TestRemoveManyDirectories(t *testing.T) {
	forms(t, func(t *testing.T, portable bool) {
		b := newBench(t, portable, map[string]string{"keep": ""})
		deep := map[bool]int{true: 50, false: 1000}[portable]
		p := path(t, "d"+strings.Repeat("/d", deep-1))
		made, err := b.MakeDirectory(context.Background(), p)
		if err != nil || len(made.Directories) != deep {
			t.Fatalf("%d made, %v", len(made.Directories), err)
		}
		if _, err := b.RemoveDirectories(context.Background(), made.Directories); err != nil || b.onDisk("d") != "(nothing)" {
			t.Errorf("removing: %v", err)
		}
		file, err := b.Create(context.Background(), p, nil)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := b.Delete(context.Background(), p, file.After); err != nil {
			t.Fatal(err)
		}
		if b.RemoveEmpty(context.Background(), file.Directories); b.onDisk("d") != "(nothing)" {
			t.Error("empty directories are left")
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
	if _, err := b.Reverting("chg_000000000000").Restore(context.Background(), name, nil, Former{Mode: 0o644}); err != nil {
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
