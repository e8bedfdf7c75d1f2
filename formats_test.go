package main

import (
	"bytes"
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"
)

// The tools in the form of each API are golden files: go test -run Formats -update rewrites them.
func TestFormats(t *testing.T) {
	for _, format := range []string{"openai", "anthropic", "gemini", "mcp"} {
		got := writ(t, "", "tools", "--all", "--format", format)
		var indented bytes.Buffer
		if err := json.Indent(&indented, []byte(got.stdout), "", "  "); err != nil || got.status != 0 || got.stderr != "" {
			t.Fatalf("%v: %+v", err, got)
		}
		file := "testdata/formats/" + format + ".json"
		want, err := os.ReadFile(file)
		if *update {
			err = os.WriteFile(file, indented.Bytes(), 0o644)
		} else if !bytes.Equal(want, indented.Bytes()) {
			t.Errorf("%s differs%s", file, firstDifference(string(want), indented.String()))
		}
		if err != nil {
			t.Error(err)
		}
	}
	if got := writ(t, "", "tools", "--format", "xml"); got.status != 2 || !strings.Contains(got.stderr, `no format "xml"`) {
		t.Errorf("%+v", got)
	}
}

// Gemini refuses a whole request for one keyword that it does not know, or for an object of nothing.
func TestGeminiTakesTheSchemas(t *testing.T) {
	got := writ(t, "", "tools", "--all", "--format", "gemini")
	var list []struct {
		FunctionDeclarations []struct {
			Name       string         `json:"name"`
			Parameters map[string]any `json:"parameters"`
		} `json:"functionDeclarations"`
	}
	if err := json.Unmarshal([]byte(got.stdout), &list); err != nil || len(list) != 1 || len(list[0].FunctionDeclarations) != len(allTools()) {
		t.Fatalf("%v in %s", err, got.stdout)
	}
	known := strings.Fields("type description properties required items enum default minimum maximum minItems maxItems minLength maxLength")
	var look func(at string, s map[string]any)
	look = func(at string, s map[string]any) {
		for key := range s {
			if !slices.Contains(known, key) {
				t.Errorf("%s has %s", at, key)
			}
		}
		properties, _ := s["properties"].(map[string]any)
		if s["type"] == "object" && len(properties) == 0 {
			t.Errorf("%s is an object of nothing", at)
		}
		for name, p := range properties {
			look(at+"."+name, p.(map[string]any))
		}
		if items, ok := s["items"].(map[string]any); ok {
			look(at+"[]", items)
		}
	}
	for _, d := range list[0].FunctionDeclarations {
		if d.Parameters != nil {
			look(d.Name, d.Parameters)
		}
	}
}

// The bridge is the same gate: what it changes is on the disk, and what is not allowed is denied.
func TestBridgeCommand(t *testing.T) {
	t.Parallel()
	root := vault(t, "a.md", "one\n")
	in := `{"type":"function_call","call_id":"c1","name":"create_file","arguments":"{\"path\":\"b.md\",\"content\":\"x\"}"}` + "\n" +
		`{"type":"function_call","call_id":"c2","name":"read_file","arguments":"{\"path\":\"../a.md\"}"}` + "\n" +
		`{"type":"function_call","call_id":"c3","name":"read_file","arguments":"{\"path\":\"a.md\"}"}`
	got := writ(t, in, "bridge", "--write", "b.md", root)
	for _, want := range []string{`"call_id":"c1","output":"{`, `\"status\":\"succeeded\"`, `"call_id":"c2","output":"{`, `\"code\":\"path-not-allowed\"`, `"call_id":"c3","output":[{`, `{"type":"input_text","text":"one\n"}`} {
		if !strings.Contains(got.stdout, want) {
			t.Errorf("%+v lacks %s", got, want)
		}
	}
	if data, err := os.ReadFile(root + "/b.md"); string(data) != "x" || got.status != 0 || strings.Count(got.stdout, "\n") != 3 {
		t.Errorf("b.md holds %q, %v; %+v", data, err, got)
	}
}

// What goes into a request are the tools that a server or a bridge with the same flags has, and no others: a model that
// is offered a tool which is not there wastes its calls.
func TestToolsAreThoseOfThePolicy(t *testing.T) {
	t.Parallel()
	root := vault(t, "writ.yaml", "roots: [{path: .}]\nscope: {read: [\"**\"], ask: [\"a/**\"]}\n")
	policy := root + "/writ.yaml"
	for _, flags := range [][]string{
		{"--root", root}, {"--read", "**"}, {"--write", "a/**", "--root", root}, {"--write="}, {"--policy", policy},
		{"--policy", policy, "--read-only"}, {"--write", "**", "--read-only", "--root", root},
	} {
		listed := writ(t, "", append([]string{"tools", "--all", "--json"}, flags...)...)
		var names []string
		for line := range strings.Lines(listed.stdout) {
			var d struct{ Name string }
			if err := json.Unmarshal([]byte(line), &d); err != nil {
				t.Fatal(err)
			}
			names = append(names, d.Name)
		}
		if flags[0] != "--root" && !slices.Contains(flags, policy) && !slices.Contains(flags, "--root") {
			flags = append(flags, "--root", root)
		}
		scope := writ(t, "", append([]string{"call", "get_scope", "--state", t.TempDir()}, flags...)...)
		var has struct {
			Tools []string
			Zones struct{ Read, Write, Ask []string }
		}
		if err := json.Unmarshal([]byte(scope.stdout), &has); err != nil || !slices.Equal(names, has.Tools) {
			t.Errorf("%v: %v, %v\n%+v\n%v", flags, err, names, listed, has.Tools)
		}
		if slices.Contains(flags, "--read-only") && (len(has.Zones.Write)+len(has.Zones.Ask) > 0 || len(has.Zones.Read) == 0) {
			t.Errorf("%v: %+v", flags, has.Zones)
		}
	}
	if got := writ(t, "", "tools", "--policy", root+"/none.yaml"); got.status != 2 || got.stdout != "" {
		t.Errorf("%+v", got)
	}
}
