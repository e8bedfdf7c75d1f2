package workspace

import (
	"regexp"
	"strings"
	"testing"

	"writ/envelope"

	"pgregory.net/rapid"
)

// keyed takes for a secret the word behind "key=", if it ends there.
type keyed struct{}

var keyedText = regexp.MustCompile(`\bkey=([A-Z]{4,8})\b`)

func (keyed) Find(text []byte) []Span {
	var spans []Span
	for _, at := range keyedText.FindAllSubmatchIndex(text, -1) {
		spans = append(spans, Span{at[2], at[3], "key"})
	}
	return spans
}

func TestCheckCovered(t *testing.T) {
	far := strings.Repeat("a line\n", 40_000)
	for _, c := range []struct {
		name, text string
		edits      [][2]string // what to replace, and by what
		want       envelope.Code
	}{
		{"the word before it goes", "key=SECRET\n", [][2]string{{"key=", ""}}, envelope.ShowsSecret},
		{"the word before it becomes another", "key=SECRET\n", [][2]string{{"key", "monkey"}}, envelope.ShowsSecret},
		{"a character behind it", "key=SECRET\nend", [][2]string{{"\nend", "x"}}, envelope.ShowsSecret},
		{"the word before it comes again", "key=SECRET\n", [][2]string{{"key=", "the key="}}, ""},
		{"an edit elsewhere in the line", "one key=SECRET two\n", [][2]string{{"two", "three"}}, ""},
		{"the second of two", "key=SECRET key=HIDDEN.\n", [][2]string{{".", "x"}}, envelope.ShowsSecret},
		{"one of two edits", "one key=SECRET.\n", [][2]string{{"one", "two"}, {".", "x"}}, envelope.ShowsSecret},
		{"edits far from each other", "one\n" + far + "key=SECRET.\n", [][2]string{{"one", "two"}, {".\n", "x\n"}}, envelope.ShowsSecret},
		{"an edit far away", "one\n" + far + "key=SECRET.\n", [][2]string{{"one", "two"}}, ""},
		{"no secret", "word\n", [][2]string{{"word", ""}}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			text := veiled(t, c.text)
			var edits []TextEdit
			for _, e := range c.edits {
				at := strings.Index(c.text, e[0])
				edits = append(edits, TextEdit{Start: at, End: at + len(e[0]), New: e[1]})
			}
			if got := envelope.CodeOf(text.CheckCovered(edits...)); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

// An insertion that parts a secret shows its halves, unless they are kept back all the same.
func TestCheckCoveredWithinASecret(t *testing.T) {
	for inserted, want := range map[string]envelope.Code{"key=": envelope.ShowsSecret, " ": envelope.ShowsSecret, "X": ""} {
		text := veiled(t, "key=SECRET.\n")
		if got := envelope.CodeOf(text.CheckCovered(TextEdit{Start: 8, End: 8, New: inserted})); got != want {
			t.Errorf("%q: got %q, want %q", inserted, got, want)
		}
	}
}

func veiled(t interface{ Fatal(...any) }, content string) *Text {
	text, err := DecodeText([]byte(content), "")
	if err != nil {
		t.Fatal(err)
	}
	text.veil = newVeil(keyed{}, text.content)
	return text
}

// Whatever edit is allowed, what was kept back before is kept back after, or gone.
func TestAllowedEditsShowNoSecret(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		word := func(label string) string { return rapid.StringMatching(`[a-z= \n]{0,6}|key=|AB`).Draw(t, label) }
		before, behind := word("before"), word("behind")
		content := before + "key=SECRET" + behind + " key=HIDDEN " + word("end")
		text := veiled(t, content)
		start := rapid.IntRange(0, len(content)).Draw(t, "start")
		end := rapid.IntRange(start, len(content)).Draw(t, "end")
		edit := TextEdit{Start: start, End: end, New: word("new")}
		if text.veil.hides(start, end) || text.CheckCovered(edit) != nil {
			return
		}
		shown := Redact(keyed{}, content)
		after := Redact(keyed{}, content[:start]+edit.New+content[end:])
		for _, secret := range []string{"SECRET", "HIDDEN"} {
			if !strings.Contains(shown, secret) && strings.Contains(after, secret) {
				t.Fatalf("%q is %q after %+v", shown, after, edit)
			}
		}
	})
}
