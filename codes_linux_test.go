package main

import (
	"crypto/rand"
	"encoding/base64"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"writ/contract"
	"writ/envelope"
	"writ/tools"
)

// Codes that take a system which refuses, is full or has forgotten. Each test has every tool answer with its code whose
// contract names it, over stdio: a tool that is not in its table fails it.

// wantOfEach calls every tool whose own contract names the code, and wants that code of it. In arguments $version stands
// for the version of f.txt in the tool's place.
func wantOfEach(t *testing.T, c *mcpClient, code envelope.Code, arguments map[string]string) {
	t.Helper()
	for _, tool := range tools.All() {
		if !slices.Contains(tool.Codes, code) {
			continue
		}
		given, found := arguments[tool.Name]
		if !found {
			t.Errorf("the contract of %s names %s, and nothing here provokes it", tool.Name, code)
			continue
		}
		if given == leftOut {
			continue
		}
		given = strings.ReplaceAll(given, "$version", contract.VersionOf([]byte("text\n")).String())
		answer := c.call(t, tool.Name, given)
		if !slices.Contains(answer.codes(), code) {
			t.Errorf("%s answers %s, want %s", tool.Name, compact(answer.envelope), code)
		}
		if changed := answer.envelope["changed"]; changed != nil && changed != "no" {
			t.Errorf("%s says that it changed something: %s", tool.Name, compact(answer.envelope))
		}
	}
}

// leftOut stands for a call of a tool that walks: what it may not read is left out and told in a warning, so the code is for
// a fault that comes between finding the start of the walk and opening it.
const leftOut = ""

// withoutPowers has processes that this test starts from now on be refused what the mode of a file refuses, also where
// they are root's. The thread that is changed ends with the test.
func withoutPowers(t *testing.T) {
	t.Helper()
	runtime.LockOSThread()
	if os.Getuid() != 0 {
		return
	}
	for _, power := range []uintptr{unix.CAP_DAC_OVERRIDE, unix.CAP_DAC_READ_SEARCH} {
		if err := unix.Prctl(unix.PR_CAPBSET_DROP, power, 0, 0, 0); err != nil {
			t.Skipf("root can't lay its powers down: %v", err)
		}
	}
}

func TestWhatTheSystemRefuses(t *testing.T) {
	root := t.TempDir()
	put := func(name, text string, mode fs.FileMode) {
		t.Helper()
		file := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(file, mode); err != nil {
			t.Fatal(err)
		}
	}
	put("no.txt", "text\n", 0)
	put("no.png", "\x89PNG\r\n\x1a\n", 0)
	put("shut/f.txt", "text\n", 0o644)
	put("full/f.txt", "text\n", 0o644)
	put("later/f.txt", "text\n", 0o644)
	lock := func(name string, mode fs.FileMode) {
		t.Helper()
		if err := os.Chmod(filepath.Join(root, name), mode); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { os.Chmod(filepath.Join(root, name), 0o755) })
	}
	lock("shut", 0)
	lock("full", 0o555)
	withoutPowers(t)
	c, _ := startProcess(t, "--tools", "all", "--write", "**", "--state", filepath.Join(t.TempDir(), "state"), root)
	made := c.call(t, "append_text", fmt.Sprintf(`{"path":"later/f.txt","text":"more\n","observed_version":%q}`, contract.VersionOf([]byte("text\n"))))
	if made.status() != "succeeded" {
		t.Fatal(compact(made.envelope))
	}
	lock("later", 0o555)
	wantOfEach(t, c, envelope.Permission, map[string]string{
		"append_text":      `{"path":"full/f.txt","text":"x","observed_version":"$version"}`,
		"apply_edits":      `{"edits":[{"path":"full/f.txt","old_text":"text","new_text":"x","observed_version":"$version"}]}`,
		"create_directory": `{"path":"full/d"}`,
		"create_file":      `{"path":"full/new.txt","content":"x"}`,
		"delete_file":      `{"path":"full/f.txt","observed_version":"$version"}`,
		"find_files":       leftOut,
		"get_file_info":    `{"path":"no.txt"}`,
		"list_directory":   `{"path":"shut"}`,
		"move_file":        `{"source":"full/f.txt","destination":"g.txt","observed_version":"$version"}`,
		"overwrite_file":   `{"path":"full/f.txt","content":"x","observed_version":"$version"}`,
		"preview_replace":  `{"path":"no.txt","old_text":"text","new_text":"x","observed_version":"$version"}`,
		"read_file":        `{"path":"no.txt"}`,
		"read_files":       `{"paths":["no.txt"]}`,
		"read_media":       `{"path":"no.png"}`,
		"replace_text":     `{"path":"full/f.txt","old_text":"text","new_text":"x","observed_version":"$version"}`,
		"revert_change":    fmt.Sprintf(`{"change_id":%q}`, made.envelope["change_id"]),
		"search_text":      leftOut,
	})
}

