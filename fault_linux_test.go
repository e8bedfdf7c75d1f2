package main

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"writ/contract"
)

// What a client sees when the state directory or the root fails, and that no file is lost by it.

// ownDisk mounts a file system of its own, of so many bytes.
func ownDisk(t *testing.T, size string) string {
	t.Helper()
	if os.Getuid() != 0 {
		t.Skip("mounting a file system takes root")
	}
	dir := t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size="+size); err != nil {
		t.Skipf("no file system can be mounted here: %v", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, syscall.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	return dir
}

func remount(t *testing.T, dir string, flags uintptr, size string) {
	t.Helper()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", syscall.MS_REMOUNT|flags, "size="+size); err != nil {
		t.Fatal(err)
	}
}

// writing is a client that changes one file again and again.
type writing struct {
	*testing.T
	*mcpClient
	root string
	text string // what the file holds by what was answered
}

func newWriting(t *testing.T, root, state string) *writing {
	t.Helper()
	w := &writing{T: t, root: root, text: strings.Repeat("x", 10_000)}
	if err := os.WriteFile(filepath.Join(root, "f.txt"), []byte(w.text), 0o644); err != nil {
		t.Fatal(err)
	}
	w.mcpClient = startClient(t, options{profile: "all", state: state, write: []string{"**"}}, root)
	return w
}

// overwrite gives the file another content, and returns the answer's status and first code.
func (w *writing) overwrite(text string) (status, code string) {
	w.Helper()
	a := w.call(w.T, "overwrite_file", fmt.Sprintf(`{"path":"f.txt","content":%q,"observed_version":%q}`, text, contract.VersionOf([]byte(w.text))))
	if codes := a.codes(); len(codes) > 0 {
		code = string(codes[0])
	}
	if a.status() == "succeeded" {
		w.text = text
	} else if a.envelope["changed"] != "no" {
		w.Errorf("answered %s", compact(a.envelope))
	}
	return string(a.status()), code
}

// wantWhole wants the file as it was answered, alone in its directory, and still readable through the server.
func (w *writing) wantWhole() {
	w.Helper()
	entries, err := os.ReadDir(w.root)
	if err != nil || len(entries) != 1 {
		w.Errorf("the root holds %v, %v", entries, err)
	}
	if data, err := os.ReadFile(filepath.Join(w.root, "f.txt")); err != nil || string(data) != w.text {
		w.Errorf("the file holds %d bytes, %v; want the %d that were answered", len(data), err, len(w.text))
	}
	if a := w.call(w.T, "read_file", `{"path":"f.txt"}`); a.status() != "ok" {
		w.Errorf("reading was answered %s", compact(a.envelope))
	}
}

func contentOf(i int) string { return strings.Repeat(string(rune('a'+i%26)), 10_000+i) }

// untilFull writes until something is refused, and wants that refusal.
func (w *writing) untilFull(want string) (made int) {
	w.Helper()
	for i := range 2000 {
		status, code := w.overwrite(contentOf(i))
		if status == "succeeded" {
			continue
		}
		if status != "failed" || code != want {
			w.Fatalf("a write that does not fit was answered %s, %s", status, code)
		}
		return i
	}
	w.Fatal("the disk does not fill")
	return 0
}

func TestFullDiskOfTheState(t *testing.T) {
	disk := ownDisk(t, "2m")
	w := newWriting(t, t.TempDir(), filepath.Join(disk, "state"))
	if w.untilFull("disk-full") == 0 {
		t.Fatal("nothing fits")
	}
	w.wantWhole()
	remount(t, disk, 0, "64m")
	if status, code := w.overwrite("there is room again"); status != "succeeded" {
		t.Errorf("with room again: %s, %s", status, code)
	}
	w.wantWhole()
}

