package main

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

// every runs through all commands.
func every(cmd *cobra.Command, f func(*cobra.Command)) {
	f(cmd)
	for _, below := range cmd.Commands() {
		every(below, f)
	}
}

// Who asks for help gets a sentence, an example and lines that fit a terminal; the flags are told each.
func TestEveryCommandHelps(t *testing.T) {
	every(newRoot(), func(cmd *cobra.Command) {
		name := cmd.CommandPath()
		if strings.HasPrefix(name, "writ completion") || cmd.Name() == "help" {
			return // the library's own
		}
		if cmd.Short == "" || strings.HasSuffix(cmd.Short, ".") {
			t.Errorf("%s: the short help is %q", name, cmd.Short)
		}
		if cmd.Long == "" && !cmd.HasParent() {
			t.Errorf("%s has no help", name)
		}
		if cmd.Runnable() && !cmd.HasSubCommands() && strings.Contains(cmd.Use, " ") && !strings.Contains(cmd.Long, "\n  writ ") && !strings.Contains(cmd.Parent().Long, "\n  "+name) {
			t.Errorf("%s has no example", name)
		}
		for line := range strings.Lines(cmd.Long) {
			if n := len([]rune(strings.TrimSuffix(line, "\n"))); n > 130 {
				t.Errorf("%s: a line of %d characters: %s", name, n, line)
			}
		}
	})
}

// A mistake in the command line ends with 2, says nothing on standard output, and tells what to do next.
func TestMistakesTellWhatToDo(t *testing.T) {
	t.Parallel()
	file := filepath.Join(vault(t, "a.md", "one"), "a.md")
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"serv"}, "serve"},
		{[]string{"serve", "--wrte", "x"}, "unknown flag: --wrte\n`writ serve --help`"},
		{[]string{"tools", "--format"}, "`writ tools --help`"},
		{[]string{"call"}, "an argument is missing: writ call TOOL"},
		{[]string{"undo"}, "an argument is missing: writ undo CHANGE_ID\n`writ undo --help`"},
		{[]string{"undo", "a", "b"}, `"b" is too much`},
		{[]string{"version", "x"}, `"x" is too much: writ version takes no arguments`},
		{[]string{"policy", "chekc"}, `perhaps you mean check`},
		{[]string{"index", "nonsense"}, "there is no \"nonsense\" under \"writ index\"\n`writ index --help`"},
		{[]string{"serve", "--write", file, file, "."}, "a.md is a file, and a directory is wanted. If it came from a pattern, put that in quotes"},
		{[]string{"bridge", file}, "a.md is a file, and a directory is wanted"},
		{[]string{"serve", "--console", "."}, "--console is for HTTP: give an address too"},
		{[]string{"serve", "--http", "127.0.0.1:0", "--tls-cert", file, "."}, "missing [tls-key]"},
		{[]string{"install", "cursor", "--command", "/bin/writ", "--write", file, file, "."}, "put that in quotes"},
		{[]string{"approvals", "show"}, "writ approvals show ID"},
	} {
		got := writ(t, "", c.args...)
		if got.status != 2 || got.stdout != "" || !strings.HasPrefix(got.stderr, "writ: ") || !strings.Contains(got.stderr, c.want) {
			t.Errorf("%v: %+v", c.args, got)
		}
	}
}

// What shells ask for to complete a line.
func TestCompletion(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ line, want, directive string }{
		{"inst", "install", ":4"},
		{"install cur", "cursor\tCursor", ":4"},
		{"install cursor ", "", ":16"},
		{"serve ", "", ":16"},
		{"serve --tools al", "all", ":4"},
		{"serve --policy ", "yaml", ":8"},
		{"tools replace_text ", "read_file", ":4"},
		{"tools --format ", "gemini", ":4"},
		{"call repl", "replace_text", ":4"},
		{"call replace_text ", "observed_version=", ":6"},
		{"audit --status den", "denied", ":4"},
		{"install zed --scope ", "project", ":4"},
		{"undo ", "", ":4"},
		{"policy check ", "", ":0"},
	} {
		words := strings.Split(c.line, " ")
		got := writ(t, "", append([]string{"__complete"}, words...)...)
		lines := strings.Split(strings.TrimSpace(got.stdout), "\n")
		if got.status != 0 || lines[len(lines)-1] != c.directive || c.want != "" && !slices.ContainsFunc(lines, func(l string) bool { return strings.HasPrefix(l, c.want) }) {
			t.Errorf("%q: %+v", c.line, got)
		}
	}
	for _, shell := range []string{"bash", "zsh", "fish", "powershell"} {
		if got := writ(t, "", "completion", shell); got.status != 0 || !strings.Contains(got.stdout, "__complete") {
			t.Errorf("%s: %d", shell, got.status)
		}
	}
}
