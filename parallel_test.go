package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"writ/contract"
)

// Writers on every path that leads to a file: over stdio and over HTTP, in one process and in two.
func TestParallelEdits(t *testing.T) {
	for _, c := range []struct {
		name      string
		processes int
		connect   func(t *testing.T, args ...string) *sdk.ClientSession
	}{
		{"stdio, one process", 1, stdioSession},
		{"stdio, two processes", 2, stdioSession},
		{"HTTP, one process", 1, httpSession},
		{"HTTP, two processes", 2, httpSession},
	} {
		t.Run(c.name, func(t *testing.T) {
			root, state := t.TempDir(), t.TempDir()
			var sessions []*sdk.ClientSession
			for range c.processes {
				sessions = append(sessions, c.connect(t, "--write", "**", "--state", state, root))
			}
			t.Run("of one version", func(t *testing.T) { editOneVersion(t, root, sessions) })
			t.Run("of twenty files", func(t *testing.T) { editTwentyFiles(t, root, sessions) })
		})
	}
}

const editors = 20

// editOneVersion has all editors change what they all observed: one wins, and the others are told.
func editOneVersion(t *testing.T, root string, sessions []*sdk.ClientSession) {
	file := filepath.Join(root, "shared.md")
	if err := os.WriteFile(file, []byte("start\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	answers := atOnce(t, sessions, func(i int) map[string]any {
		return edit("shared.md", "start", fmt.Sprintf("editor %d", i), "start\n")
	})
	winner, counts := -1, map[string]int{}
	for i, a := range answers {
		status, _ := a["status"].(string)
		counts[status]++
		if status == "succeeded" {
			winner = i
		}
	}
	if counts["succeeded"] != 1 || counts["conflict"] != editors-1 {
		t.Fatalf("the answers are %v", counts)
	}
	if data, err := os.ReadFile(file); string(data) != fmt.Sprintf("editor %d\n", winner) {
		t.Errorf("editor %d was told that it succeeded, and the file holds %q (%v)", winner, data, err)
	}
}

// editTwentyFiles has each editor change a file of its own: all are kept.
func editTwentyFiles(t *testing.T, root string, sessions []*sdk.ClientSession) {
	name := func(i int) string { return fmt.Sprintf("file-%d.md", i) }
	for i := range editors {
		if err := os.WriteFile(filepath.Join(root, name(i)), []byte("start\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	answers := atOnce(t, sessions, func(i int) map[string]any {
		return edit(name(i), "start", fmt.Sprintf("editor %d", i), "start\n")
	})
	for i, a := range answers {
		data, err := os.ReadFile(filepath.Join(root, name(i)))
		if a["status"] != "succeeded" || string(data) != fmt.Sprintf("editor %d\n", i) {
			t.Errorf("%s: %v, and the file holds %q (%v)", name(i), a["status"], data, err)
		}
	}
}

func edit(path, oldText, newText, content string) map[string]any {
	return map[string]any{
		"path": path, "old_text": oldText, "new_text": newText, "observed_version": contract.VersionOf([]byte(content)).String(),
	}
}

// atOnce has all editors call replace_text, by turns through the sessions, and returns their answers.
func atOnce(t *testing.T, sessions []*sdk.ClientSession, arguments func(i int) map[string]any) []map[string]any {
	t.Helper()
	answers := make([]map[string]any, editors)
	start := make(chan struct{})
	var all sync.WaitGroup
	for i := range editors {
		all.Go(func() {
			<-start
			answers[i] = callSession(t, sessions[i%len(sessions)], "replace_text", arguments(i))
		})
	}
	close(start)
	all.Wait()
	return answers
}

// callSession makes a call through the official client and returns the envelope.
func callSession(t *testing.T, s *sdk.ClientSession, tool string, arguments map[string]any) map[string]any {
	t.Helper()
	result, err := s.CallTool(context.WithoutCancel(t.Context()), &sdk.CallToolParams{Name: tool, Arguments: arguments})
	if err != nil {
		t.Errorf("%s: %v", tool, err)
		return nil
	}
	text, ok := result.Content[0].(*sdk.TextContent)
	if !ok {
		t.Errorf("%s: the first block is a %T", tool, result.Content[0])
		return nil
	}
	var envelope map[string]any
	if err := json.Unmarshal([]byte(text.Text), &envelope); err != nil {
		t.Errorf("%s: %v in %s", tool, err, text.Text)
	}
	return envelope
}

// stdioSession starts `writ serve` and connects the official client to it.
func stdioSession(t *testing.T, args ...string) *sdk.ClientSession {
	t.Helper()
	return session(t, &sdk.CommandTransport{Command: program(t, append([]string{"serve"}, args...)...)}, "")
}

// httpSession starts `writ serve --http` and connects the official client to it.
func httpSession(t *testing.T, args ...string) *sdk.ClientSession {
	t.Helper()
	return session(t, overHTTP(t, serveOverHTTP(t, args...)), "")
}

// overHTTP is a way to the server at url. Its connections are closed with the test, used or not: a server that ends
// waits for those that have not said anything yet.
func overHTTP(t *testing.T, url string) sdk.Transport {
	connections := &http.Transport{}
	t.Cleanup(connections.CloseIdleConnections)
	return &sdk.StreamableClientTransport{Endpoint: url, HTTPClient: &http.Client{Transport: connections}}
}

// session connects the official client, at a version of the protocol unless that is empty.
func session(t *testing.T, transport sdk.Transport, version string) *sdk.ClientSession {
	t.Helper()
	var o *sdk.ClientSessionOptions
	if version != "" {
		o = &sdk.ClientSessionOptions{ProtocolVersion: version}
	}
	client := sdk.NewClient(&sdk.Implementation{Name: "official", Version: "1"}, nil)
	s, err := client.Connect(context.WithoutCancel(t.Context()), transport, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

var servesAt = regexp.MustCompile(`http://[^\s]+/mcp`)

// serveOverHTTP starts `writ serve --http` and returns where it serves. It is told to end with the test, and has to end
// well.
func serveOverHTTP(t *testing.T, args ...string) (url string) {
	t.Helper()
	return startHTTP(t, args...).url
}

// httpServer is `writ serve --http` as a process of its own.
type httpServer struct {
	url     string
	command *exec.Cmd
	stop    func() // ends it before the test does
}

func startHTTP(t *testing.T, args ...string) *httpServer {
	t.Helper()
	command := program(t, append([]string{"serve", "--http", "127.0.0.1:0"}, args...)...)
	stderr, err := command.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewReader(stderr)
	line, err := lines.ReadString('\n')
	url := servesAt.FindString(line)
	if url == "" {
		t.Errorf("the server says %q, %v", line, err)
	}
	rest := make(chan string, 1)
	go func() {
		said, _ := io.ReadAll(lines)
		rest <- string(said)
	}()
	stop := sync.OnceFunc(func() { endWell(t, command, rest) })
	t.Cleanup(stop)
	return &httpServer{url, command, stop}
}

// endWell tells the process to end, and checks that it does with status 0 and nothing more to say.
func endWell(t *testing.T, command *exec.Cmd, rest <-chan string) {
	t.Helper()
	if err := command.Process.Signal(syscall.SIGTERM); err != nil {
		t.Error(err)
	}
	if said := <-rest; strings.TrimSpace(said) != "" {
		t.Errorf("the server says %q", said)
	}
	if err := command.Wait(); err != nil {
		t.Errorf("the server ended with %v", err)
	}
}
