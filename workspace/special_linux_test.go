package workspace

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"writ/contract"
	"writ/envelope"
)

// within fails the test if work takes so long that it must have been blocked.
func within(t *testing.T, what string, work func()) {
	t.Helper()
	done := make(chan struct{})
	go func() {
		defer close(done)
		work()
	}()
	select {
	case <-done:
	case <-time.After(20 * time.Second):
		t.Fatalf("%s is blocked", what)
	}
}

func TestSpecialFilesAreNotOpened(t *testing.T) {
	forms(t, func(t *testing.T, portable bool) {
		b := newBench(t, portable, map[string]string{"l": "->fifo"})
		if err := unix.Mkfifo(filepath.Join(b.root, "fifo"), 0o666); err != nil {
			t.Fatal(err)
		}
		socket, err := net.ListenUnix("unix", &net.UnixAddr{Name: shortName(t, filepath.Join(b.root, "socket"))})
		if err != nil {
			t.Fatal(err)
		}
		defer socket.Close()
		names := []string{"fifo", "l", "socket"}
		if unix.Mknod(filepath.Join(b.root, "null"), unix.S_IFCHR|0o666, int(unix.Mkdev(1, 3))) == nil {
			names = append(names, "null")
		}
		v := contract.VersionOf(nil)
		for _, name := range names {
			within(t, name, func() {
				p := path(t, name)
				_, err := b.Load(context.Background(), p)
				wantErr(t, err, envelope.NotARegularFile)
				_, err = b.Replace(context.Background(), p, v, whole("x"))
				wantErr(t, err, envelope.NotARegularFile)
				_, err = b.Delete(context.Background(), p, v)
				wantErr(t, err, envelope.NotARegularFile)
				_, err = b.Move(context.Background(), p, path(t, "moved"), v)
				wantErr(t, err, envelope.NotARegularFile)
				_, err = b.Create(context.Background(), p, nil)
				wantErr(t, err, envelope.AlreadyExists)
				if info, err := b.Stat(context.Background(), p); err != nil || info.Kind != KindOther {
					t.Errorf("%s: %+v, %v", name, info, err)
				}
			})
		}
		b.wantTidy()
	})
}

// shortName makes a socket's name short enough for its address.
func shortName(t *testing.T, name string) string {
	t.Helper()
	if len(name) < 100 {
		return name
	}
	link := filepath.Join(fastDir(t), "d")
	if err := os.Symlink(filepath.Dir(name), link); err != nil {
		t.Fatal(err)
	}
	return filepath.Join(link, filepath.Base(name))
}

// mount mounts for the length of the test, or skips it.
func mount(t *testing.T, source, target, kind string, flags uintptr, data string) {
	t.Helper()
	if err := unix.Mount(source, target, kind, flags, data); err != nil {
		t.Skipf("mount: %v", err)
	}
	t.Cleanup(func() { unix.Unmount(target, unix.MNT_DETACH) })
}

func TestBindMountsAreNotEntered(t *testing.T) {
	b := newBench(t, false, map[string]string{"in/": "", "file": "x"})
	mount(t, filepath.Join(b.root, "../outside"), filepath.Join(b.root, "in"), "", unix.MS_BIND, "")
	mount(t, filepath.Join(b.root, "../outside/secret.txt"), filepath.Join(b.root, "file"), "", unix.MS_BIND, "")
	for _, name := range []string{"in/secret.txt", "in", "file", "in/none"} {
		_, err := b.Load(context.Background(), path(t, name))
		wantErr(t, err, envelope.OutsideRoot)
		_, err = b.Stat(context.Background(), path(t, name))
		wantErr(t, err, envelope.OutsideRoot)
	}
	_, err := b.Create(context.Background(), path(t, "in/new"), nil)
	wantErr(t, err, envelope.OutsideRoot)
	_, err = b.put("file", "SECRET", "new")
	wantErr(t, err, envelope.OutsideRoot)
}

