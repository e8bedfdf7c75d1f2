package programs

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"writ/walls"
)

// This binary is its own launcher.
func TestMain(m *testing.M) {
	if IsLauncher() {
		os.Exit(Launch())
	}
	os.Exit(m.Run())
}

func sh(t testing.TB) *Program {
	t.Helper()
	p, err := Find("/bin/sh")
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// bounds are those that no test means to meet.
func bounds(args ...string) Run {
	return Run{Args: args, Copy: &File{"a.txt", []byte("text\n")}, Time: time.Minute, Memory: 1 << 30, Output: 64 << 10}
}

// script runs a shell script, and sees that it leaves nothing behind.
func script(t *testing.T, run Run) Outcome {
	t.Helper()
	r := NewRunner(t.TempDir())
	out, err := r.Run(t.Context(), sh(t), run)
	if err != nil {
		t.Fatal(err)
	}
	if left, err := os.ReadDir(r.dir); err != nil || len(left) > 0 {
		t.Errorf("it leaves %v behind (%v)", left, err)
	}
	return out
}

func TestAProgramRuns(t *testing.T) {
	out := script(t, bounds("-c", `echo "$1"; cat "$2" >&2; exit 7`, "sh", "a  b; $(id) *", CopyPath))
	if out.ExitCode != 7 || out.Signal != "" || string(out.Output) != "a  b; $(id) *\ntext\n" || out.Total != int64(len(out.Output)) || out.Stopped != NotStopped {
		t.Errorf("%+v %q", out, out.Output)
	}
	if out := script(t, bounds("-c", "kill -SEGV $$")); out.ExitCode != -1 || out.Signal != "segmentation fault" {
		t.Errorf("%+v", out)
	}
}

// What a program takes its own rights to away is removed all the same. It can fail only where this user is not root, whom no mode holds up.
func TestWhatAProgramLocksUpIsTakenAway(t *testing.T) {
	out := script(t, bounds("-c", "for d in $HOME $TMPDIR; do mkdir -p $d/a/b && touch $d/a/b/c && chmod 0 $d/a/b && chmod 500 $d/a; done; exit 3"))
	if out.ExitCode != 3 {
		t.Errorf("%+v", out)
	}
}

// Nothing of the server's environment, input or open files is a program's.
func TestAProgramHasNothingOfTheServers(t *testing.T) {
	t.Setenv("TOKEN", "secret")
	out := string(script(t, bounds("-c", "/usr/bin/env; cat; ls -A . $HOME $TMPDIR; ls /proc/self/fd | wc -l")).Output)
	names := 0
	for line := range strings.Lines(out) {
		if name, _, ok := strings.Cut(line, "="); ok {
			names++
			if !strings.Contains(" PATH HOME TMPDIR LANG PWD OLDPWD SHLVL _ ", " "+name+" ") {
				t.Errorf("it is given %s", name)
			}
		}
	}
	if names < 4 || strings.Contains(out, "secret") || !strings.HasSuffix(out, "\n4\n") {
		t.Errorf("%s", out)
	}
}

func TestBounds(t *testing.T) {
	for _, c := range []struct {
		name, script string
		change       func(*Run)
		want         Stop
	}{
		{"a program that takes too long", "sleep 60", func(r *Run) { r.Time = 200 * time.Millisecond }, OutOfTime},
		{"one that ignores SIGTERM", "trap '' TERM INT HUP; sleep 60; sleep 60", func(r *Run) { r.Time = 200 * time.Millisecond }, OutOfTime},
		{"one that says it was right when it is stopped", "trap 'exit 0' TERM; sleep 60 & wait", func(r *Run) { r.Time = 200 * time.Millisecond }, OutOfTime},
		{"a flood of output", "yes", func(r *Run) { r.Output = 1 << 10 }, TooMuchOutput},
		{"one that holds the output open", "sleep 60 & echo done", func(*Run) {}, NotStopped},
		{"one that has left the group", "setsid sleep 5 & echo done", func(*Run) {}, NotStopped},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			run := bounds("-c", c.script)
			c.change(&run)
			out := script(t, run) // which would wait a minute for a sleep
			if out.Stopped != c.want || len(out.Output) > run.Output {
				t.Errorf("stopped for %q, want %q", out.Stopped, c.want)
			}
		})
	}
}

