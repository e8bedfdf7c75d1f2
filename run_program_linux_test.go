package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// ownTool puts a shell script outside the root, where a policy can name it as a program.
func (s *script) ownTool(name, text string) string {
	s.Helper()
	file := filepath.Join(s.base, name)
	s.must(os.WriteFile(file, []byte("#!/bin/sh\n"+text), 0o755))
	return file
}

// runsProgram starts a server in a process of its own, behind walls, under a policy that declares these programs.
func runsProgram(t *testing.T, declared func(s *script) string) *script {
	t.Helper()
	s := newScript(t, "run_program")
	s.process = true
	s.start([]byte("scope: {read: ['**'], write: ['docs/**']}\nprograms:\n" + declared(s)))
	return s
}

func (s *script) run(arguments string) map[string]any {
	s.Helper()
	return s.client.call(s.T, "run_program", arguments).envelope
}

// isRunning tells whether a process lives; one that ended and that nobody has asked about does not.
func isRunning(id int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", id))
	return err == nil && !strings.Contains(string(stat), ") Z ")
}

// within waits until something holds, or fails.
func (s *script) within(most time.Duration, what string, holds func() bool) {
	s.Helper()
	for until := time.Now().Add(most); !holds(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(until) {
			s.Fatalf("%s: not within %v", what, most)
		}
	}
}

// Of the server's environment a program gets what the policy names.
func TestAProgramGetsTheVariablesThatAreNamed(t *testing.T) {
	t.Setenv("LD_BIND_NOW", "1")
	t.Setenv("SECRET_TOKEN", "hunter2")
	t.Setenv("WANTED", "one two")
	t.Setenv("LANG", "xx")
	s := runsProgram(t, func(*script) string {
		return "  - {name: env, path: /usr/bin/env, env: [WANTED, LANG, NOT_SET]}\n"
	})
	output, _ := s.run(`{"program": "env"}`)["output"].(string)
	var names []string
	for line := range strings.Lines(output) {
		name, _, _ := strings.Cut(line, "=")
		names = append(names, name)
	}
	slices.Sort(names)
	if want := []string{"HOME", "LANG", "PATH", "TMPDIR", "WANTED"}; !slices.Equal(names, want) || !strings.Contains(output, "WANTED=one two\n") || !strings.Contains(output, "LANG=xx\n") {
		t.Errorf("%v are set, want %v\n%s", names, want, output)
	}
}

// A program that is another one than at the start is refused, as is one whose directory is.
func TestWhatWasReplacedIsNotRun(t *testing.T) {
	var tool string
	s := runsProgram(t, func(s *script) string {
		tool = s.ownTool("tool", "echo one\n")
		s.must(os.MkdirAll(filepath.Join(s.root, "work/deep"), 0o755))
		return "  - {name: tool, path: " + tool + "}\n  - {name: there, path: /bin/pwd, directory: work/deep}\n"
	})
	refused := func(program, why string) {
		t.Helper()
		got := s.run(`{"program": "` + program + `"}`)
		if errors := compact(got["errors"]); got["changed"] != "no" || !strings.Contains(errors, `"program-not-allowed"`) || !strings.Contains(errors, why) {
			t.Errorf("%s", compact(got))
		}
	}
	if got := s.run(`{"program": "tool"}`); got["output"] != "one\n" {
		t.Fatalf("%s", compact(got))
	}
	if got := s.run(`{"program": "there"}`); got["output"] != filepath.Join(s.root, "work/deep")+"\n" {
		t.Fatalf("%s", compact(got))
	}
	info, err := os.Stat(tool)
	s.must(err)
	s.must(os.WriteFile(tool, []byte("#!/bin/sh\necho two\n"), 0o755))
	s.must(os.Chtimes(tool, info.ModTime(), info.ModTime()))
	refused("tool", "another one than when the server started")
	s.must(os.Rename(filepath.Join(s.root, "work/deep"), filepath.Join(s.root, "moved")))
	s.must(os.Symlink("../moved", filepath.Join(s.root, "work/deep")))
	refused("there", "directory is not the one")
}

// A program that callers could change, or that may read what the server keeps, is not run.
func TestProgramsThatAreNeverRun(t *testing.T) {
	s := runsProgram(t, func(s *script) string {
		s.must(os.WriteFile(filepath.Join(s.root, "tool"), []byte("#!/bin/sh\necho run\n"), 0o755))
		s.must(os.Symlink("root/tool", filepath.Join(s.base, "link")))
		return "  - {name: inside, path: " + filepath.Join(s.root, "tool") + "}\n" +
			"  - {name: link, path: " + filepath.Join(s.base, "link") + "}\n" +
			"  - {name: ledger, path: /bin/echo, reads: [" + filepath.Join(s.base, "state") + "]}\n" +
			"  - {name: above, path: /bin/echo, reads: [/]}\n" +
			"  - {name: nowhere, path: /bin/echo, directory: none}\n" +
			"  - {name: good, path: /bin/echo, reads: [/opt]}\n"
	})
	for _, name := range []string{"inside", "link", "ledger", "above", "nowhere"} {
		if got := s.run(`{"program": "` + name + `"}`); !strings.Contains(compact(got["errors"]), `"program-not-allowed"`) {
			t.Errorf("%s: %s", name, compact(got))
		}
	}
	scope := s.client.call(t, "get_scope", `{}`).envelope
	if got, want := compact(scope["programs"]), `[{"arguments":[],"asks":false,"directory":".","program":"good","writes":false}]`; got != want {
		t.Errorf("get_scope tells of %s, want %s", got, want)
	}
}

