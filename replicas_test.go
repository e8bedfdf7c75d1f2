package main

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// replicas are processes that serve the same directory with the same state, as behind a load balancer.
func replicas(t *testing.T, root string) []caller {
	t.Helper()
	file, tokens := callersPolicy(t, root, 1)
	state := t.TempDir()
	connections := &http.Transport{MaxIdleConnsPerHost: 20}
	t.Cleanup(connections.CloseIdleConnections)
	var list []caller
	for range 2 {
		url := startHTTP(t, "--policy", file, "--state", state, "--tools", "all").url
		list = append(list, caller{&http.Client{Transport: connections}, url, tokens[0]})
	}
	return list
}

// No request needs the process that answered the one before.
func TestReplicasAnswerInTurn(t *testing.T) {
	t.Parallel()
	root := vault(t, "a.txt", "0\n")
	both := replicas(t, root)
	read, err := both[0].call(t.Context(), "read_file", map[string]any{"path": "a.txt"})
	if err != nil {
		t.Fatal(err)
	}
	version := read.envelope.Version
	for n := range 10 {
		done, err := both[(n+1)%2].call(t.Context(), "replace_text", map[string]any{
			"path": "a.txt", "old_text": fmt.Sprintf("%d\n", n), "new_text": fmt.Sprintf("%d\n", n+1), "observed_version": version,
		})
		if err != nil || done.envelope.Status != "succeeded" {
			t.Fatalf("edit %d: %+v, %v", n, done, err)
		}
		again, err := both[n%2].call(t.Context(), "replace_text", map[string]any{
			"path": "a.txt", "old_text": fmt.Sprintf("%d\n", n), "new_text": fmt.Sprintf("%d\n", n+1), "observed_version": version,
		})
		if err != nil || again.code() != "already-applied" {
			t.Fatalf("edit %d again, at the other one: %+v, %v", n, again, err)
		}
		version = done.envelope.Version
	}
	if got, err := os.ReadFile(filepath.Join(root, "a.txt")); err != nil || string(got) != "10\n" {
		t.Errorf("the file holds %q, %v", got, err)
	}
}

// Of twenty who edit the same version, by way of either process, one wins.
func TestReplicasOneEditorWins(t *testing.T) {
	t.Parallel()
	root := vault(t, "a.txt", "start\n")
	both := replicas(t, root)
	read, err := both[0].call(t.Context(), "read_file", map[string]any{"path": "a.txt"})
	if err != nil {
		t.Fatal(err)
	}
	const editors = 20
	ends := make([]string, editors)
	var all sync.WaitGroup
	for i := range editors {
		all.Go(func() {
			o, err := both[i%2].call(t.Context(), "replace_text", map[string]any{
				"path": "a.txt", "old_text": "start", "new_text": fmt.Sprintf("editor %d", i), "observed_version": read.envelope.Version,
			})
			ends[i] = o.envelope.Status
			if err != nil {
				ends[i] = err.Error()
			}
		})
	}
	all.Wait()
	winner, count := -1, map[string]int{}
	for i, end := range ends {
		count[end]++
		if end == "succeeded" {
			winner = i
		}
	}
	if count["succeeded"] != 1 || count["conflict"] != editors-1 {
		t.Fatalf("the edits end with %v", count)
	}
	if got, err := os.ReadFile(filepath.Join(root, "a.txt")); err != nil || string(got) != fmt.Sprintf("editor %d\n", winner) {
		t.Errorf("the file holds %q, %v; editor %d won", got, err, winner)
	}
}

// A session of an older client lives in one process. After a restart it is not found, and the client begins anew.
func TestSessionsEndWithTheirProcess(t *testing.T) {
	t.Parallel()
	root := vault(t, "a.txt", "one\n")
	const hello = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"old","version":"1"}}}`
	const ping = `{"jsonrpc":"2.0","id":2,"method":"ping"}`
	state := t.TempDir()
	first := startHTTP(t, "--state", state, root)
	w := postHTTP(t, first.url, hello, "")
	session := w.Header.Get("Mcp-Session-Id")
	if w.StatusCode != http.StatusOK || session == "" {
		t.Fatalf("initialize: %s", w.Status)
	}
	if w := postHTTP(t, first.url, ping, session); w.StatusCode != http.StatusOK {
		t.Errorf("ping: %s", w.Status)
	}
	first.stop()
	second := startHTTP(t, "--state", state, root)
	if w := postHTTP(t, second.url, ping, session); w.StatusCode != http.StatusNotFound {
		t.Errorf("after a restart: %s", w.Status)
	}
}

// postHTTP sends a message over a connection of its own, and returns the answer without its body.
func postHTTP(t *testing.T, url, body, session string) *http.Response {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Close = true
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	if session != "" {
		r.Header.Set("Mcp-Session-Id", session)
	}
	w, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	w.Body.Close()
	return w
}
