package policy

import (
	"encoding/json"
	"strings"
	"testing"

	"writ/envelope"
)

func TestExplain(t *testing.T) {
	c := Default()
	c.Scope = &Scope{
		Read:  []string{"**"},
		Write: []string{"docs/**", "build/out/**"},
		Ask:   []string{"src/**", "**/*.go"},
	}
	c.Encodings = []Encoding{{"docs/legacy/**", "big5"}}
	p := compile(t, c)
	for _, test := range []struct {
		name    string
		path    string
		ignored int
		want    string
	}{
		{name: "open for writes", path: "docs/a.md", want: `
			"docs/a.md"
			look:  allow  read: **
			read:  allow  read: **
			write: allow  write: docs/**
			matches read: **
			matches write: docs/**
			counts as a note`},
		{name: "in write and ask", path: "docs/a.go", want: `
			"docs/a.go"
			look:  allow  read: **
			read:  allow  read: **
			write: ask    ask: **/*.go
			matches read: **
			matches write: docs/**
			matches ask: **/*.go
			a write glob opens what an ask glob holds only if it is the narrower one, all of it within the ask glob`},
		{name: "hidden", path: "docs/.git/hooks/x", want: `
			"docs/.git/hooks/x"
			look:  deny   a hidden name that no glob names
			read:  deny   a hidden name that no glob names
			write: deny   a hidden name that no glob names
			kept from read: **, since * and ** reach no hidden or ignored name
			kept from write: docs/**, since * and ** reach no hidden or ignored name
			hidden: ".git"; a glob opens a hidden name by spelling its beginning, as in "docs/.git/**"
			protected: ".git"; a write glob opens it only by spelling it out, and otherwise an ask glob must match`},
		{name: "protected", path: "docs/AGENTS.md", want: `
			"docs/AGENTS.md"
			look:  allow  read: **
			read:  allow  read: **
			write: deny   a protected name that no write glob spells out
			matches read: **
			matches write: docs/**
			protected: "AGENTS.md"; a write glob opens it only by spelling it out, and otherwise an ask glob must match
			counts as a note`},
		{name: "ignored", path: "build/a", ignored: 1, want: `
			"build/a"
			look:  deny   an ignored name that no glob names
			read:  deny   an ignored name that no glob names
			write: deny   an ignored name that no glob names
			kept from read: **, since * and ** reach no hidden or ignored name
			ignored: "build"; a glob opens it by naming it, as in "build/**"`},
		{name: "with an encoding", path: "docs/legacy/a", want: `
			"docs/legacy/a"
			look:  allow  read: **
			read:  allow  read: **
			write: allow  write: docs/**
			matches read: **
			matches write: docs/**
			encoding: big5`},
	} {
		t.Run(test.name, func(t *testing.T) {
			got := strings.Join(p.Explain(path(t, test.path), test.ignored).Lines(), "\n")
			if want := strings.ReplaceAll(strings.TrimSpace(test.want), "\t", ""); got != want {
				t.Errorf("got\n%s\nwant\n%s", got, want)
			}
		})
	}
}