func TestFullDisk(t *testing.T) {
	forms(t, func(t *testing.T, portable bool) {
		top := t.TempDir()
		mount(t, "tmpfs", top, "tmpfs", 0, "size=1m")
		plant(t, top, map[string]string{"f": "small"})
		d := &diary{}
		w := open(t, Options{Roots: []Root{{Dir: top}}, State: t.TempDir(), portable: portable})
		b := &bench{Writer: w.Writer(anyone{}, d, contract.Origin{}), t: t, root: top, diary: d}
		large := strings.Repeat("x", 2<<20)
		_, err := b.put("f", "small", large)
		wantErr(t, err, envelope.DiskFull)
		_, err = b.Create(context.Background(), path(t, "a/b"), []byte(large))
		wantErr(t, err, envelope.DiskFull)
		entries, err := os.ReadDir(top)
		if err != nil || len(entries) != 1 || b.onDisk("f") != "small" {
			t.Errorf("left behind: %v, %v", entries, err)
		}
		if len(d.intents) != len(d.ends) {
			t.Errorf("%d intents, outcomes %v", len(d.intents), d.ends)
		}
	})
}

func TestReadOnlyFileSystem(t *testing.T) {
	forms(t, func(t *testing.T, portable bool) {
		top := t.TempDir()
		mount(t, "tmpfs", top, "tmpfs", 0, "")
		plant(t, top, map[string]string{"f": "text"})
		if err := unix.Mount("", top, "", unix.MS_REMOUNT|unix.MS_RDONLY, ""); err != nil {
			t.Skip(err)
		}
		w := open(t, Options{Roots: []Root{{Dir: top}}, State: t.TempDir(), portable: portable})
		wr := w.Writer(anyone{}, nil, contract.Origin{})
		v := contract.VersionOf([]byte("text"))
		_, err := wr.Replace(context.Background(), path(t, "f"), v, whole("x"))
		wantErr(t, err, envelope.Permission)
		_, err = wr.Create(context.Background(), path(t, "g"), nil)
		wantErr(t, err, envelope.Permission)
		_, err = wr.Create(context.Background(), path(t, "d/g"), nil)
		wantErr(t, err, envelope.Permission)
		_, err = wr.Delete(context.Background(), path(t, "f"), v)
		wantErr(t, err, envelope.Permission)
		_, err = wr.Move(context.Background(), path(t, "f"), path(t, "g"), v)
		wantErr(t, err, envelope.Permission)
		_, err = wr.MakeDirectory(context.Background(), path(t, "d"))
		wantErr(t, err, envelope.Permission)
	})
}

// asNobody makes the thread's file accesses those of a user without rights.
func asNobody(t *testing.T) {
	t.Helper()
	if os.Geteuid() != 0 {
		return
	}
	runtime.LockOSThread() // never unlocked: the thread ends with the goroutine
	const nobody = 65534
	if err := unix.Setfsgid(nobody); err != nil {
		t.Skip(err)
	}
	if err := unix.Setfsuid(nobody); err != nil {
		t.Skip(err)
	}
}

