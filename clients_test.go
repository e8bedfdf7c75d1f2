package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"writ/contract"
)

// The official client reads and edits through the program itself, over every transport and at every version of the
// protocol that it can be pinned to.
func TestOfficialClient(t *testing.T) {
	httpRoot := t.TempDir()
	url := serveOverHTTP(t, "--write", "**", httpRoot)
	for _, version := range sdk.SupportedProtocolVersions() {
		t.Run(version+" over stdio", func(t *testing.T) {
			root := t.TempDir()
			tryOfficialClient(t, &sdk.CommandTransport{Command: program(t, "serve", "--write", "**", root)}, version, root)
		})
		t.Run(version+" over HTTP", func(t *testing.T) {
			tryOfficialClient(t, overHTTP(t, url), version, httpRoot)
		})
	}
	t.Run("2024-11-05 over SSE", func(t *testing.T) {
		tryOfficialClient(t, &sdk.SSEClientTransport{Endpoint: strings.TrimSuffix(url, "mcp") + "sse"}, "2024-11-05", httpRoot)
	})
}

func tryOfficialClient(t *testing.T, transport sdk.Transport, version, root string) {
	const before, after = "one \"quoted\"\r\ntwo\n", "one \"quoted\"\r\n2\n"
	file := filepath.Join(root, "a.md")
	if err := os.WriteFile(file, []byte(before), 0o644); err != nil {
		t.Fatal(err)
	}
	s := session(t, transport, version)
	if got := s.InitializeResult().ProtocolVersion; got != version {
		t.Errorf("it speaks %s", got)
	}
	list, err := s.ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if core, _ := profile("core"); len(list.Tools) != len(core) {
		t.Errorf("it lists %d tools of %d", len(list.Tools), len(core))
	}
	read, err := s.CallTool(t.Context(), &sdk.CallToolParams{Name: "read_file", Arguments: map[string]any{"path": "a.md"}})
	if err != nil || read.IsError || len(read.Content) != 2 {
		t.Fatalf("read_file: %v, %v", read, err)
	}
	if text, ok := read.Content[1].(*sdk.TextContent); !ok || text.Text != before {
		t.Errorf("read_file returns %#v", read.Content[1])
	}
	edited := callSession(t, s, "replace_text", edit("a.md", "two", "2", before))
	if edited["status"] != "succeeded" || edited["version"] != contract.VersionOf([]byte(after)).String() {
		t.Errorf("replace_text: %v", edited)
	}
	if data, err := os.ReadFile(file); string(data) != after {
		t.Errorf("the file holds %q, %v", data, err)
	}
	if refused := callSession(t, s, "read_file", map[string]any{"path": "../a.md"}); refused["status"] != "denied" {
		t.Errorf("a step up: %v", refused)
	}
	if _, err := s.CallTool(t.Context(), &sdk.CallToolParams{Name: "no_such_tool"}); err == nil {
		t.Error("a tool that does not exist is no error")
	}
}
