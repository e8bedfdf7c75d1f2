package main

import (
	"os"
	"path/filepath"
	"reflect"
	"testing"
)

// With --structured-reads a program finds everything in structuredContent, and the text blocks are as ever.
func TestStructuredReads(t *testing.T) {
	root := t.TempDir()
	for name, text := range map[string]string{"a.md": "A\n", "b.md": "B"} {
		if err := os.WriteFile(filepath.Join(root, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	c := startClient(t, options{profile: "all", structured: true, state: t.TempDir()}, root)
	for _, test := range []struct {
		tool, arguments string
		want            any
	}{
		{"read_file", `{"path":"a.md"}`, map[string]any{"content": "A\n", "status": "ok", "total_lines": 1.0}},
		{"read_files", `{"paths":["b.md","gone.md"]}`, map[string]any{"completed": 1.0, "files": []any{
			map[string]any{"path": "b.md", "content": "B", "status": "ok"},
			map[string]any{"path": "gone.md", "content": "", "status": "not-found"},
		}}},
	} {
		result := c.request(t, "tools/call", `{"name":"`+test.tool+`","arguments":`+test.arguments+`}`)
		if got := result["structuredContent"]; !(&script{T: t}).covers(test.want, got) {
			t.Errorf("%s: %s, want %s", test.tool, compact(got), compact(test.want))
		}
		if blocks := result["content"].([]any); len(blocks) < 2 || reflect.DeepEqual(blocks[0], blocks[1]) {
			t.Errorf("%s: the blocks are %s", test.tool, compact(blocks))
		}
	}
}
