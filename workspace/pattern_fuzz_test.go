package workspace

import (
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

// matchLine is a line as a plain search sees it: its number, and where the match starts in it.
type matchLine struct{ number, at int }

// plainly searches line by line with nothing but the standard library. A CR at the end of a line is a part of it only for
// a pattern that asks for one.
func plainly(re *regexp.Regexp, keepsCR bool, text string) []matchLine {
	var found []matchLine
	lines := strings.Split(text, "\n")
	if lines[len(lines)-1] == "" {
		lines = lines[:len(lines)-1] // what ends in a line end has no line behind it
	}
	for i, l := range lines {
		plain := strings.TrimSuffix(l, "\r")
		at := re.FindStringIndex(plain)
		if at == nil && keepsCR {
			at = re.FindStringIndex(l)
		}
		if at != nil {
			found = append(found, matchLine{i, min(at[0], len(plain))})
		}
	}
	return found
}

// A search finds the lines that a plain one finds, whatever it does to be fast.
func FuzzPatternFindsWhatAPlainSearchFinds(f *testing.F) {
	f.Add("needle", "a needle\r\nneedles\n\nNEEDLE", false, false)
	f.Add("ſK\u212a", "skk\nSKK\nſk\u212a\n", false, true)
	f.Add(`a+b|c{2}$`, "aab\r\ncc\r\nccb", true, false)
	f.Add(`^$`, "\n\r\n\n", true, false)
	f.Add("漢\r", "漢\r\n漢\n", false, false)
	f.Add(`\bσ.ς\b`, "ΣΣΣ\nσaς σ\n", true, true)
	f.Add(".", "x\r\n.\r", false, true)
	f.Fuzz(func(t *testing.T, pattern, text string, isRegexp, ignoreCase bool) {
		if len(pattern) > 60 || strings.Contains(pattern, "\n") || !utf8.ValidString(pattern) || !utf8.ValidString(text) {
			t.Skip()
		}
		p, err := compilePattern(Query{Pattern: pattern, Regexp: isRegexp, IgnoreCase: ignoreCase})
		if err != nil {
			t.Skip()
		}
		expression, keepsCR := pattern, p.keepsCR
		if !isRegexp {
			expression, keepsCR = regexp.QuoteMeta(pattern), strings.Contains(pattern, "\r")
		}
		if ignoreCase {
			expression = "(?i)" + expression
		}
		var got []matchLine
		p.each([]byte(text), newMachine(p.auto), func(l line) bool {
			got = append(got, matchLine{strings.Count(text[:l.start], "\n"), l.match})
			return true
		})
		if want := plainly(regexp.MustCompile(expression), keepsCR, text); !slices.Equal(got, want) {
			t.Errorf("%q (regexp %v, ignoring case %v) in %q: %v, a plain search %v", pattern, isRegexp, ignoreCase, text, got, want)
		}
	})
}
