package gate

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"writ/ledger"
	"writ/policy"
	"writ/tools"
	"writ/workspace"
)

// Secrets of one kind and length. Whatever a caller does, it can't tell which of them a file holds.
var (
	secretA = joined("gh", "p_", "Ab3dEf6hIj9kLm2nOp5qRs8tUv1wXy4zAb7c")
	secretB = joined("gh", "p_", "Zq8rTy4uGh7jKp2sWx5vBn9mCd1fLa6eYo3i")
	secrets = []string{secretA, secretB}
)

// pem is a private key made of one line.
func pem(line string) string {
	return joined("-----BEGIN PRIV", "ATE KEY-----\n") + strings.Repeat(line+"\n", 30) + joined("-----END PRIV", "ATE KEY-----\n")
}

var keyLines = []string{"MIIEpAIBAAKCAQEA7bq2Wm9zJf0u3vYk8QxR1tN5cHs6LgVd", "Xt4KpO8wEr2yUi6aSd0fGh3jKl7zCv1bNm5qWe9rTy4uIo8p"}

var (
	accessKeys = []string{joined("AK", "IAQ7XK3M5NPT2WZY4B"), joined("AK", "IAZ4YB2WTN7PQX5K3M")}
	passwords  = []string{"-aB3x9Qw", "zaB3x9Qw"} // they begin with another kind of character
)

// twin is a directory with a secret, behind a gate.
type twin struct {
	*testing.T
	gate *Gate
	root string
}

// newTwin makes the directory with the secret of that number.
func newTwin(t *testing.T, n int) *twin {
	t.Helper()
	base := t.TempDir()
	w := &twin{T: t, root: filepath.Join(base, "root")}
	s, line := secrets[n], keyLines[n]
	w.write("token.md", "first line\nkey "+s+" end\nlast line with key\n")
	w.write("crlf.md", "one\r\nkey "+s+" end\r\nthree\r\n")
	w.write("glued.md", "a="+s+"\nb="+s+s+"\n\""+s+"\"\n")
	w.write("aws.md", "id="+accessKeys[n]+"\n")
	w.write("url.md", "db postgres://u:"+passwords[n]+"@host/x\n")
	w.write("long.txt", strings.Repeat("wide ", 200)+s+strings.Repeat(" wide", 200)+"\nkey\n")
	w.write("key.pem", "before\n"+pem(line)+"after\n"+pem(line))
	w.write("one-line.json", `{"pad": "`+strings.Repeat("x ", 140_000)+`", "token": "`+s+`", "pad": "`+strings.Repeat("y ", 9000)+"\"}\n")
	w.write("notes/n.md", "---\ntitle: About "+s+"\ntags: [alpha, "+s+"]\n---\n# Heading "+s+"\n\nThe key is "+s+" today.\n")
	w.write("notes/m.md", "# Plain\n\nNo key here.\n")
	var big strings.Builder
	for i := range 12_000 {
		fmt.Fprintf(&big, "line %d of a long file\n", i+1)
		if i%997 == 500 {
			big.WriteString("token " + s + "\n")
		}
		if i%4000 == 3000 {
			big.WriteString(pem(line))
		}
	}
	w.write("big.txt", big.String())

	rules, err := policy.Compile(policy.FromFlags(nil, []string{"**"}, nil))
	if err != nil {
		t.Fatal(err)
	}
	state := filepath.Join(base, "state")
	files, err := workspace.Open(workspace.Options{Roots: []workspace.Root{{Dir: w.root}}, State: state, Secrets: SecretsOf(rules)})
	if err != nil {
		t.Fatal(err)
	}
	book, err := ledger.Open(state, ledger.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { book.Close(); files.Close() })
	w.gate = New(Options{Policy: rules, Files: files, Ledger: book, Tools: tools.All(), KeepAlways: true})
	return w
}

