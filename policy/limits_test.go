package policy

import (
	"testing"
	"time"
)

func TestLimitsWithoutAPolicy(t *testing.T) {
	want := Limits{
		FileBytes: 32 << 20, ResultBytes: 256 << 10, ArtifactBytes: 64 << 20, UndoBytes: 512 << 20, UndoDays: 30, CallTime: 30 * time.Second, CallsInFlight: 128,
		PageLines: 2000, PageEntries: 1000, PageMatches: 200, PageNotes: 20,
	}
	l := compile(t, Default()).Limits()
	if l != want {
		t.Errorf("got %+v, want %+v", l, want)
	}
	want.CallsPerMinute = 600
	if got := l.OverHTTP(); got != want {
		t.Errorf("over HTTP got %+v, want %+v", got, want)
	}
}

func TestCallsPerMinuteThatTheFileSetsHoldEverywhere(t *testing.T) {
	l := compile(t, Config{Limits: Limits{CallsPerMinute: 1_000_000}}).Limits()
	if l.CallsPerMinute != 1_000_000 || l.OverHTTP().CallsPerMinute != 1_000_000 {
		t.Errorf("got %d and %d over HTTP", l.CallsPerMinute, l.OverHTTP().CallsPerMinute)
	}
}

func TestPagesGrowWithTheResultLimit(t *testing.T) {
	for _, test := range []struct {
		name                    string
		set                     Limits
		lines, entries, matches int
	}{
		{"the default", Limits{}, 2000, 1000, 200},
		{"raised four times", Limits{ResultBytes: 1 << 20}, 8000, 4000, 800},
		{"raised as far as it goes", Limits{ResultBytes: 1 << 30}, 8_192_000, 4_096_000, 819_200},
		{"lowered", Limits{ResultBytes: 64 << 10}, 2000, 1000, 200},
		{"raised, with a page that is set", Limits{ResultBytes: 1 << 20, PageLines: 10}, 10, 4000, 800},
	} {
		t.Run(test.name, func(t *testing.T) {
			l := compile(t, Config{Limits: test.set}).Limits()
			if l.PageLines != test.lines || l.PageEntries != test.entries || l.PageMatches != test.matches {
				t.Errorf("got %d lines, %d entries, %d matches", l.PageLines, l.PageEntries, l.PageMatches)
			}
		})
	}
}

func TestSizesAreReadAndWrittenAlike(t *testing.T) {
	for text, want := range map[string]int64{
		"1": 1, "1000000": 1000000, "256KiB": 256 << 10, "32MiB": 32 << 20, "2GiB": 2 << 30, "1025": 1025,
	} {
		got, err := parseSize(text)
		if err != nil || got != want {
			t.Errorf("%s: %d, %v; want %d", text, got, err, want)
		}
		if again := formatSize(got); again != text {
			t.Errorf("%s is written as %s", text, again)
		}
	}
	for _, text := range []string{"", "KiB", "1KB", "1 KiB", "-1", "+1", "1.5MiB", "0x10", "1_000", "MiB1"} {
		if got, err := parseSize(text); err == nil {
			t.Errorf("%q is read as %d", text, got)
		}
	}
}

func TestTimesHaveAUnit(t *testing.T) {
	for text, want := range map[string]time.Duration{"500ms": 500 * time.Millisecond, "30s": 30 * time.Second, "1h30m": 90 * time.Minute, "1.5s": 1500 * time.Millisecond} {
		if got, err := parseTime(text); err != nil || got != want {
			t.Errorf("%s: %v, %v; want %v", text, got, err, want)
		}
	}
	for _, text := range []string{"", "30", "-1s", "1us", "1d", "s"} {
		if got, err := parseTime(text); err == nil {
			t.Errorf("%q is read as %v", text, got)
		}
	}
}

func TestEncodingsAreDecidedByTheFirstGlob(t *testing.T) {
	p := compile(t, Config{Encodings: []Encoding{
		{"legacy/jp/**", "SJIS"}, {"legacy/**", "gb18030"}, {"**/*.txt", "latin1"},
	}})
	for name, want := range map[string]string{
		"legacy/jp/a.txt": "shift_jis",
		"legacy/a.txt":    "gb18030",
		"a/b.txt":         "windows-1252",
		"a/b.md":          "",
	} {
		if got := p.EncodingOf(path(t, name)); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}

func TestNotes(t *testing.T) {
	for _, test := range []struct {
		name  string
		notes Notes
		want  map[string]bool
	}{
		{"as it is by default", Notes{}, map[string]bool{"a.md": true, "a/b/c.md": true, "a.txt": false}},
		{"some", Notes{Include: []string{"vault/**/*.md", "todo.txt"}}, map[string]bool{"a.md": false, "vault/a.md": true, "todo.txt": true}},
		{"none", Notes{Include: []string{}}, map[string]bool{"a.md": false}},
	} {
		p := compile(t, Config{Notes: test.notes})
		for name, want := range test.want {
			if got := p.NotesInclude(path(t, name)); got != want {
				t.Errorf("%s: %s is a note: %t, want %t", test.name, name, got, want)
			}
		}
	}
	if got := compile(t, Default()).Visibility(); got != Unmarked {
		t.Errorf("visibility %q by default", got)
	}
	if got := compile(t, Config{Notes: Notes{Visibility: Public}}).Visibility(); got != Public {
		t.Errorf("visibility %q, want public", got)
	}
}
