package workspace

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// ignoreWorld is a tree whose .gitignore files use every rule that people trip over.
var ignoreWorld = map[string]string{
	".gitignore": "\ufeff*.log\r\n!keep.log\n# comment\n\\#literal\n\\!bang\nspace \nkept\\ \nbuild/\n/anchored\ndoc/*.txt\na/**/z\n" +
		"deep/**\n!deep/kept\n**/any\nwild?card\n[ab]c\n[!x]y\n[]q]r\n[[:digit:]]n\n[^k-m]o\nfoo/bar\nx**y\n{p,q}\nre/\n!re/\nba\\ckslash\nunclosed[\n" +
		"tail\\\n!\n/\n//\nbare/**/\nmid/*/end\nstar*\n!*/starred\nénorme\n*.tmp/\nq\\?\nlink\n  lead\n\ttab\n[a-\n**/m/**/n\n[\\]]v\n[a-]w\n",
	"nested/.gitignore":        "!*.log\nlocal\n/top\nsub/\n",
	"nested/more/.gitignore":   "*.log\n!/x.log\n",
	"build/.gitignore":         "!*\n",
	"neg/.gitignore":           "*\n!.gitignore\n!yes\n!dir/\n",
	"neg/dir/.gitignore":       "!in\n",
	"only/.gitignore":          "/*\n!/keep\n",
	"crlf/.gitignore":          "a.txt\r\nb.txt\r\n",
	"utf16/.gitignore":         "\xff\xfea\x00\n",
	"ref/sub/.gitignore":       "../up\n./here\n",
	"case/.gitignore":          "Upper\n",
	"tabs/.gitignore":          "trail\t\n",
	"deep2/one/.gitignore":     "two/three\n",
	"slash/.gitignore":         "a/b/\n!a/b/c\n",
	"dotdir/.gitignore":        ".*\n!.keep\n",
	"doublestar/.gitignore":    "**/x/**\n!**/x/y/\n",
	"escaped/.gitignore":       "a\\*b\n\\[c\\]\n\\\\d\n",
	"trailing/.gitignore":      "one  \ntwo\\  \nthree \\ \n",
	"emptyclass/.gitignore":    "e[]\nf[!]\n",
	"starslash/.gitignore":     "*/k\n",
	"starstarslash/.gitignore": "s/**\n!s/t/\n!s/t/u\n",
}

var ignoreNames = strings.Split(strings.Join([]string{
	"a.log keep.log #literal !bang space kept\\  build/f build/g/h anchored sub/anchored doc/a.txt doc/b/a.txt a/z a/b/z a/b/c/z a/zz",
	"deep/f deep/kept deep/g/h any p/any p/any/f wildXcard wildcard ac bc cc ay xy ]r qr 5n xn jo ko zo foo/bar p/foo/bar xay xa/by {p,q} p q",
	"re/f re/a.log ba\\ckslash backslash unclosed[ tail\\ tail bare/f bare/a/f bare/a/b/f mid/a/end mid/a/b/end star starred s/starred énorme",
	"f.tmp d.tmp/f q? qa nested/a.log nested/local nested/top nested/d/top nested/d/local nested/sub/f nested/more/a.log nested/more/x.log",
	"nested/more/d/x.log neg/no neg/yes neg/dir/in neg/dir/out only/keep only/drop only/keep2/f crlf/a.txt crlf/b.txt crlf/c.txt utf16/a ref/up",
	"ref/sub/here ref/here case/upper case/Upper deep2/one/two/three deep2/one/x/two/three slash/a/b/c slash/a/b slash/a/c dotdir/.a dotdir/.keep",
	"dotdir/.d/f doublestar/x/f doublestar/x/y/f doublestar/z/x/y/f escaped/a*b escaped/axb escaped/[c] escaped/c escaped/\\d trailing/one",
	"emptyclass/e[] emptyclass/f[!] emptyclass/e starslash/k starslash/j/k starslash/i/j/k starstarslash/s/f starstarslash/s/t/u starstarslash/s/t/v",
	"m/n x/m/n x/m/y/n x/m/y/n/f ]v \\v -w aw bw",
}, " "), " ")

// extraIgnoreNames hold spaces and tabs.
var extraIgnoreNames = []string{"space ", "kept ", "kept", "  lead", "lead", "\ttab", "trailing/two ", "trailing/two", "trailing/three  ", "tabs/trail\t", "tabs/trail"}

// Every name of the world is asked of git and of us.
func TestIgnoreRulesAreGits(t *testing.T) {
	git, err := exec.LookPath("git")
	if err != nil {
		t.Skip("git is not installed")
	}
	root := t.TempDir()
	put := func(name, text string) {
		file := filepath.Join(root, filepath.FromSlash(name))
		if os.MkdirAll(filepath.Dir(file), 0o755) == nil {
			os.WriteFile(file, []byte(text), 0o644) // a name that can't be made is asked about all the same
		}
	}
	for name, text := range ignoreWorld {
		put(name, text)
	}
	var names []string
	for _, name := range slices.Concat(ignoreNames, extraIgnoreNames) {
		if name != "" {
			put(name, "x")
			names = append(names, name)
		}
	}
	wanted := askGit(t, git, root, names)
	for _, name := range names {
		if info, err := os.Lstat(filepath.Join(root, name)); err != nil || info.IsDir() {
			continue
		}
		if got := ignoredInWorld(name); got != slices.Contains(wanted, name) {
			t.Errorf("%q: ignored = %t, git says otherwise", name, got)
		}
	}
	if len(wanted) < 40 {
		t.Fatalf("git named only %d names: the world is not what this test takes it for", len(wanted))
	}
}

func askGit(t *testing.T, git, root string, names []string) []string {
	t.Helper()
	env := append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null", "GIT_DIR=", "GIT_WORK_TREE=")
	env = slices.DeleteFunc(env, func(v string) bool { return v == "GIT_DIR=" || v == "GIT_WORK_TREE=" })
	initialize := exec.Command(git, "init", "-q", root)
	initialize.Env = env
	if out, err := initialize.CombinedOutput(); err != nil {
		t.Fatalf("git init: %v: %s", err, out)
	}
	check := exec.Command(git, "-C", root, "-c", "core.ignorecase=false", "check-ignore", "--no-index", "-z", "--stdin")
	check.Env = env
	check.Stdin = strings.NewReader(strings.Join(names, "\x00") + "\x00")
	out, err := check.Output()
	if err != nil {
		t.Fatalf("git check-ignore: %v", err)
	}
	return strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00")
}

// ignoredInWorld walks down to name as a walk does: what is ignored is not entered.
func ignoredInWorld(name string) bool {
	segments := strings.Split(name, "/")
	for i := range segments {
		as := asDirectory
		if i == len(segments)-1 {
			as = asFile
		}
		for k := i; k >= 0; k-- {
			file := strings.Join(append(slices.Clone(segments[:k]), ".gitignore"), "/")
			v := judge(parseIgnore([]byte(ignoreWorld[file])), strings.Join(segments[k:i+1], "/"), as)
			if v == ignored {
				return true
			}
			if v == kept {
				break
			}
		}
	}
	return false
}

func FuzzParseIgnore(f *testing.F) {
	f.Add("*.log\n!a/**\n[[:alpha:]-]x\\ \n", "a/b.log")
	f.Fuzz(func(t *testing.T, text, rel string) {
		if rules := parseIgnore([]byte(text)); len(rules) > strings.Count(text, "\n")+1 {
			t.Errorf("%d rules of %d lines", len(rules), strings.Count(text, "\n")+1)
		} else {
			judge(rules, rel, asFile)
		}
	})
}