func (w *twin) write(name, content string) {
	w.Helper()
	file := filepath.Join(w.root, name)
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		w.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(content), 0o644); err != nil {
		w.Fatal(err)
	}
}

// arguments are those of a call; $version in them is the version of the file at path.
type arguments map[string]any

var ever = regexp.MustCompile(`\b[0-9a-f]{32}\b|req_[a-z0-9]+|chg_[a-z0-9]+|"change_id":"[^"]*"|"modified":"[^"]*"|"time":"[^"]*"|artifact:[a-z0-9]+`)

// call returns all that a caller gets to see, and fails where that holds a piece of the secret which the caller did not
// send itself.
func (w *twin) call(tool string, args arguments) string {
	w.Helper()
	sent := arguments{}
	for key, value := range args {
		if value == "$version" {
			value = w.version(fmt.Sprint(args["path"]))
		}
		sent[key] = value
	}
	raw, err := json.Marshal(sent)
	if err != nil {
		w.Fatal(err)
	}
	e := w.gate.Call(context.Background(), Call{Caller: "local", Tool: tool, Arguments: raw})
	told := string(e.AppendJSON(nil)) + "\n" + strings.Join(e.Texts, "\n")
	for i, s := range slices.Concat(secrets, keyLines) {
		for at := 4; at+6 <= len(s); at++ {
			if piece := s[at : at+6]; strings.Contains(told, piece) && !strings.Contains(string(raw), piece) {
				w.Errorf("%s %.200s tells %q of secret %d: %.600s", tool, raw, piece, i, told)
				return told
			}
		}
	}
	return told
}

func (w *twin) version(name string) string {
	w.Helper()
	var got struct{ Version string }
	told, _, _ := strings.Cut(w.call("read_file", arguments{"path": name, "limit": 1}), "\n")
	if err := json.Unmarshal([]byte(told), &got); err != nil || got.Version == "" {
		w.Fatalf("no version of %s: %s", name, told)
	}
	return got.Version
}

// same calls both twins and fails where they answer differently.
func same(t *testing.T, a, b *twin, tool string, args arguments) string {
	t.Helper()
	x, y := ever.ReplaceAllString(a.call(tool, args), "?"), ever.ReplaceAllString(b.call(tool, args), "?")
	if x != y {
		at := 0
		for at < min(len(x), len(y)) && x[at] == y[at] {
			at++
		}
		from := max(0, at-80)
		t.Errorf("%s %.200v tells the twins apart:\n%.300s\n%.300s", tool, args, x[from:], y[from:])
	}
	return x
}

func TestNoReadTellsASecret(t *testing.T) {
	a, b := newTwin(t, 0), newTwin(t, 1)
	for _, c := range []struct {
		path          string
		lines         int
		shows, counts string
	}{
		{"token.md", 3, "key [redacted:github-pat] end\n", `"count":1,"kinds":{"github-pat":1},"places":[{"line":2,"kind":"github-pat"}]`},
		{"crlf.md", 3, "key [redacted:github-pat] end\r\n", `"count":1`},
		{"glued.md", 3, "\"[redacted:github-pat]\"\n", `"count":3`},
		{"long.txt", 2, " wide [redacted:github-pat] wide", `"line":1`},
		{"key.pem", 66, "before\n[redacted:private-key]\n[redacted:private-key]\n", `"private-key":64`},
	} {
		told := same(t, a, b, "read_file", arguments{"path": c.path})
		if !strings.Contains(told, c.shows) || !strings.Contains(told, c.counts) || !strings.Contains(told, `"code":"redacted"`) {
			t.Errorf("%s is shown as %.900s", c.path, told)
		}
		for first := 1; first <= c.lines; first++ {
			for _, limit := range []int{1, 2, 5} {
				same(t, a, b, "read_file", arguments{"path": c.path, "offset": first, "limit": limit})
			}
			same(t, a, b, "read_file", arguments{"path": c.path, "offset": -first})
		}
	}
	same(t, a, b, "read_files", arguments{"paths": []string{"token.md", "none.md", "key.pem", "notes/n.md", "one-line.json", "big.txt"}})
	same(t, a, b, "read_file", arguments{"path": "one-line.json"})
	for first := 1; first < 12_000; first += 1009 {
		same(t, a, b, "read_file", arguments{"path": "big.txt", "offset": first, "limit": 40})
	}
	for first := 2998; first < 3040; first++ { // lines of a key, and around it
		same(t, a, b, "read_file", arguments{"path": "big.txt", "offset": first, "limit": 1})
	}
	same(t, a, b, "read_file", arguments{"path": "big.txt", "limit": 20_000})
	same(t, a, b, "get_file_info", arguments{"path": "token.md"})
}

