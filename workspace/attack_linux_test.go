package workspace

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"writ/contract"
	"writ/envelope"
)

// The tests in this file let another process change the tree as fast as it can while ours works in it. They count what
// must never happen. WRIT_ATTACK_TIME sets how long each one runs, such as 10s.

const attackerVar = "WRIT_TEST_ATTACKER"

func attackTime(usual time.Duration) time.Duration {
	if d, err := time.ParseDuration(os.Getenv("WRIT_ATTACK_TIME")); err == nil {
		return d
	}
	return usual
}

// TestAttacker is the other process. It ends when it is killed.
func TestAttacker(t *testing.T) {
	args := strings.Split(os.Getenv(attackerVar), "\n")
	switch args[0] {
	case "flip":
		flip(args[1], args[2])
	case "write":
		writeForeign(args[1], args[2], args[3])
	case "replace":
		replaceInChild(args[1], args[2], args[3])
	case "crash":
		writeUntilKilled(args[1], args[2], args[3] == "portable")
	default:
		t.Skip("no attack")
	}
}

// attack starts the other process, which ends with the test.
func attack(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	cmd := exec.Command(os.Args[0], "-test.run=^TestAttacker$")
	cmd.Env = append(os.Environ(), attackerVar+"="+strings.Join(args, "\n"))
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cmd.Process.Kill()
		cmd.Wait()
	})
	return cmd
}

// fastDir returns a directory on a file system where syncing costs nothing, if there is one.
func fastDir(t testing.TB) string {
	d, err := os.MkdirTemp("/dev/shm", "writ-test-")
	if err != nil {
		return t.TempDir()
	}
	t.Cleanup(func() { os.RemoveAll(d) })
	return d
}

// lab makes root/ with a public and a hidden part, links to what is hidden and to what is outside, and outside/.
func lab(t testing.TB) string {
	t.Helper()
	top := fastDir(t)
	plant(t, top, map[string]string{
		"outside/f.txt": "SECRET", "f.txt": "SECRET",
		"root/d/f.txt": "PUBLIC", "root/f.txt": "PUBLIC", "root/g.txt": "PUBLIC", "root/priv/f.txt": "PRIVATE",
		"root/l": "->../outside", "root/lp": "->priv", "root/gl": "->../outside/f.txt", "root/gp": "->priv/f.txt",
		"root/m/e/up": "->../../f.txt",
	})
	return top
}

// flip changes the lab again and again. What it does to the name that the victim opens is in its mode.
func flip(top, mode string) {
	r := top + "/root"
	swap := map[string][2]string{
		"dir-out": {"d", "l"}, "dir-priv": {"d", "lp"}, "leaf-out": {"g.txt", "gl"}, "leaf-priv": {"g.txt", "gp"},
	}
	if s, ok := swap[mode]; ok {
		for {
			unix.Renameat2(unix.AT_FDCWD, r+"/"+s[0], unix.AT_FDCWD, r+"/"+s[1], unix.RENAME_EXCHANGE)
		}
	}
	move := func(from, to string) { os.Rename(r+"/"+from, r+"/"+to) }
	for {
		switch mode {
		case "slow-out": // as an ordinary program does it
			move("d", "d.real")
			os.Symlink("../outside", r+"/d")
			os.Remove(r + "/d")
			move("d.real", "d")
		case "fill": // a public directory is moved to a hidden place, and a hidden file is put into it there
			move("d", "priv/d")
			move("priv/d/f.txt", "priv/d/public")
			move("priv/f.txt", "priv/d/f.txt")
			move("priv/d/f.txt", "priv/f.txt")
			move("priv/d/public", "priv/d/f.txt")
			move("priv/d", "d")
		case "dotdot": // a directory with a link that climbs moves up
			move("m/e", "e")
			move("e", "m/e")
		}
	}
}

type inode struct{ dev, ino uint64 }

func inodeOf(t testing.TB, name string) inode {
	t.Helper()
	var st unix.Stat_t
	if err := unix.Stat(name, &st); err != nil {
		t.Fatal(err)
	}
	return inode{st.Dev, st.Ino}
}

