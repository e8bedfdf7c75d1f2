package workspace

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"writ/contract"
	"writ/envelope"
)

// scope is a guard that hides places and lets only some be written. It keeps what it was asked.
type scope struct {
	hidden   []string // with all below them
	readOnly []string
	asked    *[]string
}

func (s scope) Allow(a Access, p Place) error {
	name := p.Path.String()
	if s.asked != nil {
		*s.asked = append(*s.asked, name)
	}
	for _, h := range s.hidden {
		if name == h || strings.HasPrefix(name, h+"/") {
			return envelope.Errorf(envelope.OutsideScope, "outside the scope")
		}
	}
	for _, h := range s.readOnly {
		if a == Write && (name == h || strings.HasPrefix(name, h+"/")) {
			return envelope.Errorf(envelope.OutsideWriteScope, "not to be written")
		}
	}
	if p.Ignored > 0 {
		return envelope.Errorf(envelope.OutsideScope, "ignored")
	}
	return nil
}

func wantErr(t testing.TB, err error, want envelope.Code) {
	t.Helper()
	if envelope.CodeOf(err) != want {
		t.Errorf("got error %v, want code %q", err, want)
	}
}

// world makes a directory with a root and a neighbour, and returns the root.
func world(t testing.TB, files map[string]string) string {
	t.Helper()
	top := t.TempDir()
	plant(t, top, map[string]string{"outside/secret.txt": "SECRET", "root/": ""})
	root := filepath.Join(top, "root")
	plant(t, root, files)
	return root
}

func TestLoadResolves(t *testing.T) {
	files := map[string]string{
		"docs/a.md":           "text",
		"docs/sub/b.md":       "b",
		"priv/p.txt":          "PRIVATE",
		"in":                  "->docs",
		"leaf":                "->docs/a.md",
		"climb/up":            "->../docs/a.md",
		"dot":                 "->./docs/./a.md",
		"out":                 "->../outside",
		"out-leaf":            "->../outside/secret.txt",
		"out-and-in":          "->../root/docs/a.md",
		"absolute":            "->/etc/passwd",
		"loop":                "->loop",
		"loop2":               "->loop3/x",
		"loop3":               "->loop2/x",
		"dangling":            "->nowhere",
		"to-priv":             "->priv/p.txt",
		"to-priv-dir":         "->priv",
		"priv-missing":        "->priv/none",
		"slash":               "->docs/a.md/",
		`back\slash`:          "kept",
		"control\x01":         "kept",
		"name with (deleted)": "kept",
		"x (deleted)":         "kept",
	}
	cases := []struct {
		name, path string
		want       string // content
		code       envelope.Code
	}{
		{"a plain file", "docs/a.md", "text", ""},
		{"a link to a directory", "in/a.md", "text", ""},
		{"a link to a file", "leaf", "text", ""},
		{"a link that climbs inside", "climb/up", "text", ""},
		{"a link with dots", "dot", "text", ""},
		{"a link out", "out/secret.txt", "", envelope.OutsideRoot},
		{"a link to a file outside", "out-leaf", "", envelope.OutsideRoot},
		{"a link out and back in", "out-and-in", "", envelope.OutsideRoot},
		{"an absolute link", "absolute", "", envelope.OutsideRoot},
		{"a link to itself", "loop", "", envelope.LinkLoop},
		{"two links in a circle", "loop2", "", envelope.LinkLoop},
		{"a dangling link", "dangling", "", envelope.PathNotFound},
		{"a link to a hidden file", "to-priv", "", envelope.OutsideScope},
		{"a link to a hidden directory", "to-priv-dir/p.txt", "", envelope.OutsideScope},
		{"a link to nothing in a hidden directory", "priv-missing", "", envelope.OutsideScope},
		{"a hidden file", "priv/p.txt", "", envelope.OutsideScope},
		{"nothing in a hidden directory", "priv/none/none", "", envelope.OutsideScope},
		{"a file as a directory by link", "slash", "", envelope.NotADirectory},
		{"a directory", "docs", "", envelope.IsDirectory},
		{"a link to a directory as a file", "in", "", envelope.IsDirectory},
		{"below a file", "docs/a.md/x", "", envelope.NotADirectory},
		{"nothing", "docs/none.md", "", envelope.PathNotFound},
		{"nothing in nothing", "none/none.md", "", envelope.PathNotFound},
		{"a backslash in the name", `back\slash`, "kept", ""},
		{"a control character in the name", "control\x01", "kept", ""},
		{"a name as /proc marks deleted files", "x (deleted)", "kept", ""},
	}
	forms(t, func(t *testing.T, portable bool) {
		w := open(t, Options{Roots: []Root{{Dir: world(t, files)}}, portable: portable})
		r := w.Reader(scope{hidden: []string{"priv"}})
		for _, c := range cases {
			t.Run(c.name, func(t *testing.T) {
				f, err := r.Load(context.Background(), path(t, c.path))
				if c.code != "" {
					wantErr(t, err, c.code)
					return
				}
				if err != nil {
					t.Fatal(err)
				}
				if string(f.Data) != c.want || f.Version != contract.VersionOf([]byte(c.want)) {
					t.Errorf("got %q, want %q", f.Data, c.want)
				}
			})
		}
	})
}

