package main

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"writ/contract"
)

// Somebody clears away what they take for rubbish in the state directory while it is in use. Calls go on, in this process
// and in one that starts later, and all of them are on record.
func TestPartsOfTheStateDirectoryAreTakenAway(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("an open file keeps its name there")
	}
	t.Parallel()
	for _, part := range []string{"processes", "locks", "images", "artifacts", "open.lock"} {
		t.Run(part, func(t *testing.T) {
			t.Parallel()
			root, state := t.TempDir(), t.TempDir()
			o := options{write: []string{"**"}, profile: "all", state: state}
			create := func(c *mcpClient, name string) {
				t.Helper()
				if got := c.call(t, "create_file", fmt.Sprintf(`{"path": %q, "content": "one\n"}`, name)); got.isError {
					t.Errorf("%s: %v", name, got.envelope)
				}
			}
			one := startClient(t, o, root)
			create(one, "a.md")
			if err := os.RemoveAll(filepath.Join(state, part)); err != nil {
				t.Fatal(err)
			}
			create(one, "b.md")
			two := startClient(t, o, root)
			create(two, "c.md")
			create(one, "d.md")
			edit := `{"path": "d.md", "content": "two\n", "observed_version": "` + contract.VersionOf([]byte("one\n")).String() + `"}`
			if got := two.call(t, "overwrite_file", edit); got.isError {
				t.Errorf("%v", got.envelope)
			}
			if got := one.call(t, "overwrite_file", edit); got.envelope["status"] != "conflict" {
				t.Errorf("%v", got.envelope)
			}
			listed := one.call(t, "list_changes", `{}`).envelope["changes"].([]any)
			if len(listed) != 5 {
				t.Errorf("%d changes are on record", len(listed))
			}
			v, err := two.house.ledger.Verify(t.Context())
			if err != nil || v.Bad != 0 {
				t.Errorf("%+v, %v", v, err)
			}
		})
	}
}