// guesses are parts of the first secret, in ways that a search or an edit could take.
func guesses() []string {
	var all []string
	for n := 1; n <= len(secretA); n += 5 {
		all = append(all, secretA[:n], "key "+secretA[:n], secretA[len(secretA)-n:]+" end", secretA[n/2:n])
	}
	return append(all, secretA, "key "+secretA+" end", strings.ToLower(secretA), strings.ToUpper(secretA[:12]),
		keyLines[0], keyLines[0][:10], keyLines[0]+"\n"+keyLines[0], "before\n-----BEGIN", "e", "key", "line")
}

func TestNoSearchTellsASecret(t *testing.T) {
	a, b := newTwin(t, 0), newTwin(t, 1)
	for _, guess := range guesses() {
		if guess == "" {
			continue
		}
		same(t, a, b, "search_text", arguments{"pattern": guess, "context_lines": 2})
		same(t, a, b, "search_text", arguments{"pattern": guess, "ignore_case": true})
		same(t, a, b, "search_text", arguments{"pattern": guess, "path": "big.txt", "offset": 3})
		for _, query := range []string{guess, `"` + guess + `"`, guess + "*", "title:" + guess, "tag:" + guess} {
			same(t, a, b, "search_notes", arguments{"query": query[:min(len(query), 200)]})
		}
	}
	for _, pattern := range []string{
		`key ghp_A.*`, `key( ghp_A)?`, `key (ghp_A.*|\[redacted.*)`, `key (ghp_A)?.*`, `gh[a-z]_[A-M]`, `.*`, `^`, `$`, ``, `\bkey\b`,
		`[A-Z]b3`, `(?:a=|.*)(ghp_A)?`, `a=\B`, `a=\b`, `u:\B`, `u:\b`, `\B@host`, `"\b`, `\B"`, `key .{40} end`, `key .{5,60} end`, `[^A]ghp`, `end$`, `(end|Ab3d.*)`, `\w{30,}`,
	} {
		for _, ignore := range []bool{false, true} {
			same(t, a, b, "search_text", arguments{"pattern": pattern, "literal": false, "ignore_case": ignore, "context_lines": 1})
		}
	}
}

func TestSearchFindsWhatStandsBesideASecret(t *testing.T) {
	w := newTwin(t, 0)
	for _, c := range []struct {
		pattern string
		literal bool
		want    string
	}{
		{"key", true, `"path":"token.md","line":2,"column":1,"text":"key [redacted:github-pat] end"`},
		{" end", true, `"path":"token.md","line":2,"column":26,"text":"key [redacted:github-pat] end"`},
		{"a=", true, `"path":"glued.md","line":1,"column":1,"text":"a=[redacted:github-pat]"`},
		{"en[d]", false, `"path":"token.md","line":2,"column":27`},
	} {
		told := w.call("search_text", arguments{"pattern": c.pattern, "literal": c.literal})
		if !strings.Contains(told, c.want) {
			t.Errorf("%q: no %s in %.900s", c.pattern, c.want, told)
		}
	}
	for _, pattern := range []string{"ghp_", secretA, "Ab3dEf", "MIIE"} {
		if told := w.call("search_text", arguments{"pattern": pattern}); !strings.Contains(told, `"matches":[],"total":0`) {
			t.Errorf("%q is found: %.500s", pattern, told)
		}
	}
}