func TestRaceOpening(t *testing.T) {
	victims := map[string]string{
		"dir-out": "d/f.txt", "dir-priv": "d/f.txt", "leaf-out": "g.txt", "leaf-priv": "g.txt",
		"slow-out": "d/f.txt", "fill": "d/f.txt", "dotdot": "m/e/up",
	}
	for mode, victim := range victims {
		for _, op := range []string{"read", "replace"} {
			t.Run(mode+" "+op, func(t *testing.T) {
				forms(t, func(t *testing.T, portable bool) { raceOpening(t, mode, op, victim, portable) })
			})
		}
	}
}

func raceOpening(t *testing.T, mode, op, victim string, portable bool) {
	top := lab(t)
	forbidden := map[inode]string{
		inodeOf(t, top+"/outside/f.txt"): "escape", inodeOf(t, top+"/f.txt"): "escape",
		inodeOf(t, top+"/root/priv/f.txt"): "policy broken",
	}
	w := open(t, Options{Roots: []Root{{Dir: top + "/root"}}, State: t.TempDir(), portable: portable})
	wr := w.Writer(scope{hidden: []string{"priv"}}, nil, contract.Origin{})
	attack(t, "flip", top, mode)
	opened, refused := 0, 0
	for end := time.Now().Add(attackTime(40 * time.Millisecond)); time.Now().Before(end); {
		got, err := openVictim(t, wr, op, path(t, victim))
		if err != nil {
			refused++
			continue
		}
		opened++
		if what, bad := forbidden[got]; bad {
			t.Fatalf("%s after %d openings and %d refusals", what, opened, refused)
		}
	}
	t.Logf("%d opened, %d refused", opened, refused)
	if opened+refused == 0 {
		t.Error("nothing was tried")
	}
}

func openVictim(t *testing.T, w Writer, op string, p contract.Path) (inode, error) {
	var f *os.File
	if op == "replace" {
		target, err := w.openTarget(context.Background(), p)
		if err != nil {
			return inode{}, err
		}
		defer target.close()
		f = target.f
		if string(target.data) != "PUBLIC" {
			t.Fatalf("read %q", target.data)
		}
	} else {
		q, err := w.w.question(w.guard, p, Read)
		if err != nil {
			return inode{}, err
		}
		if f, _, err = q.root.tree.openFile(context.Background(), q); err != nil {
			return inode{}, err
		}
		defer f.Close()
	}
	var st unix.Stat_t
	err := unix.Fstat(int(f.Fd()), &st)
	return inode{st.Dev, st.Ino}, err
}

// What is made and deleted while the directory on the way is swapped must be made and deleted nowhere else.
func TestRaceChanging(t *testing.T) {
	for _, mode := range []string{"dir-out", "dir-priv"} {
		t.Run(mode, func(t *testing.T) {
			forms(t, func(t *testing.T, portable bool) { raceChanging(t, mode, portable) })
		})
	}
}

func raceChanging(t *testing.T, mode string, portable bool) {
	top := lab(t)
	w := open(t, Options{Roots: []Root{{Dir: top + "/root"}}, State: t.TempDir(), portable: portable})
	wr := w.Writer(scope{hidden: []string{"priv"}}, nil, contract.Origin{})
	attack(t, "flip", top, mode)
	made, deleted, tried := 0, 0, 0
	for end := time.Now().Add(attackTime(250 * time.Millisecond)); time.Now().Before(end); tried++ {
		if _, err := wr.Create(context.Background(), path(t, "d/n.txt"), []byte("x")); err == nil {
			made++
		}
		for _, name := range []string{top + "/outside/n.txt", top + "/root/priv/n.txt"} {
			if _, err := os.Lstat(name); err == nil {
				t.Fatalf("a file was made in the wrong place after %d tries", tried)
			}
		}
		if _, err := wr.Delete(context.Background(), path(t, "d/n.txt"), contract.VersionOf([]byte("x"))); err == nil {
			deleted++
		}
		wr.Delete(context.Background(), path(t, "d/f.txt"), contract.VersionOf([]byte("SECRET")))
		wr.Delete(context.Background(), path(t, "d/f.txt"), contract.VersionOf([]byte("PRIVATE")))
		for _, name := range []string{top + "/outside/f.txt", top + "/root/priv/f.txt"} {
			if _, err := os.Lstat(name); err != nil {
				t.Fatalf("a file was deleted in the wrong place after %d tries", tried)
			}
		}
	}
	t.Logf("%d tries, %d made, %d deleted", tried, made, deleted)
	if made == 0 && attackTime(0) > 0 {
		t.Error("nothing was ever made")
	}
}

