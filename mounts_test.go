package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Whoever picks folders in a client's form can't give them names; folders that are called alike, or as no mount can be,
// are served all the same, and by names that do not depend on their order.
func TestMounts(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		places []string
		names  string
	}{
		{[]string{"/home/me/notes", "/srv/docs"}, "notes docs"},
		{[]string{"/work/notes", "/home/notes"}, "work-notes home-notes"},
		{[]string{"/home/notes", "/work/notes"}, "home-notes work-notes"},
		{[]string{"/a/x/notes", "/b/x/notes", "/c/notes"}, "a-x-notes b-x-notes c-notes"},
		{[]string{"/home/me/.config", "/home/me/a[1]{b},c"}, "config a-1--b--c"},
		{[]string{"/home/me/.config", "/home/me/config"}, "me-.config me-config"},
		{[]string{"/", "/home"}, "root home"},
		{[]string{"/notes", "/a/notes"}, "notes a-notes"},
	} {
		roots, err := mounts(c.places)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		seen := map[string]bool{}
		for i, r := range roots {
			got = append(got, r.Name)
			if seen[r.Name] || filepath.ToSlash(r.Path) != filepath.ToSlash(mustAbs(t, c.places[i])) {
				t.Errorf("%v: %+v", c.places, roots)
			}
			seen[r.Name] = true
		}
		if strings.Join(got, " ") != c.names {
			t.Errorf("%v: %v", c.places, got)
		}
	}
}

func mustAbs(t *testing.T, name string) string {
	full, err := filepath.Abs(name)
	if err != nil {
		t.Fatal(err)
	}
	return full
}

func TestAlikeNamedDirectoriesAreServed(t *testing.T) {
	t.Parallel()
	base := t.TempDir()
	var places []string
	for _, name := range []string{"one/notes", "two/notes", ".three"} {
		place := filepath.Join(base, name)
		if err := os.MkdirAll(place, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(place, "a.md"), []byte(name), 0o600); err != nil {
			t.Fatal(err)
		}
		places = append(places, place)
	}
	c := startClient(t, options{state: t.TempDir()}, places...)
	for path, want := range map[string]string{"one-notes/a.md": "one/notes", "two-notes/a.md": "two/notes", "three/a.md": ".three"} {
		if got := c.call(t, "read_file", `{"path": "`+path+`"}`); got.isError || got.texts[0] != want {
			t.Errorf("%s: %+v", path, got)
		}
	}
}

// A form that a person leaves empty grants nothing; one of what may be read would grant everything if it were left out.
func TestAnEmptyGlobGrantsNothing(t *testing.T) {
	t.Parallel()
	root := vault(t, "a.md", "one\n")
	for _, args := range [][]string{{"--write="}, {"--write", "", "--ask", ""}} {
		got := writ(t, "", append([]string{"call", "get_scope", "--root", root, "--state", t.TempDir()}, args...)...)
		if got.status != 0 || !strings.Contains(got.stdout, `"zones":{"read":["**"],"write":[],"ask":[]}`) {
			t.Errorf("%v: %+v", args, got)
		}
	}
	if got := writ(t, "", "call", "get_scope", "--root", root, "--read", ""); got.status != 2 || !strings.Contains(got.stderr, "empty") {
		t.Errorf("%+v", got)
	}
}
