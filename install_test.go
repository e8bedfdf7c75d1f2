package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"
)

// installer runs `writ install` in a home of its own.
func installer(t *testing.T) (home string, install func(args ...string) ran) {
	home = t.TempDir()
	return home, func(args ...string) ran {
		command := program(t, append([]string{"install"}, args...)...)
		command.Env = append(command.Env, "HOME="+home, "USERPROFILE="+home, "APPDATA="+home, "XDG_CONFIG_HOME=", "CODEX_HOME=", "CLAUDE_CONFIG_DIR=")
		return finish(t, command, "")
	}
}

func TestInstall(t *testing.T) {
	t.Parallel()
	home, install := installer(t)
	root := vault(t)
	file := filepath.Join(home, ".cursor", "mcp.json")
	args := []string{"cursor", "--command", "/bin/writ", "--write", "docs/**", "--tools", "all", root}
	for _, step := range []struct {
		args   []string
		status int
		stdout string
		file   string // a regular expression; "" where there is no file
	}{
		{append(args, "--print"), 0, `(?s)For Cursor, in .*"--tools", "all"`, ""},
		{append(args, "--dry-run"), 0, `\+.*"mcpServers"`, ""},
		{args, 0, `^Written to .*mcp\.json\. Cursor reads it when it starts\.\n$`, `"args": \["serve", "--write", "docs/\*\*", "--tools", "all", "`},
		{args, 0, `^Nothing to change in `, `docs`},
		{append(args, "--read", "**"), 1, `^$`, `"serve", "--write"`},
		{append(args, "--read", "**", "--force"), 0, `As it was, it is kept as `, `"--read", "\*\*"`},
		{[]string{"cursor", "--uninstall", "--dry-run"}, 0, `(?m)^-.*"writ"`, `"writ"`},
		{[]string{"cursor", "--url", "http://127.0.0.1:7411/mcp", "--name", "far"}, 0, `^Written`, `"writ"(.|\n)*"far": \{\s*"url": "http://127`},
	} {
		got := install(step.args...)
		data, _ := os.ReadFile(file)
		if got.status != step.status || !regexp.MustCompile(step.stdout).MatchString(got.stdout) || !regexp.MustCompile(step.file).Match(data) || step.file == "" && data != nil {
			t.Errorf("install %v: %+v\n%s", step.args, got, data)
		}
	}
}

// A client shows little of why a server does not start, so that mistakes are found before the file is written.
func TestInstallFindsMistakes(t *testing.T) {
	t.Parallel()
	home, install := installer(t)
	root := vault(t, "writ.yaml", "scope: {raed: []}\n")
	for _, c := range []struct {
		args   []string
		status int
		stderr string
	}{
		{[]string{"emacs", root}, 1, `no client "emacs"`},
		{[]string{"cursor"}, 2, `name the directories`},
		{[]string{"cursor", filepath.Join(root, "none")}, 2, `is no directory`},
		{[]string{"cursor", "--write", "a[", root}, 2, `a\[`},
		{[]string{"cursor", "--policy", filepath.Join(root, "writ.yaml")}, 2, `writ\.yaml:1:\d+`},
		{[]string{"cursor", "--tools", "hammer", root}, 2, `hammer`},
		{[]string{"cursor", "--scope", "world", root}, 2, `--scope`},
		{[]string{"windsurf", "--scope", "project"}, 1, `no configuration of the scope`},
		{[]string{"cursor", "--url", "http://h/mcp", root}, 2, `directories belong`},
		{[]string{"cursor", "--token-env", "T", root}, 2, `--url`},
		{[]string{"cursor", "--url", "http://h/mcp", "--token-in-file"}, 2, `--token-env`},
		{[]string{"cursor", "--url", "http://h/mcp", "--token-env", "NO_SUCH_VARIABLE", "--token-in-file"}, 2, `NO_SUCH_VARIABLE is empty`},
		{[]string{"zed", "--url", "https://h/mcp", "--token-env", "T"}, 1, `(?s)can't read a token.*--token-in-file`},
		{nil, 2, `arg`},
	} {
		args := c.args
		if args != nil {
			args = append(args, "--command", "/bin/writ")
		}
		got := install(args...)
		if got.status != c.status || !regexp.MustCompile(c.stderr).MatchString(got.stderr) || got.stdout != "" {
			t.Errorf("install %v: %+v", args, got)
		}
	}
	if list, err := os.ReadDir(home); len(list) > 0 || err != nil {
		t.Errorf("the home holds %v, %v", list, err)
	}
}

// A build that goes away when it ends is not written into a configuration.
func TestInstallOfAPassingBuild(t *testing.T) {
	t.Parallel()
	if !strings.Contains(os.Args[0], "go-build") {
		t.Skip("this test is built to stay")
	}
	_, install := installer(t)
	if got := install("cursor", vault(t)); got.status != 2 || !strings.Contains(got.stderr, "go install") {
		t.Errorf("%+v", got)
	}
}

// A token that is written into a file is shown to nobody, on the way there neither.
func TestInstallOfAToken(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	install := func(args ...string) ran {
		command := program(t, append([]string{"install", "zed", "--url", "http://far.example/mcp", "--token-env", "WRIT_TOKEN", "--token-in-file"}, args...)...)
		command.Env = append(command.Env, "HOME="+home, "USERPROFILE="+home, "APPDATA="+home, "XDG_CONFIG_HOME=", "WRIT_TOKEN=s3cret")
		return finish(t, command, "")
	}
	for _, args := range [][]string{{"--print"}, {"--dry-run"}, {}, {"--dry-run"}} {
		got := install(args...)
		if got.status != 0 || strings.Contains(got.stdout+got.stderr, "s3cret") || !strings.Contains(got.stderr, "https:") {
			t.Errorf("%v: %+v", args, got)
		}
		if len(args) > 0 && args[0] == "--print" && !strings.Contains(got.stdout, "Bearer [the value of WRIT_TOKEN]") {
			t.Errorf("%+v", got)
		}
	}
	var files []string
	filepath.WalkDir(home, func(name string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			files = append(files, name)
		}
		return err
	})
	if len(files) != 1 {
		t.Fatalf("%v", files)
	}
	data, err := os.ReadFile(files[0])
	info, statErr := os.Stat(files[0])
	if err != nil || statErr != nil || !strings.Contains(string(data), "Bearer s3cret") || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
		t.Errorf("%s, %v, %v", data, info, err)
	}
}

func TestIsLoopback(t *testing.T) {
	for host, want := range map[string]bool{
		"localhost": true, "::1": true, "127.0.0.1": true, "127.1.2.3": true,
		"": false, "far.example": false, "127.example.com": false, "127.0.0.1.example.com": false, "128.0.0.1": false,
	} {
		if got := isLoopback(host); got != want {
			t.Errorf("%q: %v", host, got)
		}
	}
}
