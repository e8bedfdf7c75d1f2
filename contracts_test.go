package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"writ/contract"
	"writ/envelope"
	"writ/server"
	"writ/tools"
)

// Each tool has a golden contract, testdata/contracts/NAME.json, so that every change of a name, a description, a
// schema, a hint or a code shows in review.
//
// go test -run Contracts -update rewrites them.
func TestContracts(t *testing.T) {
	for _, tool := range tools.All() {
		t.Run(tool.Name, func(t *testing.T) {
			compareGolden(t, "testdata/contracts/"+tool.Name+".json", goldenContract(t, tool.Contract))
		})
	}
}

func goldenContract(t *testing.T, c *contract.Contract) []byte {
	t.Helper()
	d := server.DefinitionOf(c)
	golden := struct {
		Name        string          `json:"name"`
		Title       string          `json:"title"`
		Description string          `json:"description"`
		Core        bool            `json:"core"`
		Effect      string          `json:"effect"`
		ReadOnly    bool            `json:"readOnlyHint"`
		Destructive bool            `json:"destructiveHint"`
		Idempotent  bool            `json:"idempotentHint"`
		Codes       []envelope.Code `json:"codes"`
		Input       json.RawMessage `json:"inputSchema"`
		Outline     json.RawMessage `json:"outputSchema,omitempty"`
		Answer      json.RawMessage `json:"answer"`
	}{
		c.Name, c.Title, c.Doc, c.Core, effectOf(c), d.ReadOnly, d.Destructive, d.Idempotent,
		c.Codes, c.InputSchema(), c.OutputSchema(), c.FullOutputSchema(),
	}
	if golden.Codes == nil {
		golden.Codes = []envelope.Code{}
	}
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	if err := encoder.Encode(golden); err != nil {
		t.Fatal(err)
	}
	return text.Bytes()
}