// page is memory that the two processes share.
type page struct{ trial, delay, hold, done, failed atomic.Int64 }

func sharedPage(name string) *page {
	fd, err := unix.Open(name, unix.O_RDWR|unix.O_CREAT, 0o600)
	if err != nil {
		panic(err)
	}
	defer unix.Close(fd)
	if err := unix.Ftruncate(fd, 4096); err != nil {
		panic(err)
	}
	b, err := unix.Mmap(fd, 0, 4096, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		panic(err)
	}
	return (*page)(unsafe.Pointer(&b[0]))
}

func labelled(kind byte, n int64) []byte {
	return bytes.Repeat(fmt.Appendf(nil, "%c%012d ", kind, n), 300)
}

func spin(d time.Duration) {
	for t := time.Now(); time.Since(t) < d; {
	}
}

// writeForeign is a program that saves the file in its own way, at a moment that the other side sets.
func writeForeign(shared, file, kind string) {
	runtime.LockOSThread()
	p := sharedPage(shared)
	for last := int64(0); ; {
		for p.trial.Load() == last {
			runtime.Gosched()
		}
		last = p.trial.Load()
		p.failed.Store(0)
		if err := saveForeign(file, kind, labelled('F', last), p); err != nil {
			p.failed.Store(1)
		}
		p.done.Store(last)
	}
}

