package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"writ/contract"
	"writ/gate"
)

// BenchmarkEdit compares a journalled edit through the gate with what any durable edit costs: a temporary file, its
// flush, a rename, and the flush of the directory.
func BenchmarkEdit(b *testing.B) {
	text := strings.Repeat("a line of text\n", 200)
	b.Run("durable, no journal", func(b *testing.B) {
		name := filepath.Join(b.TempDir(), "a.txt")
		for i := 0; b.Loop(); i++ {
			if err := replaceDurably(name, fmt.Appendf(nil, "mark %d\n%s", i, text)); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("through the gate", func(b *testing.B) {
		h, root := benchHouse(b)
		name := filepath.Join(root, "a.txt")
		content := "mark 0\n" + text
		if err := os.WriteFile(name, []byte(content), 0o644); err != nil {
			b.Fatal(err)
		}
		version := contract.VersionOf([]byte(content)).String()
		for i := 0; b.Loop(); i++ {
			version = nextMark(b, h, i, version)
		}
	})
}

func replaceDurably(name string, data []byte) error {
	f, err := os.CreateTemp(filepath.Dir(name), "tmp")
	if err != nil {
		return err
	}
	if _, err := f.Write(data); err != nil {
		return err
	}
	if err := f.Sync(); err != nil {
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	if err := os.Rename(f.Name(), name); err != nil {
		return err
	}
	d, err := os.Open(filepath.Dir(name))
	if err != nil {
		return err
	}
	defer d.Close()
	return d.Sync()
}

func benchHouse(b *testing.B) (*house, string) {
	root := b.TempDir()
	o := options{profile: "all", state: b.TempDir(), write: []string{"**"}}
	h, err := o.open([]string{root})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = h.close() })
	return h, root
}

// nextMark replaces the mark i by the next one and returns the new version.
func nextMark(b *testing.B, h *house, i int, version string) string {
	arguments := fmt.Appendf(nil, `{"path":"a.txt","old_text":"mark %d\n","new_text":"mark %d\n","observed_version":%q}`, i, i+1, version)
	e := h.gate.Call(context.Background(), gate.Call{Caller: gate.CallerLocal, Tool: "replace_text", Arguments: arguments})
	var told struct{ Version string }
	if err := json.Unmarshal(e.AppendJSON(nil), &told); err != nil || e.IsError() {
		b.Fatalf("%s, %v", e.AppendJSON(nil), err)
	}
	return told.Version
}
