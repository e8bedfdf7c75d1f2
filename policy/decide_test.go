package policy

import (
	"strconv"
	"strings"
	"testing"

	"writ/contract"
	"writ/envelope"
)

// Each case lists places and what is open there: nothing, look, read (and look), ask (read, and write once a person
// approves), protected (read, and no more for the name) or write (read and write). A number after the path says which of its
// names an ignore file hits.
var decisions = []struct {
	name   string
	scope  *Scope
	places string
}{
	{
		name: "no scope",
		places: `
			a.md        read
			docs/a.md   read
			.env        nothing
			docs/.env   nothing
			docs/.d/a   nothing
			build/a 1   nothing`,
	},
	{
		name:  "an empty scope",
		scope: &Scope{},
		places: `
			a.md        nothing
			docs        nothing`,
	},
	{
		name:  "write implies read, and only there",
		scope: &Scope{Write: []string{"docs/**"}},
		places: `
			docs        write
			docs/a.md   write
			docs/b/c    write
			docs-evil/a nothing
			doc         nothing
			a.md        nothing`,
	},
	{
		name:  "ask implies read",
		scope: &Scope{Ask: []string{"docs/**"}},
		places: `
			docs/a.md   ask
			a.md        nothing`,
	},
	{
		name:  "protected names below a write glob",
		scope: &Scope{Write: []string{"**", ".github/**", ".vscode/**", "x/.GIT/**", "sub/CLAUDE.md", "**/mcp.json"}},
		places: `
			a.md                     write
			AGENTS.md                protected
			docs/agents.MD           protected
			docs/AGENTS.md/a         protected
			AGENTS.mdx               write
			my-AGENTS.md             write
			CLAUDE.md                protected
			sub/CLAUDE.md            write
			a/b/mcp.json             write
			MCP.json                 protected
			.github/workflows/ci.yml protected
			.github/WorkFlows/ci.yml protected
			.github/dependabot.yml   write
			.vscode/tasks.json       write
			x/.GIT/config            write
			a.code-workspace         protected
			writ.yaml                protected
			AGENTS.md.               protected
			AGENTS.md::$DATA         protected
			Jenkinsfile              protected
` + "\uff21gents.md protected\nAGENTS.m\u200dd protected",
	},
	{
		name:  "protected names in the ask zone",
		scope: &Scope{Write: []string{"docs/**", ".github/**", "src/mcp.json"}, Ask: []string{"**"}},
		places: `
			docs/a.md                write
			docs/AGENTS.md           ask
			.github/workflows/ci.yml ask
			.github/a.yml            write
			src/mcp.json             write
			src/a                    ask`,
	},
	{
		name:  "three zones",
		scope: &Scope{Read: []string{"**"}, Write: []string{"open/**"}, Ask: []string{"ask/**"}},
		places: `
			open/a.md   write
			ask/a.md    ask
			other/a.md  read
			open/.x     nothing
			ask/.x      nothing`,
	},
	{
		name:  "a way to what may be read",
		scope: &Scope{Read: []string{"a/b/**", "c/*/d.md"}},
		places: `
			a           look
			a/b         read
			a/b/x       read
			a/x         nothing
			b           nothing
			c           look
			c/any       look
			c/any/d.md  read
			c/any/e.md  nothing
			c/.any      nothing
			c/any 2     nothing`,
	},
	{
		name:  "** in the middle",
		scope: &Scope{Read: []string{"src/**/*.go"}},
		places: `
			src           look
			src/a.go      read
			src/a/b/c.go  read
			src/a/.b/c.go nothing
			src/a/c.txt   look
			src/a/c.go 2  nothing
			src/a/c.go 3  read
			lib           nothing`,
	},
	{
		name:  "one place without what is in it",
		scope: &Scope{Read: []string{"docs", "a/b.md"}},
		places: `
			docs        read
			docs/a.md   nothing
			a           look
			a/b.md      read
			a/b.md/c    nothing`,
	},
	{
		name:  "hidden names that a glob names",
		scope: &Scope{Read: []string{"**", ".ci/**", ".lintrc.json", "app/.x*/a"}},
		places: `
			.ci             read
			.ci/a           read
			.ci/w/b         read
			.ci/.cache      nothing
			.ci/w/.cache/x  nothing
			.lintrc.json    read
			.lintrc.jsonx   nothing
			sub/.lintrc.json nothing
			app/.xy         look
			app/.xy/a       read
			app/.xy/b       nothing
			app/.z          nothing
			.git/config     nothing
			.GIT/config     nothing
			.Git            nothing`,
	},
	{
		name:  "wildcards reach no hidden name",
		scope: &Scope{Read: []string{"*", "?env", "[.]git", "[!a]ci/**", "*.env/**", "{*,**}/x"}},
		places: `
			.env      nothing
			.git      nothing
			.ci       nothing
			.ci/a     nothing
			.env/a    nothing
			.d/x      nothing
			d/x       read
			aenv      read`,
	},
	{
		name:  "an escaped dot is a dot, and braces are alternatives",
		scope: &Scope{Read: []string{`\.one/**`, "{.two,three}/**", ".[ab]*", "x/{.y/z,w}"}},
		places: `
			.one/a    read
			.two/a    read
			three/a   read
			.apple    read
			.citron   nothing
			x         look
			x/.y      look
			x/.y/z    read
			x/w       read
			.three/a  nothing`,
	},
	{
		name:  "hidden names at any depth",
		scope: &Scope{Read: []string{"**/.notes/**"}},
		places: `
			.notes          read
			a               look
			a/.notes/b      read
			a/.notes/.b     nothing
			a/.other        nothing
			a/.other/.notes/x nothing
			.notes/.notes/x nothing`,
	},
	{
		name:  "ignored names that a glob names",
		scope: &Scope{Read: []string{"**", "build/**", "logs/*.log", "a/*/c/**", "**/dist/**"}},
		places: `
			build 1        read
			build/a 1      read
			build/a/b 1    read
			build/a 2      nothing
			build/.a 1     nothing
			logs/x.log 2   read
			logs/x.txt 2   nothing
			a/b/c/d 2      nothing
			a/b/c/d 3      read
			a/b/c/d 4      nothing
			dist/x 1       read
			p/dist/x 2     read
			p/dist/dist/x 3 read
			p/dist/dist/x 1 nothing
			out/x 1        nothing`,
	},
	{
		name:  "write and ask: the narrower wins",
		scope: &Scope{Write: []string{"docs/**"}, Ask: []string{"**"}},
		places: `
			docs/a    write
			docs      write
			src/a     ask
			.env      nothing`,
	},
	{
		name:  "write and ask: the narrower wins, other way round",
		scope: &Scope{Write: []string{"**"}, Ask: []string{"src/**"}},
		places: `
			docs/a    write
			src/a     ask
			src       ask`,
	},
	{
		name:  "write and ask: the same glob asks",
		scope: &Scope{Write: []string{"docs/**"}, Ask: []string{"docs/**"}},
		places: `
			docs/a    ask`,
	},
	{
		name:  "write and ask: neither lies within the other",
		scope: &Scope{Write: []string{"src/**"}, Ask: []string{"**/*.go"}},
		places: `
			src/a.md  write
			src/a.go  ask
			lib/a.go  ask
			lib/a.md  look`,
	},
	{
		name: "write and ask: nested deeper",
		scope: &Scope{
			Write: []string{"docs/**", "docs/legal/drafts/*.md"},
			Ask:   []string{"**", "docs/legal/**"},
		},
		places: `
			a                       ask
			docs/a                  write
			docs/legal/a            ask
			docs/legal/drafts/a.md  write
			docs/legal/drafts/a.txt ask`,
	},
	{
		name:  "write and ask: braces are judged one by one",
		scope: &Scope{Write: []string{"{docs,src}/**"}, Ask: []string{"{src,lib}/**", "do*/x"}},
		places: `
			docs/a  write
			docs/x  ask
			src/a   ask
			lib/a   ask`,
	},
	{
		name:  "write and ask: what hides a name does not lift the question",
		scope: &Scope{Write: []string{"src/**", ".ci/**"}, Ask: []string{"**/*.go", "**/*.yml"}},
		places: `
			src/a.go 1   ask
			src/a.md 1   write
			.ci/a.yml    ask
			.ci/a.sh     write
			.ci/.x/a.yml nothing`,
	},
	{
		name:  "several roots are the first names",
		scope: &Scope{Read: []string{"notes/**", "*/README.md"}},
		places: `
			notes/a         read
			work            look
			work/README.md  read
			work/a          nothing`,
	},
	{
		name:   "names are bytes",
		scope:  &Scope{Read: []string{"Docs/**", "caf\u00e9/**", "文档/**"}},
		places: "docs/a nothing\nDocs/a read\ncaf\u00e9/a read\ncafe\u0301/a nothing\n文档/a read\n",
	},
}