func saveForeign(file, kind string, content []byte, p *page) error {
	delay, hold := time.Duration(p.delay.Load()), time.Duration(p.hold.Load())
	switch kind {
	case "in place":
		spin(delay)
		return os.WriteFile(file, content, 0o644)
	case "held": // opened early, written late
		f, err := os.OpenFile(file, os.O_WRONLY, 0)
		if err != nil {
			return err
		}
		defer f.Close()
		spin(delay + hold)
		_, err = f.WriteAt(content, 0)
		return errors.Join(err, f.Truncate(int64(len(content))))
	case "rename":
		if err := os.WriteFile(file+".foreign", content, 0o644); err != nil {
			return err
		}
		spin(delay)
		return os.Rename(file+".foreign", file)
	default: // unlinked and made again
		spin(delay)
		os.Remove(file)
		f, err := os.OpenFile(file, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
		if err != nil {
			return err
		}
		defer f.Close()
		_, err = f.Write(content)
		return err
	}
}

// No update of another program may be lost without a word.
func TestRaceForeignWriters(t *testing.T) {
	for _, kind := range []string{"in place", "held", "rename", "unlink and create"} {
		t.Run(kind, func(t *testing.T) { raceForeign(t, kind) })
	}
}

func raceForeign(t *testing.T, kind string) {
	top := fastDir(t)
	plant(t, top, map[string]string{"root/": ""})
	file, shared := top+"/root/f.txt", top+"/page"
	w := open(t, Options{Roots: []Root{{Dir: top + "/root"}}, State: t.TempDir()})
	wr := w.Writer(anyone{}, nil, contract.Origin{})
	p := sharedPage(shared)
	attack(t, "write", shared, file, kind)
	typical := 100 * time.Microsecond
	done, refused, unsure := 0, 0, 0
	for end, n := time.Now().Add(attackTime(400*time.Millisecond)), int64(1); time.Now().Before(end); n++ {
		base, mine, theirs := labelled('B', n), labelled('V', n), labelled('F', n)
		if err := errors.Join(os.WriteFile(file+".new", base, 0o644), os.Rename(file+".new", file)); err != nil {
			t.Fatal(err)
		}
		p.delay.Store(rand.Int64N(int64(2 * typical)))
		p.hold.Store(rand.Int64N(int64(2 * typical)))
		p.trial.Store(n)
		spin(time.Duration(rand.Int64N(int64(typical))))
		began := time.Now()
		_, err := wr.Replace(context.Background(), path(t, "f.txt"), contract.VersionOf(base), whole(string(mine)))
		typical = (typical*15 + min(time.Since(began), time.Millisecond)) / 16
		for p.done.Load() != n {
			runtime.Gosched()
		}
		now, readErr := os.ReadFile(file)
		foreign := p.failed.Load() == 0
		has := func(what []byte) bool { return readErr == nil && bytes.Equal(now, what) }
		switch {
		case err == nil:
			done++
			if has(mine) && foreign {
				t.Fatalf("trial %d: an update was lost silently", n)
			}
			if !has(mine) && !has(theirs) {
				t.Fatalf("trial %d: after success the file holds %.20q, %v", n, now, readErr)
			}
		case envelope.CodeOf(err) == envelope.OutcomeUnknown:
			unsure++
		default:
			refused++
			if has(mine) {
				t.Fatalf("trial %d: refused with %v, and done all the same", n, err)
			}
			if has(base) && foreign || !has(theirs) && !has(base) {
				t.Fatalf("trial %d: after %v the file holds %.20q, %v", n, err, now, readErr)
			}
		}
		leftovers, _ := filepath.Glob(top + "/root/.writ-*")
		if len(leftovers) > 0 && err == nil {
			t.Fatalf("trial %d left %v", n, leftovers)
		}
		for _, name := range leftovers {
			os.Remove(name)
		}
	}
	t.Logf("%d done, %d refused, %d unknown", done, refused, unsure)
	if done == 0 {
		t.Error("no change ever succeeded")
	}
}

// replaceInChild starts ten changes of one version at a sign and prints how each ended.
func replaceInChild(root, state, sign string) {
	w, err := Open(Options{Roots: []Root{{Dir: root}}, State: state})
	if err != nil {
		panic(err)
	}
	wr := w.Writer(anyone{}, nil, contract.Origin{})
	for {
		if _, err := os.Stat(sign); err == nil {
			break
		}
		time.Sleep(time.Millisecond)
	}
	const many = 10
	ends := make(chan string, many)
	for i := range many {
		go func() {
			p, _ := contract.ParsePath("f")
			_, err := wr.Replace(context.Background(), p, contract.VersionOf([]byte("old")), whole(fmt.Sprint(os.Getpid(), " ", i)))
			ends <- "end:" + string(envelope.CodeOf(err))
		}()
	}
	for range many {
		fmt.Println(<-ends)
	}
	os.Exit(0)
}

func TestOneOfManyWinsOverTwoProcesses(t *testing.T) {
	root, state, sign := world(t, map[string]string{"f": "old"}), t.TempDir(), t.TempDir()+"/go"
	var out [2]bytes.Buffer
	var children [2]*exec.Cmd
	for i := range children {
		cmd := exec.Command(os.Args[0], "-test.run=^TestAttacker$")
		cmd.Env = append(os.Environ(), attackerVar+"="+strings.Join([]string{"replace", root, state, sign}, "\n"))
		cmd.Stdout = &out[i]
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		children[i] = cmd
	}
	time.Sleep(50 * time.Millisecond)
	if err := os.WriteFile(sign, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	for _, cmd := range children {
		if err := cmd.Wait(); err != nil {
			t.Fatal(err)
		}
	}
	all := strings.Fields(out[0].String() + out[1].String())
	ends := map[string]int{}
	for _, end := range all {
		ends[end]++
	}
	if ends["end:"] != 1 || ends["end:"+string(envelope.VersionChanged)] != 19 {
		t.Errorf("got %v, want one winner and nineteen conflicts", ends)
	}
}
