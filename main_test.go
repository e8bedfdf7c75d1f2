package main

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"writ/programs"
	"writ/tools"
)

// TestMain lets this test binary be the program: with WRIT_RUN set it carries out its command line and no tests, so that
// tests meet real processes with exit statuses and streams of their own.
func TestMain(m *testing.M) {
	if programs.IsLauncher() {
		os.Exit(programs.Launch())
	}
	if os.Getenv("WRIT_RUN") != "" {
		os.Exit(run(os.Args[1:]))
	}
	os.Exit(m.Run())
}

// program is a command that runs writ with these arguments. What it remembers goes to a directory of this test.
func program(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	command := exec.CommandContext(context.WithoutCancel(t.Context()), os.Args[0], args...)
	command.Env = append(os.Environ(), "WRIT_RUN=1", "XDG_STATE_HOME="+testState(t), "TMPDIR="+t.TempDir())
	command.Dir = t.TempDir()
	return command
}

// testState is one directory for all programs of a test, which goes with the test's own.
func testState(t *testing.T) string { return filepath.Join(filepath.Dir(t.TempDir()), "state") }

// ran is what a command line did.
type ran struct {
	status         int
	stdout, stderr string
}

// writ runs one command line to its end.
func writ(t *testing.T, stdin string, args ...string) ran {
	t.Helper()
	return finish(t, program(t, args...), stdin)
}

func finish(t *testing.T, command *exec.Cmd, stdin string) ran {
	t.Helper()
	var stdout, stderr bytes.Buffer
	command.Stdin, command.Stdout, command.Stderr = strings.NewReader(stdin), &stdout, &stderr
	err := command.Run()
	if _, exited := err.(*exec.ExitError); err != nil && !exited {
		t.Fatal(err)
	}
	return ran{command.ProcessState.ExitCode(), stdout.String(), stderr.String()}
}

// vault is a directory with these files, name and text by turns.
func vault(t *testing.T, files ...string) string {
	t.Helper()
	root := t.TempDir()
	for i := 0; i < len(files); i += 2 {
		name := filepath.Join(root, filepath.FromSlash(files[i]))
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(files[i+1]), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

func TestCall(t *testing.T) {
	root := vault(t, "a.md", "one\ntwo\n")
	for _, c := range []struct {
		name   string
		stdin  string
		args   []string
		status int
		stdout string // a regular expression
		stderr string
	}{
		{"a read, as key=value", "", []string{"read_file", "path=a.md", "limit=1"}, 0, `^\{"request_id":.*"status":"ok".*"last_line":1.*\}\none\n$`, `^$`},
		{"a read, as JSON", "", []string{"read_file", `{"path": "a.md", "offset": -1}`}, 0, `\}\ntwo\n$`, `^$`},
		{"arguments on standard input", `{"path": "a.md"}`, []string{"read_file", "-"}, 0, `\}\none\ntwo\n$`, `^$`},
		{"no arguments", "", []string{"get_scope"}, 0, `"status":"ok"`, `^$`},
		{"text that looks like a number, where text is wanted", "", []string{"search_text", "pattern=1", "ignore_case=true"}, 0, `"status":"ok".*"normalizations":\[\]`, `^$`},
		{"a value with an equals sign", "", []string{"search_text", "pattern=a=b"}, 0, `"total":0`, `^$`},
		{"an integer that is none", "", []string{"read_file", "path=a.md", "limit=few"}, 1, `"status":"invalid".*"code":"type"`, `^$`},
		{"a refusal", "", []string{"read_file", "path=../a.md"}, 1, `"status":"denied".*"code":"path-not-allowed"`, `^$`},
		{"JSON that is none", "", []string{"read_file", "{"}, 1, `"status":"invalid".*"stage":"decode"`, `^$`},
		{"neither JSON nor key=value", "", []string{"read_file", "a.md", "b.md"}, 2, `^$`, `^writ: "a.md" is neither key=value nor a JSON object\n$`},
		{"a tool that does not exist", "", []string{"read_flie", "path=a.md"}, 2, `^$`, `^writ: there is no tool "read_flie" here`},
		{"a tool that the policy can't allow", "", []string{"create_file", "path=b.md", "content=x"}, 2, `^$`, `^writ: there is no tool "create_file" here`},
		{"no tool", "", nil, 2, `^$`, `^writ: `},
		{"a glob that is none", "", []string{"--read", "[", "get_scope"}, 2, `^$`, `^writ: `},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got := writ(t, c.stdin, append([]string{"call", "--root", root}, c.args...)...)
			if got.status != c.status || !regexp.MustCompile("(?s)"+c.stdout).MatchString(got.stdout) || !regexp.MustCompile("(?s)"+c.stderr).MatchString(got.stderr) {
				t.Errorf("got %+v", got)
			}
		})
	}
}

