package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// A server that was given little memory answers all the same, and takes not much more than that: no call holds more than a
// few copies of the largest file, whatever it is about. It is the program as it is released: the race detector, where tests
// have it on, needs as much again for itself.
func TestMemoryStaysBounded(t *testing.T) {
	const largest, given, most = 8 << 20, 64 << 20, 192 << 20
	root := t.TempDir()
	line := strings.Repeat("many words on one line ", 40) + "\n"
	for i := range 12 {
		text := strings.Repeat(line, largest/len(line)) // a little less than the largest
		if err := os.WriteFile(filepath.Join(root, fmt.Sprintf("large%d.txt", i)), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	policy := filepath.Join(t.TempDir(), "writ.yaml")
	if err := os.WriteFile(policy, fmt.Appendf(nil, "scope: {write: ['**']}\nlimits: {memory: %d, file_bytes: %d}\n", given, largest), 0o644); err != nil {
		t.Fatal(err)
	}
	c, pid := converse(t, released(t, "serve", "--tools", "all", "--policy", policy, "--state", filepath.Join(t.TempDir(), "state"), root))
	wants := func(status, tool, arguments string) {
		t.Helper()
		if got := c.call(t, tool, arguments); string(got.status()) != status {
			t.Errorf("%s: %.500s", tool, compact(got.envelope))
		}
	}
	for i := range 12 {
		name := fmt.Sprintf("large%d.txt", i)
		version := c.call(t, "read_file", fmt.Sprintf(`{"path":%q,"offset":-20}`, name)).envelope["version"]
		wants("succeeded", "append_text", fmt.Sprintf(`{"path":%q,"text":"more\n","observed_version":%q}`, name, version))
		wants("multiple-matches", "replace_text", fmt.Sprintf(`{"path":%q,"old_text":"words","new_text":"x","observed_version":%q}`, name, c.call(t, "get_file_info", fmt.Sprintf(`{"path":%q}`, name)).envelope["version"]))
	}
	wants("ok", "search_text", `{"pattern":"words"}`)
	wants("ok", "search_text", `{"pattern":"no such text"}`)
	wants("ok", "search_text", `{"pattern":"(?s)many.*words.*one","literal":false}`)
	if peak := peakMemory(t, pid); peak > most {
		t.Errorf("at its peak the server took %d MiB, given %d", peak>>20, given>>20)
	} else {
		t.Logf("at its peak the server took %d MiB", peak>>20)
	}
}

// released is a command that runs writ as it is released, with these arguments.
func released(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	exe := filepath.Join(t.TempDir(), "writ")
	build := exec.CommandContext(t.Context(), "go", "build", "-trimpath", "-o", exe, ".")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	command := program(t, args...)
	command.Path = exe
	return command
}

var peakLine = regexp.MustCompile(`(?m)^VmHWM:\s+(\d+) kB$`)

// peakMemory is the largest part of a process that was in memory, in bytes.
func peakMemory(t *testing.T, pid int) int64 {
	t.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		t.Fatal(err)
	}
	m := peakLine.FindSubmatch(status)
	if m == nil {
		t.Skip("the kernel does not tell")
	}
	kilobytes, err := strconv.ParseInt(string(m[1]), 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return kilobytes << 10
}