func TestWhatHasNoRoom(t *testing.T) {
	root := ownDisk(t, "1m,nr_inodes=10")
	if err := os.WriteFile(filepath.Join(root, "f.txt"), []byte("text\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(root, "g.txt"), []byte("text\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	c := startClient(t, options{profile: "all", state: t.TempDir(), write: []string{"**"}}, root)
	made := c.call(t, "append_text", fmt.Sprintf(`{"path":"g.txt","text":"more\n","observed_version":%q}`, contract.VersionOf([]byte("text\n"))))
	if made.status() != "succeeded" {
		t.Fatal(compact(made.envelope))
	}
	for i := 0; ; i++ { // names of their own take no room in blocks, but each is a file
		err := os.WriteFile(filepath.Join(root, fmt.Sprintf("fill%d", i)), nil, 0o644)
		if err == nil {
			continue
		}
		if pe, ok := err.(*fs.PathError); !ok || pe.Err != syscall.ENOSPC {
			t.Fatal(err)
		}
		break
	}
	wantOfEach(t, c, envelope.DiskFull, map[string]string{
		"append_text":      `{"path":"f.txt","text":"x","observed_version":"$version"}`,
		"apply_edits":      `{"edits":[{"path":"f.txt","old_text":"text","new_text":"x","observed_version":"$version"}]}`,
		"create_directory": `{"path":"d"}`,
		"create_file":      `{"path":"new.txt","content":"x"}`,
		"move_file":        `{"source":"f.txt","destination":"d/f.txt","observed_version":"$version"}`,
		"overwrite_file":   `{"path":"f.txt","content":"x","observed_version":"$version"}`,
		"replace_text":     `{"path":"f.txt","old_text":"text","new_text":"x","observed_version":"$version"}`,
		"revert_change":    fmt.Sprintf(`{"change_id":%q}`, made.envelope["change_id"]),
	})
	if data, err := os.ReadFile(filepath.Join(root, "f.txt")); err != nil || string(data) != "text\n" {
		t.Errorf("the file holds %q, %v", data, err)
	}
}

// random is a text of so many bytes that nothing makes smaller.
func random(bytes int) string {
	raw := make([]byte, bytes*3/4)
	rand.Read(raw)
	return base64.StdEncoding.EncodeToString(raw)
}

func TestWhatIsNoLongerKept(t *testing.T) {
	root, state := t.TempDir(), t.TempDir()
	policy := filepath.Join(t.TempDir(), "writ.yaml")
	if err := os.WriteFile(policy, []byte("scope: {write: ['**']}\nlimits: {undo_bytes: 1MiB, page_entries: 5}\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	for i := range 20 {
		if err := os.WriteFile(filepath.Join(root, fmt.Sprintf("many%d", i)), nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	o := options{profile: "all", state: state, policyFile: policy}
	c := startClient(t, o, root)
	listed := c.call(t, "list_directory", `{}`)
	cut, _ := listed.envelope["truncated"].(map[string]any)
	artifact, _ := cut["artifact"].(string)
	old := c.call(t, "create_file", fmt.Sprintf(`{"path":"g.txt","content":%q}`, random(400_000)))
	old = c.call(t, "overwrite_file", fmt.Sprintf(`{"path":"g.txt","content":"text\n","observed_version":%q}`, old.envelope["version"]))
	first, _ := old.envelope["change_id"].(string)
	text := ""
	for i := range 8 {
		next := random(400_000)
		call := fmt.Sprintf(`{"path":"f.txt","content":%q}`, next)
		tool := "create_file"
		if i > 0 {
			tool, call = "overwrite_file", fmt.Sprintf(`{"path":"f.txt","content":%q,"observed_version":%q}`, next, contract.VersionOf([]byte(text)))
		}
		made := c.call(t, tool, call)
		if made.status() != "succeeded" {
			t.Fatal(compact(made.envelope))
		}
		text = next
	}
	if artifact == "" || first == "" {
		t.Fatal(compact(listed.envelope))
	}
	c.stop(t)
	long := time.Now().Add(-48 * time.Hour)
	err := filepath.WalkDir(state, func(file string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() && strings.Contains(file, "artifacts") {
			err = os.Chtimes(file, long, long)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	wantOfEach(t, startClient(t, o, root), envelope.Expired, map[string]string{
		"read_artifact": fmt.Sprintf(`{"artifact":%q}`, artifact),
		"revert_change": fmt.Sprintf(`{"change_id":%q}`, first),
	})
}

// A state directory that fails is no reason to write without a record, and is told as what it is.
func TestAStateThatFails(t *testing.T) {
	disk := ownDisk(t, "16m")
	w := newWriting(t, t.TempDir(), filepath.Join(disk, "state"))
	remount(t, disk, syscall.MS_RDONLY, "16m")
	defer remount(t, disk, 0, "16m")
	if status, code := w.overwrite("no"); status != "failed" || code != string(envelope.IO) {
		t.Errorf("answered %s, %s", status, code)
	}
}
