package policy

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"writ/envelope"
)

var someProgram = Program{
	Name: "tool", Path: "/bin/tool",
	Commands: []Command{
		{"show", []string{"-v", "--to={path}", "-n{number}", "{word}"}},
		{"list", []string{"{path}", "./..."}},
		{"bare", []string{}},
	},
}

func TestArgumentsThatFit(t *testing.T) {
	for _, c := range []struct {
		args string // separated by blanks
		want string // text, or text>path; "" where they don't fit
	}{
		{"show", "show"},
		{"show -v", "show -v"},
		{"show -v -v one_Two-3", "show -v -v one_Two-3"},
		{"show --to=a/b.md", "show --to=>a/b.md"},
		{"show -n12", "show -n12"},
		{"list a ./...", "list >a ./..."},
		{"bare", "bare"},

		{"", ""}, {"-v", ""}, {"other", ""}, {"sho", ""}, {"SHOW", ""},
		{"bare -v", ""}, {"bare bare", ""},
		{"show -vv", ""}, {"show -v=1", ""}, {"show --v", ""}, {"show -n", ""}, {"show -n-1", ""}, {"show -n1e3", ""},
		{"show -n１", ""}, {"show -n1234567890123456789", ""}, {"show -n12 --", ""},
		{"show --to=-x", ""}, {"show --to", ""}, {"show --t=a", ""},
		{"show -x", ""}, {"show -", ""}, {"show @file", ""}, {"show a.b", ""}, {"show a/b", ""}, {"show ~", ""}, {"show $x", ""},
		{"show {word}", ""}, {"show wörd", ""}, {"show " + strings.Repeat("a", 101), ""},
		{"list -rf", ""}, {"list --", ""}, {"list {path}", "list >{path}"}, // a file may be called so
		{"list ./a", ""}, {"list a\nb", ""}, {"list a\x00b", ""}, {"list a\x7fb", ""},
	} {
		var args []string
		if c.args != "" {
			args = strings.Split(c.args, " ")
		}
		fitting, err := someProgram.Fit(args)
		var told []string
		for _, a := range fitting {
			text := a.Text
			if a.Kind == NamesFile {
				text += ">" + a.Path.String()
			}
			told = append(told, text)
		}
		if got := strings.Join(told, " "); got != c.want || (err == nil) != (c.want != "") {
			t.Errorf("%q fits as %q (%v), want %q", c.args, got, err, c.want)
		}
	}
}

// What is not listed word by word never begins with a dash, unless a listed prefix does.
func TestNoCallerMakesAFlag(t *testing.T) {
	alphabet := rapid.SampledFrom([]rune("-=abv.n1{}/\\ \n\x00@*$é"))
	rapid.Check(t, func(t *rapid.T) {
		arg := rapid.OneOf(
			rapid.StringOfN(alphabet, 0, 12, -1),
			rapid.Map(rapid.StringOfN(alphabet, 0, 8, -1), func(s string) string { return "--to=" + s }),
			rapid.Map(rapid.StringOfN(alphabet, 0, 8, -1), func(s string) string { return "-n" + s }),
		).Draw(t, "argument")
		fitting, err := someProgram.Fit([]string{"show", arg})
		if err != nil {
			if code := envelope.CodeOf(err); code != envelope.ProgramNotAllowed && code != envelope.PathNotAllowed {
				t.Fatalf("refused as %s", code)
			}
			return
		}
		a := fitting[1]
		value, isFlag := strings.CutPrefix(a.Text, "-n")
		switch {
		case a.Text == "-v" && a.Kind == Listed, a.Text == "--to=" && a.Kind == NamesFile && !strings.HasPrefix(a.Path.String(), "-"):
		case isFlag && strings.Trim(value, "0123456789") == "" && value != "":
		case a.Kind == IsWord && !strings.ContainsAny(a.Text, "./\\@= \n\x00{}*$") && a.Text[0] != '-':
		default:
			t.Fatalf("%q is taken as %+v", arg, a)
		}
	})
}

// A caller whose scope is narrower than the policy's runs nothing, since a program sees all of its directory.
func TestNarrowedCallersRunNothing(t *testing.T) {
	c, err := Parse([]byte(`
programs: [{name: echo, path: /bin/echo}]
callers:
  - {name: all, token: "sha256:`+strings.Repeat("0", 64)+`"}
  - {name: some, token: "sha256:`+strings.Repeat("1", 64)+`", scope: {read: ["docs/**"]}}
`), "writ.yaml")
	if err != nil {
		t.Fatal(err)
	}
	p := compile(t, c)
	for name, want := range map[string]int{"all": 1, "some": 0} {
		if q, _ := p.For(name); len(q.Programs()) != want {
			t.Errorf("%s has %d programs, want %d", name, len(q.Programs()), want)
		}
	}
	q, _ := p.For("some")
	if _, err := q.Program("echo"); envelope.CodeOf(err) != envelope.ProgramNotAllowed {
		t.Errorf("%v", err)
	}
}
