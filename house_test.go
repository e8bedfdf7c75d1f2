package main

import (
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// The rooms, and whom each may import. A room imports only what it could not do without: policy does not know tools,
// tools do not know policy, and only the server knows the protocol. Tests may import more.
var rooms = map[string][]string{
	"envelope":  {},
	"walls":     {},
	"programs":  {"walls"},
	"contract":  {"envelope"},
	"policy":    {"contract", "envelope"},
	"workspace": {"contract", "envelope"},
	"ledger":    {"contract", "envelope"},
	"notes":     {"workspace", "contract", "envelope"},
	"checks":    {"notes"},
	"tools":     {"notes", "workspace", "contract", "envelope"},
	"gate":      {"tools", "checks", "programs", "walls", "notes", "workspace", "policy", "ledger", "contract", "envelope"},
	"callers":   {"policy"},
	"server":    {"gate", "callers", "tools", "contract", "envelope"},
	"client":    {"gate", "tools", "contract", "envelope"},
	"release":   {"tools", "contract", "envelope"},
	"console":   {"gate", "workspace", "policy", "ledger", "contract", "envelope"},
	".":         {"client", "server", "console", "callers", "gate", "tools", "notes", "workspace", "policy", "ledger", "contract", "envelope", "walls", "programs"},
}

// Packages that only some rooms may import, each with its reason.
var reserved = []struct {
	prefix string
	rooms  []string
	why    string
}{
	{"github.com/mark3labs/mcp-go", []string{"server"}, "only the server knows the protocol's library"},
	{"modernc.org/sqlite", []string{"ledger", "notes"}, "only the ledger and the notes index keep a database"},
	{"github.com/go-jose/go-jose", []string{"callers"}, "only callers knows how a token is made"},
	{"github.com/VictoriaMetrics/metrics", []string{"server"}, "only the server counts what it does"},
	{"os/exec", []string{".", "programs", "release"}, "only programs starts one, but for the client's own command that installs, and the builds of a release"},
	{"github.com/landlock-lsm/go-landlock", []string{"walls"}, "only the walls speak to the kernel about this process"},
	{"net", []string{"server", "console"}, "only the server and the console are on the network"},
	{"unsafe", []string{"workspace"}, "only system calls need it"},
	{"os", []string{".", "walls", "programs", "workspace", "ledger", "notes", "policy", "server", "client", "release"}, "nothing but the workspace touches files under a root"},
}

// Tools reach nothing but through what they are handed. Of io/fs they may have the types.
var toolsMayImport = []string{"cmp", "context", "errors", "fmt", "io/fs", "maps", "reflect", "slices", "strconv", "strings", "time", "unicode", "unicode/utf8"}

func TestEveryRoomKeepsItsWalls(t *testing.T) {
	for room, allowed := range rooms {
		for file, imports := range importsOf(t, room) {
			for _, name := range imports {
				if neighbour, ours := strings.CutPrefix(name, "writ/"); ours && !slices.Contains(allowed, neighbour) {
					t.Errorf("%s imports %s; %s may import %v", file, name, room, allowed)
				}
				for _, r := range reserved {
					if (name == r.prefix || strings.HasPrefix(name, r.prefix+"/") && r.prefix != "os" && name != "net/http" && name != "net/url") && !slices.Contains(r.rooms, room) {
						t.Errorf("%s imports %s: %s", file, name, r.why)
					}
				}
				if room == "tools" && !strings.HasPrefix(name, "writ/") && !slices.Contains(toolsMayImport, name) {
					t.Errorf("%s imports %s: a tool reaches nothing but through what it is handed", file, name)
				}
			}
		}
	}
}

// Every package is a room, and no room is in another.
func TestThereAreNoOtherRooms(t *testing.T) {
	err := filepath.WalkDir(".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || !d.IsDir() {
			return err
		}
		if name != "." && (strings.HasPrefix(d.Name(), ".") || d.Name() == "testdata") {
			return filepath.SkipDir
		}
		files, err := filepath.Glob(filepath.Join(name, "*.go"))
		if err == nil && len(files) > 0 && rooms[filepath.ToSlash(name)] == nil {
			t.Errorf("%s is a package, but no room", name)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// A tool is one file that bears its name, and has one script of the same name.
func TestEveryToolIsOneFile(t *testing.T) {
	for _, tool := range allTools() {
		for _, file := range []string{"tools/" + tool + ".go", "testdata/tools/" + tool + ".txtar", "testdata/contracts/" + tool + ".json"} {
			if _, err := os.Stat(file); err != nil {
				t.Errorf("%s: %v", tool, err)
			}
		}
	}
}

// importsOf lists what each file of a room imports, tests aside.
func importsOf(t *testing.T, room string) map[string][]string {
	t.Helper()
	files, err := filepath.Glob(path.Join(room, "*.go"))
	if err != nil || len(files) == 0 {
		t.Fatalf("the room %s has no files (%v)", room, err)
	}
	all := map[string][]string{}
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ImportsOnly)
		if err != nil {
			t.Fatal(err)
		}
		for _, spec := range parsed.Imports {
			name, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				t.Fatal(err)
			}
			all[file] = append(all[file], name)
		}
	}
	return all
}