// A child of a program does not outlive it, neither where the program ends by itself nor where it is ended.
func TestNoChildIsLeft(t *testing.T) {
	s := runsProgram(t, func(s *script) string {
		tool := s.ownTool("tool", `trap '' TERM; sleep 60 > /dev/null 2>&1 & echo $!; [ "$1" = stay ] && wait; exit 4`+"\n")
		return "  - {name: tool, path: " + tool + ", allow: [stay], time: 500ms}\n"
	})
	for arguments, want := range map[string]string{"[]": "succeeded", `["stay"]`: "unavailable"} {
		got := s.run(`{"program": "tool", "args": ` + arguments + `}`)
		output, _ := got["output"].(string)
		id, err := strconv.Atoi(strings.TrimSpace(output))
		if err != nil || got["status"] != want && got["status"] != "unknown" {
			t.Fatalf("%s", compact(got))
		}
		s.within(10*time.Second, "the child's end", func() bool { return !isRunning(id) })
	}
}

// What a server that was killed left is taken away by the next one; its programs end with it.
func TestTheNextServerTakesAwayWhatIsLeft(t *testing.T) {
	s := newScript(t, "run_program")
	tool := s.ownTool("tool", `echo $$ > "$HOME/pid"; exec sleep 60`+"\n")
	file, state := filepath.Join(s.base, "writ.yaml"), filepath.Join(s.base, "state")
	s.must(os.WriteFile(file, []byte("programs: [{name: tool, path: "+tool+"}]\n"), 0o644))
	command := program(t, "call", "run_program", `{"program": "tool"}`, "--policy", file, "--state", state)
	command.Dir = s.root
	s.must(command.Start())
	pids := func() []string {
		found, _ := filepath.Glob(filepath.Join(state, "programs/*/home/pid"))
		return found
	}
	id := 0
	s.within(20*time.Second, "the program's start", func() bool {
		if found := pids(); len(found) == 1 {
			data, _ := os.ReadFile(found[0])
			id, _ = strconv.Atoi(strings.TrimSpace(string(data)))
		}
		return id > 0
	})
	s.must(writStarts(s, file, state)) // beside one that runs nothing is taken away
	if len(pids()) != 1 || !isRunning(id) {
		t.Error("a server takes away what another one runs")
	}
	s.must(command.Process.Signal(unix.SIGKILL))
	_ = command.Wait()
	s.within(10*time.Second, "the program's end", func() bool { return !isRunning(id) })
	if len(pids()) != 1 {
		t.Fatal("nothing is left of the run, so the test shows nothing")
	}
	s.must(writStarts(s, file, state))
	if left, err := os.ReadDir(filepath.Join(state, "programs")); err != nil || len(left) > 0 {
		t.Errorf("%v is left (%v)", left, err)
	}
}

// writStarts opens the root as every command does, and closes it again.
func writStarts(s *script, policyFile, state string) error {
	o := options{policyFile: policyFile, state: state}
	h, err := o.open([]string{s.root})
	if err != nil {
		return err
	}
	return h.close()
}

// Four programs run at once; a fifth is told to wait.
func TestSoManyProgramsRunAtOnce(t *testing.T) {
	s := runsProgram(t, func(s *script) string {
		return "  - {name: sleep, path: /bin/sleep, allow: ['{number}'], time: 20s}\n  - {name: echo, path: /bin/echo}\n"
	})
	started := func() int {
		found, _ := filepath.Glob(filepath.Join(s.base, "state/programs/*/work"))
		return len(found)
	}
	for i := range 4 {
		s.client.id++
		fmt.Fprintf(s.client.in, `{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"run_program","arguments":{"program":"sleep","args":["60"]}}}`+"\n", s.client.id)
		s.within(10*time.Second, "a program's start", func() bool { return started() == i+1 })
	}
	s.client.id++
	fmt.Fprintf(s.client.in, `{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"run_program","arguments":{"program":"echo"}}}`+"\n", s.client.id)
	m := s.client.next(t)
	if text := compact(m.Result); !strings.Contains(text, `"busy"`) || !strings.Contains(text, `"retry_after_ms"`) {
		t.Errorf("%s", text)
	}
	for id := s.client.id - 4; id < s.client.id; id++ {
		fmt.Fprintf(s.client.in, `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%d}}`+"\n", id)
	}
	s.within(10*time.Second, "the end of what was cancelled", func() bool { return started() == 0 })
}