func TestMessagesHoldNoHostPath(t *testing.T) {
	forms(t, func(t *testing.T, portable bool) {
		root := world(t, map[string]string{"out": "->../outside", "d/": "", "loop": "->loop"})
		w := open(t, Options{Roots: []Root{{Dir: root}}, State: t.TempDir(), portable: portable})
		for _, name := range []string{"out/x", "d", "loop", "none", "none/none"} {
			_, err := w.Reader(anyone{}).Load(context.Background(), path(t, name))
			if err == nil || strings.Contains(err.Error(), filepath.Dir(root)) {
				t.Errorf("%s: error %v", name, err)
			}
		}
	})
}

func TestGuardIsAskedBeforeEachName(t *testing.T) {
	forms(t, func(t *testing.T, portable bool) {
		w := open(t, Options{Roots: []Root{{Dir: world(t, map[string]string{"a/b/f": "x", "l": "->a/b"})}}, portable: portable})
		var asked []string
		if _, err := w.Reader(scope{asked: &asked}).Load(context.Background(), path(t, "l/f")); err != nil {
			t.Fatal(err)
		}
		for _, want := range []string{"l", "a", "a/b", "a/b/f"} {
			if !slices.Contains(asked, want) {
				t.Errorf("the guard was not asked about %s, only about %v", want, asked)
			}
		}
	})
}

// A refusal is the same whether the place is there or not.
func TestRefusalTellsNothing(t *testing.T) {
	forms(t, func(t *testing.T, portable bool) {
		w := open(t, Options{Roots: []Root{{Dir: world(t, map[string]string{
			"priv/f": "x", "ro/f": "x", "ro/d/": "",
		})}}, State: t.TempDir(), portable: portable})
		wr := w.Writer(scope{hidden: []string{"priv"}, readOnly: []string{"ro"}}, nil, contract.Origin{})
		for _, name := range []string{"priv/f", "priv/none", "priv/f/x", "priv/none/x"} {
			_, err := wr.Stat(context.Background(), path(t, name))
			wantErr(t, err, envelope.OutsideScope)
		}
		for _, name := range []string{"ro/f", "ro/none", "ro/f/x", "ro/none/x", "ro/d"} {
			_, err := wr.Create(context.Background(), path(t, name), nil)
			wantErr(t, err, envelope.OutsideWriteScope)
			_, err = wr.Delete(context.Background(), path(t, name), contract.VersionOf(nil))
			wantErr(t, err, envelope.OutsideWriteScope)
		}
	})
}

func TestIgnoredPlaces(t *testing.T) {
	forms(t, func(t *testing.T, portable bool) {
		w := open(t, Options{Roots: []Root{{Dir: world(t, map[string]string{
			".gitignore": "build/\n*.log\n", "a.log": "x", "sub/build": "a file", "build/x": "x", "ok.txt": "ok",
		})}}, portable: portable})
		r := w.Reader(scope{})
		for name, code := range map[string]envelope.Code{
			"a.log": envelope.OutsideScope, "none.log": envelope.OutsideScope, "build/x": envelope.OutsideScope,
			"build": envelope.OutsideScope, "build/none": envelope.OutsideScope,
			"sub/build": "", "ok.txt": "", "none/build": envelope.OutsideScope, "none.txt": envelope.PathNotFound,
		} {
			_, err := r.Load(context.Background(), path(t, name))
			if envelope.CodeOf(err) != code {
				t.Errorf("%s: got %v, want %q", name, err, code)
			}
		}
	})
}

