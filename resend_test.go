package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"writ/contract"
)

// A client that lost its connection before it was answered sends the same call again, to a server that knows of the first
// only by the log: it learns that the call was carried out, and by which request.
func TestResentCallOfALostConnection(t *testing.T) {
	one := contract.VersionOf([]byte("mark:0;\nfirst\n")).String()
	edits := []any{
		map[string]any{"path": sharedFile(0), "old_text": "mark:0;", "new_text": "mine", "observed_version": one},
		map[string]any{"path": sharedFile(1), "old_text": "first\n", "new_text": "last\n", "observed_version": one},
	}
	for _, test := range []struct {
		tool, file string
		arguments  map[string]any
		want       string
	}{
		{"replace_text", sharedFile(0), map[string]any{"path": sharedFile(0), "old_text": "first", "new_text": "second", "observed_version": one}, "mark:0;\nsecond\n"},
		{"append_text", sharedFile(0), map[string]any{"path": sharedFile(0), "text": "second\n", "observed_version": one}, "mark:0;\nfirst\nsecond\n"},
		{"overwrite_file", sharedFile(0), map[string]any{"path": sharedFile(0), "content": "all new", "observed_version": one}, "all new"},
		{"create_file", "new/deep/f.txt", map[string]any{"path": "new/deep/f.txt", "content": "new"}, "new"},
		{"move_file", "moved.txt", map[string]any{"source": sharedFile(0), "destination": "moved.txt", "observed_version": one}, "mark:0;\nfirst\n"},
		{"apply_edits", sharedFile(1), map[string]any{"edits": edits}, "mark:0;\nlast\n"},
	} {
		t.Run(test.tool, func(t *testing.T) {
			c := newCrash(t)
			lost := c.startDoomed(0)
			params, err := json.Marshal(map[string]any{"name": test.tool, "arguments": test.arguments})
			if err != nil {
				t.Fatal(err)
			}
			if _, err := fmt.Fprintf(lost.in, `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":%s}`+"\n", params); err != nil {
				t.Fatal(err)
			}
			c.awaitContent(test.file, test.want)
			lost.kill()

			again := c.startDoomed(0)
			defer again.kill()
			answer := again.answer(test.tool, test.arguments)
			requestID, changeID := firstOf(answer)
			if answer["status"] != "conflict" || requestID == "" || changeID == "" {
				t.Fatalf("the call that was sent again was answered %s", compact(answer))
			}
			if known := again.answer("get_outcome", map[string]any{"request_id": requestID}); !strings.Contains(compact(known), `"succeeded"`) {
				t.Errorf("the outcome of the first is %s", compact(known))
			}
			if undone := again.answer("revert_change", map[string]any{"change_id": changeID}); undone["status"] != "succeeded" {
				t.Errorf("undoing what was done before the connection was lost: %s", compact(undone))
			}
			again.kill()
			c.check()
		})
	}
}

// awaitContent waits until a file holds the text.
func (c *crash) awaitContent(file, text string) {
	c.Helper()
	for end := time.Now().Add(20 * time.Second); ; time.Sleep(time.Millisecond) {
		if data, err := os.ReadFile(filepath.Join(c.root, file)); err == nil && string(data) == text {
			return
		}
		if time.Now().After(end) {
			c.Fatalf("%s does not come to hold %q", file, text)
		}
	}
}

// answer makes one call that must be answered.
func (d *doomed) answer(tool string, arguments map[string]any) map[string]any {
	d.Helper()
	params, err := json.Marshal(map[string]any{"name": tool, "arguments": arguments})
	if err != nil {
		d.Fatal(err)
	}
	result, ok := d.send("tools/call", string(params))
	if !ok {
		d.Fatal("the server ended by itself")
	}
	return readAnswer(d.T, tool, result).envelope
}

// firstOf returns the ids of the call that an already-applied names.
func firstOf(answer map[string]any) (requestID, changeID string) {
	list, _ := answer["errors"].([]any)
	for _, e := range list {
		e, _ := e.(map[string]any)
		details, _ := e["details"].(map[string]any)
		if e["code"] == "already-applied" {
			requestID, _ = details["request_id"].(string)
			changeID, _ = details["change_id"].(string)
		}
	}
	return requestID, changeID
}