// A change that one process makes is known to the next.
func TestCallsOfSeveralProcesses(t *testing.T) {
	root := vault(t)
	call := func(args ...string) ran {
		return writ(t, "", append([]string{"call", "--root", root, "--write", "**"}, args...)...)
	}
	if got := call("create_file", "path=a.md", "content=7"); got.status != 0 {
		t.Fatalf("create: %+v", got)
	}
	if data, err := os.ReadFile(filepath.Join(root, "a.md")); string(data) != "7" {
		t.Errorf("the file holds %q, %v", data, err)
	}
	if got := call("create_file", "path=a.md", "content=7"); got.status != 1 || !strings.Contains(got.stdout, `"already-applied"`) {
		t.Errorf("the same again: %+v", got)
	}
	if got := call("list_changes"); got.status != 0 || !strings.Contains(got.stdout, `"path":"a.md"`) {
		t.Errorf("list: %+v", got)
	}
}

func TestToolsCommand(t *testing.T) {
	t.Parallel()
	core := writ(t, "", "tools")
	if core.status != 0 || core.stderr != "" || !strings.Contains(core.stdout, "replace_text") || strings.Contains(core.stdout, "move_file") {
		t.Errorf("tools: %+v", core)
	}
	all := writ(t, "", "tools", "--all")
	for _, name := range allTools() {
		if !strings.Contains(all.stdout, name+" ") {
			t.Errorf("tools --all lacks %s", name)
		}
	}
	one := writ(t, "", "tools", "replace_text")
	if one.status != 0 || !strings.Contains(one.stdout, "observed_version") || !strings.Contains(one.stdout, "Codes: no-change") {
		t.Errorf("tools replace_text: %+v", one)
	}
	if got := writ(t, "", "tools", "replace_txet"); got.status != 2 || got.stdout != "" || !strings.Contains(got.stderr, `no tool "replace_txet"`) {
		t.Errorf("tools replace_txet: %+v", got)
	}
}

