package gate

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"
)

// A caller who wants to know is told how far a search is that reads note by note.
func TestSearchTellsHowFarItIs(t *testing.T) {
	now := time.Now()
	g, root := testGate(t, &now)
	for i := range 2*tellEvery + 10 {
		if err := os.WriteFile(filepath.Join(root, fmt.Sprintf("n%d.md", i)), []byte("sensor\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	var mu sync.Mutex
	var told []float64
	e := g.Call(t.Context(), Call{Caller: CallerLocal, Tool: "search_notes", Arguments: json.RawMessage(`{"query":"sensor"}`), Progress: func(done, total float64, message string) {
		mu.Lock()
		defer mu.Unlock()
		if total != 0 || message == "" {
			t.Errorf("told %v of %v, %q", done, total, message)
		}
		told = append(told, done)
	}})
	if e.IsError() {
		t.Fatal(string(e.AppendJSON(nil)))
	}
	slices.Sort(told)
	if !slices.Equal(told, []float64{tellEvery, 2 * tellEvery}) {
		t.Errorf("told %v", told)
	}
}

// The index knows of every call that may have changed files, whatever came of it, and of no other.
func TestIndexIsToldOfOwnChanges(t *testing.T) {
	now := time.Now()
	g, _ := testGate(t, &now)
	for _, c := range []struct {
		tool, arguments string
		want            bool
	}{
		{"search_notes", `{"query":"sensor"}`, false},
		{"create_file", `{"path":"new.md","content":"sensor"}`, true},
	} {
		if e := g.Call(t.Context(), Call{Caller: CallerLocal, Tool: c.tool, Arguments: json.RawMessage(c.arguments)}); e.IsError() {
			t.Fatal(string(e.AppendJSON(nil)))
		}
		if got := g.wrote.Load(); got != c.want {
			t.Errorf("%s: told %v, want %v", c.tool, got, c.want)
		}
	}
}
