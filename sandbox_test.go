package main

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"writ/walls"
)

// startProcess serves the root in a process of its own, as a client would start it, and shakes hands.
func startProcess(t *testing.T, args ...string) (*mcpClient, int) {
	t.Helper()
	return converse(t, program(t, append([]string{"serve"}, args...)...))
}

// converse starts a server and shakes hands with it.
func converse(t *testing.T, command *exec.Cmd) (*mcpClient, int) {
	t.Helper()
	in, err := command.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := command.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	var stderr strings.Builder
	command.Stderr = &stderr
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	c := &mcpClient{in: in, out: bufio.NewReader(out), end: func(t *testing.T) {
		in.Close()
		if err := command.Wait(); err != nil {
			t.Errorf("the server ended with %v: %s", err, stderr.String())
		}
	}}
	t.Cleanup(func() { c.stop(t) })
	c.shakeHands(t)
	return c, command.Process.Pid
}

// Behind the kernel's walls everything works as it does without: all scripts, in processes of their own.
func TestScriptsBehindWalls(t *testing.T) {
	if walls.Available().ABI == 0 {
		t.Skip("the kernel has no Landlock")
	}
	for _, file := range scripts(t) {
		tool := strings.TrimSuffix(filepath.Base(file), ".txtar")
		t.Run(tool, func(t *testing.T) {
			t.Parallel()
			archive, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			s := newScript(t, tool)
			s.process = true
			for i := range archive.Files {
				s.section(&archive.Files[i])
			}
		})
	}
}

// The server says how it is kept in, and it is: a thread of it can gain no privileges any more.
func TestTheServerIsWalledIn(t *testing.T) {
	root := vault(t, "a.md", "x")
	for _, c := range []struct {
		name string
		args []string
		want string
	}{
		{"by itself", nil, walls.Available().String()},
		{"read-only", []string{"--read", "**"}, walls.Available().String()},
		{"not at all", []string{"--no-landlock"}, "none"},
	} {
		t.Run(c.name, func(t *testing.T) {
			client, pid := startProcess(t, append(c.args, root)...)
			answer := client.call(t, "get_scope", "{}")
			if answer.envelope["sandbox"] != c.want {
				t.Errorf("get_scope tells %v, want %s", answer.envelope["sandbox"], c.want)
			}
			status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
			if err != nil {
				t.Skip("there is no /proc")
			}
			raised := strings.Contains(string(status), "NoNewPrivs:\t1")
			if raised != (c.want != "none") {
				t.Errorf("walls are raised: %v", raised)
			}
		})
	}
}

// What the policy has written elsewhere still is.
func TestTheAuditLeavesTheWalls(t *testing.T) {
	root, elsewhere := vault(t, "a.md", "x"), t.TempDir()
	rules := filepath.Join(t.TempDir(), "writ.yaml")
	file := filepath.Join(elsewhere, "audit.jsonl")
	if err := os.WriteFile(rules, []byte("audit: {file: "+file+"}\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	client, _ := startProcess(t, "--policy", rules, root)
	client.call(t, "read_file", `{"path": "a.md"}`)
	client.stop(t)
	if lines, err := os.ReadFile(file); err != nil || !strings.Contains(string(lines), "read_file") {
		t.Errorf("the audit's file holds %q, %v", lines, err)
	}
}

func TestDoctorTellsOfTheWalls(t *testing.T) {
	got := writ(t, "", "doctor", vault(t, "a.md", "x"))
	if got.status != 0 || !strings.Contains(got.stdout, "sandbox: "+walls.Available().String()) {
		t.Errorf("got %+v", got)
	}
}

// A server that makes its state directory needs nothing around it once the walls are raised, and so has nothing to warn of.
func TestANewStateDirectoryBehindWalls(t *testing.T) {
	command := program(t, "serve", "--write", "**", "--state", filepath.Join(t.TempDir(), "made", "here"), vault(t, "a.md", "x"))
	command.Stdin = strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"x","version":"1"}}}
{"jsonrpc":"2.0","method":"notifications/initialized"}
{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"create_file","arguments":{"path":"b.md","content":"y"}}}
`)
	var said, warned strings.Builder
	command.Stdout, command.Stderr = &said, &warned
	if err := command.Run(); err != nil || warned.Len() > 0 || !strings.Contains(said.String(), `"succeeded"`) {
		t.Errorf("%v: %s\n%s", err, warned.String(), said.String())
	}
}
