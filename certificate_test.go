package main

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// A renewal by certbot puts new files beside those that its links lead to. Behind walls they must be in reach.
func TestCertificatesThatAreLinks(t *testing.T) {
	top := t.TempDir()
	live, kept := filepath.Join(top, "live"), filepath.Join(top, "archive")
	for _, dir := range []string{live, kept} {
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(kept, "cert1.pem"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(live, "cert.pem")
	if err := os.Symlink("../archive/cert1.pem", link); err != nil {
		t.Skip(err) // Windows wants a right for it
	}
	real, err := filepath.EvalSymlinks(kept)
	if err != nil {
		t.Fatal(err)
	}
	if got := directoriesOf(link); !slices.Equal(got, []string{live, real}) {
		t.Errorf("%v", got)
	}
}
