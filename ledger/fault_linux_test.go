package ledger

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"writ/contract"
	"writ/envelope"
)

// smallDisk mounts a file system of its own, of so many bytes.
func smallDisk(t *testing.T, size string) string {
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

func TestFullDiskStopsChangesAndLosesNone(t *testing.T) {
	dir := smallDisk(t, "2m")
	l, err := Open(filepath.Join(dir, "state"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	var ids []string
	for {
		id, err := l.Begin(t.Context(), edit(t, "a", strings.Repeat("x", 20_000), "y"))
		if err != nil {
			wantCode(t, err, envelope.DiskFull)
			break
		}
		ids = append(ids, id)
		if len(ids) > 1000 {
			t.Fatal("the disk does not fill")
		}
	}
	if len(ids) == 0 {
		t.Fatal("nothing fits on the disk")
	}
	_, err = l.Begin(t.Context(), edit(t, "big", strings.Repeat("x", 4<<20), "y"))
	wantCode(t, err, envelope.DiskFull)
	for _, id := range ids {
		if _, _, err := l.Change(t.Context(), id); err != nil {
			t.Errorf("%s: %v", id, err)
		}
	}

	if err := syscall.Mount("tmpfs", dir, "tmpfs", syscall.MS_REMOUNT, "size=16m"); err != nil {
		t.Fatal(err)
	}
	id := begin(t, l, edit(t, "a", "1", "2"))
	if err := l.End(t.Context(), id, contract.OutcomeDone); err != nil {
		t.Error(err)
	}
	if left, err := filepath.Glob(filepath.Join(dir, "state", imagesDir, "*")); err != nil || len(left) != 0 {
		t.Errorf("images left %v, error %v", left, err)
	}
}

func TestReadOnlyStateDirectoryIsRefused(t *testing.T) {
	dir := smallDisk(t, "2m")
	state := filepath.Join(dir, "state")
	l, err := Open(state, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mount("tmpfs", dir, "tmpfs", syscall.MS_REMOUNT|syscall.MS_RDONLY, ""); err != nil {
		t.Fatal(err)
	}
	_, err = l.Begin(t.Context(), edit(t, "a", "1", "2"))
	wantCode(t, err, envelope.Permission)
	_, err = Open(filepath.Join(dir, "new"), Options{})
	wantCode(t, err, envelope.Permission)
}
