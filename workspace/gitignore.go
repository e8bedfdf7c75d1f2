package workspace

import (
	"bytes"
	"strings"

	"writ/contract"
)

// The rules of .gitignore files, as git has them: one a line, the last that matches a name decides, a name in an
// ignored directory stays ignored whatever is said of it, and a file deeper in the tree comes after those above it.
// gitignore(5) is the reference; the tests ask git itself.
//
// They are matched here and not by a library since those at hand get [!a] sets, a/**/b and re-included directories
// wrong, and bring a git implementation with them.

// verdict is what the rules of one file say about a name.
type verdict int

const (
	unmentioned verdict = iota
	ignored
	kept // named by a rule that begins with "!"
)

// ignoreRule is one line of a .gitignore.
type ignoreRule struct {
	glob     contract.Glob
	keeps    bool // begins with "!"
	dirsOnly bool // ends in "/"
	anyDepth bool // holds no other slash: compared with the name alone
}

// parseIgnore reads the lines of a .gitignore. Lines that can't match anything are left out.
func parseIgnore(data []byte) []ignoreRule {
	var rules []ignoreRule
	for line := range bytes.SplitSeq(bytes.TrimPrefix(data, []byte(utf8Mark)), []byte("\n")) {
		if rule, ok := parseIgnoreLine(string(bytes.TrimSuffix(line, []byte("\r")))); ok {
			rules = append(rules, rule)
		}
	}
	return rules
}

const utf8Mark = "\xef\xbb\xbf"

func parseIgnoreLine(line string) (rule ignoreRule, ok bool) {
	if strings.HasPrefix(line, "#") {
		return rule, false
	}
	line = trimUnescapedSpaces(line)
	line, rule.keeps = strings.CutPrefix(line, "!")
	line, rule.dirsOnly = strings.CutSuffix(line, "/")
	rule.anyDepth = !strings.Contains(line, "/")
	pattern, ok := globFromIgnore(strings.TrimPrefix(line, "/"))
	if !ok {
		return rule, false
	}
	var err error
	rule.glob, err = contract.ParseGlob(pattern)
	return rule, err == nil
}

// trimUnescapedSpaces cuts spaces from the end, but for one that a backslash keeps.
func trimUnescapedSpaces(line string) string {
	trimmed := strings.TrimRight(line, " ")
	backslashes := len(trimmed) - len(strings.TrimRight(trimmed, `\`))
	if backslashes%2 == 1 && len(trimmed) < len(line) {
		return trimmed + " "
	}
	return trimmed
}

// globFromIgnore writes a pattern of git's as one of ours: braces are ordinary characters there, a set may begin with
// "]" and name classes, and a final /** does not include the directory itself.
func globFromIgnore(pattern string) (string, bool) {
	var b strings.Builder
	for i := 0; i < len(pattern); i++ {
		switch c := pattern[i]; c {
		case '\\':
			if i++; i == len(pattern) {
				return "", false
			}
			b.WriteByte('\\')
			b.WriteByte(pattern[i])
		case '{', '}':
			b.WriteByte('\\')
			b.WriteByte(c)
		case '[':
			set, length, ok := setFromIgnore(pattern[i:])
			if !ok {
				return "", false
			}
			b.WriteString(set)
			i += length - 1
		default:
			b.WriteByte(c)
		}
	}
	if strings.HasSuffix(pattern, "/**") || pattern == "**" {
		b.WriteString("/*")
	}
	return b.String(), b.Len() > 0
}

var ignoreClasses = map[string]string{
	"alnum": "0-9A-Za-z", "alpha": "A-Za-z", "blank": ` \	`, "cntrl": "\x01-\x1f\x7f", "digit": "0-9", "graph": "!-~",
	"lower": "a-z", "print": " -~", "punct": "!-/:-@\\[-`{-~", "space": " \t-\r", "upper": "A-Z", "xdigit": "0-9A-Fa-f",
}

// setFromIgnore writes the set that s begins with as one of ours and returns its length in s.
func setFromIgnore(s string) (set string, length int, ok bool) {
	var b strings.Builder
	b.WriteByte('[')
	i := 1
	if i < len(s) && (s[i] == '!' || s[i] == '^') {
		b.WriteByte('!')
		i++
	}
	for first := i; i < len(s); i++ {
		switch c := s[i]; {
		case c == ']' && i > first:
			b.WriteByte(']')
			return b.String(), i + 1, true
		case c == '[' && strings.HasPrefix(s[i:], "[:"):
			name, _, found := strings.Cut(s[i+2:], ":]")
			class := ignoreClasses[name]
			if !found || class == "" {
				return "", 0, false
			}
			b.WriteString(class)
			i += len(name) + len("[::]") - 1
		case c == '-' && i > first && i+1 < len(s) && s[i+1] != ']':
			b.WriteByte('-')
		case c == '\\':
			if i++; i == len(s) {
				return "", 0, false
			}
			b.WriteByte('\\')
			b.WriteByte(s[i])
		case c == ']' || c == '[' || c == '-' || c == '!' || c == '^':
			b.WriteByte('\\')
			b.WriteByte(c)
		default:
			b.WriteByte(c)
		}
	}
	return "", 0, false
}

// judge says what the rules of a file say about the entry at rel, relative to the file's directory.
func judge(rules []ignoreRule, rel string, as form) verdict {
	name := rel[strings.LastIndexByte(rel, '/')+1:]
	for i := len(rules) - 1; i >= 0; i-- {
		rule := &rules[i]
		subject := rel
		if rule.anyDepth {
			subject = name
		}
		switch {
		case rule.dirsOnly && as != asDirectory, !rule.glob.Match(subject):
		case rule.keeps:
			return kept
		default:
			return ignored
		}
	}
	return unmentioned
}
