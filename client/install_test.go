package client

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/spf13/afero"
	"golang.org/x/tools/txtar"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// machine is one of that system with nothing on it.
func machine(system string) *Machine {
	m := &Machine{
		FS: afero.NewMemMapFs(), OS: system, Home: "/home/ada", Dir: "/home/ada/garden",
		Env: func(string) string { return "" }, Now: func() time.Time { return time.Date(2026, 11, 30, 20, 45, 10, 0, time.UTC) },
		LookPath: func(string) (string, error) { return "", errors.New("there is no such program") },
	}
	switch system {
	case "darwin":
		m.Home, m.Dir = "/Users/ada", "/Users/ada/garden"
	case "windows":
		m.Home, m.Dir = "C:/Users/ada", "C:/Users/ada/garden"
	}
	return m
}

func serverOn(system string) Server {
	command, dir := "/usr/local/bin/writ", "/home/ada/my notes"
	switch system {
	case "darwin":
		dir = "/Users/ada/my notes"
	case "windows":
		command, dir = `C:\Program Files\writ\writ.exe`, `C:\Users\ada\my notes`
	}
	return Server{Command: command, Args: []string{"serve", "--write", "docs/**", dir}}
}

// before is what a person's file holds already, by the format.
var before = map[syntax]string{
	jsonc{}: `// mine, by hand
{
    "theme": "dark", // keep
    "SECTION": {
        /* the weather */
        "weather": { "command": "weather", "args": [] },
    },
    "zoom": 1.50
}
`,
	tomlText{}: `# mine, by hand
model = "o9"   # keep

[SECTION.weather]
command = 'weather'
args = [
  "--now", # today
]

# projects that I trust
[projects."/home/ada/garden"]
trust_level = "trusted"
`,
	yamlText{}: `# mine, by hand
GOOSE_MODEL: o9   # keep
SECTION:
    weather:
        type: stdio
        cmd: weather
        args: []

# the end
keyring: true
`,
}

// Each golden file shows what becomes of a file on each system, by each scope, and where it lies.
func TestInstallations(t *testing.T) {
	for _, p := range products {
		t.Run(p.name, func(t *testing.T) {
			want := goldenInstallation(t, &p)
			file := "../testdata/install/" + p.name + ".txtar"
			got, err := os.ReadFile(file)
			switch {
			case *update:
				err = os.WriteFile(file, want, 0o644)
			case err == nil && !bytes.Equal(got, want):
				t.Errorf("%s differs; it should be\n%s", file, want)
			}
			if err != nil {
				t.Fatal(err)
			}
		})
	}
}

func goldenInstallation(t *testing.T, p *product) []byte {
	mine := strings.ReplaceAll(before[p.syntax], "SECTION", p.section)
	a := &txtar.Archive{Comment: []byte(p.title + ".\n"), Files: []txtar.File{{Name: "before", Data: []byte(mine)}}}
	add := func(title, system string, scope Scope, server Server, existing string) {
		m := machine(system)
		r := Request{Client: p.name, Name: "writ", Scope: scope, Server: server}
		if scope == Project && p.file(m, scope) == "" || p.entry(server, "writ") == nil {
			return
		}
		name, data := installed(t, m, r, existing)
		a.Files = append(a.Files, txtar.File{Name: title + ": " + name, Data: data})
	}
	for _, system := range []string{"linux", "darwin", "windows"} {
		add(system, system, User, serverOn(system), mine)
	}
	add("linux, by HTTP", "linux", User, Server{URL: "http://127.0.0.1:7411/mcp"}, mine)
	remote := Server{URL: "https://writ.example/mcp", TokenEnv: "WRIT_TOKEN"}
	if p.reference == "" {
		remote.Token = "the-token"
	}
	add("linux, by HTTP with a token", "linux", User, remote, mine)
	place := machine("linux").Place(Request{Client: p.name, Scope: Project}, "docs")
	add("linux, the project's", "linux", Project, Server{Command: "writ", Args: []string{"serve", place}}, mine)
	add("linux, with no file before", "linux", User, serverOn("linux"), "")
	return txtar.Format(a)
}

