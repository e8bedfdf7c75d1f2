package main

import (
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"writ/envelope"
	"writ/tools"
)

// Codes that no script can provoke, and what does. Tests that call every tool whose contract names the code are in
// codes_linux_test.go; they fail where a tool is missing.
var notProvoked = map[envelope.Code]string{
	envelope.Permission: "TestWhatTheSystemRefuses, for every tool",
	envelope.DiskFull:   "TestWhatHasNoRoom, for every tool",
	envelope.Expired:    "TestWhatIsNoLongerKept, for every tool",
	envelope.IO:         "TestAStateThatFails",
	envelope.Busy:       "TestSoManyProgramsRunAtOnce; of a file's lock: tests of workspace",

	envelope.ChangedDuringCall: "another program must act between two steps of a call, which nobody can time from outside: tests of workspace",
	envelope.OutcomeUnknown:    "run_program's own script; of other tools a fault is needed between a change and its proof, which is put there by tests of workspace",
	envelope.Internal:          "a fault of ours: no case wants it",
}

// Every code that a contract names is wanted by the tool's own script; those that all tools share, by some script.
func TestScriptsProvokeEveryCode(t *testing.T) {
	wanted, shared := map[string][]envelope.Code{}, []envelope.Code{}
	for _, file := range scripts(t) {
		for tool, codes := range wantedCodes(t, file) {
			if tool == strings.TrimSuffix(filepath.Base(file), ".txtar") {
				wanted[tool] = codes
			}
			shared = append(shared, codes...)
		}
	}
	missing := map[envelope.Code]bool{}
	for _, tool := range tools.All() {
		for i, code := range tool.AllCodes() {
			_, excused := notProvoked[code]
			own := i < len(tool.Codes)
			found := own && slices.Contains(wanted[tool.Name], code) || !own && slices.Contains(shared, code)
			missing[code] = missing[code] || !found
			switch {
			case found || excused:
			case own:
				t.Errorf("the contract of %s names %s, which no case of its script wants", tool.Name, code)
			default:
				t.Errorf("every tool may answer %s, which no script wants", code)
			}
		}
	}
	for code := range notProvoked {
		if !missing[code] {
			t.Errorf("scripts want %s of every tool that names it, so it needs no excuse", code)
		}
	}
}

// What a script wants is what the contract promises: its codes, each with the status it belongs to.
func TestScriptsWantCodesOfTheContract(t *testing.T) {
	for _, file := range scripts(t) {
		for tool, codes := range wantedCodes(t, file) {
			for _, code := range codes {
				if !slices.Contains(contractOf(tool).AllCodes(), code) {
					t.Errorf("%s wants %s of %s, whose contract does not name it", file, code, tool)
				}
			}
		}
	}
}

// wantedCodes lists the codes that a script wants, by the tool that shall answer with them.
func wantedCodes(t *testing.T, file string) map[string][]envelope.Code {
	t.Helper()
	archive, err := txtar.ParseFile(file)
	if err != nil {
		t.Fatal(err)
	}
	called, wanted := map[string]string{}, map[string][]envelope.Code{}
	for _, f := range archive.Files {
		kind, name, _ := strings.Cut(f.Name, " ")
		switch kind {
		case "repeat-call":
			_, name, _ = strings.Cut(name, " ")
			fallthrough
		case "call":
			called[name] = strings.TrimSuffix(filepath.Base(file), ".txtar")
			if m := startsWithTool.FindStringSubmatch(string(f.Data)); m != nil {
				called[name] = m[1]
			}
		case "want":
			var want struct {
				Status envelope.Status
				Errors []struct{ Code envelope.Code }
			}
			if err := json.Unmarshal(f.Data, &want); err != nil {
				t.Fatalf("%s: want %s: %v", file, name, err)
			}
			for i, e := range want.Errors {
				if i == 0 && want.Status != envelope.Partial && want.Status != e.Code.Status() {
					t.Errorf("%s: want %s: the code %s belongs to %s, not %s", file, name, e.Code, e.Code.Status(), want.Status)
				}
				if !slices.Contains(wanted[called[name]], e.Code) {
					wanted[called[name]] = append(wanted[called[name]], e.Code)
				}
			}
		}
	}
	return wanted
}
