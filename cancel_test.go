//go:build unix

package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// A cancellation that comes when the file is another one already has no effect: the change is whole, on record and can be
// undone. And it is not answered, since nobody waits any more. The program that checks what was written holds the calls up
// in between.
func TestCancelAfterThePointOfNoReturn(t *testing.T) {
	t.Parallel()
	policy := filepath.Join(vault(t, "writ.yaml", "scope: {write: ['**']}\nchecks: {'**': [/bin/sh, -c, 'sleep 4', sh, '{path}']}\n"), "writ.yaml")
	for tool, c := range map[string]struct{ arguments, before, after string }{
		"create_file":  {`{"path": "new.txt", "content": "new\n"}`, "", "new\n"},
		"replace_text": {`{"path": "old.txt", "old_text": "one", "new_text": "two", "observed_version": %q}`, "one\n", "two\n"},
	} {
		t.Run(tool, func(t *testing.T) {
			t.Parallel()
			root, name := vault(t, "old.txt", "one\n"), "old.txt"
			if c.before == "" {
				name = "new.txt"
			} else {
				c.arguments = fmt.Sprintf(c.arguments, diskVersion(filepath.Join(root, name)))
			}
			s := serve(t, "--policy", policy, root)
			s.begin(t, 77, tool, c.arguments)
			waitForText(t, filepath.Join(root, name), c.after)
			s.cancel(t, 77)
			s.lives(t)
			changes := s.settled(t, name)
			if len(changes) != 1 || changes[0].Outcome != "succeeded" {
				t.Fatalf("on record are %+v", changes)
			}
			if got := s.call(t, "get_outcome", fmt.Sprintf(`{"request_id": %q}`, changes[0].RequestID)); got.envelope["outcome"] != "succeeded" {
				t.Errorf("the call became %v", got.envelope)
			}
			if got := s.call(t, "revert_change", fmt.Sprintf(`{"change_id": %q}`, changes[0].ID)); got.isError {
				t.Errorf("the undo says %v", got.envelope)
			}
			if text, _ := os.ReadFile(filepath.Join(root, name)); string(text) != c.before {
				t.Errorf("after the undo it holds %q", text)
			}
			s.stop(t) // it says nothing more
		})
	}
}

// Whenever a cancellation comes, a call has done all of its change or nothing of it, and the record says which.
func TestCancelAtAnyMoment(t *testing.T) {
	t.Parallel()
	const n = 60
	root := vault(t)
	for i := range n {
		if err := os.WriteFile(filepath.Join(root, fmt.Sprintf("%d.txt", i)), []byte("before\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	version := diskVersion(filepath.Join(root, "0.txt"))
	s := serve(t, "--write", "**", root)
	before := time.Now()
	s.call(t, "create_file", `{"path": "more.txt", "content": "x"}`)
	usual := time.Since(before)
	for i := range n {
		s.begin(t, 1000+i, "overwrite_file", fmt.Sprintf(`{"path": "%d.txt", "content": "after\n", "observed_version": %q}`, i, version))
		time.Sleep(usual * time.Duration(i*i) / (n * n)) // from at once to the usual end, most of them early
		s.cancel(t, 1000+i)
	}
	s.in.Close()
	said, err := io.ReadAll(s.out)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.command.Wait(); err != nil {
		t.Errorf("the server ended with %v: %s", err, s.stderr)
	}
	s.once.Do(func() {}) // it has ended
	answered := answeredChanges(t, string(said))

	s = serve(t, "--write", "**", root)
	whole := 0
	for i := range n {
		name := fmt.Sprintf("%d.txt", i)
		text, err := os.ReadFile(filepath.Join(root, name))
		if err != nil {
			t.Fatal(err)
		}
		done := string(text) == "after\n"
		if !done && string(text) != "before\n" {
			t.Errorf("%s holds %q", name, text)
		}
		if changed, ok := answered[1000+i]; ok && changed != done {
			t.Errorf("%s: the answer says changed %t", name, changed)
		}
		changes := s.changes(t, name)
		if done != (len(changes) == 1 && changes[0].Outcome == "succeeded") {
			t.Errorf("%s holds %q, and on record are %+v", name, text, changes)
			continue
		}
		if !done {
			continue
		}
		whole++
		s.call(t, "revert_change", fmt.Sprintf(`{"change_id": %q}`, changes[0].ID))
		if text, _ := os.ReadFile(filepath.Join(root, name)); string(text) != "before\n" {
			t.Errorf("after the undo %s holds %q", name, text)
		}
	}
	t.Logf("%d of %d calls had done their change, %d were answered", whole, n, len(answered))
}

// answeredChanges tells of each call that was answered whether it says that it has changed something.
func answeredChanges(t *testing.T, said string) map[int]bool {
	t.Helper()
	answered := map[int]bool{}
	for line := range strings.Lines(said) {
		var m struct {
			ID     int
			Result struct{ StructuredContent struct{ Changed string } }
		}
		if err := json.Unmarshal([]byte(line), &m); err != nil {
			t.Fatal(err)
		}
		if changed := m.Result.StructuredContent.Changed; changed != "" {
			answered[m.ID] = changed == "yes"
		}
	}
	return answered
}

// recordedChange is what list_changes says of a change.
type recordedChange struct {
	ID        string `json:"change_id"`
	RequestID string `json:"request_id"`
	Outcome   string `json:"outcome"`
}

// settled is changes, once it is known what became of them: a change is open for a moment after the file is another one.
func (s *served) settled(t *testing.T, path string) (list []recordedChange) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); time.Sleep(time.Millisecond) {
		if list = s.changes(t, path); len(list) == 1 && list[0].Outcome != "unknown" {
			break
		}
	}
	return list
}

func (s *served) changes(t *testing.T, path string) []recordedChange {
	t.Helper()
	var list []recordedChange
	if err := json.Unmarshal([]byte(compact(s.call(t, "list_changes", fmt.Sprintf(`{"path": %q}`, path)).envelope["changes"])), &list); err != nil {
		t.Fatal(err)
	}
	return list
}

// send sends a line, and waits for nothing.
func (s *served) send(t *testing.T, format string, args ...any) {
	t.Helper()
	if _, err := fmt.Fprintf(s.in, format+"\n", args...); err != nil {
		t.Fatal(err)
	}
}

// begin sends a call, and does not wait for its answer.
func (s *served) begin(t *testing.T, id int, tool, arguments string) {
	t.Helper()
	s.send(t, `{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":%q,"arguments":%s}}`, id, tool, arguments)
}

func (s *served) cancel(t *testing.T, id int) {
	t.Helper()
	s.send(t, `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%d}}`, id)
}

// waitForText waits until the file holds the text.
func waitForText(t *testing.T, file, want string) {
	t.Helper()
	var text []byte
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); time.Sleep(time.Millisecond) {
		if text, _ = os.ReadFile(file); string(text) == want {
			return
		}
	}
	t.Fatalf("%s holds %q", file, text)
}
