package policy

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"writ/contract"
)

func drawPlainGlobs(t *rapid.T, name string) []string {
	segment := rapid.SampledFrom([]string{"a", "b", "a.md", "*", "**", "*.md", ".h"})
	glob := rapid.Map(rapid.SliceOfN(segment, 1, 4), func(s []string) string { return strings.Join(s, "/") })
	return rapid.SliceOfN(glob, 0, 3).Draw(t, name)
}

func drawPlainScope(t *rapid.T, name string) *Scope {
	return &Scope{Read: drawPlainGlobs(t, name+" read"), Write: drawPlainGlobs(t, name+" write"), Ask: drawPlainGlobs(t, name+" ask")}
}

func narrowed(t interface{ Fatal(...any) }, all, own *Scope) (whole, narrow *Policy) {
	token := TokenPrefix + strings.Repeat("0", 64)
	p, err := Compile(Config{Scope: all, Callers: []Caller{{Name: "ci", Token: token, Scope: own}, {Name: "all", Token: TokenPrefix + strings.Repeat("1", 64)}}})
	if err != nil {
		t.Fatal(err)
	}
	whole, ok := p.For("all")
	if !ok {
		t.Fatal("the caller is not known")
	}
	narrow, _ = p.For("ci")
	return whole, narrow
}

// Whatever a caller's scope says, it opens nothing that the policy does not, and nothing but what it says itself.
func TestCallersScopeOnlyNarrows(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		all, own := drawPlainScope(t, "all"), drawPlainScope(t, "own")
		whole, narrow := narrowed(t, all, own)
		alone, err := Compile(Config{Scope: own})
		if err != nil {
			t.Fatal(err)
		}
		name := rapid.Map(rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b", "a.md", "c.md", ".h"}), 1, 4), func(s []string) string { return strings.Join(s, "/") })
		path, err := contract.ParsePath(name.Draw(t, "path"))
		if err != nil {
			t.Fatal(err)
		}
		for _, access := range []Access{Look, Read, Write} {
			for ignored := range 2 {
				r := Request{path, access, ignored}
				got := narrow.Decide(r).Effect
				if want := min(whole.Decide(r).Effect, alone.Decide(r).Effect); got != want {
					t.Errorf("%v of %s: %v, want %v", access, path, got, want)
				}
			}
		}
		if narrow.ReadsPlain(path) && (!whole.ReadsPlain(path) || !alone.ReadsPlain(path)) {
			t.Error("a walk is spared questions that it must ask")
		}
		plain := !strings.Contains(path.String(), ".h")
		told := anyMatches(narrow.Zones().Read, path.String())
		if open := narrow.Decide(Request{path, Read, 0}).Effect == Allow; plain && open != told {
			t.Errorf("%s may be read: %v; the caller is told %v: %v", path, open, told, narrow.Zones())
		}
		if effect := narrow.Decide(Request{path, Write, 0}).Effect; effect != Deny && !anyMatches(append(narrow.Zones().Write, narrow.Zones().Ask...), path.String()) {
			t.Errorf("%s may be written (%v), and the caller is told %v", path, effect, narrow.Zones())
		} else if effect != Deny && !narrow.CanEverWrite() || effect == Ask && !narrow.CanEverAsk() {
			t.Errorf("%s may be written (%v), and nothing ever can", path, effect)
		}
	})
}

func anyMatches(globs []string, path string) bool {
	for _, text := range globs {
		if g, err := contract.ParseGlob(text); err == nil && g.Match(path) {
			return true
		}
	}
	return false
}

func TestCallersAreToldTheirZones(t *testing.T) {
	for name, c := range map[string]struct {
		all, own Scope
		want     Zones
	}{
		"within":    {Scope{Write: []string{"docs/**"}}, Scope{Read: []string{"docs/a/**"}}, Zones{Read: []string{"docs/a/**"}}},
		"beyond":    {Scope{Read: []string{"docs/**"}}, Scope{Write: []string{"**"}}, Zones{Read: []string{"docs/**"}}},
		"across":    {Scope{Read: []string{"docs/**"}}, Scope{Read: []string{"**/*.md"}}, Zones{Read: []string{"docs/**/*.md"}}},
		"apart":     {Scope{Read: []string{"docs/**"}}, Scope{Read: []string{"src/**"}}, Zones{}},
		"asked for": {Scope{Write: []string{"**"}, Ask: []string{"src/**"}}, Scope{Write: []string{"src/a/**"}}, Zones{Read: []string{"src/a/**"}, Ask: []string{"src/a/**"}}},
		"asks":      {Scope{Write: []string{"docs/**"}}, Scope{Ask: []string{"**"}}, Zones{Read: []string{"docs/**"}, Ask: []string{"docs/**"}}},
	} {
		_, narrow := narrowed(t, &c.all, &c.own)
		if got := narrow.Zones(); !reflect.DeepEqual(got, c.want.clone()) {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}

func TestCallersLimitsAreNeverHigher(t *testing.T) {
	l := Limits{CallTime: time.Second, ResultBytes: 4096, CallsInFlight: 8}.filled()
	got := l.lowered(Limits{CallTime: time.Minute, ResultBytes: 1024, CallsInFlight: 9, CallsPerMinute: 10_000, PageNotes: 1})
	want := l
	want.ResultBytes, want.PageNotes, want.CallsPerMinute = 1024, 1, callsPerMinuteOverHTTP
	if got != want {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
}

// Who may read other notes has another index.
func TestFingerprintOfACaller(t *testing.T) {
	whole, narrow := narrowed(t, &Scope{Read: []string{"**"}}, &Scope{Read: []string{"docs/**"}})
	_, other := narrowed(t, &Scope{Read: []string{"**", ".h/**"}}, &Scope{Read: []string{"docs/**"}})
	names := map[string]bool{whole.Fingerprint(): true, narrow.Fingerprint(): true, other.Fingerprint(): true}
	if len(names) != 3 {
		t.Errorf("%d fingerprints", len(names))
	}
	if _, ok := whole.For("nobody"); ok {
		t.Error("nobody is known")
	}
}
