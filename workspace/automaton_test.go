package workspace

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"regexp/syntax"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

// linesByRegexp returns where the lines begin that match, as the pattern's regexp alone says.
func linesByRegexp(p *pattern, text []byte) (starts []int) {
	start := 0
	for l := range bytes.Lines(text) {
		content := bytes.TrimSuffix(l, []byte("\n"))
		if p.re.Match(bytes.TrimSuffix(content, []byte("\r"))) || p.keepsCR && p.re.Match(content) {
			starts = append(starts, start)
		}
		start += len(l)
	}
	return starts
}

func linesByAutomaton(p *pattern, m *machine, text []byte) (starts []int) {
	p.each(text, m, func(l line) bool {
		starts = append(starts, l.start)
		return true
	})
	return starts
}

// checkAutomaton compares what is found with and without an automaton. It tells whether there was one.
func checkAutomaton(t *testing.T, expression, text string, ignoreCase bool) bool {
	t.Helper()
	p, err := compilePattern(Query{Pattern: expression, Regexp: true, IgnoreCase: ignoreCase})
	if err != nil || p.auto == nil {
		return false
	}
	want := linesByRegexp(p, []byte(text))
	m := newMachine(p.auto)
	for range 2 { // the second time it knows its steps
		if got := linesByAutomaton(p, m, []byte(text)); !slices.Equal(got, want) {
			t.Fatalf("%q in %q (in either case: %t): lines at %v, want %v", expression, text, ignoreCase, got, want)
		}
	}
	return true
}

// expressionOf returns an expression of up to size parts.
func expressionOf(r *rand.Rand, size int) string {
	parts := []string{"a", "b", "_", "é", "漢", "k", "ſ", `\b`, `\B`, "^", "$", `\A`, `\z`, ".", `\w`, `\W`, `\s`, `\S`, `\d`, "[a-c]", "[^a]", `[^\w\s]`, `\r`, `\x{10FFFF}`, `\p{Greek}`, `\p{L}`, "(?i:K)", "(?m:^)", "(?m:$)", "(?s:.)", " "}
	if size <= 1 {
		return parts[r.IntN(len(parts))]
	}
	left, right := expressionOf(r, size/2), expressionOf(r, size-size/2)
	switch r.IntN(6) {
	case 0:
		return "(?:" + left + "|" + right + ")"
	case 1:
		return "(?:" + left + ")" + []string{"*", "+", "?", "{2}", "{1,3}", "*?", "{0,2}?"}[r.IntN(7)] + right
	default:
		return left + right
	}
}

func TestAutomatonFindsWhatRegexpFinds(t *testing.T) {
	r := rand.New(rand.NewPCG(11, 11))
	pieces := []string{"a", "b", "c", "A", "_", "é", "É", "漢", "k", "K", "\u212a", "s", "ſ", "σ", "ς", " ", "\t", "1", "\r", "\r\n", "\n", "\n", "\U0010FFFF", "👍", "-"}
	tried := 0
	for range 4000 {
		var text strings.Builder
		for range r.IntN(40) {
			text.WriteString(pieces[r.IntN(len(pieces))])
		}
		if checkAutomaton(t, expressionOf(r, 1+r.IntN(8)), text.String(), r.IntN(4) == 0) {
			tried++
		}
	}
	if tried < 3000 {
		t.Errorf("only %d expressions had an automaton", tried)
	}
}

// An expression whose states are more than are kept is answered all the same, without them in the end.
func TestAutomatonOfManyStates(t *testing.T) {
	r := rand.New(rand.NewPCG(12, 12))
	var text strings.Builder
	for range 40_000 {
		text.WriteByte("ab\n"[min(2, r.IntN(60)%31/15)])
		text.WriteByte("ab"[r.IntN(2)])
	}
	const expression = `[ab]*a[ab]{13}b[ab]{3}$`
	p, err := compilePattern(Query{Pattern: expression, Regexp: true})
	if err != nil || p.auto == nil {
		t.Fatal(err)
	}
	m := newMachine(p.auto)
	want := linesByRegexp(p, []byte(text.String()))
	for range 3 {
		if got := linesByAutomaton(p, m, []byte(text.String())); !slices.Equal(got, want) {
			t.Fatalf("%d lines, want %d", len(got), len(want))
		}
	}
	if m.resets == 0 || len(m.states) > maxStates {
		t.Errorf("%d states, thrown away %d times: it tests nothing", len(m.states), m.resets)
	}
	m.resets = maxResets + 1
	if got := linesByAutomaton(p, m, []byte(text.String())); !slices.Equal(got, want) {
		t.Fatalf("given up, it finds %d lines, want %d", len(got), len(want))
	}
}

func TestAutomatonIsNotMadeForGiants(t *testing.T) {
	for _, expression := range []string{`(?:[a-z]{30}){30}`, `[\p{L}]{100}`, `(\w{1000})`} {
		tree, err := syntax.Parse(expression, syntax.Perl)
		if err != nil {
			t.Fatal(err)
		}
		a := newAutomaton(tree.Simplify())
		if a != nil && (len(a.prog.Inst) > maxInstructions || len(a.classes) > maxClasses) {
			t.Errorf("%s has %d instructions and %d classes", expression, len(a.prog.Inst), len(a.classes))
		}
	}
}

func FuzzAutomaton(f *testing.F) {
	f.Add(`\b[A-Z]{4,}_[0-9]{3,}\b`, "x ABCD_123\nABC_12\r\n", false)
	f.Add(`\w{2}\s+\w$`, "ab c\r\n漢 é\n\n", true)
	f.Add(`^$|\r`, "\r\n\n\r", false)
	f.Fuzz(func(t *testing.T, expression, text string, ignoreCase bool) {
		if len(expression) > 60 || !utf8.ValidString(text) {
			return
		}
		checkAutomaton(t, expression, text, ignoreCase)
	})
}

func BenchmarkPattern(b *testing.B) {
	text := corpusText(rand.New(rand.NewPCG(1, 1)), 1<<20)
	for _, expression := range []string{`\b[A-Z]{4,}_[0-9]{3,}\b`, `\w{6}\s+\w{6}\s+\w{6}\s+\w{6}$`, `^\s*#\s*define\s+\w+\s+0x[0-9a-f]{8}$`, `[[:upper:]]\p{L}+\d`} {
		p, err := compilePattern(Query{Pattern: expression, Regexp: true})
		if err != nil {
			b.Fatal(err)
		}
		m := newMachine(p.auto)
		for name, m := range map[string]*machine{"automaton": m, "regexp": nil} {
			b.Run(fmt.Sprint(expression, "/", name), func(b *testing.B) {
				b.SetBytes(int64(len(text)))
				for b.Loop() {
					p.each(text, m, func(line) bool { return true })
				}
			})
		}
	}
}
