package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/aymanbagabas/go-udiff"
	"github.com/spf13/afero"
	"github.com/spf13/cobra"

	"writ/client"
)

// installation is what the command line says about one.
type installation struct {
	options
	request client.Request
	command string // what the client is to start; "" for this program
	inFile  bool   // the token itself goes into the file
	print   bool
	dryRun  bool
}

func newInstall() *cobra.Command {
	i := &installation{}
	cmd := &cobra.Command{
		Use:   "install CLIENT [DIR…]",
		Short: "Write writ into a client's configuration",
		Long: `Write an entry into the configuration of an MCP client, so that it starts writ for the directories and with
the flags that are given here. All else in the file stays byte for byte, and the file as it was is kept beside it.
A second run with the same flags changes nothing. A file that can't be read is not touched.

Claude Code keeps rewriting its own file, so its "claude mcp" command is run where there is one.

Clients: ` + clientNames() + `

  writ install claude-desktop ~/notes                      the person's own configuration, read-only
  writ install cursor --scope project --write 'docs/**' .  that of the project in this directory
  writ install codex --print ~/notes                       only show the entry
  writ install zed --uninstall                             take it out again
  writ install cursor --url https://h/mcp --token-env WRIT_TOKEN

With --token-env the entry names the environment variable in which the client finds the token, and the token is nowhere in
the file. For clients that can't do that, --token-in-file writes the token itself, into the person's own configuration
only, which is made readable by its owner alone.

Exit status: 0 done or nothing to do, 1 refused or failed and the file is as it was, 2 a mistake in the command line.`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			i.request.Client = args[0]
			return i.run(cmd, args[1:])
		},
	}
	i.register(cmd)
	f := cmd.Flags()
	f.StringVar(&i.profile, "tools", "", "which tools to offer: core, all, or names separated by commas")
	f.StringVar(&i.request.Name, "name", "writ", "name of the entry, for more than one")
	f.StringVar((*string)(&i.request.Scope), "scope", "user", "whose configuration: user, or project for the one in this directory")
	f.StringVar(&i.request.Server.URL, "url", "", "address of a server that runs, such as http://127.0.0.1:7411/mcp, instead of one to start")
	f.StringVar(&i.request.Server.TokenEnv, "token-env", "", "environment variable with the token that --url wants")
	f.BoolVar(&i.inFile, "token-in-file", false, "write the token that --token-env holds now into the file itself")
	f.StringVar(&i.command, "command", "", "program that the client starts; this one if absent")
	f.BoolVar(&i.request.Remove, "uninstall", false, "take the entry out")
	f.BoolVar(&i.request.Force, "force", false, "replace another entry of that name")
	f.BoolVar(&i.request.FileOnly, "edit-file", false, "edit the file even where the client has a command of its own")
	f.BoolVar(&i.print, "print", false, "print the entry and where it belongs; read and write nothing")
	f.BoolVar(&i.dryRun, "dry-run", false, "print what would be different, and change nothing")
	return cmd
}

func clientNames() string {
	var list []string
	for _, p := range client.Products() {
		list = append(list, p[0])
	}
	return strings.Join(list, ", ")
}

func (i *installation) run(cmd *cobra.Command, directories []string) error {
	if i.request.Scope != client.User && i.request.Scope != client.Project {
		return fmt.Errorf("--scope is user or project, not %q", i.request.Scope)
	}
	m, err := thisMachine()
	if err != nil {
		return err
	}
	if err := i.setServer(m, directories); err != nil {
		return err
	}
	out := cmd.OutOrStdout()
	if token := i.request.Server.Token; token != "" {
		out = hiding{out, token, "[the value of " + i.request.Server.TokenEnv + "]"}
	}
	if i.print {
		p, err := m.Outline(i.request)
		if err != nil {
			return explainInstall(err)
		}
		return printOutline(out, p)
	}
	p, err := m.Plan(i.request)
	if err != nil {
		return explainInstall(err)
	}
	if i.dryRun {
		return printPlan(out, p)
	}
	backup, err := m.Carry(cmd.Context(), p)
	if err != nil {
		return explainInstall(err)
	}
	printDone(out, p, backup)
	return nil
}

