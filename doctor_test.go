package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// What a server has stopped lately shows in the doctor, another process, while that server runs.
func TestDoctorTellsOfStoppedCalls(t *testing.T) {
	root, state := vault(t, "a.md", "one\n"), t.TempDir()
	c, _ := startProcess(t, "--tools", "all", "--write", "**", "--state", state, root)
	doctor := func() string { return writ(t, "", "doctor", root, "--state", state, "--write", "**").stdout }
	if told := doctor(); !strings.Contains(told, "right  stopped calls:") || strings.Contains(told, "look ") {
		t.Fatalf("before anything was stopped:\n%s", told)
	}
	for range 4 {
		c.call(t, "delete_file", `{"path": "none.md", "observed_version": "00000000000000000000000000000000"}`)
	}
	const want = "look   delete_file of \"local\": stopped 1 times in the last 1m0s"
	for until := time.Now().Add(30 * time.Second); !strings.Contains(doctor(), want); {
		if time.Now().After(until) {
			t.Fatalf("the doctor never says %q:\n%s", want, doctor())
		}
	}
}

func TestDoctorLooksAtPrograms(t *testing.T) {
	root := vault(t, "a.md", "one\n")
	policy := filepath.Join(t.TempDir(), "writ.yaml")
	for text, want := range map[string]string{
		"programs: [{name: echo, path: /bin/echo}]":                                 "right  programs: 1 can be run; ",
		"programs: [{name: echo, path: /bin/echo}, {name: none, path: /no/such/x}]": "wrong  programs: the program none is not run: ",
	} {
		if err := os.WriteFile(policy, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		got := writ(t, "", "doctor", root, "--policy", policy)
		if !strings.Contains(got.stdout, want) || (got.status == 0) != strings.HasPrefix(want, "right") {
			t.Errorf("%s: %+v, want %q", text, got, want)
		}
	}
}
