package client

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/spf13/afero"
)

// disk is a machine whose home is a directory of the test, on the disk.
func disk(t *testing.T) *Machine {
	m := machine("linux")
	m.FS, m.Home, m.Dir = afero.NewOsFs(), filepath.ToSlash(t.TempDir()), filepath.ToSlash(t.TempDir())
	return m
}

func request(product string) Request {
	return Request{Client: product, Name: "writ", Scope: User, Server: Server{Command: "/bin/writ", Args: []string{"serve", "/notes"}}}
}

// A file that is a link, as dotfiles are, stays one; what it leads to is written.
func TestLinksStay(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("links need rights here")
	}
	m := disk(t)
	kept := filepath.Join(m.Home, "dotfiles", "cursor.json")
	put(t, m.FS, kept, "{}\n", 0o604)
	link := filepath.Join(m.Home, ".cursor", "mcp.json")
	for _, step := range []error{
		os.Mkdir(filepath.Dir(link), 0o755),
		os.Symlink("../dotfiles/by-way", link),
		os.Symlink(kept, filepath.Join(m.Home, "dotfiles", "by-way")),
	} {
		if step != nil {
			t.Fatal(step)
		}
	}
	p := carry(t, m, request("cursor"))
	if p.Target != kept || p.File != filepath.ToSlash(link) {
		t.Errorf("the file is %s, its target %s", p.File, p.Target)
	}
	if target, err := os.Readlink(link); target != "../dotfiles/by-way" {
		t.Errorf("the link leads to %q, %v", target, err)
	}
	info, err := os.Stat(kept)
	if data, _ := os.ReadFile(kept); err != nil || !json.Valid(data) || !strings.Contains(string(data), "/bin/writ") || info.Mode().Perm() != 0o604 {
		t.Errorf("%v holds %q, %v", info, data, err)
	}
	if list, _ := filepath.Glob(filepath.Join(m.Home, "*", ".writ-*")); len(list) > 0 {
		t.Errorf("%v is left", list)
	}
}

// A ring of links is refused.
func TestLinksInARing(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("links need rights here")
	}
	m := disk(t)
	if err := errors.Join(os.Mkdir(filepath.Join(m.Home, ".cursor"), 0o755), os.Symlink("mcp.json", filepath.Join(m.Home, ".cursor", "mcp.json"))); err != nil {
		t.Fatal(err)
	}
	if _, err := m.Plan(request("cursor")); err == nil {
		t.Error("it has a plan")
	}
}

// What another program writes after the plan was made is not lost.
func TestChangedInBetween(t *testing.T) {
	for _, before := range []string{"", "{}"} {
		m := disk(t)
		name := filepath.Join(m.Home, ".cursor", "mcp.json")
		if before != "" {
			put(t, m.FS, name, before, 0o644)
		}
		p, err := m.Plan(request("cursor"))
		if err != nil {
			t.Fatal(err)
		}
		put(t, m.FS, name, `{"theirs": 1}`, 0o644)
		if _, err := m.Carry(t.Context(), p); !errors.Is(err, ErrChanged) {
			t.Errorf("carried out: %v", err)
		}
		if data, err := os.ReadFile(name); string(data) != `{"theirs": 1}` {
			t.Errorf("the file holds %q, %v", data, err)
		}
	}
}

// A file that can't be read, or holds another entry, keeps every byte, and nothing is left beside it.
func TestUntouched(t *testing.T) {
	for text, want := range map[string]error{
		`{"mcpServers": {"writ": {"command": "other"}}}`: ErrDiffers,
		`{"mcpServers": `:    ErrUnreadable,
		`{"mcpServers": []}`: ErrForm,
	} {
		m := disk(t)
		name := filepath.Join(m.Home, ".cursor", "mcp.json")
		put(t, m.FS, name, text, 0o644)
		if _, err := m.Plan(request("cursor")); !errors.Is(err, want) {
			t.Errorf("%s: %v, want %v", text, err, want)
		}
		list, _ := os.ReadDir(filepath.Dir(name))
		if data, err := os.ReadFile(name); string(data) != text || len(list) != 1 {
			t.Errorf("%q became %q, %v; beside it %v", text, data, err, list)
		}
	}
}

// Another entry of the name is replaced by force, and one that a person added to is left as it is.
func TestOtherEntries(t *testing.T) {
	m := disk(t)
	name := filepath.Join(m.Home, ".cursor", "mcp.json")
	put(t, m.FS, name, `{"mcpServers": {"writ": {"command": "other"}}}`, 0o644)
	r := request("cursor")
	r.Force = true
	if p := carry(t, m, r); p.Change != Replace {
		t.Errorf("it would %s", p.Change)
	}
	data, err := os.ReadFile(name)
	if want := `{"mcpServers": {"writ": {"command": "/bin/writ", "args": ["serve", "/notes"]}}}`; string(data) != want {
		t.Errorf("it holds %s, %v", data, err)
	}
	put(t, m.FS, name, strings.Replace(string(data), `]}}`, `], "autoApprove": ["read_file"]}}`, 1), 0o644)
	if p := carry(t, m, request("cursor")); p.Change != Nothing {
		t.Errorf("with an addition it would %s", p.Change)
	}
}

