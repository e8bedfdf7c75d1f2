package ledger

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"writ/contract"
	"writ/envelope"
)

func keep(t *testing.T, l *Ledger, text string) string {
	t.Helper()
	name, err := l.KeepArtifact(Artifact{Caller: "local", About: []contract.Path{pathOf(t, "docs/a.md")}, Text: text})
	if err != nil {
		t.Fatal(err)
	}
	return name
}

func TestArtifactIsReadBack(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "state")
	text := "first\nsecond {\"\n"
	name := keep(t, openAt(t, dir, Options{}), text)
	a, err := openAt(t, dir, Options{}).Artifact(t.Context(), name)
	if err != nil || a.Text != text || a.Caller != "local" || len(a.About) != 1 || a.About[0] != pathOf(t, "docs/a.md") {
		t.Errorf("got %+v, %v", a, err)
	}
	entries, err := os.ReadDir(filepath.Join(dir, artifactsDir))
	if err != nil || len(entries) != 1 {
		t.Fatalf("%v, %v", entries, err)
	}
	if info, err := entries[0].Info(); err != nil || info.Mode() != 0o600 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
}

func TestUnknownArtifacts(t *testing.T) {
	l := openNew(t)
	for _, name := range []string{"", "artifact:", "artifact:../ledger.db", "artifact:" + strings.Repeat("a", 26), "artifact:" + strings.Repeat("a", 25) + "/", "chg_000000000000"} {
		_, err := l.Artifact(t.Context(), name)
		wantCode(t, err, envelope.NoArtifact)
	}
}

func TestArtifactsExpire(t *testing.T) {
	now := time.Now()
	l := openAt(t, filepath.Join(t.TempDir(), "state"), Options{Clock: func() time.Time { return now }})
	old := keep(t, l, "old")
	now = now.Add(artifactAge + time.Hour)
	_, err := l.Artifact(t.Context(), old)
	wantCode(t, err, envelope.Expired)
	keep(t, l, "later")
	if info, err := os.Stat(filepath.Join(l.dir, artifactsDir, strings.TrimPrefix(old, artifactPrefix))); err != nil || info.Size() != 0 {
		t.Errorf("an old artifact is still there: %v, %v", info, err)
	}
	_, err = l.Artifact(t.Context(), old)
	wantCode(t, err, envelope.Expired)
}

func TestOldestArtifactsGoWhenThereAreTooMany(t *testing.T) {
	l := openNew(t)
	large := strings.Repeat("x", DefaultArtifactBytes/3)
	var names []string
	for i := range 4 {
		names = append(names, keep(t, l, large))
		at := time.Now().Add(time.Duration(i-10) * time.Minute)
		file := filepath.Join(l.dir, artifactsDir, strings.TrimPrefix(names[i], artifactPrefix))
		if err := os.Chtimes(file, at, at); err != nil {
			t.Fatal(err)
		}
	}
	keep(t, l, "small")
	for i, name := range names {
		_, err := l.Artifact(t.Context(), name)
		if expired := envelope.CodeOf(err) == envelope.Expired; expired != (i < 2) {
			t.Errorf("artifact %d: %v", i, err)
		}
	}
}