func TestDecide(t *testing.T) {
	for _, test := range decisions {
		t.Run(test.name, func(t *testing.T) {
			c := Default()
			c.Scope = test.scope
			p := compile(t, c)
			for line := range strings.SplitSeq(strings.TrimSpace(test.places), "\n") {
				r, want := parsePlace(t, line)
				if got := open(p, r); got != want {
					t.Errorf("%s: %s is open, want %s (%s)", strings.TrimSpace(line), got, want, p.Explain(r.Path, r.Ignored).Lines())
				}
			}
			if d := p.Decide(Request{Access: Look}); d.Effect != Allow {
				t.Errorf("the top can't be looked at: %v", d)
			}
		})
	}
}

// parsePlace reads a line of a case: a path, maybe a number, and what is open.
func parsePlace(t *testing.T, line string) (Request, string) {
	t.Helper()
	words := strings.Fields(line)
	r := Request{Path: path(t, words[0])}
	if len(words) == 3 {
		var err error
		if r.Ignored, err = strconv.Atoi(words[1]); err != nil {
			t.Fatal(err)
		}
	}
	return r, words[len(words)-1]
}

// open returns the most that is open, and fails where a lesser access is closed or a code is wrong.
func open(p *Policy, r Request) string {
	decide := func(a Access) Decision {
		r.Access = a
		return p.Decide(r)
	}
	look, read, write := decide(Look), decide(Read), decide(Write)
	for _, d := range []Decision{look, read, write} {
		if d.Rule == "" || (d.Code == "") != (d.Effect == Allow) {
			return "a decision without rule or with a wrong code"
		}
	}
	switch {
	case write.Effect == Allow && read.Effect == Allow && look.Effect == Allow:
		return "write"
	case write.Effect == Ask && write.Code == envelope.ApprovalRequired && read.Effect == Allow && look.Effect == Allow:
		return "ask"
	case write.Code == envelope.ProtectedName && read.Effect == Allow && look.Effect == Allow:
		return "protected"
	case write.Code == envelope.OutsideWriteScope && read.Effect == Allow && look.Effect == Allow:
		return "read"
	case write.Code != envelope.OutsideScope || read.Code != envelope.OutsideScope:
		return "an inconsistency"
	case look.Effect == Allow:
		return "look"
	case look.Code == envelope.OutsideScope:
		return "nothing"
	}
	return "an inconsistency"
}