// thisMachine is the one that the program runs on.
func thisMachine() (*client.Machine, error) {
	home, err := os.UserHomeDir()
	if err != nil {
		return nil, err
	}
	dir, err := os.Getwd()
	if err != nil {
		return nil, err
	}
	return &client.Machine{
		FS: afero.NewOsFs(), OS: runtime.GOOS, Home: filepath.ToSlash(home), Dir: filepath.ToSlash(dir),
		Env: os.Getenv, LookPath: exec.LookPath, Run: runProgram, Now: time.Now,
	}, nil
}

// runProgram runs a client's own command; what it prints is told where it fails.
func runProgram(ctx context.Context, name string, args ...string) error {
	said, err := exec.CommandContext(ctx, name, args...).CombinedOutput()
	if err != nil {
		return fmt.Errorf("%w: %s", err, strings.TrimSpace(string(said)))
	}
	return nil
}

// setServer says what the client is to start: this program, with the flags and directories that were given. They are
// tried first, since a client shows little of why a server does not start.
func (i *installation) setServer(m *client.Machine, directories []string) error {
	if i.request.Server.URL != "" || i.request.Remove {
		if len(directories) > 0 {
			return errors.New("directories belong to a server that the client starts; leave them out here")
		}
		return i.setToken()
	}
	if i.request.Server.TokenEnv != "" || i.inFile {
		return errors.New("a token is for a server at an address: name it with --url")
	}
	if len(directories) == 0 && i.policyFile == "" {
		if i.request.Scope != client.Project {
			return errors.New("name the directories to serve, or a policy with --policy")
		}
		directories = []string{"."}
	}
	if _, err := i.compile(directories); err != nil {
		return err
	}
	for _, d := range directories {
		if info, err := os.Stat(d); err != nil || !info.IsDir() {
			return fmt.Errorf("%s is no directory", d)
		}
	}
	if _, err := profile(i.profile); err != nil {
		return err
	}
	program, err := i.program()
	if err != nil {
		return err
	}
	i.request.Server.Command = program
	i.request.Server.Args = i.serveArguments(func(name string) string { return m.Place(i.request, name) }, directories)
	return nil
}

// setToken takes the token itself, where it is to be written, and warns of a way on which others can read it.
func (i *installation) setToken() error {
	server := &i.request.Server
	switch {
	case i.inFile && server.TokenEnv == "":
		return errors.New("--token-in-file wants --token-env, the environment variable that holds the token")
	case i.request.Remove || server.TokenEnv == "":
		return nil
	case i.inFile:
		if server.Token = os.Getenv(server.TokenEnv); server.Token == "" {
			return fmt.Errorf("the environment variable %s is empty here; set it to the token first", server.TokenEnv)
		}
	}
	if u, err := url.Parse(server.URL); err == nil && u.Scheme == "http" && !isLoopback(u.Hostname()) {
		fmt.Fprintln(os.Stderr, "writ: over http: the token can be read by everybody on the way to", u.Hostname()+"; use https: if the server has it")
	}
	return nil
}

// hiding is a writer that tells the name of a secret instead of it. Each text is written whole.
type hiding struct {
	out          io.Writer
	secret, name string
}

func (h hiding) Write(text []byte) (int, error) {
	_, err := h.out.Write(bytes.ReplaceAll(text, []byte(h.secret), []byte(h.name)))
	return len(text), err
}

func isLoopback(host string) bool {
	isIPv4 := strings.Trim(host, "0123456789.") == "" // or else 127.example.com would be one
	return host == "localhost" || host == "::1" || isIPv4 && strings.HasPrefix(host, "127.")
}

// serveArguments are those of serve that stand for the flags and directories here.
func (i *installation) serveArguments(place func(string) string, directories []string) []string {
	args := []string{"serve"}
	if i.policyFile != "" {
		args = append(args, "--policy", place(i.policyFile))
	}
	for _, zone := range []struct {
		flag  string
		globs []string
	}{{"--read", i.read}, {"--write", i.write}, {"--ask", i.ask}} {
		for _, glob := range zone.globs {
			args = append(args, zone.flag, glob)
		}
	}
	if i.readOnly {
		args = append(args, "--read-only")
	}
	if i.profile != "" {
		args = append(args, "--tools", i.profile)
	}
	if i.state != "" {
		args = append(args, "--state", place(i.state))
	}
	for _, d := range directories {
		args = append(args, place(d))
	}
	return args
}