func TestSeveralRoots(t *testing.T) {
	forms(t, func(t *testing.T, portable bool) {
		a, b := world(t, map[string]string{"f": "in a", "l": "->../root/f"}), world(t, map[string]string{"f": "in b"})
		w := open(t, Options{Roots: []Root{{"notes", a}, {"repo", b}}, portable: portable})
		r := w.Reader(anyone{})
		f, err := r.Load(context.Background(), path(t, "repo/f"))
		if err != nil || string(f.Data) != "in b" || f.Resolved.String() != "repo/f" {
			t.Fatalf("got %+v, %v", f, err)
		}
		_, err = r.Load(context.Background(), path(t, "notes/l"))
		wantErr(t, err, envelope.OutsideRoot)
		_, err = r.Load(context.Background(), path(t, "f"))
		wantErr(t, err, envelope.PathNotFound)
		_, err = r.Load(context.Background(), path(t, "notes"))
		wantErr(t, err, envelope.IsDirectory)
		for _, p := range []contract.Path{{}, path(t, "notes")} {
			if info, err := r.Stat(context.Background(), p); err != nil || info.Kind != KindDirectory {
				t.Errorf("stat of %q: %+v, %v", p, info, err)
			}
		}
	})
}

func TestRootNames(t *testing.T) {
	d := t.TempDir()
	for name, roots := range map[string][]Root{
		"none": nil, "two without a name": {{"", d}, {"b", d}}, "the same name twice": {{"a", d}, {"a", d}},
		"a name with a slash": {{"a/b", d}, {"c", d}}, "not there": {{"", filepath.Join(d, "none")}},
	} {
		if w, err := Open(Options{Roots: roots}); err == nil {
			w.Close()
			t.Errorf("%s: no error", name)
		}
	}
	if w, err := Open(Options{Roots: []Root{{Dir: d}}, State: filepath.Join(d, "state")}); err == nil {
		w.Close()
		t.Error("a state directory inside the root: no error")
	}
	if _, err := os.Lstat(filepath.Join(d, "state")); err == nil {
		t.Error("a state directory inside the root: it was made")
	}
}

func TestRootThatIsALink(t *testing.T) {
	forms(t, func(t *testing.T, portable bool) {
		root := world(t, map[string]string{"f": "x"})
		link := filepath.Join(t.TempDir(), "link")
		if err := os.Symlink(root, link); err != nil {
			t.Skip(err)
		}
		w := open(t, Options{Roots: []Root{{Dir: link}}, portable: portable})
		if _, err := w.Reader(anyone{}).Load(context.Background(), path(t, "f")); err != nil {
			t.Fatal(err)
		}
	})
}

func TestRootThatGoesAway(t *testing.T) {
	for name, away := range map[string]func(root string) error{
		"removed": os.RemoveAll,
		"moved":   func(root string) error { return os.Rename(root, root+".old") },
		"replaced": func(root string) error {
			if err := os.Rename(root, root+".old"); err != nil {
				return err
			}
			if err := os.Mkdir(root, 0o755); err != nil {
				return err
			}
			return os.WriteFile(filepath.Join(root, "f"), []byte("another"), 0o644)
		},
	} {
		t.Run(name, func(t *testing.T) {
			forms(t, func(t *testing.T, portable bool) {
				root := world(t, map[string]string{"f": "x"})
				w := open(t, Options{Roots: []Root{{Dir: root}}, State: t.TempDir(), portable: portable})
				if err := away(root); err != nil {
					t.Fatal(err)
				}
				wr := w.Writer(anyone{}, nil, contract.Origin{})
				_, err := wr.Load(context.Background(), path(t, "f"))
				wantErr(t, err, envelope.IO)
				_, err = wr.Create(context.Background(), path(t, "new"), []byte("x"))
				wantErr(t, err, envelope.IO)
				if _, err := os.Stat(filepath.Join(root, "new")); err == nil {
					t.Error("the file was made in the other directory")
				}
			})
		})
	}
}

// A root stays usable when a directory above it gets another name and the old one leads to it.
func TestRootMovedAlong(t *testing.T) {
	root := world(t, map[string]string{"f": "x"})
	w := open(t, Options{Roots: []Root{{Dir: root}}})
	top := filepath.Dir(root)
	if err := os.Rename(top, top+".new"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(top + ".new") })
	if err := os.Symlink(top+".new", top); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Reader(anyone{}).Load(context.Background(), path(t, "f")); err != nil {
		t.Fatal(err)
	}
}

func TestLinkChains(t *testing.T) {
	forms(t, func(t *testing.T, portable bool) {
		files := map[string]string{"l00": "text"}
		for i := 1; i <= 41; i++ {
			files[name2("l", i)] = "->" + name2("l", i-1)
		}
		w := open(t, Options{Roots: []Root{{Dir: world(t, files)}}, portable: portable})
		if _, err := w.Reader(anyone{}).Load(context.Background(), path(t, "l40")); err != nil {
			t.Errorf("40 links: %v", err)
		}
		_, err := w.Reader(anyone{}).Load(context.Background(), path(t, "l41"))
		wantErr(t, err, envelope.LinkLoop)
	})
}

func name2(prefix string, n int) string {
	return prefix + string(rune('0'+n/10)) + string(rune('0'+n%10))
}