// Each edit is tried on twins of its own, since it may change them.
func TestNoEditTellsASecret(t *testing.T) {
	a, b := newTwin(t, 0), newTwin(t, 1)
	for _, path := range []string{"token.md", "crlf.md", "glued.md", "long.txt", "key.pem", "notes/n.md"} {
		for _, guess := range guesses() {
			same(t, a, b, "preview_replace", arguments{"path": path, "old_text": guess, "new_text": "new", "observed_version": "$version"})
		}
	}
	type args = arguments
	for _, c := range []struct {
		name, tool string
		args       args
		want       string
	}{
		{"all of the secret", "replace_text", args{"path": "token.md", "old_text": secretA, "new_text": "x", "observed_version": "$version"}, `"status":"no-match"`},
		{"the line of the secret", "replace_text", args{"path": "token.md", "old_text": "key " + secretA + " end", "new_text": "x", "observed_version": "$version"}, `"no-match"`},
		{"the line as it is shown", "replace_text", args{"path": "token.md", "old_text": "key [redacted:github-pat] end", "new_text": "x", "observed_version": "$version"}, `"differs":["redacted"],"line":2,"text":""`},
		{"a line like that of the secret", "replace_text", args{"path": "token.md", "old_text": "key [redacted ghp-pat] end", "new_text": "x", "observed_version": "$version"}, `"differs":["redacted"],"line":2,"text":""`},
		{"text beside the secret", "replace_text", args{"path": "token.md", "old_text": "first line", "new_text": "1st", "observed_version": "$version"}, ` key [redacted:github-pat] end\n`},
		{"text that touches the secret", "replace_text", args{"path": "glued.md", "old_text": "a=", "new_text": "a==", "observed_version": "$version"}, `+a==[redacted:github-pat]\n`},
		{"text that makes the secret none", "replace_text", args{"path": "aws.md", "old_text": "id=", "new_text": "idx", "observed_version": "$version"}, `"shows-secret"`},
		{"text that occurs often", "replace_text", args{"path": "token.md", "old_text": "e", "new_text": "x", "observed_version": "$version"}, `"multiple-matches"`},
		{"text in a long line", "replace_text", args{"path": "long.txt", "old_text": "wide\nkey", "new_text": "wide\nlock", "observed_version": "$version"}, `"succeeded"`},
		{"a text at the end", "append_text", args{"path": "key.pem", "text": "more\n", "observed_version": "$version"}, `[redacted:private-key]`},
		{"another text in its place", "overwrite_file", args{"path": "token.md", "content": "all new\n", "observed_version": "$version"}, `-key [redacted:github-pat] end`},
		{"the shown text in its place", "overwrite_file", args{"path": "token.md", "content": "first line\nkey [redacted:github-pat] end\n", "observed_version": "$version"}, `revert_change brings it back`},
		{"a new file", "create_file", args{"path": "new.md", "content": "key " + secretA + "\n"}, `+key [redacted:github-pat]`},
		{"a deletion", "delete_file", args{"path": "key.pem", "observed_version": "$version"}, `"succeeded"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			a, b := newTwin(t, 0), newTwin(t, 1)
			if told := same(t, a, b, c.tool, c.args); !strings.Contains(told, c.want) {
				t.Errorf("no %s in %.900s", c.want, told)
			}
		})
	}
}

func TestNoUndoTellsASecret(t *testing.T) {
	a, b := newTwin(t, 0), newTwin(t, 1)
	for _, w := range []*twin{a, b} {
		w.call("overwrite_file", arguments{"path": "token.md", "content": "first line\nnew\n", "observed_version": "$version"})
		w.call("delete_file", arguments{"path": "glued.md", "observed_version": "$version"})
	}
	same(t, a, b, "list_changes", nil)
	var told strings.Builder
	for _, w := range []*twin{a, b} {
		var list struct {
			Changes []struct {
				ID string `json:"change_id"`
			}
		}
		if err := json.Unmarshal([]byte(strings.TrimSpace(w.call("list_changes", nil))), &list); err != nil || len(list.Changes) != 2 {
			t.Fatal(err, list)
		}
		for _, c := range list.Changes {
			told.WriteString(w.call("revert_change", arguments{"change_id": c.ID}))
		}
	}
	if strings.Count(told.String(), `"succeeded"`) != 4 || !strings.Contains(told.String(), "+key [redacted:github-pat] end") {
		t.Errorf("undoing tells %.2000s", told.String())
	}
	if data, err := os.ReadFile(filepath.Join(a.root, "token.md")); err != nil || !strings.Contains(string(data), secretA) {
		t.Errorf("after the undo the file holds %q (%v)", data, err)
	}
}

func TestNoConflictTellsASecret(t *testing.T) {
	a, b := newTwin(t, 0), newTwin(t, 1)
	stale := map[*twin]string{}
	for i, w := range []*twin{a, b} {
		stale[w] = w.version("token.md")
		w.write("token.md", "first line\nkey "+secrets[1-i]+" end\nlast line with key\nkey "+secrets[i]+"\n")
	}
	var told [2]string
	for i, w := range []*twin{a, b} {
		told[i] = ever.ReplaceAllString(w.call("replace_text", arguments{
			"path": "token.md", "old_text": "key " + secretA[:8], "new_text": "x", "observed_version": stale[w]}), "?")
	}
	if told[0] != told[1] {
		t.Errorf("the twins are told apart:\n%s\n%s", told[0], told[1])
	}
	for _, want := range []string{`-key [redacted:github-pat] end\n+key [redacted:github-pat] end\n`, `"old_text_matches":0`, `"code":"redacted"`} {
		if !strings.Contains(told[0], want) {
			t.Errorf("no %s in %s", want, told[0])
		}
	}
}

func TestBatchesTellNoSecret(t *testing.T) {
	a, b := newTwin(t, 0), newTwin(t, 1)
	edits := func(w *twin) arguments {
		var list []any
		for _, old := range []string{"first line", "last line"} {
			list = append(list, arguments{"path": "token.md", "old_text": old, "new_text": "new", "observed_version": w.version("token.md")})
		}
		list = append(list, arguments{"path": "glued.md", "old_text": secretA[:9], "new_text": "new", "observed_version": w.version("glued.md")})
		return arguments{"edits": list, "atomic": false}
	}
	x, y := ever.ReplaceAllString(a.call("apply_edits", edits(a)), "?"), ever.ReplaceAllString(b.call("apply_edits", edits(b)), "?")
	if x != y || !strings.Contains(x, `"partial"`) || !strings.Contains(x, "[redacted:github-pat]") {
		t.Errorf("the twins are told\n%s\n%s", x, y)
	}
}

// Without redaction nothing is scanned, and all is shown.
func TestRedactionCanBeTurnedOff(t *testing.T) {
	w := newTwin(t, 0)
	config := policy.FromFlags(nil, []string{"**"}, nil)
	config.Redact = false
	rules, err := policy.Compile(config)
	if err != nil {
		t.Fatal(err)
	}
	files, err := workspace.Open(workspace.Options{Roots: []workspace.Root{{Dir: w.root}}, Secrets: SecretsOf(rules)})
	if err != nil {
		t.Fatal(err)
	}
	defer files.Close()
	g := New(Options{Policy: rules, Files: files, Tools: tools.All(), KeepAlways: true})
	e := g.Call(context.Background(), Call{Caller: "local", Tool: "read_file", Arguments: []byte(`{"path":"token.md"}`)})
	if !strings.Contains(e.Texts[0], secretA) || len(e.Warnings) > 0 {
		t.Errorf("got %q, %v", e.Texts, e.Warnings)
	}
}
