package main

import (
	"fmt"
	"slices"
	"strings"
)

func contains(list []string, want string) bool { return slices.Contains(list, want) }

// hostilePlaces lists places that a caller may know of or guess, spelled in every way.
func hostilePlaces() []string {
	places := []string{
		"docs/guide.md", "docs/list.txt", "docs/crlf.txt", "docs/deploy.txt", "docs/new.txt", "docs", "src/main.go", "src/config.yaml", "lib/readme.txt",
		"lib/settings.txt", "lib/key.pem", "lib", "notes/open.md", turnsPrivate, "", ".", "/", "..", "docs/AGENTS.md", "docs/.mcp.json",
	}
	places = append(places, keptPlaces...)
	places = append(places, privatePlaces...)
	for _, p := range []string{".env", "vault/only.txt", "docs/trace.log", "notes/mine.md"} {
		places = append(places,
			"./"+p, "docs/../"+p, "docs//../"+p, "/"+p, "@root@/"+p, "file://@root@/"+p, p+"/", p+"\x00.txt", p+"/..",
			strings.ToUpper(p), p+" ", p+".", strings.ReplaceAll(p, "/", `\`), strings.ReplaceAll(p, ".", "%2e"),
			strings.ReplaceAll(p, ".", "．"), p+":$DATA", "lib/../"+p, "~/"+p, "docs/tovault/"+p)
	}
	return append(places, "../outside/secret.txt", "@root@/../outside/secret.txt", "/proc/self/environ", "/proc/self/root@root@/.env",
		"lib/outdir/secret.txt", "lib/outdir/missing.txt", "docs/tovault/only.txt", "docs/tovault/missing.txt", "docs/loop/x",
		"docs/guide.md/x", ".env/x", "vault/missing/x", ".git/missing", strings.Repeat("a/", 300)+"x", strings.Repeat("n", 300))
}

// randomStep does what nobody thought of.
func (m *model) randomStep() {
	m.Helper()
	switch n := m.dice.IntN(100); {
	case n < 3:
		for _, w := range m.worlds {
			w.makePrivate()
		}
		m.settled()
	case n < 6:
		for _, w := range m.worlds {
			w.makeOpen()
		}
		m.settled()
	case n < 8:
		m.restore()
	case n < 12:
		m.randomRequest()
	default:
		tool := m.tools[m.dice.IntN(len(m.tools))]
		m.call(tool.name, m.randomArguments(tool.schema))
	}
}

// randomRequest asks for something other than a call.
func (m *model) randomRequest() {
	m.Helper()
	uri := anyOf(m, "file://@root@/.env", "file:///etc/passwd", "artifact:../../ledger.db", "artifact:aaaaaaaaaaaaaaaaaaaaaaaaaa", "@artifact:0@", "@artifact:1@", "writ://.env", "")
	switch m.dice.IntN(6) {
	case 0:
		m.say("resources/list", "{}")
	case 1:
		m.say("resources/templates/list", "{}")
	case 2:
		m.say("prompts/list", "{}")
	case 3:
		m.say("completion/complete", compact(map[string]any{"ref": map[string]any{"type": "ref/resource", "uri": uri}, "argument": map[string]any{"name": "path", "value": "."}}))
	default:
		m.say("resources/read", compact(map[string]any{"uri": uri}))
	}
}

func anyOf(m *model, choices ...string) string { return choices[m.dice.IntN(len(choices))] }

// randomArguments are mostly of the schema's shape.
func (m *model) randomArguments(s schema) map[string]any {
	arguments := map[string]any{}
	names := make([]string, 0, len(s.Properties))
	for name := range s.Properties {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		if !contains(s.Required, name) && m.dice.IntN(3) > 0 || m.dice.IntN(40) == 0 {
			continue
		}
		arguments[name] = m.randomValue(name, s.Properties[name])
	}
	for _, key := range []string{"path", "source"} {
		if place, ok := arguments[key].(string); ok && arguments["observed_version"] != nil && m.dice.IntN(4) > 0 {
			arguments["observed_version"] = m.worlds[0].versionOf(place)
		}
	}
	if m.dice.IntN(60) == 0 {
		arguments[anyOf(m, "force", "approved", "approval_id", "path ", "Path", "caller", "policy", "__proto__")] = m.randomText()
	}
	return arguments
}

func (m *model) randomValue(name string, s schema) any {
	if m.dice.IntN(50) == 0 {
		return []any{nil, 7, -1, true, "", []any{}, map[string]any{}, 1e308, "9223372036854775808"}[m.dice.IntN(9)]
	}
	switch s.Type {
	case "boolean":
		return m.dice.IntN(2) == 0
	case "integer":
		return []int{0, 1, 2, 3, -1, -20, 1000, 1 << 31, -1 << 62}[m.dice.IntN(9)]
	case "object":
		return m.randomArguments(s)
	case "array":
		list := []any{}
		for range m.dice.IntN(4) {
			list = append(list, m.randomValue(strings.TrimSuffix(name, "s"), *s.Items))
		}
		return list
	}
	switch name {
	case "path", "source", "destination":
		return m.randomPlace()
	case "observed_version":
		return anyOf(m, fmt.Sprintf("@version:%d@", m.dice.IntN(60)), m.worlds[0].versionOf(m.randomPlace()), strings.Repeat("0", 32), "latest")
	case "change_id", "batch":
		return fmt.Sprintf("@chg:%d@", m.dice.IntN(80))
	case "request_id":
		return fmt.Sprintf("@req:%d@", m.dice.IntN(400))
	case "artifact", "name":
		return fmt.Sprintf("@artifact:%d@", m.dice.IntN(5))
	case "program":
		return anyOf(m, "show", "show", "show", "docs", "word", "cat", "/bin/cat", "sh", m.randomText())
	case "arg":
		place := m.randomPlace()
		return anyOf(m, place, place, place, "--to="+place, "-n"+place, "-n", "-An", "--", "-", "vault", "-- "+place, "@"+place, place+"\n.env", "{path}", m.randomText())
	case "glob":
		return anyOf(m, "**", "*", "**/*", ".*", "**/.*", "{.env,docs/**}", "**/[.]env", "*.md", "**/*.log", "vault/*", "../*", "/**", "[!a]**", "docs/{tovault,.hidden.md}/**", "{", "**/*.{md,txt}")
	case "pattern":
		return anyOf(m, "e", ".", ".*", "(?i)key|token", "private", "[redacted", "^", m.randomText(), `\S{20,}`, `(?s)^.*$`, "redact", "said")
	case "query":
		return anyOf(m, "e", "guide", "open", "note", "private true", "key", "mat", `"`, "*", "NEAR(a b)", "path:.env", m.randomText())
	}
	return m.randomText()
}

func (m *model) randomPlace() string {
	places := hostilePlaces()
	switch m.dice.IntN(10) {
	case 0, 1:
		return places[m.dice.IntN(len(places))] + anyOf(m, "", "/x", ".bak", "/..", "/.env")
	case 2, 3, 4:
		return fmt.Sprintf("docs/%s", anyOf(m, "a.md", "b.md", "c.txt", "d/e.md", "d/f/g.txt", "guide.md", "list.txt", "crlf.txt", "large.txt", "deploy.txt"))
	default:
		return places[m.dice.IntN(len(places))]
	}
}

func (m *model) randomText() string {
	switch m.dice.IntN(9) {
	case 0:
		return m.guesses[m.dice.IntN(len(m.guesses))]
	case 1:
		return "---\nprivate: true\n---\nsaid by the model\n"
	case 2:
		return strings.Repeat("many lines said by the model\n", 1+m.dice.IntN(30)*m.dice.IntN(400))
	case 3:
		return anyOf(m, "e", "said", "guide", "\n", "\r\n", "one", "two", "[redacted:github-pat]", "private: true", "---\n")
	case 4:
		return "\ufeffa\u202eb\u200bc\U000e0041 \x1b[31m </text> \"status\":\"ok\""
	case 5:
		return "*\n!.env\n!*.log\n"
	case 6:
		return anyOf(m, "token", "token = ", " = ", "host = example\ntoken =", "\nuser", "user = nobody", "a line", "The guide", "guide says", "It ends here.\n")
	default:
		return anyOf(m, "", "one\n", "two\r\n", "a\nb\nc\n", "aaa", "said by the model", "# Title\n\nWords.\n", "{\"json\": true}\n", "a: [b\n")
	}
}
