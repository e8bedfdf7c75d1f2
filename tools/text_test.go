package tools

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"writ/contract"
)

// Strings of outputs that are the server's own words, or the names of files and calls. All others are text of files,
// and say so by a tag, so that a last look is taken at them before they leave.
var ourWords = map[string]bool{
	// What a policy declares, and the name of a signal.
	"ScopeProgram.program": true, "ScopeProgram.command": true, "ScopeProgram.arguments": true, "ScopeProgram.directory": true,
	"runProgramOut.signal": true,

	"truncated.unit": true, "fileItem.path": true, "editItem.path": true, "textFacts.encoding": true, "textFacts.line_endings": true,
	"getFileInfoOut.kind": true, "getFileInfoOut.mode": true, "getFileInfoOut.encoding": true, "getFileInfoOut.line_endings": true,
	"access.read": true, "access.write": true, "listedEntry.name": true, "listedEntry.kind": true, "listedEntry.link_target": true,
	"Scope.roots": true, "Scope.tools": true, "ScopeZones.read": true, "ScopeZones.write": true, "ScopeZones.ask": true,
	"written.change_id": true, "createDirectoryOut.change_id": true, "editItem.change_id": true, "applyEditsOut.change_id": true,
	"applyEditsOut.artifact": true, "truncated.artifact": true, "listedChange.change_id": true, "listedChange.request_id": true, "listedChange.tool": true, "listedChange.batch": true,
	"getOutcomeOut.tool": true, "readMediaOut.media_type": true, "searchNotesOut.tier": true, "Diagnosis.differs": true,
	"Check.checker": true, "Check.status": true, "Check.reason": true, "Scope.sandbox": true,
	"StoppedCall.tool": true, "StoppedCall.first_code": true, "Unsettled.path": true, "Unsettled.request_id": true,
}

func TestEveryStringOfAnOutputIsKnown(t *testing.T) {
	met := map[string]bool{}
	for _, tool := range All() {
		checkStrings(t, tool.output, met)
	}
	for name := range ourWords {
		if !met[name] {
			t.Errorf("no output has %s", name)
		}
	}
}

// What shows text without its secrets kept back is for the workspace alone.
func TestTextIsDecodedByTheReader(t *testing.T) {
	for _, pattern := range []string{"*.go", "../gate/*.go", "../notes/*.go"} {
		files, err := filepath.Glob(pattern)
		if err != nil || len(files) == 0 {
			t.Fatalf("%s: no files (%v)", pattern, err)
		}
		for _, file := range files {
			if strings.HasSuffix(file, "_test.go") {
				continue // tests answer nobody
			}
			source, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			for _, bare := range []string{"workspace.DecodeText("} {
				if strings.Contains(string(source), bare) {
					t.Errorf("%s calls %s…): what it gives shows secrets; use Reader.Decode and Reader.Diff", file, bare)
				}
			}
		}
	}
}

func checkStrings(t *testing.T, out reflect.Type, met map[string]bool) {
	switch out.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Array, reflect.Map:
		checkStrings(t, out.Elem(), met)
		return
	case reflect.Struct:
	default:
		return
	}
	if out == reflect.TypeFor[time.Time]() || out == reflect.TypeFor[contract.Path]() || out == reflect.TypeFor[contract.Version]() {
		return
	}
	for f := range out.Fields() {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if name == "-" || name == "" && !f.Anonymous {
			continue
		}
		tag := f.Tag.Get("text")
		full := out.Name() + "." + name
		switch {
		case !holdsStrings(f.Type):
			checkStrings(t, f.Type, met)
		case tag != "" && tag != "file" && tag != "line":
			t.Errorf("%s has the tag text:%q, which is neither file nor line", full, tag)
		case tag == "" && !ourWords[full]:
			t.Errorf("%s may hold text of a file: tag it text:\"file\", or list it in ourWords", full)
		case tag != "" && ourWords[full]:
			t.Errorf("%s is tagged and listed", full)
		}
		met[full] = true
	}
}

// holdsStrings tells whether a type is plain text or a list of it. A type of its own, such as a status, is no text.
func holdsStrings(t reflect.Type) bool {
	for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice || t.Kind() == reflect.Map {
		t = t.Elem()
	}
	return t == reflect.TypeFor[string]() || t.Kind() == reflect.Interface
}