func TestDeepPlaces(t *testing.T) {
	forms(t, func(t *testing.T, portable bool) {
		root := world(t, nil)
		long := strings.Repeat("d", 200)
		rel := strings.TrimSuffix(strings.Repeat(long+"/", 19), "/")
		at, err := os.OpenRoot(root)
		if err != nil {
			t.Fatal(err)
		}
		defer at.Close()
		if err := at.MkdirAll(rel, 0o755); err != nil {
			t.Fatal(err)
		}
		f, err := at.Create(rel + "/f")
		if err != nil {
			t.Fatal(err)
		}
		f.Close()
		w := open(t, Options{Roots: []Root{{Dir: root}}, portable: portable})
		if _, err := w.Reader(anyone{}).Load(context.Background(), path(t, rel+"/f")); err != nil {
			t.Fatal(err)
		}
	})
}

func TestStat(t *testing.T) {
	forms(t, func(t *testing.T, portable bool) {
		w := open(t, Options{Roots: []Root{{Dir: world(t, map[string]string{
			"f": "four", "l": "->f", "d/": "", "none": "->nowhere", "out": "->../outside/secret.txt",
		})}}, portable: portable})
		r := w.Reader(anyone{})
		for _, c := range []struct {
			path, resolved, target string
			kind                   Kind
		}{
			{"f", "f", "", KindFile}, {"l", "f", "f", KindFile}, {"d", "d", "", KindDirectory},
			{"none", "none", "nowhere", KindLink},
		} {
			info, err := r.Stat(context.Background(), path(t, c.path))
			if err != nil {
				t.Fatal(c.path, err)
			}
			if info.Kind != c.kind || info.Resolved.String() != c.resolved || info.LinkTarget != c.target {
				t.Errorf("%s: got %+v", c.path, info)
			}
			if c.kind == KindFile && (info.Size != 4 || info.Mode != 0o644 || info.Links != 1) {
				t.Errorf("%s: got %+v", c.path, info)
			}
		}
		if info, err := r.Stat(context.Background(), contract.Path{}); err != nil || info.Kind != KindDirectory {
			t.Errorf("the top: %+v, %v", info, err)
		}
		_, err := r.Stat(context.Background(), path(t, "out"))
		wantErr(t, err, envelope.OutsideRoot)
	})
}

func TestLoadRefusesLargeFilesUnread(t *testing.T) {
	forms(t, func(t *testing.T, portable bool) {
		root := world(t, nil)
		name := filepath.Join(root, "sparse")
		if err := os.WriteFile(name, nil, 0o644); err != nil {
			t.Fatal(err)
		}
		if err := os.Truncate(name, 2<<30); err != nil {
			t.Fatal(err)
		}
		w := open(t, Options{Roots: []Root{{Dir: root}}, portable: portable})
		_, err := w.Reader(anyone{}).Load(context.Background(), path(t, "sparse"))
		wantErr(t, err, envelope.TooLarge)
		if err == nil || !strings.Contains(err.Error(), "2147483648") || !strings.Contains(err.Error(), "33554432") {
			t.Errorf("the message tells no sizes: %v", err)
		}
	})
}

func TestRecall(t *testing.T) {
	w := open(t, Options{Roots: []Root{{Dir: world(t, map[string]string{"f": "seen"})}}})
	r := w.Reader(anyone{})
	f, err := r.Load(context.Background(), path(t, "f"))
	if err != nil {
		t.Fatal(err)
	}
	if data, ok := r.Recall(f.Version); !ok || string(data) != "seen" {
		t.Errorf("got %q, %v", data, ok)
	}
	if _, ok := r.Recall(contract.VersionOf([]byte("never"))); ok {
		t.Error("content that nobody saw is remembered")
	}
}

func TestMemoryIsBounded(t *testing.T) {
	c := newContents()
	for i := range 100 {
		data := make([]byte, memoryContentBytes)
		data[0] = byte(i)
		c.add(contract.VersionOf(data), data)
	}
	c.add(contract.VersionOf([]byte("large")), make([]byte, memoryContentBytes+1))
	if c.size > memoryBytes || len(c.byName) != c.order.Len() || c.order.Len() == 0 {
		t.Errorf("%d bytes in %d contents", c.size, c.order.Len())
	}
}

func TestCancelledCall(t *testing.T) {
	forms(t, func(t *testing.T, portable bool) {
		w := open(t, Options{Roots: []Root{{Dir: world(t, map[string]string{"f": "x"})}}, portable: portable})
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		if _, err := w.Reader(anyone{}).Load(ctx, path(t, "f")); err == nil {
			t.Error("no error")
		}
	})
}
