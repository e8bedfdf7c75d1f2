package ledger

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"writ/envelope"
)

// TestDatabaseThatIsTakenAway takes the database away under the hands of a process. No change may be acknowledged whose
// record is in a file without a name.
func TestDatabaseThatIsTakenAway(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("an open file keeps its name there")
	}
	remove := func(names ...string) func(*testing.T, string) {
		return func(t *testing.T, dir string) {
			for _, name := range names {
				if err := os.Remove(filepath.Join(dir, name)); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	all := remove(databaseName, databaseName+"-wal", databaseName+"-shm")
	for name, take := range map[string]func(*testing.T, string){
		"all of it":         all,
		"the database":      remove(databaseName),
		"the log before it": remove(databaseName + "-wal"),
		"replaced by another": func(t *testing.T, dir string) {
			all(t, dir)
			if err := openAt(t, dir, Options{}).Ready(t.Context()); err != nil {
				t.Fatal(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "state")
			l := openAt(t, dir, Options{})
			done(t, l, edit(t, "a", "1", "2"))
			if err := l.flush(t.Context(), 1); err != nil {
				t.Fatal(err)
			}
			take(t, dir)
			_, err := l.Begin(t.Context(), edit(t, "a", "2", "3"))
			wantCode(t, err, envelope.IO)
			id := done(t, l, edit(t, "a", "2", "3"))
			other := openAt(t, dir, Options{})
			if got, _, err := other.Changes(t.Context(), Filter{}); err != nil || len(got) == 0 || got[0].ID != id {
				t.Errorf("another process sees %v, error %v; want %s first", idsOf(got), err, id)
			}
			if lines := linesOf(t, other, RowFilter{}); len(lines) == 0 || !strings.Contains(lines[len(lines)-1], "taken out of the state directory") {
				t.Errorf("the audit is %q", lines)
			}
		})
	}
}