// compareGolden compares got with the file, or with -update writes it there.
func compareGolden(t *testing.T, file string, got []byte) {
	t.Helper()
	if *update {
		if err := os.WriteFile(file, got, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatalf("%v; go test -run Contracts -update writes it", err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s differs%s\nIf the change is meant: go test -run Contracts -update", file, firstDifference(string(got), string(want)))
	}
}

func firstDifference(got, want string) string {
	g, w := strings.Split(got, "\n"), strings.Split(want, "\n")
	for i := range min(len(g), len(w)) {
		if g[i] != w[i] {
			return fmt.Sprintf(" in line %d\ngot  %s\nwant %s", i+1, g[i], w[i])
		}
	}
	return " in length"
}

// Every code of a contract has a status, and none is named twice or among those that all tools share.
func TestContractsNameKnownCodes(t *testing.T) {
	for _, tool := range tools.All() {
		seen := map[envelope.Code]bool{}
		for _, code := range tool.AllCodes() {
			if code.Status() == "" {
				t.Errorf("%s: %s is no code", tool.Name, code)
			}
			if seen[code] {
				t.Errorf("%s names the code %s twice", tool.Name, code)
			}
			seen[code] = true
		}
	}
}

// listedTool is one tool as a client gets it.
type listedTool struct {
	Name         string
	Title        string
	Description  string
	InputSchema  map[string]any
	OutputSchema map[string]any
	Annotations  map[string]any
}

// listTools asks a server that offers the profile for its tools, and also returns the length of its answer in bytes. Whoever
// asks for all gets those too that only some policies have.
func listTools(t *testing.T, profile string) (list []listedTool, size int) {
	t.Helper()
	o := options{profile: profile, state: t.TempDir(), write: []string{"**"}}
	if profile == "all" {
		o.policyFile = filepath.Join(t.TempDir(), "writ.yaml")
		if err := os.WriteFile(o.policyFile, []byte("programs: [{name: echo, path: /bin/echo}]\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	c := startClient(t, o, t.TempDir())
	var result struct{ Tools []listedTool }
	raw := c.raw(t, "tools/list", "{}")
	if err := json.Unmarshal(raw, &result); err != nil {
		t.Fatal(err)
	}
	return result.Tools, len(raw)
}

// What the default profile costs every conversation, in bytes: at most 10 KB.
func TestCoreDefinitionsAreSmall(t *testing.T) {
	const most = 10 << 10
	list, size := listTools(t, "core")
	t.Logf("%d tools in %d bytes", len(list), size)
	if size > most {
		t.Errorf("the core profile takes %d bytes, at most %d are allowed", size, most)
	}
	for _, tool := range list {
		if !slices.ContainsFunc(tools.All(), func(known *tools.Tool) bool { return known.Name == tool.Name && known.Core }) {
			t.Errorf("%s is listed, but not in the core profile", tool.Name)
		}
	}
}

// The hints of each tool, from the contract: R reads only, D can make text go away, I may be repeated.
var hints = map[string]string{
	"search_notes": "R", "search_text": "R", "find_files": "R", "list_directory": "R", "read_file": "R", "read_files": "R",
	"read_media": "R", "get_file_info": "R", "get_scope": "R", "preview_replace": "R", "list_changes": "R",
	"get_outcome": "R", "read_artifact": "R",
	"replace_text": "D", "overwrite_file": "D", "move_file": "D", "delete_file": "D", "apply_edits": "D",
	"revert_change": "D", "run_program": "D",
	"append_text": "", "create_file": "", "create_directory": "I",
}

func TestHints(t *testing.T) {
	list, _ := listTools(t, "all")
	for _, tool := range list {
		letters, known := hints[tool.Name]
		if !known {
			t.Errorf("%s is not in the table of hints", tool.Name)
			continue
		}
		reads := letters == "R"
		want := map[string]any{
			"readOnlyHint": reads, "destructiveHint": letters == "D", "idempotentHint": reads || letters == "I", "openWorldHint": false,
		}
		if compact(tool.Annotations) != compact(want) {
			t.Errorf("%s has the hints %s, want %s", tool.Name, compact(tool.Annotations), compact(want))
		}
	}
}

var (
	toolName     = regexp.MustCompile(`^[a-z]+(_[a-z]+)+$`)
	propertyName = regexp.MustCompile(`^[a-z][a-z0-9_]{0,40}$`)

	// The keywords that every client takes.
	schemaKeywords = strings.Fields("type properties required additionalProperties items enum description default " +
		"minimum maximum minItems maxItems minLength maxLength title")
	schemaTypes = strings.Fields("string integer number boolean array object")
)

// The rules that clients of every make hold tool definitions to; what breaks one of them makes some client drop the
// tool, or all of them.
func TestDefinitionsSuitEveryClient(t *testing.T) {
	list, _ := listTools(t, "all")
	if len(list) != len(tools.All()) || len(list) > 25 {
		t.Errorf("%d tools are listed of %d; clients take 25 without loss", len(list), len(tools.All()))
	}
	for _, tool := range list {
		if !toolName.MatchString(tool.Name) || len(tool.Name) > 40 {
			t.Errorf("%s: a tool's name is verb_object in at most 40 characters", tool.Name)
		}
		if n := len(tool.Description); n < 40 || n > 1024 {
			t.Errorf("%s: the description has %d bytes; 40 to 1024 are right", tool.Name, n)
		}
		if tool.Title == "" {
			t.Errorf("%s has no title", tool.Name)
		}
		lint{t, tool.Name}.input(tool.InputSchema)
		lint{t, tool.Name}.output(tool.OutputSchema)
	}
}

// lint tells what is wrong in the schemas of one tool.
type lint struct {
	*testing.T
	tool string
}

func (l lint) input(root map[string]any) {
	l.Helper()
	for key := range root {
		if !slices.Contains([]string{"type", "properties", "required", "additionalProperties"}, key) {
			l.Errorf("%s: %s stands at the root of the input", l.tool, key)
		}
	}
	if root["type"] != "object" || root["properties"] == nil {
		l.Errorf("%s: the input is no object with properties", l.tool)
	}
	l.schema("input", root, 0)
}

func (l lint) schema(at string, s map[string]any, depth int) {
	l.Helper()
	if depth > 3 { // below the root: its properties, their items, and the properties of these
		l.Errorf("%s: %s lies too deep", l.tool, at)
	}
	for key := range s {
		if !slices.Contains(schemaKeywords, key) {
			l.Errorf("%s: %s has the keyword %s", l.tool, at, key)
		}
	}
	kind, _ := s["type"].(string)
	if !slices.Contains(schemaTypes, kind) {
		l.Errorf("%s: %s has the type %v", l.tool, at, s["type"])
	}
	if kind == "object" && s["additionalProperties"] != false {
		l.Errorf("%s: %s takes unknown properties", l.tool, at)
	}
	if items, ok := s["items"].(map[string]any); ok {
		l.schema(at+"[]", items, depth+1)
	} else if kind == "array" {
		l.Errorf("%s: %s is an array of anything", l.tool, at)
	}
	properties, _ := s["properties"].(map[string]any)
	for name, value := range properties {
		property, ok := value.(map[string]any)
		if !ok || !propertyName.MatchString(name) {
			l.Errorf("%s: %s.%s is no schema, or its name is not snake_case", l.tool, at, name)
			continue
		}
		if description, _ := property["description"].(string); description == "" {
			l.Errorf("%s: %s.%s has no description", l.tool, at, name)
		}
		l.schema(at+"."+name, property, depth+1)
	}
	required, _ := s["required"].([]any)
	for _, name := range required {
		if properties[name.(string)] == nil {
			l.Errorf("%s: %s requires %v, which it does not have", l.tool, at, name)
		}
	}
}

// output looks at the published outline of an answer: an object, flat, with one type a property; changed_file alone may
// be null.
func (l lint) output(s map[string]any) {
	l.Helper()
	if bulk := slices.Contains([]string{"read_file", "read_files", "read_artifact"}, l.tool); bulk != (s == nil) {
		l.Errorf("%s: publishes an output schema: %v", l.tool, s != nil)
	}
	if s == nil {
		return
	}
	if s["type"] != "object" {
		l.Errorf("%s: the output is no object", l.tool)
	}
	for _, name := range []string{"request_id", "status", "retry_safe", "next", "errors", "warnings", "normalizations"} {
		if required, _ := s["required"].([]any); !slices.Contains(required, any(name)) {
			l.Errorf("%s: the output need not have %s", l.tool, name)
		}
	}
	properties, _ := s["properties"].(map[string]any)
	for name, value := range properties {
		kind := value.(map[string]any)["type"]
		if name == "changed_file" && compact(kind) == `["string","null"]` {
			continue
		}
		if word, ok := kind.(string); !ok || !slices.Contains(schemaTypes, word) {
			l.Errorf("%s: the output's %s has the type %v", l.tool, name, kind)
		}
	}
}

// The README's table of tools is the contracts'. go test -run README -update rewrites it.
func TestREADMEHasTheTools(t *testing.T) {
	const file, from, to = "README.md", "<!-- tools -->\n", "<!-- /tools -->"
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	text := string(data)
	before, rest, begun := strings.Cut(text, from)
	table, after, ended := strings.Cut(rest, to)
	if !begun || !ended {
		t.Fatalf("%s has no table between %q and %q", file, from, to)
	}
	want := toolTable()
	switch {
	case table == want:
	case *update:
		if err := os.WriteFile(file, []byte(before+from+want+to+after), 0o644); err != nil {
			t.Fatal(err)
		}
	default:
		t.Errorf("the table of tools differs%s\ngo test -run README -update rewrites it", firstDifference(table, want))
	}
}

func toolTable() string {
	var b strings.Builder
	b.WriteString("| tool | effect | what it does |\n| --- | --- | --- |\n")
	for _, tool := range tools.All() {
		mark := ""
		if tool.Core {
			mark = "*"
		}
		fmt.Fprintf(&b, "| `%s`%s | %s | %s |\n", tool.Name, mark, effectOf(tool.Contract), tool.Title)
	}
	return b.String()
}

// What the policy can never allow is not listed, and answers as an unknown tool.
func TestReadOnlyServerOffersNoWrites(t *testing.T) {
	c := startClient(t, options{profile: "all", read: []string{"**"}, state: t.TempDir()}, t.TempDir())
	for _, listed := range c.request(t, "tools/list", `{}`)["tools"].([]any) {
		name := listed.(map[string]any)["name"].(string)
		if effect := contractOf(name).Effect; effect.Writes || effect.Prepares {
			t.Errorf("%s is listed", name)
		}
	}
	if m := c.exchange(t, "tools/call", `{"name":"create_file","arguments":{"path":"a","content":""}}`); m.Error == nil {
		t.Error("create_file was answered with a result")
	}
}

// Programs that are declared are offered in the default profile too, also where nothing may be written.
func TestDeclaredProgramsAreOffered(t *testing.T) {
	file := filepath.Join(t.TempDir(), "writ.yaml")
	if err := os.WriteFile(file, []byte("programs: [{name: echo, path: /bin/echo, allow: [hello]}]\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	c := startClient(t, options{profile: "core", policyFile: file, state: t.TempDir()}, t.TempDir())
	var names []string
	for _, listed := range c.request(t, "tools/list", `{}`)["tools"].([]any) {
		names = append(names, listed.(map[string]any)["name"].(string))
	}
	if !slices.Contains(names, "run_program") || slices.Contains(names, "create_file") {
		t.Errorf("%v are listed", names)
	}
	if answer := c.call(t, "run_program", `{"program": "echo", "args": ["hello"]}`); answer.envelope["output"] != "hello\n" {
		t.Errorf("%s", compact(answer.envelope))
	}
}