func TestTheGlobThatExplainNamesOpensThePlace(t *testing.T) {
	for _, test := range []struct {
		path    string
		ignored int
	}{{".env", 0}, {"a/.b/c/.d/e", 0}, {"a/{b}/.c[1]/x", 0}, {"node_modules/a", 1}, {"a/b.log", 2}} {
		e := compile(t, Default()).Explain(path(t, test.path), test.ignored)
		lines := strings.Join(e.Lines(), "\n")
		_, glob, ok := strings.Cut(lines, `as in "`)
		if !ok {
			t.Fatalf("no glob is named:\n%s", lines)
		}
		glob = strings.ReplaceAll(glob[:strings.LastIndex(glob, `"`)], `\\`, `\`)
		opened := compile(t, Config{Scope: &Scope{Read: []string{glob}}})
		if d := opened.Decide(Request{path(t, test.path), Read, test.ignored}); d.Effect != Allow {
			t.Errorf("%s: the glob %s does not open it: %v", test.path, glob, d)
		}
	}
}

func TestRefusals(t *testing.T) {
	three := Scope{Read: []string{"docs/**", "src/**"}, Write: []string{"docs/**"}, Ask: []string{"src/**"}}
	for _, test := range []struct {
		name  string
		scope Scope
		path  string
		code  envelope.Code
		want  string
	}{
		{
			"outside every zone", three, "a", envelope.OutsideScope,
			`This path is in no zone of the policy: reads are open in "docs/**" and "src/**", writes are open in "docs/**" and, with a person's approval, in "src/**", hidden and ignored names only where a glob names them. A person can open more with --read or --write or in the policy file.`,
		},
		{
			"a person must approve", three, "src/a", envelope.ApprovalRequired,
			`A change of this path needs a person's approval: writes are open in "docs/**" and, with a person's approval, in "src/**". Send the call again once a person has approved it.`,
		},
		{
			"read only", Scope{Read: []string{"**"}, Write: []string{"docs/**"}}, "a", envelope.OutsideWriteScope,
			`This path may be read but not changed: writes are open in "docs/**". A person can open more with --write or in the policy file.`,
		},
		{
			"no writes at all", Scope{Read: []string{"**"}}, "a", envelope.OutsideWriteScope,
			`This path may be read but not changed: writes are open nowhere. A person can open more with --write or in the policy file.`,
		},
		{
			"writes with approval alone", Scope{Read: []string{"**"}, Ask: []string{"x/**"}}, "a", envelope.OutsideWriteScope,
			`This path may be read but not changed: writes are open in "x/**" with a person's approval. A person can open more with --write or in the policy file.`,
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			p := compile(t, Config{Scope: &test.scope})
			e := p.Refusal(p.Decide(Request{path(t, test.path), Write, 0}))
			if e == nil || e.Code != test.code || e.Message != test.want {
				t.Errorf("got  %+v\nwant %s: %s", e, test.code, test.want)
			}
		})
	}
}

func TestRefusalsTellNothingOfThePlace(t *testing.T) {
	p := compile(t, FromFlags([]string{"docs/**"}, nil, nil))
	text := func(r Request) string {
		encoded, err := json.Marshal(p.Refusal(p.Decide(r)))
		if err != nil {
			t.Fatal(err)
		}
		return string(encoded)
	}
	want := text(Request{path(t, "elsewhere/a"), Read, 0})
	for _, r := range []Request{
		{path(t, "docs/.env"), Read, 0},
		{path(t, "docs/.env"), Look, 0},
		{path(t, "docs/.env"), Write, 0},
		{path(t, "docs/build/x"), Read, 2},
		{path(t, "private/p.md"), Write, 0},
	} {
		if got := text(r); got != want {
			t.Errorf("%+v is told apart: %s\nfrom %s", r, got, want)
		}
	}
}

func TestRefusalOfWhatIsAllowedIsNil(t *testing.T) {
	p := compile(t, Default())
	if e := p.Refusal(p.Decide(Request{path(t, "a"), Read, 0})); e != nil {
		t.Errorf("got %v", e)
	}
}

func TestARefusalNamesAtMostTenGlobsAndDetailsNameAll(t *testing.T) {
	var globs []string
	for c := 'a'; c <= 'z'; c++ {
		globs = append(globs, string(c)+"/**")
	}
	p := compile(t, FromFlags(nil, globs, nil))
	e := p.Refusal(p.Decide(Request{path(t, "x.md"), Write, 0}))
	if !strings.Contains(e.Message, `"j/**" and 16 more`) || strings.Contains(e.Message, "k/**") {
		t.Errorf("got %s", e.Message)
	}
	if write, ok := e.Details["write"].([]string); !ok || len(write) != 26 {
		t.Errorf("details: %v", e.Details)
	}
}
