package ledger

import (
	"bufio"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
	"unsafe"
)

// cutPower stops the ext4 file system at dir as a power cut would: what was not flushed is gone, its journal included.
func cutPower(t *testing.T, dir string) {
	t.Helper()
	const shutdown, withoutFlush = 0x8004587d, 2
	d, err := os.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	flags := uint32(withoutFlush)
	if _, _, errno := syscall.Syscall(syscall.SYS_IOCTL, d.Fd(), shutdown, uintptr(unsafe.Pointer(&flags))); errno != 0 {
		t.Skipf("no power cut can be played here: %v", errno)
	}
}

func run(t *testing.T, name string, args ...string) {
	t.Helper()
	if out, err := exec.Command(name, args...).CombinedOutput(); err != nil {
		t.Skipf("%s: %v: %s", name, err, out)
	}
}

// extDisk makes an ext4 file system in a file and returns where it is mounted and how to mount it again.
func extDisk(t *testing.T) (dir string, remount func()) {
	t.Helper()
	if os.Getuid() != 0 {
		t.Skip("mounting a file system takes root")
	}
	dir = t.TempDir()
	image := filepath.Join(t.TempDir(), "disk")
	if err := os.WriteFile(image, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(image, 32<<20); err != nil {
		t.Fatal(err)
	}
	run(t, "mkfs.ext4", "-q", "-F", image)
	run(t, "mount", "-o", "loop", image, dir)
	t.Cleanup(func() { _ = exec.Command("umount", "-l", dir).Run() })
	return dir, func() {
		if out, err := exec.Command("umount", dir).CombinedOutput(); err != nil {
			t.Fatalf("umount: %v: %s", err, out)
		}
		if out, err := exec.Command("mount", "-o", "loop", image, dir).CombinedOutput(); err != nil {
			t.Fatalf("mount: %v: %s", err, out)
		}
	}
}

func TestPowerCutLosesNothingThatWasBegun(t *testing.T) {
	dir, remount := extDisk(t)
	state := filepath.Join(dir, "state")
	var begun []string
	for round := range 5 {
		begun = append(begun, writeUntilCut(t, dir, state, time.Duration(round*40)*time.Millisecond)...)
		remount()
		wantBegun(t, state, begun)
	}
}

// writeUntilCut lets another process write changes until the power is cut, and returns those that it had begun by then.
func writeUntilCut(t *testing.T, disk, state string, after time.Duration) []string {
	t.Helper()
	c := other(t, "write", state, 1_000_000)
	c.Dir, c.Stderr = "/", nil
	stdout, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	// What is on its way when the power goes does not count: the kernel, when it plays the cut, may report a flush as done
	// that it interrupts.
	begun := readLines(t, bufio.NewReader(stdout), after)
	cutPower(t, disk)
	_ = c.Process.Kill()
	_, _ = io.Copy(io.Discard, stdout)
	_ = c.Wait()
	return begun
}

// readLines reads at least one line, and goes on for so long.
func readLines(t *testing.T, r *bufio.Reader, long time.Duration) []string {
	t.Helper()
	var lines []string
	for end := time.Now().Add(long); len(lines) == 0 || time.Now().Before(end); {
		line, err := r.ReadString('\n')
		if err != nil {
			t.Fatal(err)
		}
		lines = append(lines, strings.TrimSpace(line))
	}
	return lines
}

func wantBegun(t *testing.T, state string, begun []string) {
	t.Helper()
	l, err := Open(state, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := l.Close(); err != nil {
			t.Error(err)
		}
	}()
	for i, id := range begun {
		if _, _, err := l.Change(t.Context(), id); err != nil {
			t.Errorf("%s, %d of %d: %v", id, i+1, len(begun), err)
		}
	}
	if v, err := l.Verify(t.Context()); err != nil || v.Bad != 0 {
		t.Errorf("audit %+v, error %v", v, err)
	}
}
