package policy

import (
	"path/filepath"
	"testing"

	"writ/envelope"
)

// A list that is not in the form that it is compared in would protect nothing.
func TestProtectedNamesAreFolded(t *testing.T) {
	for _, entry := range protectedNames {
		if foldPath(entry) != entry {
			t.Errorf("%s is compared as %s", entry, foldPath(entry))
		}
	}
}

// The policy's own file decides what may be written, whatever it is called.
func TestThePolicysFileIsProtected(t *testing.T) {
	base := t.TempDir()
	c := Config{
		File:  filepath.Join(base, "a", "conf", "Rules.yaml"),
		Roots: []Root{{Name: "a", Path: filepath.Join(base, "a")}, {Name: "b", Path: filepath.Join(base, "b")}},
		Scope: &Scope{Write: []string{"**"}},
	}
	p := compile(t, c)
	for name, want := range map[string]envelope.Code{
		"a/conf/Rules.yaml": envelope.ProtectedName,
		"a/conf/rules.yaml": envelope.ProtectedName,
		"b/conf/Rules.yaml": "",
		"a/conf/other.yaml": "",
	} {
		if d := p.Decide(Request{Path: path(t, name), Access: Write}); d.Code != want {
			t.Errorf("%s: code %q, want %q", name, d.Code, want)
		}
	}
	c.Scope.Write = append(c.Scope.Write, "a/conf/Rules.yaml")
	if d := compile(t, c).Decide(Request{Path: path(t, "a/conf/Rules.yaml"), Access: Write}); d.Effect != Allow {
		t.Errorf("spelled out: %v", d)
	}
}
