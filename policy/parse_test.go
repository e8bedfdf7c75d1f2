package policy

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/goccy/go-yaml"
	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/spf13/afero"
)

var update = flag.Bool("update", false, "write the wanted errors of ../testdata/policy anew")

// The examples are the files in ../testdata/policy: valid ones; invalid ones, which the schema refuses too; unsound ones,
// whose mistakes no schema can see; and broken ones, which are not YAML. What Parse says of a file stands beside it.
const examples = "../testdata/policy"

func eachExample(t *testing.T, kind string, test func(t *testing.T, file string)) {
	files, err := filepath.Glob(filepath.Join(examples, kind, "*.yaml"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no examples of kind %s: %v", kind, err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".yaml"), func(t *testing.T) { test(t, file) })
	}
}

func TestParseAcceptsValidFiles(t *testing.T) {
	eachExample(t, "valid", func(t *testing.T, file string) {
		c, err := Load(afero.NewOsFs(), file)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := Compile(c); err != nil {
			t.Errorf("Parse accepts what Compile refuses: %v", err)
		}
	})
}

func TestParseTellsWhatIsWrong(t *testing.T) {
	for _, kind := range []string{"invalid", "unsound", "broken"} {
		t.Run(kind, func(t *testing.T) {
			eachExample(t, kind, func(t *testing.T, file string) {
				data, err := os.ReadFile(file)
				if err != nil {
					t.Fatal(err)
				}
				_, err = Parse(data, filepath.Base(file))
				if _, ok := errors.AsType[Mistakes](err); !ok {
					t.Fatalf("got %v, want mistakes", err)
				}
				checkGolden(t, strings.TrimSuffix(file, ".yaml")+".want", err.Error()+"\n")
			})
		})
	}
}

func checkGolden(t *testing.T, file, got string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}

var mistakeLine = regexp.MustCompile(`^x\.yaml:[1-9][0-9]*:[1-9][0-9]*: [A-Za-z].*[.?]$`)

func TestEveryMistakeHasAPlaceAndIsASentence(t *testing.T) {
	for _, kind := range []string{"invalid", "unsound", "broken"} {
		eachExample(t, kind, func(t *testing.T, file string) {
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			_, err = Parse(data, "x.yaml")
			for line := range strings.SplitSeq(err.Error(), "\n") {
				if !mistakeLine.MatchString(line) {
					t.Errorf("not file:line:column and a sentence: %s", line)
				}
			}
		})
	}
}

func TestParseKeepsWhatTheFileSays(t *testing.T) {
	c, err := Load(afero.NewOsFs(), filepath.Join(examples, "valid/all-keys.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	want := Config{
		File: filepath.Join(examples, "valid/all-keys.yaml"),
		Roots: []Root{
			{Name: "repo", Path: filepath.Join(examples, "valid"), Given: "."},
			{Name: "vault", Path: filepath.Join(examples, "vault"), Given: "../vault"},
		},
		Scope: &Scope{
			Read:  []string{"**", ".ci/**"},
			Write: []string{"repo/docs/**", "vault/{inbox,daily}/**"},
			Ask:   []string{"repo/src/**"},
		},
		Notes: Notes{Include: []string{"vault/**/*.md"}, Visibility: Public},
		Limits: Limits{
			FileBytes: 64 << 20, ResultBytes: 1 << 20, ArtifactBytes: 128 << 20, UndoBytes: 2 << 30, UndoDays: 90, CallTime: 90 * time.Second, CallsPerMinute: 600, CallsInFlight: 16, Memory: 1 << 30,
			PageLines: 500, PageEntries: 400, PageMatches: 300, PageNotes: 10,
		},
		Encodings: []Encoding{{"repo/legacy/**", "gb18030"}, {"repo/**/*.sjis", "shift_jis"}},
		Audit:     Audit{File: filepath.Join(examples, "../log/audit.jsonl"), Bytes: 1 << 20, Files: 3},
		Checks:    []Check{{"**/*.py", []string{"python3", "-m", "py_compile", "{path}"}}, {"repo/**/*.sh", []string{"/bin/sh", "-n", "--", "{path}"}}},
		Programs: []Program{
			{
				Name: "go", Path: "/usr/bin/go", Directory: "repo/tools",
				Commands: []Command{{"vet", []string{"./...", "{path}"}}, {"test", []string{"-v", "-run={word}", "-count={number}"}}, {"version", []string{}}},
				Writes:   true, Ask: true, Time: 5 * time.Minute, Memory: 2 << 30, Output: 1 << 20, Env: []string{"GOFLAGS", "LANG"}, Reads: []string{"/usr/lib/go"},
			},
			{Name: "wc", Path: "/usr/bin/wc", Directory: "repo", Allow: []string{"-l", "{path}"}},
		},
		Redact: false,
	}
	if !reflect.DeepEqual(c, want) {
		t.Errorf("got  %+v\nwant %+v", c, want)
	}
}

func TestJSONIsReadAsYAML(t *testing.T) {
	c, err := Parse([]byte(`{"scope": {"read": ["**"], "write": ["\u6587/\ud83d\ude00/**"]}, "limits": {"result_bytes": "64MiB", "file_bytes": 1000000, "calls_per_minute": 1000000}, "redact": false}`), "writ.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if c.Redact || c.Limits.ResultBytes != 64<<20 || c.Limits.FileBytes != 1000000 || c.Limits.CallsPerMinute != 1000000 || c.Scope.Write[0] != "文/😀/**" {
		t.Errorf("got %+v", c)
	}
}

func TestRedactIsOnUnlessSwitchedOff(t *testing.T) {
	for text, want := range map[string]bool{"": true, "scope: {}": true, "redact: true": true, "redact: false": false} {
		c, err := Parse([]byte(text), "writ.yaml")
		if err != nil || compile(t, c).Redact() != want {
			t.Errorf("%q: redact %t, %v; want %t", text, c.Redact, err, want)
		}
	}
}

func TestWithoutScopeNothingIsWritten(t *testing.T) {
	for text, want := range map[string]Zones{
		"":                             {Read: []string{"**"}},
		"redact: true":                 {Read: []string{"**"}},
		"scope: {}":                    {},
		"scope: {read: []}":            {},
		"scope: {write: [docs/**]}":    {Read: []string{"docs/**"}, Write: []string{"docs/**"}},
		"scope: {ask: [a], read: [b]}": {Read: []string{"b", "a"}, Ask: []string{"a"}},
	} {
		c, err := Parse([]byte(text), "writ.yaml")
		if err != nil {
			t.Fatal(err)
		}
		if got := compile(t, c).Zones(); !sameZones(got, want) {
			t.Errorf("%q: zones %+v, want %+v", text, got, want)
		}
	}
}

func TestLoadSaysWhatItCouldNotDo(t *testing.T) {
	mem := afero.NewMemMapFs()
	if _, err := Load(mem, "none.yaml"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a file that is missing: %v", err)
	}
	if err := afero.WriteFile(mem, "big.yaml", bytes.Repeat([]byte("#"), maxFile+1), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Load(mem, "big.yaml"); err == nil || !strings.Contains(err.Error(), "at most") {
		t.Errorf("a file that is too large: %v", err)
	}
}

func TestSchemaAgreesWithTheExamples(t *testing.T) {
	s := compileSchema(t)
	eachExample(t, "valid", func(t *testing.T, file string) {
		if err := s.Validate(valueOf(t, file)); err != nil {
			t.Errorf("the schema refuses a valid file: %v", err)
		}
	})
	eachExample(t, "invalid", func(t *testing.T, file string) {
		if err := s.Validate(valueOf(t, file)); err == nil {
			t.Error("the schema accepts an invalid file")
		}
	})
	eachExample(t, "unsound", func(t *testing.T, file string) {
		if err := s.Validate(valueOf(t, file)); err != nil {
			t.Errorf("the schema sees the mistake, so the example belongs to the invalid ones: %v", err)
		}
	})
}

func compileSchema(t *testing.T) *jsonschema.Schema {
	t.Helper()
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(Schema()))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("schema.json", doc); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile("schema.json")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// valueOf returns the file as a schema sees it. A file without content stands for one without keys.
func valueOf(t *testing.T, file string) any {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var v any
	if err := yaml.UnmarshalWithOptions(bytes.TrimPrefix(data, []byte("\ufeff")), &v, yaml.AllowDuplicateMapKey()); err != nil {
		t.Fatal(err)
	}
	if v == nil {
		return map[string]any{}
	}
	return v
}

// Parse names the keys that a mapping takes when it meets one that is far from all of them.
func TestSchemaAndParseKnowTheSameKeys(t *testing.T) {
	var schema struct {
		Properties map[string]json.RawMessage
	}
	if err := json.Unmarshal(Schema(), &schema); err != nil {
		t.Fatal(err)
	}
	object := func(raw json.RawMessage) (keys []string) {
		var o struct {
			Properties map[string]any
			Items      struct{ Properties map[string]any }
		}
		if err := json.Unmarshal(raw, &o); err != nil {
			t.Fatal(err)
		}
		for key := range o.Properties {
			keys = append(keys, key)
		}
		for key := range o.Items.Properties {
			keys = append(keys, key)
		}
		return keys
	}
	for file, keys := range map[string][]string{
		"qqqqqqqqqqqq: 1":                        object(Schema()),
		"scope: {qqqqqqqqqqqq: 1}":               object(schema.Properties["scope"]),
		"notes: {qqqqqqqqqqqq: 1}":               object(schema.Properties["notes"]),
		"limits: {qqqqqqqqqqqq: 1}":              object(schema.Properties["limits"]),
		"roots: [{qqqqqqqqqqqq: 1, path: root}]": object(schema.Properties["roots"]),
		"programs: [{qqqqqqqqqqqq: 1}]":          object(schema.Properties["programs"]),
	} {
		_, err := Parse([]byte(file), "writ.yaml")
		if err == nil {
			t.Fatalf("%s: accepted", file)
		}
		_, known, _ := strings.Cut(strings.TrimSuffix(err.Error(), "."), "which takes ")
		parsed := strings.FieldsFunc(strings.ReplaceAll(known, " and ", ", "), func(r rune) bool { return r == ',' || r == ' ' })
		if len(keys) == 0 || !sameWords(parsed, keys) {
			t.Errorf("%s: Parse knows %q, the schema %q", file, parsed, keys)
		}
	}
}

func sameWords(a, b []string) bool {
	set := make(map[string]int)
	for _, w := range a {
		set[w]++
	}
	for _, w := range b {
		set[w]--
	}
	for _, n := range set {
		if n != 0 {
			return false
		}
	}
	return true
}

func FuzzParse(f *testing.F) {
	files, err := filepath.Glob(filepath.Join(examples, "*", "*.yaml"))
	if err != nil || len(files) == 0 {
		f.Fatal("no examples", err)
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		c, err := Parse(data, "writ.yaml")
		if err != nil {
			if m, ok := errors.AsType[Mistakes](err); !ok || len(m) == 0 {
				t.Fatalf("an error that is no mistake: %v", err)
			}
			return
		}
		p, err := Compile(c)
		if err != nil {
			t.Fatalf("Parse accepts what Compile refuses: %v", err)
		}
		if c.Scope == nil && p.CanEverWrite() {
			t.Fatal("something may be written without a scope")
		}
	})
}
