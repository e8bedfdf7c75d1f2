package main

import (
	"strings"
	"testing"

	"writ/policy"
)

// What `writ token new` prints is a token, and an entry that a policy takes as it stands.
func TestTokenNewPrintsTheEntryOfThePolicy(t *testing.T) {
	t.Parallel()
	out, err := program(t, "token", "new", "anna@example.com").Output()
	if err != nil {
		t.Fatal(err)
	}
	token, entry, ok := strings.Cut(string(out), "\n")
	if !ok || !strings.HasPrefix(token, "writ_") || strings.Contains(entry, token) {
		t.Fatalf("it prints %q", out)
	}
	c, err := policy.Parse([]byte("callers:\n"+entry), "writ.yaml")
	if err != nil || len(c.Callers) != 1 || c.Callers[0].Name != "anna@example.com" {
		t.Errorf("%+v, %v", c.Callers, err)
	}
	if out, err := program(t, "token", "new", "local").CombinedOutput(); err == nil {
		t.Errorf("a reserved name is taken: %s", out)
	}
}
