package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"writ/envelope"
	"writ/gate"
)

// benchmarkCall measures one call through the gate, its answer written as JSON, with no transport around it.
func benchmarkCall(b *testing.B, tool, arguments string, files map[string][]byte) {
	base := b.TempDir()
	root := filepath.Join(base, "root")
	for name, data := range files {
		file := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			b.Fatal(err)
		}
		if err := os.WriteFile(file, data, 0o644); err != nil {
			b.Fatal(err)
		}
	}
	policy := filepath.Join(base, "writ.yaml")
	if err := os.WriteFile(policy, []byte("scope: {read: ['**'], write: ['**']}\nlimits: {result_bytes: 64MiB}\nredact: false\n"), 0o644); err != nil {
		b.Fatal(err)
	}
	o := options{profile: "all", state: filepath.Join(base, "state"), policyFile: policy}
	h, err := o.open([]string{root})
	if err != nil {
		b.Fatal(err)
	}
	defer h.finish()
	var out []byte
	b.ReportAllocs()
	for b.Loop() {
		e := h.gate.Call(context.Background(), gate.Call{Caller: gate.CallerLocal, Tool: tool, Arguments: []byte(arguments)})
		if e.IsError() {
			b.Fatal(string(e.AppendJSON(nil)))
		}
		out = e.AppendJSON(out[:0])
		for _, text := range e.Texts {
			out = envelope.AppendString(out, text)
		}
	}
}

func BenchmarkReadFile(b *testing.B) {
	line := []byte("a line of text that says \"nothing\" much\n")
	for _, size := range []int{1 << 10, 1 << 20, 10 << 20} {
		b.Run(fmt.Sprint(size>>10, "KiB"), func(b *testing.B) {
			benchmarkCall(b, "read_file", `{"path":"docs/a.txt","limit":1000000}`, map[string][]byte{"docs/a.txt": bytes.Repeat(line, size/len(line))})
		})
	}
}

func BenchmarkGetFileInfo(b *testing.B) {
	benchmarkCall(b, "get_file_info", `{"path":"docs/a.txt"}`, map[string][]byte{"docs/a.txt": []byte(strings.Repeat("x\n", 1000))})
}

func BenchmarkListDirectory(b *testing.B) {
	files := map[string][]byte{}
	for i := range 5000 {
		files[fmt.Sprintf("docs/file-%05d.md", i)] = nil
	}
	benchmarkCall(b, "list_directory", `{"path":"docs"}`, files)
}