func compile(t testing.TB, c Config) *Policy {
	t.Helper()
	p, err := Compile(c)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func path(t testing.TB, name string) contract.Path {
	t.Helper()
	p, err := contract.ParsePath(name)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestRulesNameWhatDecided(t *testing.T) {
	c := Default()
	c.Scope = &Scope{Read: []string{"**"}, Write: []string{"docs/**", "x/y/z"}, Ask: []string{"src/**"}}
	p := compile(t, c)
	for _, test := range []struct {
		path    string
		access  Access
		ignored int
		want    string
	}{
		{"docs/a", Write, 0, "write: docs/**"},
		{"docs/a", Read, 0, "read: **"},
		{"src/a", Write, 0, "ask: src/**"},
		{"a", Write, 0, ruleReadOnly},
		{".git/config", Read, 0, ruleHidden},
		{"out/a", Read, 1, ruleIgnored},
		{"out/.a", Read, 1, ruleHidden},
	} {
		r := Request{path(t, test.path), test.access, test.ignored}
		if got := p.Decide(r).Rule; got != test.want {
			t.Errorf("%+v: rule %q, want %q", r, got, test.want)
		}
	}
	narrow := compile(t, Config{Scope: &Scope{Read: []string{"x/y/z"}}})
	if got, want := narrow.Decide(Request{path(t, "x/y"), Look, 0}).Rule, "on the way to read: x/y/z"; got != want {
		t.Errorf("rule %q, want %q", got, want)
	}
	if got := narrow.Decide(Request{path(t, "y"), Read, 0}).Rule; got != ruleUnlisted {
		t.Errorf("rule %q, want %q", got, ruleUnlisted)
	}
}

func TestAnUnknownAccessIsDenied(t *testing.T) {
	p := compile(t, FromFlags(nil, []string{"**"}, nil))
	if d := p.Decide(Request{path(t, "a"), Access(9), 0}); d.Effect != Deny {
		t.Errorf("got %v", d)
	}
}

func TestFlags(t *testing.T) {
	for _, test := range []struct {
		name             string
		read, write, ask []string
		want             Scope
	}{
		{name: "none", want: Scope{Read: []string{"**"}}},
		{name: "write alone", write: []string{"docs/**"}, want: Scope{Read: []string{"**"}, Write: []string{"docs/**"}}},
		{name: "ask alone", ask: []string{"docs/**"}, want: Scope{Read: []string{"**"}, Ask: []string{"docs/**"}}},
		{name: "read alone", read: []string{"docs/**"}, want: Scope{Read: []string{"docs/**"}}},
		{name: "a hidden name", write: []string{".ci/**"}, want: Scope{Read: []string{"**", ".ci/**"}, Write: []string{".ci/**"}}},
		{name: "read and write", read: []string{"a/**"}, write: []string{"b/**"}, want: Scope{Read: []string{"a/**", "b/**"}, Write: []string{"b/**"}}},
	} {
		t.Run(test.name, func(t *testing.T) {
			p := compile(t, FromFlags(test.read, test.write, test.ask))
			if got := p.Zones(); !sameZones(got, Zones(test.want)) {
				t.Errorf("zones %+v, want %+v", got, test.want)
			}
			if !p.Redact() {
				t.Error("flags must not switch redaction off")
			}
		})
	}
}

func TestFlagsAddToTheScopeOfAFile(t *testing.T) {
	c := Default()
	c.Scope = &Scope{Read: []string{"docs/**"}}
	granted := c.Grant(nil, []string{"src/**"}, nil)
	if got, want := compile(t, granted).Zones(), (Zones{Read: []string{"docs/**", "src/**"}, Write: []string{"src/**"}}); !sameZones(got, want) {
		t.Errorf("zones %+v, want %+v", got, want)
	}
	if len(c.Scope.Write) != 0 {
		t.Error("the configuration that was added to has changed")
	}
}

func sameZones(a, b Zones) bool {
	join := func(z Zones) string {
		return strings.Join(z.Read, " ") + "|" + strings.Join(z.Write, " ") + "|" + strings.Join(z.Ask, " ")
	}
	return join(a) == join(b)
}

func TestZonesListsAreNeverNil(t *testing.T) {
	for _, zones := range []Zones{compile(t, Default()).Zones(), compile(t, Config{Scope: &Scope{}}).Zones()} {
		if zones.Read == nil || zones.Write == nil || zones.Ask == nil {
			t.Errorf("%+v would be null on the wire", zones)
		}
	}
}

func TestCanEverWrite(t *testing.T) {
	for _, test := range []struct {
		name  string
		scope *Scope
		want  bool
	}{
		{"no scope", nil, false},
		{"read alone", &Scope{Read: []string{"**"}}, false},
		{"write", &Scope{Write: []string{"a"}}, true},
		{"ask", &Scope{Ask: []string{"a"}}, true},
		{"empty lists", &Scope{Write: []string{}, Ask: []string{}}, false},
	} {
		if got := compile(t, Config{Scope: test.scope}).CanEverWrite(); got != test.want {
			t.Errorf("%s: %t, want %t", test.name, got, test.want)
		}
	}
}

func TestCompileRefuses(t *testing.T) {
	for _, test := range []struct {
		name string
		c    Config
		want string
	}{
		{"a glob from a flag", FromFlags(nil, []string{"../x"}, nil), "../x"},
		{"a bad glob of notes", Config{Notes: Notes{Include: []string{"["}}}, "["},
		{"an unknown visibility", Config{Notes: Notes{Visibility: "all"}}, `"all"`},
		{"an unknown encoding", Config{Encodings: []Encoding{{"**", "klingon"}}}, "klingon"},
		{"a bad glob of encodings", Config{Encodings: []Encoding{{"/", "gb18030"}}}, "absolute"},
		{"roots of one name", Config{Roots: []Root{{Name: "a", Path: "x/a"}, {Name: "a", Path: "y/a"}}}, "taken"},
		{"roots without names", Config{Roots: []Root{{Path: "x"}, {Path: "y"}}}, "needs a name"},
		{"a hidden root", Config{Roots: []Root{{Name: ".a", Path: "x"}, {Name: "b", Path: "y"}}}, "dot"},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, err := Compile(test.c)
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v, want an error that names %s", err, test.want)
			}
		})
	}
}
