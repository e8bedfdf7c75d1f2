package walls

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
)

// The walls can't be lifted, so each test that raises some runs in a process of its own: this binary once more, with
// WALLS_TEST naming what to try behind them.
func TestMain(m *testing.M) {
	if os.Getenv("WALLS_TEST") != "" {
		os.Exit(behindWalls(os.Getenv("WALLS_TEST")))
	}
	os.Exit(m.Run())
}

// behindWalls raises walls around base/inside, and prints what is possible then.
func behindWalls(base string) int {
	runtime.GOMAXPROCS(8)
	start := make(chan struct{})
	var before sync.WaitGroup
	for range 16 { // threads that are there before the walls are
		before.Add(1)
		go func() {
			runtime.LockOSThread()
			before.Done()
			<-start
		}()
	}
	before.Wait()
	w := Walls{
		Read: []string{filepath.Join(base, "read")}, Write: []string{filepath.Join(base, "write")},
		Run: []string{filepath.Join(base, "not there")}, Devices: []string{NullDevice}, Offline: true,
	}
	level, err := w.Raise()
	fmt.Println("level", level, err)
	report := func(what string, err error) {
		if err != nil {
			fmt.Println("refused", what)
		} else {
			fmt.Println("done", what)
		}
	}
	in := func(parts ...string) string { return filepath.Join(append([]string{base}, parts...)...) }
	read := func(name string) error { _, err := os.ReadFile(name); return err }
	write := func(name string) error { return os.WriteFile(name, []byte("x"), 0o600) }
	report("read a", read(in("read/a")))
	report("read w", read(in("write/a")))
	report("read o", read(in("out/a")))
	report("read link", read(in("write/link")))
	report("read dotdot", read(in("read/../out/a")))
	report("list o", func() error { _, err := os.ReadDir(in("out")); return err }())
	report("write a", write(in("read/a")))
	report("write w", write(in("write/a")))
	report("write o", write(in("out/a")))
	report("cut a", os.Truncate(in("read/a"), 0))
	report("create r", write(in("read/new")))
	report("create o", write(in("out/new")))
	report("move w", os.Rename(in("write/a"), in("write/deep/a")))
	report("move out", os.Rename(in("write/deep/a"), in("out/b")))
	report("take in", os.Rename(in("out/a"), in("write/b")))
	report("link in", os.Link(in("out/a"), in("write/c")))
	report("remove o", os.Remove(in("out/a")))
	report("null", write(NullDevice))
	report("run", exec.Command("/bin/true").Run())
	report("listen", func() error {
		var lc net.ListenConfig
		lc.SetMultipathTCP(false)
		l, err := lc.Listen(context.Background(), "tcp", "127.0.0.1:0")
		if err == nil {
			l.Close()
		}
		return err
	}())
	// Every thread, old or new, is inside.
	close(start)
	var threads sync.WaitGroup
	escaped := make(chan string, 64)
	for range 64 {
		threads.Go(func() {
			runtime.LockOSThread()
			if read(in("out/a")) == nil {
				escaped <- "thread"
			}
		})
	}
	threads.Wait()
	fmt.Println("escaped", len(escaped))
	return 0
}

func TestWallsHold(t *testing.T) {
	if Available().ABI < netABI {
		t.Skipf("the kernel offers %v", Available())
	}
	base := t.TempDir()
	for _, name := range []string{"read/a", "write/a", "write/deep/x", "out/a"} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(base, name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(base, name), []byte(name), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("../out/a", filepath.Join(base, "write/link")); err != nil {
		t.Fatal(err)
	}
	command := exec.Command(os.Args[0])
	command.Env = append(os.Environ(), "WALLS_TEST="+base)
	out, err := command.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	want := "level " + Available().String() + ` <nil>
done read a
done read w
refused read o
refused read link
refused read dotdot
refused list o
refused write a
done write w
refused write o
refused cut a
refused create r
refused create o
done move w
refused move out
refused take in
refused link in
refused remove o
done null
refused run
refused listen
escaped 0
`
	if string(out) != want {
		t.Errorf("behind the walls:\n%s\nwant\n%s", out, want)
	}
}

func TestLevelIsNamed(t *testing.T) {
	for level, want := range map[Level]string{{}: "none", {ABI: 7}: "landlock-abi7"} {
		if got := level.String(); !strings.HasPrefix(got, want) {
			t.Errorf("%+v is called %q", level, got)
		}
	}
}