func TestFullDiskOfTheRoot(t *testing.T) {
	root := ownDisk(t, "256k")
	w := newWriting(t, root, t.TempDir())
	if status, code := w.overwrite(strings.Repeat("y", 400_000)); status != "failed" || code != "disk-full" {
		t.Errorf("answered %s, %s", status, code)
	}
	w.wantWhole()
	if status, code := w.overwrite("small"); status != "succeeded" {
		t.Errorf("what fits was answered %s, %s", status, code)
	}
	w.wantWhole()
}

func TestReadOnlyState(t *testing.T) {
	disk := ownDisk(t, "16m")
	w := newWriting(t, t.TempDir(), filepath.Join(disk, "state"))
	remount(t, disk, syscall.MS_RDONLY, "16m")
	if status, code := w.overwrite("no"); status != "failed" || code != "io" && code != "permission" {
		t.Errorf("answered %s, %s", status, code)
	}
	w.wantWhole()
	remount(t, disk, 0, "16m")
	if status, code := w.overwrite("yes"); status != "succeeded" {
		t.Errorf("once it may be written: %s, %s", status, code)
	}
	w.wantWhole()
}

// spoil changes the bytes of the change log of a state that no process has open.
func spoil(t *testing.T, state string, change func([]byte)) {
	t.Helper()
	name := filepath.Join(state, "ledger.db")
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	change(data)
	if err := os.WriteFile(name, data, 0o600); err != nil {
		t.Fatal(err)
	}
}

// stateWithChanges is a root and a state after some writes, with the server gone.
func stateWithChanges(t *testing.T) (root, state string) {
	root, state = t.TempDir(), t.TempDir()
	w := newWriting(t, root, state)
	for i := range 30 {
		if status, code := w.overwrite(contentOf(i)); status != "succeeded" {
			t.Fatal(status, code)
		}
	}
	w.stop(t)
	return root, state
}

func TestDamagedStateIsSetAside(t *testing.T) {
	root, state := stateWithChanges(t)
	spoil(t, state, func(b []byte) { copy(b[100:], bytes.Repeat([]byte{0xa5}, 3000)) })
	w := newWriting(t, root, state)
	status, code := w.overwrite("after the damage")
	if status == "failed" && code == "io" { // it was found on the way, and is mended at the next use
		status, code = w.overwrite("after the damage")
	}
	if status != "succeeded" {
		t.Errorf("answered %s, %s", status, code)
	}
	w.wantWhole()
	if aside, _ := filepath.Glob(filepath.Join(state, "damaged-*", "ledger.db")); len(aside) != 1 {
		t.Errorf("set aside: %v", aside)
	}
	if got := writ(t, "", "audit", "--root", root, "--state", state); !strings.Contains(got.stdout, "the change log was damaged and set aside as damaged-") {
		t.Errorf("the audit says nothing of it: %+v", got)
	}
}

func TestStateOfANewerVersion(t *testing.T) {
	root, state := stateWithChanges(t)
	const userVersion = 60 // where SQLite's file format has it
	spoil(t, state, func(b []byte) { binary.BigEndian.PutUint32(b[userVersion:], 99) })
	with := func(arguments ...string) ran {
		return writ(t, "", append([]string{"call", "--root", root, "--state", state, "--write", "**"}, arguments...)...)
	}
	if got := with("create_file", "path=g.txt", "content=x"); got.status != 1 || !strings.Contains(got.stdout, "a newer writ") {
		t.Errorf("a write: %+v", got)
	}
	if entries, err := os.ReadDir(root); err != nil || len(entries) != 1 {
		t.Errorf("the root holds %v, %v", entries, err)
	}
	if got := with("read_file", "path=f.txt"); !strings.Contains(got.stdout, contentOf(29)) {
		t.Errorf("a read: %+v", got)
	}
	if got := writ(t, "", "doctor", root, "--state", state); got.status != 1 || !strings.Contains(got.stdout, "a newer writ") {
		t.Errorf("doctor: %+v", got)
	}
	spoil(t, state, func(b []byte) {
		if v := binary.BigEndian.Uint32(b[userVersion:]); v != 99 {
			t.Errorf("the version became %d", v)
		}
	})
}