// A backup never takes the place of an older one.
func TestBackupsAreKept(t *testing.T) {
	m := disk(t)
	name := filepath.Join(m.Home, ".cursor", "mcp.json")
	first := name + ".before-writ-20261130-204510"
	put(t, m.FS, name, `{}`, 0o644)
	put(t, m.FS, first, "older", 0o644)
	carry(t, m, request("cursor"))
	for file, want := range map[string]string{first: "older", first + "-2": "{}"} {
		if data, err := os.ReadFile(file); string(data) != want {
			t.Errorf("%s holds %q, %v", file, data, err)
		}
	}
}

// Where the client's own command is on the path it does the work, and what it did is looked at.
func TestNativeCommand(t *testing.T) {
	m := disk(t)
	m.LookPath = func(string) (string, error) { return "/bin/claude", nil }
	var ran []string
	written := `{"mcpServers": {"writ": {"type": "stdio", "command": "/bin/writ", "args": ["serve", "/notes"], "env": {}}}}`
	m.Run = func(_ context.Context, name string, args ...string) error {
		ran = append(ran, strings.Join(append([]string{name}, args...), " "))
		return afero.WriteFile(m.FS, filepath.Join(m.Home, ".claude.json"), []byte(written), 0o600)
	}
	r := request("claude-code")
	if p := carry(t, m, r); !p.Native {
		t.Error("it is not native")
	}
	want := `claude mcp add-json -s user writ {"type": "stdio", "command": "/bin/writ", "args": ["serve", "/notes"]}`
	if len(ran) != 1 || ran[0] != want {
		t.Errorf("it ran %q", ran)
	}
	if p := carry(t, m, r); p.Change != Nothing || len(ran) != 1 {
		t.Errorf("the second time it would %s, and ran %q", p.Change, ran)
	}
	r.Remove, written = true, `{}`
	if carry(t, m, r); len(ran) != 2 || ran[1] != "claude mcp remove -s user writ" {
		t.Errorf("it ran %q", ran)
	}
	r.Remove = false // and the command that does nothing is found out
	p, err := m.Plan(r)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := m.Carry(t.Context(), p); err == nil || !strings.Contains(err.Error(), "not as it should be") {
		t.Errorf("carried out: %v", err)
	}
	r.FileOnly = true
	if p, err := m.Plan(r); err != nil || p.Native {
		t.Errorf("native in spite of FileOnly, %v", err)
	}
}

// Directories that the environment names are gone to.
func TestPlacesByEnvironment(t *testing.T) {
	m := machine("linux")
	m.Env = func(name string) string {
		return map[string]string{"CODEX_HOME": "/c", "XDG_CONFIG_HOME": "/x", "CLAUDE_CONFIG_DIR": "/d"}[name]
	}
	for product, want := range map[string]string{
		"codex": "/c/config.toml", "zed": "/x/zed/settings.json", "claude-code": "/d/.claude.json", "vscode": "/x/Code/User/mcp.json",
	} {
		if p, err := m.Outline(request(product)); err != nil || p.File != want {
			t.Errorf("%s: %v, %v", product, p, err)
		}
	}
	w := machine("windows")
	put(t, w.FS, "C:/Users/ada/AppData/Local/Packages/Claude_x1/LocalCache/Roaming/Claude/other.json", "{}", 0o644)
	want := "C:/Users/ada/AppData/Local/Packages/Claude_x1/LocalCache/Roaming/Claude/claude_desktop_config.json"
	if p, err := w.Outline(request("claude-desktop")); err != nil || p.File != want {
		t.Errorf("the packaged Claude Desktop: %v, %v", p, err)
	}
	put(t, m.FS, "/x/opencode/opencode.jsonc", "{}", 0o644)
	if p, err := m.Outline(request("opencode")); err != nil || p.File != "/x/opencode/opencode.jsonc" {
		t.Errorf("opencode: %v, %v", p, err)
	}
}

func TestMistakes(t *testing.T) {
	m := machine("linux")
	for name, spoil := range map[string]func(*Request){
		"a client that is not known":        func(r *Request) { r.Client = "emacs" },
		"a name that is none":               func(r *Request) { r.Name = "a.b" },
		"no configuration of a project":     func(r *Request) { r.Client, r.Scope = "windsurf", Project },
		"HTTP where programs are started":   func(r *Request) { r.Client, r.Server = "claude-desktop", Server{URL: "http://h/mcp"} },
		"an argument that is not in UTF-8":  func(r *Request) { r.Server.Args = []string{"\xff"} },
		"an argument with a null character": func(r *Request) { r.Server.Args = []string{"a\x00"} },
	} {
		r := request("cursor")
		spoil(&r)
		if p, err := m.Plan(r); err == nil {
			t.Errorf("%s: %v", name, p)
		}
	}
}

// A path is absolute for a person, and from the project's directory for a project.
func TestPlaces(t *testing.T) {
	m := machine("linux")
	for _, c := range []struct {
		product string
		scope   Scope
		name    string
		want    string
	}{
		{"cursor", User, ".", "/home/ada/garden"},
		{"cursor", User, "docs", "/home/ada/garden/docs"},
		{"cursor", Project, ".", "${workspaceFolder}"},
		{"cursor", Project, "./docs/", "${workspaceFolder}/docs"},
		{"cursor", Project, "/notes", "/notes"},
		{"codex", Project, "docs", "docs"},
		{"codex", Project, ".", "."},
	} {
		if got := m.Place(Request{Client: c.product, Scope: c.scope}, c.name); got != c.want {
			t.Errorf("%s of the %s for %s is %s, want %s", c.name, c.scope, c.product, got, c.want)
		}
	}
}