// installed installs, installs again and takes out again, and returns the file's place and text after the first.
func installed(t *testing.T, m *Machine, r Request, existing string) (string, []byte) {
	t.Helper()
	p, err := m.Outline(r)
	if err != nil {
		t.Fatal(err)
	}
	if existing != "" {
		put(t, m.FS, p.File, existing, 0o640)
	}
	if p = carry(t, m, r); p.Change != Add {
		t.Errorf("the first run would %s", p.Change)
	}
	data, err := afero.ReadFile(m.FS, p.File)
	if err != nil {
		t.Fatal(err)
	}
	info, err := m.FS.Stat(p.File)
	want := fs.FileMode(0o640)
	if r.Server.Token != "" {
		want = 0o600
	}
	if err != nil || existing != "" && info.Mode().Perm() != want {
		t.Errorf("the mode is %v, %v", info.Mode(), err)
	}
	if again := carry(t, m, r); again.Change != Nothing {
		t.Errorf("the second run would %s", again.Change)
	}
	r.Remove, r.Server = true, Server{}
	if gone := carry(t, m, r); gone.Change != Remove {
		t.Errorf("taking it out would %s", gone.Change)
	}
	if left, err := afero.ReadFile(m.FS, p.File); existing != "" && (string(left) != existing || err != nil) {
		t.Errorf("taken out, it leaves\n%s\nof\n%s", left, existing)
	}
	return p.File, data
}

func carry(t *testing.T, m *Machine, r Request) *Plan {
	t.Helper()
	p, err := m.Plan(r)
	if err != nil {
		t.Fatal(err)
	}
	backup, err := m.Carry(context.Background(), p)
	if err != nil {
		t.Fatal(err)
	}
	kept, _ := afero.ReadFile(m.FS, backup)
	if backup != "" && !bytes.Equal(kept, p.Before) {
		t.Errorf("the backup holds %q", kept)
	}
	if wanted := p.Before != nil && p.Change != Nothing; wanted != (backup != "") {
		t.Errorf("a backup %q of a change that would %s", backup, p.Change)
	}
	return p
}

func put(t *testing.T, files afero.Fs, name, text string, mode fs.FileMode) {
	t.Helper()
	if err := files.MkdirAll(path.Dir(filepath.ToSlash(name)), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := afero.WriteFile(files, name, []byte(text), mode); err != nil {
		t.Fatal(err)
	}
	if err := files.Chmod(name, mode); err != nil {
		t.Fatal(err)
	}
}

// A token is written nowhere unless it was asked for, and never where others can read it.
func TestTokens(t *testing.T) {
	for _, p := range products {
		m := machine("linux")
		r := Request{Client: p.name, Name: "writ", Scope: User, Server: Server{URL: "https://h/mcp", TokenEnv: "WRIT_TOKEN"}}
		plan, err := m.Plan(r)
		switch {
		case p.name == "claude-desktop":
			continue
		case p.reference == "" && !errors.Is(err, ErrNoReference):
			t.Errorf("%s: %v", p.name, err)
		case p.reference != "" && (err != nil || !strings.Contains(string(plan.After), "WRIT_TOKEN")):
			t.Errorf("%s: %v", p.name, err)
		}
		r.Server.Token = "s3cret"
		if plan, err = m.Plan(r); err != nil || !strings.Contains(string(plan.After), "Bearer s3cret") || plan.Mode != 0o600 {
			t.Errorf("%s: %+v, %v", p.name, plan, err)
		}
		r.Scope = Project
		if _, err := m.Plan(r); err == nil {
			t.Errorf("%s: a token goes into a project", p.name)
		}
	}
	for _, wrong := range []Server{{URL: "https://h", TokenEnv: "A-B"}, {URL: "https://h", TokenEnv: "A", Token: "a b"}, {URL: "https://h", TokenEnv: "A", Token: "a\nb"}} {
		if _, err := machine("linux").Plan(Request{Client: "cursor", Name: "writ", Scope: User, Server: wrong}); err == nil {
			t.Errorf("%+v was taken", wrong)
		}
	}
}
