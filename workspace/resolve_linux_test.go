package workspace

import (
	"context"
	"testing"

	"writ/envelope"
)

// Where /proc is not mounted, a second walk takes its place.
func TestWithoutProc(t *testing.T) {
	there := procFD
	procFD = func() int { return -1 }
	defer func() { procFD = there }()
	b := newBench(t, false, map[string]string{"d/f": "old", "l": "->d/f", "out": "->../outside"})
	for _, name := range []string{"d/f", "l"} {
		if f, err := b.Load(context.Background(), path(t, name)); err != nil || string(f.Data) != "old" {
			t.Errorf("%s: %v", name, err)
		}
	}
	_, err := b.Load(context.Background(), path(t, "out/secret.txt"))
	wantErr(t, err, envelope.OutsideRoot)
	if _, err := b.put("l", "old", "new"); err != nil || b.onDisk("d/f") != "new" {
		t.Error(err)
	}
	if _, err := b.Create(context.Background(), path(t, "a/b"), []byte("x")); err != nil || b.onDisk("a/b") != "x" {
		t.Error(err)
	}
	b.wantTidy()
}