// program is how the client finds this program: by the name that the path gives it, which outlives an update, else by
// its place.
func (i *installation) program() (string, error) {
	if i.command != "" {
		return i.command, nil
	}
	self, err := os.Executable()
	if err != nil {
		return "", err
	}
	if strings.Contains(filepath.ToSlash(self), "/go-build") {
		return "", errors.New("this program was built by `go run` and goes away when it ends; run `go install .` first, or name a program with --command")
	}
	found, err := exec.LookPath("writ")
	if err != nil || !sameFile(found, self) {
		return filepath.EvalSymlinks(self)
	}
	if i.request.Scope == client.Project {
		return "writ", nil
	}
	return filepath.Abs(found)
}

func sameFile(a, b string) bool {
	one, err := os.Stat(a)
	if err != nil {
		return false
	}
	other, err := os.Stat(b)
	return err == nil && os.SameFile(one, other)
}

// explainInstall says what a person can do about a refusal, and ends with status 1.
func explainInstall(err error) error {
	fmt.Fprintln(os.Stderr, "writ:", err)
	switch {
	case errors.Is(err, client.ErrDiffers):
		fmt.Fprintln(os.Stderr, "Replace it with --force, or choose another name with --name.")
	case errors.Is(err, client.ErrNoReference):
		fmt.Fprintln(os.Stderr, "Write the token itself with --token-in-file; the file is then readable by its owner alone.")
	case errors.Is(err, client.ErrForm), errors.Is(err, client.ErrUnreadable):
		fmt.Fprintln(os.Stderr, "Print the entry with --print, and paste it yourself.")
	case errors.Is(err, client.ErrChanged):
		fmt.Fprintln(os.Stderr, "Try again; it helps to end the client first.")
	}
	return exitStatus(1)
}

func printOutline(out io.Writer, p *client.Plan) error {
	snippet, err := p.Snippet()
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "For %s, in %s:\n\n%s", p.Title, filepath.FromSlash(p.File), snippet)
	printCommands(out, "\nThe client's own command does the same:\n\n", p.Commands)
	return nil
}

func printCommands(out io.Writer, head string, commands [][]string) {
	if len(commands) == 0 {
		return
	}
	fmt.Fprint(out, head)
	for _, command := range commands {
		words := make([]string, len(command))
		for i, word := range command {
			words[i] = shellWord(word)
		}
		fmt.Fprintf(out, "  %s\n", strings.Join(words, " "))
	}
}

// shellWord is a word as a shell of the Unix family takes it.
func shellWord(word string) string {
	const plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./:=@%+,"
	if word != "" && strings.Trim(word, plain) == "" {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

func printPlan(out io.Writer, p *client.Plan) error {
	name := filepath.FromSlash(p.Target)
	switch {
	case p.Change == client.Nothing:
		fmt.Fprintf(out, "Nothing to change in %s.\n", name)
	case p.Native:
		printCommands(out, "It would run:\n\n", p.Commands)
	default:
		_, err := io.WriteString(out, udiff.Unified(name, name, string(p.Before), string(p.After)))
		return err
	}
	return nil
}

func printDone(out io.Writer, p *client.Plan, backup string) {
	name := filepath.FromSlash(p.Target)
	switch p.Change {
	case client.Nothing:
		fmt.Fprintf(out, "Nothing to change in %s.\n", name)
		return
	case client.Remove:
		fmt.Fprintf(out, "Taken out of %s.\n", name)
	default:
		fmt.Fprintf(out, "Written to %s. %s reads it when it starts.\n", name, p.Title)
	}
	if backup != "" {
		fmt.Fprintf(out, "As it was, it is kept as %s.\n", filepath.FromSlash(backup))
	}
}