// What a program started is killed with it, as long as it stays in the group.
func TestNothingOfTheGroupIsLeft(t *testing.T) {
	out := script(t, bounds("-c", "sleep 60 > /dev/null 2>&1 & echo $!"))
	id, err := strconv.Atoi(strings.TrimSpace(string(out.Output)))
	if err != nil {
		t.Fatal(err)
	}
	for range 500 {
		if isGone(id) {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Errorf("the process %d lives", id)
}

// isGone tells whether a process has ended; nobody may have asked for what became of it.
func isGone(id int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", id))
	return err != nil || strings.Contains(string(stat), ") Z ")
}

func TestMemoryAndFilesAreBounded(t *testing.T) {
	run := bounds("-c", "ulimit -Hd; ulimit -Hc; ulimit -Ht; head -c 400000000 /dev/zero | tail -c 300000000 | wc -c")
	run.Memory = 100 << 20
	out := string(script(t, run).Output)
	if !strings.HasPrefix(out, fmt.Sprintf("102400\n0\n%d\n", 62*runtime.NumCPU())) || !strings.Contains(out, "emory") && !strings.HasSuffix(out, "\n0\n") {
		t.Errorf("%s", out)
	}
	out = string(script(t, bounds("-c", "head -c 100000000 /dev/zero > $TMPDIR/large; wc -c < $TMPDIR/large")).Output)
	if !strings.HasSuffix(out, strconv.Itoa(mostFileBytes)+"\n") {
		t.Errorf("%s", out)
	}
}

func TestACancelledCallEndsItsProgram(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	r, p := NewRunner(t.TempDir()), sh(t)
	run := bounds("-c", "echo $$ > $TMPDIR/pid; cat $TMPDIR/pid; exec sleep 60")
	go func() {
		for ctx.Err() == nil { // until the program is there
			if names, _ := filepath.Glob(filepath.Join(r.dir, "*/tmp/pid")); len(names) > 0 {
				if data, _ := os.ReadFile(names[0]); len(data) > 0 {
					cancel()
				}
			}
			time.Sleep(time.Millisecond)
		}
	}()
	out, err := r.Run(ctx, p, run)
	if err != nil || out.Stopped != Cancelled || out.Signal != syscall.SIGTERM.String() {
		t.Fatalf("%+v, %v", out, err)
	}
	if _, err := r.Run(ctx, p, run); !errors.Is(err, context.Canceled) {
		t.Errorf("a call that nobody waits for: %v", err)
	}
}

// A program reaches its own directory and what it may only read and run, and nothing else.
func TestAProgramIsWalledIn(t *testing.T) {
	if walls.Available().ABI < 3 {
		t.Skipf("the kernel offers %v", walls.Available())
	}
	outside := filepath.Join(t.TempDir(), "a")
	if err := os.WriteFile(outside, []byte("outside\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	out := string(script(t, bounds("-c", `cat "$1"; echo x > "$1"; rm "$1"; echo y > $TMPDIR/b && cat $TMPDIR/b; tr '\0' '\n' < /proc/$PPID/environ`, "sh", outside)).Output)
	if strings.Contains(out, "outside\n") || !strings.Contains(out, "\ny\n") {
		t.Errorf("%s", out)
	}
	if data, err := os.ReadFile(outside); string(data) != "outside\n" {
		t.Errorf("the file holds %q, %v", data, err)
	}
}

func TestAReplacedProgramIsNotRun(t *testing.T) {
	file := filepath.Join(t.TempDir(), "tool")
	write := func(text string) {
		if err := os.WriteFile(file, []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	write("#!/bin/sh\necho one\n")
	p, err := Find(file)
	if err != nil {
		t.Fatal(err)
	}
	r := NewRunner(t.TempDir())
	if out, err := r.Run(t.Context(), p, bounds()); err != nil || string(out.Output) != "one\n" {
		t.Fatalf("%q, %v", out.Output, err)
	}
	sameTime := func() {
		if err := os.Chtimes(file, p.fact.ModTime(), p.fact.ModTime()); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		name    string
		replace func()
	}{
		{"other text of the same length and time", func() { write("#!/bin/sh\necho two\n"); sameTime() }},
		{"other rights", func() { write("#!/bin/sh\necho one\n"); sameTime(); os.Chmod(file, 0o777) }},
		{"another file", func() { os.Rename(file, file+"2"); write("#!/bin/sh\necho one\n"); sameTime() }},
		{"no file", func() { os.Remove(file) }},
	} {
		c.replace()
		if _, err := r.Run(t.Context(), p, bounds()); !errors.Is(err, ErrReplaced) {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

func TestFind(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("PATH", dir+":/usr/bin:/bin")
	if err := os.WriteFile(filepath.Join(dir, "text"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if p, err := Find("sh"); err != nil || !strings.HasSuffix(p.Path(), "/bin/sh") {
		t.Errorf("%+v, %v", p, err)
	}
	for _, name := range []string{"", "none", "./sh", "bin/sh", "/none", dir, filepath.Join(dir, "text"), "text"} {
		if p, err := Find(name); err == nil {
			t.Errorf("%q is found at %s", name, p.Path())
		}
	}
}

// What a program costs beyond itself.
func BenchmarkRun(b *testing.B) {
	r, p := NewRunner(b.TempDir()), sh(b)
	for b.Loop() {
		if _, err := r.Run(b.Context(), p, bounds("-c", ":")); err != nil {
			b.Fatal(err)
		}
	}
}

// The kernel is told how many processes there may be; it holds whoever is not root to that.
func TestProcessesAreBounded(t *testing.T) {
	out := strings.Fields(string(script(t, bounds("-c", "grep 'Max processes' /proc/self/limits")).Output))
	if len(out) < 4 {
		t.Fatalf("%q", out)
	}
	most, err := strconv.Atoi(out[2])
	if now := int(tasks()); err != nil || most < mostTasks || most > 2*(now+mostTasks) || now == 0 {
		t.Errorf("at most %s, while %d run", out[2], now)
	}
}