// tools --json prints what clients are told.
func TestToolsAsJSON(t *testing.T) {
	t.Parallel()
	got := writ(t, "", "tools", "--all", "--json")
	printed := map[string]any{}
	for line := range strings.Lines(got.stdout) {
		var d map[string]any
		if err := json.Unmarshal([]byte(line), &d); err != nil {
			t.Fatalf("%v in %s", err, line)
		}
		name, _ := d["name"].(string)
		printed[name] = d
	}
	policy := filepath.Join(t.TempDir(), "writ.yaml") // under which every tool is of use
	if err := os.WriteFile(policy, []byte("scope: {write: ['**']}\nprograms: [{name: none, path: /no/such/program}]\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	c := startClient(t, options{profile: "all", state: t.TempDir(), policyFile: policy}, t.TempDir())
	listed, _ := c.request(t, "tools/list", "{}")["tools"].([]any)
	if len(printed) != len(listed) || len(listed) != len(tools.All()) {
		t.Errorf("%d tools are printed, %d listed, and there are %d", len(printed), len(listed), len(tools.All()))
	}
	for _, d := range listed {
		name, _ := d.(map[string]any)["name"].(string)
		if compact(printed[name]) != compact(d) {
			t.Errorf("%s is printed as\n%s\nand listed as\n%s", name, compact(printed[name]), compact(d))
		}
	}
}

func TestPolicyCommands(t *testing.T) {
	root := vault(t,
		"good.yaml", "scope:\n  read: [\"**\"]\n  write: [\"docs/**\"]\n",
		"typo.yaml", "scope:\n  read: [\"**\"]\n  wirte: [\"docs/**\"]\n",
		"glob.yaml", "scope:\n  read: [\"a[\"]\n")
	file := func(name string) string { return filepath.Join(root, name) }
	for _, c := range []struct {
		name   string
		args   []string
		status int
		stdout string
		stderr string
	}{
		{"a good file", []string{"check", file("good.yaml")}, 0, `good\.yaml is right\.\nread:  \*\*\nwrite: docs/\*\*\nask:   nothing\n$`, "^$"},
		{"a misspelt key", []string{"check", file("typo.yaml")}, 2, "^$", `^writ: .*typo\.yaml:3:3: .*"wirte"`},
		{"a glob that is none", []string{"check", file("glob.yaml")}, 2, "^$", `^writ: .*glob\.yaml:2:\d+: `},
		{"no file", []string{"check", file("none.yaml")}, 2, "^$", `^writ: .*none\.yaml`},
		{"explain a place that may be written", []string{"explain", "--root", root, "--policy", file("good.yaml"), "docs/a.md"}, 0, `write: allow +write: docs/\*\*`, "^$"},
		{"explain a place that may be read", []string{"explain", "--root", root, "--policy", file("good.yaml"), "a.md"}, 0, `write: deny`, "^$"},
		{"explain a hidden name", []string{"explain", "--root", root, ".git/config"}, 0, `read:  deny`, "^$"},
		{"explain a step up", []string{"explain", "--root", root, "../a"}, 2, "^$", "^writ: .*not allowed"},
		{"the schema", []string{"schema"}, 0, `^\{`, "^$"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got := writ(t, "", append([]string{"policy"}, c.args...)...)
			if got.status != c.status || !regexp.MustCompile(c.stdout).MatchString(got.stdout) || !regexp.MustCompile(c.stderr).MatchString(got.stderr) {
				t.Errorf("got %+v", got)
			}
		})
	}
}

func TestDoctor(t *testing.T) {
	t.Parallel()
	root := vault(t, "a.md", "x")
	got := writ(t, "", "doctor", "--write", "**", root)
	if got.status != 0 || got.stderr != "" || strings.Contains(got.stdout, "wrong ") || strings.Count(got.stdout, "right ") < 5 {
		t.Errorf("got %+v", got)
	}
	if got := writ(t, "", "doctor", filepath.Join(root, "none")); got.status == 0 || got.stderr == "" {
		t.Errorf("a root that is not there: %+v", got)
	}
}

func TestVersionAndHelp(t *testing.T) {
	t.Parallel()
	if got := writ(t, "", "version"); got.status != 0 || !strings.HasPrefix(got.stdout, "writ ") || got.stderr != "" {
		t.Errorf("version: %+v", got)
	}
	for _, args := range [][]string{
		{"--help"}, {"serve", "--help"}, {"call", "--help"}, {"tools", "--help"}, {"policy", "--help"},
		{"policy", "check", "--help"}, {"policy", "explain", "--help"}, {"doctor", "--help"}, {"demo", "--help"},
	} {
		if got := writ(t, "", args...); got.status != 0 || len(got.stdout) < 100 || got.stderr != "" {
			t.Errorf("%v: %+v", args, got)
		}
	}
	for _, args := range [][]string{{"nonsense"}, {"serve", "--nonsense"}, {"serve", filepath.Join(t.TempDir(), "none")}, {"serve", "--tools", "none"}} {
		if got := writ(t, "", args...); got.status != 2 || got.stdout != "" || !strings.HasPrefix(got.stderr, "writ: ") {
			t.Errorf("%v: %+v", args, got)
		}
	}
}

func TestDemo(t *testing.T) {
	t.Parallel()
	command := program(t, "demo")
	temp := t.TempDir()
	command.Env = append(command.Env, "TMPDIR="+temp)
	got := finish(t, command, "")
	if got.status != 0 || got.stderr != "" {
		t.Fatalf("got %+v", got)
	}
	for _, want := range []string{
		`(?m)^> search_notes .*\n\{.*"path":"projects/garden-sensor.md"`,
		`(?m)^> read_file .*\n\{.*"version":"[0-9a-f]{32}".*\}\n---\ntitle: Garden sensor\n`,
		`(?m)^> replace_text .*\n\{.*"status":"succeeded","changed":"yes"`,
		`(?m)^> replace_text .*\n\{.*"code":"already-applied"`,
		`(?m)^> create_file .*\n\{.*"code":"approval-required".*\n\$ writ approvals approve apr_.*\napr_.* is approved.*\n> create_file .*\n\{.*"status":"succeeded"`,
		`(?m)^> create_file .*\n\{.*"code":"outside-write-scope"`,
		`(?m)^> read_file .*passwd.*\n\{.*"status":"denied"`,
	} {
		if !regexp.MustCompile(want).MatchString(got.stdout) {
			t.Errorf("the demonstration does not show %s\nbut\n%s", want, got.stdout)
		}
	}
	left, err := os.ReadDir(temp)
	if err != nil || len(left) > 0 {
		t.Errorf("it leaves %v behind (%v)", left, err)
	}
}

// Tools that the policy can never allow are not listed, and are as unknown as any other name.
func TestToolsThatThePolicyCanNeverAllow(t *testing.T) {
	c := startClient(t, options{profile: "all", state: t.TempDir()}, t.TempDir())
	listed, _ := c.request(t, "tools/list", "{}")["tools"].([]any)
	for _, d := range listed {
		name, _ := d.(map[string]any)["name"].(string)
		if contractOf(name).Effect.Writes {
			t.Errorf("%s is listed, though nothing may be written", name)
		}
	}
	if m := c.exchange(t, "tools/call", `{"name":"create_file","arguments":{"path":"a.md","content":"x"}}`); m.Error == nil || m.Error.Code != -32602 {
		t.Errorf("create_file is answered %s", compact(m))
	}
}