func TestDirectoryWithoutPermission(t *testing.T) {
	root := world(t, map[string]string{"f": "text", "g": "text", "closed/f": "text"})
	for name, mode := range map[string]os.FileMode{"f": 0o666, "g": 0o644, "closed": 0, ".": 0o755} {
		if err := os.Chmod(filepath.Join(root, name), mode); err != nil {
			t.Fatal(err)
		}
	}
	for at := root; at != "/tmp" && at != "/"; at = filepath.Dir(at) {
		if err := os.Chmod(at, 0o755); err != nil {
			break
		}
	}
	state := t.TempDir()
	t.Run("as nobody", func(t *testing.T) {
		w := open(t, Options{Roots: []Root{{Dir: root}}, State: state})
		wr := w.Writer(anyone{}, nil, contract.Origin{})
		if err := os.Chmod(filepath.Join(state, "locks"), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(state, 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(filepath.Dir(state), 0o777); err != nil {
			t.Fatal(err)
		}
		asNobody(t)
		v := contract.VersionOf([]byte("text"))
		_, err := wr.Replace(context.Background(), path(t, "f"), v, whole("x"))
		wantErr(t, err, envelope.Permission)
		_, err = wr.Create(context.Background(), path(t, "new"), nil)
		wantErr(t, err, envelope.Permission)
		_, err = wr.Delete(context.Background(), path(t, "f"), v)
		wantErr(t, err, envelope.Permission)
		_, err = wr.Load(context.Background(), path(t, "closed/f"))
		wantErr(t, err, envelope.Permission)
		if os.Geteuid() == 0 {
			_, err = wr.Replace(context.Background(), path(t, "g"), v, whole("x"))
			wantErr(t, err, envelope.ReadOnlyFile)
		}
	})
	if data, err := os.ReadFile(filepath.Join(root, "f")); err != nil || string(data) != "text" {
		t.Errorf("the file holds %q, %v", data, err)
	}
}

// A program that has the file open for writing would write into the file that was replaced.
func TestFileHeldOpen(t *testing.T) {
	b := newBench(t, false, map[string]string{"f": "old"})
	f, err := os.OpenFile(filepath.Join(b.root, "f"), os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	_, err = b.put("f", "old", "new")
	wantErr(t, err, envelope.Busy)
	f.Close()
	if _, err := b.put("f", "old", "new"); err != nil {
		t.Error(err)
	}
	b.wantTidy()
}

// A lease of another program must not make a read wait.
func TestFileUnderLease(t *testing.T) {
	b := newBench(t, false, map[string]string{"f": "old"})
	f, err := os.OpenFile(filepath.Join(b.root, "f"), os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := unix.FcntlInt(f.Fd(), unix.F_SETLEASE, unix.F_WRLCK); err != nil {
		t.Skip(err)
	}
	within(t, "a read", func() {
		_, err := b.Load(context.Background(), path(t, "f"))
		wantErr(t, err, envelope.Busy)
	})
}

func TestNoDescriptorLeaks(t *testing.T) {
	forms(t, func(t *testing.T, portable bool) {
		b := newBench(t, portable, map[string]string{"f": "old", "l": "->f", "out": "->../outside", "d/e/f": "x"})
		round := func() {
			v := contract.VersionOf([]byte("old"))
			for _, name := range []string{"f", "l", "out/x", "d/e/f", "d", "none", "none/x", "d/e/f/g"} {
				p := path(t, name)
				b.Load(context.Background(), p)
				b.Stat(context.Background(), p)
				b.Replace(context.Background(), p, v, whole("old"))
				b.Replace(context.Background(), p, v, whole("new"))
				b.Create(context.Background(), p, nil)
				b.Move(context.Background(), p, path(t, "moved/to"), contract.VersionOf([]byte("new")))
				b.Move(context.Background(), path(t, "moved/to"), p, contract.VersionOf([]byte("new")))
				b.Delete(context.Background(), p, contract.VersionOf(nil))
				b.MakeDirectory(context.Background(), p)
			}
		}
		round()
		before := openDescriptors(t)
		for range 5 {
			round()
		}
		if after := openDescriptors(t); after > before {
			t.Errorf("%d descriptors before, %d after", before, after)
		}
	})
}

func openDescriptors(t *testing.T) int {
	t.Helper()
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Skip(err)
	}
	return len(entries)
}

func TestSettle(t *testing.T) {
	before, after, foreign := contract.VersionOf([]byte("before")), contract.VersionOf([]byte("after")), "foreign"
	const temp = ".writ-0123456789abcdef.tmp"
	for _, c := range []struct {
		name        string
		kind        contract.ChangeKind
		place, temp string // "" is nothing
		want        contract.Outcome
		placeAfter  string
		tempStays   bool // then its name is told
	}{
		{"an edit not begun", contract.ChangeEdit, "before", "", contract.OutcomeNotDone, "before", false},
		{"an edit not swapped", contract.ChangeEdit, "before", "after", contract.OutcomeNotDone, "before", false},
		{"an edit not swapped, and another file displaced", contract.ChangeEdit, "before", foreign, contract.OutcomeUnknown, "before", true},
		{"an edit swapped", contract.ChangeEdit, "after", "before", contract.OutcomeDone, "after", false},
		{"an edit done", contract.ChangeEdit, "after", "", contract.OutcomeDone, "after", false},
		{"an edit that displaced another", contract.ChangeEdit, "after", foreign, contract.OutcomeUnknown, "after", true},
		{"an edit put back", contract.ChangeEdit, foreign, "after", contract.OutcomeNotDone, foreign, false},
		{"an edit of what is another file now", contract.ChangeEdit, foreign, "", contract.OutcomeUnknown, foreign, false},
		{"a creation not begun", contract.ChangeCreate, "", "", contract.OutcomeNotDone, "", false},
		{"a creation beside another file", contract.ChangeCreate, "", foreign, contract.OutcomeUnknown, "", true},
		{"a creation done", contract.ChangeCreate, "after", "", contract.OutcomeDone, "after", false},
		{"a creation with both names", contract.ChangeCreate, "after", "after", contract.OutcomeDone, "after", false},
		{"a creation that was too late", contract.ChangeCreate, foreign, "after", contract.OutcomeNotDone, foreign, false},
		{"a deletion not begun", contract.ChangeDelete, "before", "", contract.OutcomeNotDone, "before", false},
		{"a deletion half done", contract.ChangeDelete, "", "before", contract.OutcomeDone, "", false},
		{"a deletion done", contract.ChangeDelete, "", "", contract.OutcomeDone, "", false},
		{"a deletion of another file", contract.ChangeDelete, "", foreign, contract.OutcomeNotDone, foreign, false},
		{"a deletion of another file that was saved again", contract.ChangeDelete, "before", foreign, contract.OutcomeUnknown, "before", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			forms(t, func(t *testing.T, portable bool) {
				files := map[string]string{"d/" + draftName(temp): "half writ"}
				if c.place != "" {
					files["d/f"] = c.place
				}
				if c.temp != "" {
					files["d/"+temp] = c.temp
				}
				b := newBench(t, portable, files)
				got, err := b.w.Settle(context.Background(), contract.Intent{Kind: c.kind, Path: path(t, "d/f"), Before: before, After: after, Temp: temp})
				if (err != nil) != c.tempStays || got != c.want {
					t.Errorf("got %s, %v, want %s", got, err, c.want)
				}
				if c.tempStays && !strings.Contains(err.Error(), temp) {
					t.Errorf("%v does not tell what is kept", err)
				}
				if b.onDisk("d/"+draftName(temp)) != "(nothing)" {
					t.Error("the draft is left")
				}
				if c.placeAfter == "" {
					c.placeAfter = "(nothing)"
				}
				if b.onDisk("d/f") != c.placeAfter || (b.onDisk("d/"+temp) != "(nothing)") != c.tempStays {
					t.Errorf("the file holds %q, the temporary one %q", b.onDisk("d/f"), b.onDisk("d/"+temp))
				}
			})
		})
	}
}

func TestSettleOfOtherChanges(t *testing.T) {
	b := newBench(t, false, map[string]string{"moved": "text", "d/": ""})
	v := contract.VersionOf([]byte("text"))
	for name, c := range map[string]struct {
		in   contract.Intent
		want contract.Outcome
	}{
		"a move done":             {contract.Intent{Kind: contract.ChangeMove, Path: path(t, "f"), To: path(t, "moved"), Before: v}, contract.OutcomeDone},
		"a move not done":         {contract.Intent{Kind: contract.ChangeMove, Path: path(t, "moved"), To: path(t, "none"), Before: v}, contract.OutcomeNotDone},
		"a move of neither":       {contract.Intent{Kind: contract.ChangeMove, Path: path(t, "x"), To: path(t, "y"), Before: v}, contract.OutcomeUnknown},
		"a directory made":        {contract.Intent{Kind: contract.ChangeMkdir, Path: path(t, "d")}, contract.OutcomeDone},
		"a directory not made":    {contract.Intent{Kind: contract.ChangeMkdir, Path: path(t, "e/f")}, contract.OutcomeNotDone},
		"a creation without road": {contract.Intent{Kind: contract.ChangeCreate, Path: path(t, "e/f"), After: v}, contract.OutcomeNotDone},
	} {
		if got, err := b.w.Settle(context.Background(), c.in); err != nil || got != c.want {
			t.Errorf("%s: got %s, %v", name, got, err)
		}
	}
}

func TestSweep(t *testing.T) {
	const temp = ".writ-0123456789abcdef.tmp"
	for name, c := range map[string]struct{ held, want string }{
		"the bytes before": {"before", "(nothing)"}, "the bytes after": {"after", "(nothing)"},
		"what another program wrote": {"theirs", "theirs"}, "nothing": {"", "(nothing)"},
	} {
		t.Run(name, func(t *testing.T) {
			files := map[string]string{"d/f": "after", "d/" + draftName(temp): "half"}
			if c.held != "" {
				files["d/"+temp] = c.held
			}
			b := newBench(t, false, files)
			in := contract.Intent{Kind: contract.ChangeEdit, Path: path(t, "d/f"), Before: contract.VersionOf([]byte("before")), After: contract.VersionOf([]byte("after")), Temp: temp}
			if err := b.w.Sweep(context.Background(), in); err != nil {
				t.Error(err)
			}
			b.wantDisk(map[string]string{"d/f": "after", "d/" + temp: c.want, "d/" + draftName(temp): "(nothing)"})
			in.Path = path(t, "none/f")
			if err := b.w.Sweep(context.Background(), in); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestReadDescriptorOfGrowingSize(t *testing.T) {
	want := bytes.Repeat([]byte("0123456789"), 1000)
	name := filepath.Join(t.TempDir(), "f")
	if err := os.WriteFile(name, want, 0o644); err != nil {
		t.Fatal(err)
	}
	fd, err := unix.Open(name, unix.O_RDONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(fd)
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		t.Fatal(err)
	}
	st.Size = 10 // as if it had grown since
	if _, err := readDescriptor(fd, &st, 1<<20); err != errMoved {
		t.Errorf("got %v", err)
	}
}

// benchAsNobody returns a bench that a user without rights can use.
func benchAsNobody(t *testing.T, files map[string]string) *bench {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("only root can give files to others")
	}
	b := newBench(t, false, files)
	for at := b.root; at != "/tmp" && at != "/"; at = filepath.Dir(at) {
		if err := os.Chmod(at, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	state := b.w.options.State
	for _, name := range []string{b.root, filepath.Dir(state), state, filepath.Join(state, "locks")} {
		if err := os.Chmod(name, 0o777); err != nil {
			t.Fatal(err)
		}
	}
	return b
}

func (b *bench) give(name string, uid, gid int, mode os.FileMode) {
	b.t.Helper()
	name = filepath.Join(b.root, name)
	if err := errors.Join(os.Chown(name, uid, gid), os.Chmod(name, mode)); err != nil {
		b.t.Fatal(err)
	}
}

// What a file's group may do is not for the group of whoever edits it.
func TestReplaceLendsNoRights(t *testing.T) {
	for _, c := range []struct {
		name     string
		uid, gid int
		mode     os.FileMode
		want     os.FileMode
		lost     []string
	}{
		{"another group", 65534, 2345, 0o664, 0o644, []string{"group"}},
		{"another group, which may do less than everybody", 65534, 2345, 0o646, 0o646, []string{"group"}},
		{"a group that may do all", 65534, 2345, 0o670 | os.ModeSetgid, 0o600, []string{"group"}},
		{"another owner and group", 1234, 2345, 0o666 | os.ModeSetuid, 0o666, []string{"owner", "group"}},
		{"another owner", 1234, 65534, 0o662, 0o662, []string{"owner"}},
		{"his own", 65534, 65534, 0o660, 0o660, nil},
	} {
		b := benchAsNobody(t, map[string]string{"f": "old"})
		b.give("f", c.uid, c.gid, c.mode)
		t.Run(c.name, func(t *testing.T) {
			asNobody(t)
			done, err := b.put("f", "old", "new")
			if err != nil {
				t.Fatal(err)
			}
			info, err := os.Stat(filepath.Join(b.root, "f"))
			if err != nil || info.Mode() != c.want {
				t.Errorf("mode %v, %v, want %v", info.Mode(), err, c.want)
			}
			var lost []string
			for _, w := range done.Warnings {
				lost, _ = w.Details["lost"].([]string)
			}
			if !slices.Equal(lost, c.lost) {
				t.Errorf("warnings %v, want of %v", done.Warnings, c.lost)
			}
		})
	}
}

// accessList is an access list by which its group and one more user may write, as the kernel has it.
var accessList = []byte{2, 0, 0, 0,
	1, 0, 6, 0, 255, 255, 255, 255, // the owner
	2, 0, 6, 0, 210, 4, 0, 0, // user 1234
	4, 0, 6, 0, 255, 255, 255, 255, // the group
	16, 0, 6, 0, 255, 255, 255, 255, // the mask
	32, 0, 4, 0, 255, 255, 255, 255, // the others
}

func TestReplaceKeepsAccessList(t *testing.T) {
	const attributeName = "system.posix_acl_access"
	for _, c := range []struct {
		name string
		gid  int
		code envelope.Code
	}{{"his own group", 65534, ""}, {"another group", 2345, envelope.Permission}} {
		b := benchAsNobody(t, map[string]string{"f": "old"})
		b.give("f", 65534, c.gid, 0o664)
		name := filepath.Join(b.root, "f")
		if err := unix.Setxattr(name, attributeName, accessList, 0); err != nil {
			t.Skip(err)
		}
		t.Run(c.name, func(t *testing.T) {
			asNobody(t)
			_, err := b.put("f", "old", "new")
			wantErr(t, err, c.code)
			want := map[bool]string{true: "new", false: "old"}[c.code == ""]
			kept := make([]byte, 100)
			n, err := unix.Getxattr(name, attributeName, kept)
			if err != nil || !bytes.Equal(kept[:n], accessList) || b.onDisk("f") != want {
				t.Errorf("the list is %v, %v; the file holds %q", kept[:max(n, 0)], err, b.onDisk("f"))
			}
			b.wantTidy()
		})
	}
}

// A directory that may be changed and not read is made durable all the same, or it is told that it could not be.
func TestSyncOfUnreadableDirectory(t *testing.T) {
	b := benchAsNobody(t, map[string]string{"d/f": "old", "e/": ""})
	b.give("d", 65534, 65534, 0o300)
	b.give("d/f", 65534, 65534, 0o644)
	b.give("e", 65534, 65534, 0o100)
	t.Run("as nobody", func(t *testing.T) { syncUnreadable(t, b) })
}

func syncUnreadable(t *testing.T, b *bench) {
	asNobody(t)
	if _, err := b.put("d/f", "old", "new"); err != nil {
		t.Error(err)
	}
	q, err := b.w.question(anyone{}, path(t, "e/f"), Write)
	if err != nil {
		t.Fatal(err)
	}
	at, err := q.root.tree.parent(context.Background(), q)
	if err != nil {
		t.Fatal(err)
	}
	defer at.dir.Close()
	if err := at.dir.sync(); err == nil {
		t.Error("what can't be made durable is said to be")
	}
}

// A file that can't lose its old name does not get the new one.
func TestMoveByLink(t *testing.T) {
	top := t.TempDir()
	open := func(name string) int {
		fd, err := unix.Open(filepath.Join(top, name), unix.O_PATH|unix.O_DIRECTORY, 0)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { unix.Close(fd) })
		return fd
	}
	plant(t, top, map[string]string{"a/f": "text", "b/taken": "there"})
	a, b := open("a"), open("b")
	if err := moveByLink(a, "f", b, "taken"); !errors.Is(err, fs.ErrExist) {
		t.Error(err)
	}
	if err := moveByLink(a, "f", b, "g"); err != nil {
		t.Error(err)
	}
	if err := moveAfterALook(b, "g", b, "taken"); !errors.Is(err, fs.ErrExist) {
		t.Error(err)
	}
	if err := moveAfterALook(b, "g", a, "f"); err != nil {
		t.Error(err)
	}
	t.Run("as nobody", func(t *testing.T) {
		if os.Geteuid() != 0 {
			t.Skip("only root can give files to others")
		}
		if err := errors.Join(os.Chown(filepath.Join(top, "a/f"), 65534, 65534), os.Chmod(filepath.Join(top, "b"), 0o777)); err != nil {
			t.Fatal(err)
		}
		asNobody(t)
		if err := moveByLink(a, "f", b, "g"); err == nil {
			t.Error("no error")
		}
	})
	if _, err := os.Lstat(filepath.Join(top, "b/g")); err == nil {
		t.Error("the file has both names")
	}
	if _, err := os.Lstat(filepath.Join(top, "a/f")); err != nil {
		t.Error(err)
	}
}
