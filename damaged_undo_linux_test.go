package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"writ/contract"
)

// TestDamagedUndoDataReachNoFile changes what the log keeps of files, behind the database's back and in the rows, where
// its own check sees nothing: such a change can't be undone, and no file gets bytes that it never had.
func TestDamagedUndoDataReachNoFile(t *testing.T) {
	for _, c := range []struct {
		name   string
		damage func(row []byte, kept int) // of a row that holds the kept bytes from there on
	}{
		{"other bytes", func(row []byte, kept int) { copy(row[kept:], "lie") }},
		{"a longer stretch", func(row []byte, kept int) { row[kept-2] = 0x7f }}, // offset, length, number of bytes
		{"another place", func(row []byte, kept int) { row[kept-3] = 1 }},
	} {
		t.Run(c.name, func(t *testing.T) {
			root, state := t.TempDir(), t.TempDir()
			version := contract.VersionOf([]byte("the truth"))
			for _, name := range []string{"edited", "deleted", "batched"} {
				if err := os.WriteFile(filepath.Join(root, name), []byte("the truth"), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			client := startClient(t, options{profile: "all", state: state, write: []string{"**"}}, root)
			var ids []string
			for _, call := range [][2]string{
				{"overwrite_file", fmt.Sprintf(`{"path":"edited","content":"x","observed_version":%q}`, version)},
				{"delete_file", fmt.Sprintf(`{"path":"deleted","observed_version":%q}`, version)},
				{"apply_edits", fmt.Sprintf(`{"edits":[{"path":"batched","old_text":"the truth","new_text":"x","observed_version":%q}]}`, version)},
			} {
				a := client.call(t, call[0], call[1])
				id, _ := a.envelope["change_id"].(string)
				ids = append(ids, id)
			}
			client.stop(t)
			after := treeOf(t, root)
			spoil(t, state, func(db []byte) {
				for at := 0; ; at++ {
					next := bytes.Index(db[at:], []byte("the truth"))
					if next < 0 {
						return
					}
					at += next
					c.damage(db, at)
				}
			})
			client = startClient(t, options{profile: "all", state: state, write: []string{"**"}}, root)
			for _, id := range ids {
				a := client.call(t, "revert_change", fmt.Sprintf(`{"change_id":%q}`, id))
				if codes := a.codes(); len(codes) == 0 || codes[0] != "expired" || a.envelope["changed"] != "no" {
					t.Errorf("answered %s", compact(a.envelope))
				}
			}
			if now := treeOf(t, root); fmt.Sprint(now) != fmt.Sprint(after) {
				t.Errorf("the files are %v, and were %v", now, after)
			}
		})
	}
}
