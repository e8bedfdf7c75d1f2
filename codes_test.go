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

// Codes that no script can provoke, and why.
var notProvoked = map[envelope.Code]string{
	envelope.ChangedDuringCall: "another program must act in the midst of the call: tests of workspace",
	envelope.Permission:        "scripts may run as root, whom the system refuses nothing: tests of workspace",
	envelope.DiskFull:          "needs a full disk: tests of workspace",
	envelope.IO:                "needs a failing disk: tests of workspace",
	envelope.OutcomeUnknown:    "needs a fault between a change and its proof: tests of workspace",
	envelope.Busy:              "needs a process that holds the file's lock: tests of workspace",
	envelope.Internal:          "a fault of ours",
	envelope.Expired:           "needs a clock that is a month on: tests of ledger",
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
	for _, tool := range tools.All() {
		for i, code := range tool.AllCodes() {
			_, excused := notProvoked[code]
			own := i < len(tool.Codes)
			switch found := own && slices.Contains(wanted[tool.Name], code) || !own && slices.Contains(shared, code); {
			case found && (excused && !own || tool.Name != "run_program" && excused):
				t.Errorf("the script of %s wants %s, so it needs no excuse", tool.Name, code)
			case !excused && !found && own:
				t.Errorf("the contract of %s names %s, which no case of its script wants", tool.Name, code)
			case !excused && !found:
				t.Errorf("every tool may answer %s, which no script wants", code)
			}
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
