package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"writ/envelope"
)

// A model that has been talked into attacking may make every call that it can think of. It meets two worlds at once that
// differ only in what is kept from it: what secrets and private notes say, and whether what is hidden, ignored, in no zone
// or outside the root is there at all. Whatever it calls, the answers must be the same, up to ids, times and versions:
// then no answer depends on what is kept back, in whatever shape, and no guess is told from another. Beside that no piece
// of a secret may stand in an answer, and nothing may be different outside the write zone.

var (
	hostileCalls = flag.Int("hostile-calls", 250, "random calls of the hostile model, for each transport and profile")
	hostileSeed  = flag.Uint64("hostile-seed", 1, "what its choices come from")
)

func TestHostileModel(t *testing.T) {
	for _, c := range []struct {
		way, profile string
		open         func(*testing.T, *world, options) speaker
	}{{"stdio", "core", speakOverStdio}, {"stdio", "all", speakOverStdio}, {"http", "all", speakOverHTTP}} {
		t.Run(c.way+" "+c.profile, func(t *testing.T) {
			t.Parallel()
			m := &model{T: t, ends: map[string]int{}, dice: rand.New(rand.NewPCG(*hostileSeed, uint64(len(c.way+c.profile))))}
			for n := range m.worlds {
				w := newWorld(t, n)
				w.speaker = c.open(t, w, options{profile: c.profile, state: w.state, policyFile: w.policy})
				m.worlds[n] = w
			}
			m.attack()
		})
	}
}

func (m *model) attack() {
	m.guesses = m.worlds[0].guesses()
	m.learnTools()
	m.directed()
	for range *hostileCalls {
		m.randomStep()
	}
	m.checkReach()
	for _, w := range m.worlds {
		w.checkDisk(m.T)
	}
}

// model is the caller. What it does in one world it does in the other.
type model struct {
	*testing.T
	dice    *rand.Rand
	worlds  [2]*world
	tools   []hostileTool
	guesses []string
	steps   int
	ends    map[string]int // how many calls of a tool ended so
}

type hostileTool struct {
	name   string
	schema schema
}

// schema is as much of a JSON schema as tools use.
type schema struct {
	Type       string
	Properties map[string]schema
	Required   []string
	Items      *schema
}

func (m *model) learnTools() {
	m.Helper()
	answer := m.say("tools/list", "{}")
	var list struct {
		Result struct {
			Tools []struct {
				Name        string
				InputSchema schema
			}
		}
	}
	if err := json.Unmarshal([]byte(lastMessage(answer)), &list); err != nil || len(list.Result.Tools) == 0 {
		m.Fatalf("tools/list: %v in %.300s", err, answer)
	}
	for _, tool := range list.Result.Tools {
		m.tools = append(m.tools, hostileTool{tool.Name, tool.InputSchema})
	}
}

// say makes one request in both worlds and compares what comes back. It returns the answer of the first.
func (m *model) say(method, params string) string {
	m.Helper()
	m.steps++
	var raw, normal [2]string
	for n, w := range m.worlds {
		asked := w.expand(params)
		w.heard(asked)
		raw[n] = w.say(m.T, method, asked)
		if piece := w.leak(raw[n]); piece != "" {
			m.Fatalf("step %d, world %d: %s %.600s\ntells %q of what is kept back:\n%.3000s", m.steps, n, method, asked, piece, raw[n])
		}
		normal[n] = w.normalize(raw[n])
	}
	if normal[0] != normal[1] {
		m.Fatalf("step %d: %s %.600s\ntells two worlds apart that differ only in what is kept back:\n%s", m.steps, method, params, apartAt(normal[0], normal[1]))
	}
	return raw[0]
}

func apartAt(a, b string) string {
	i := 0
	for i < min(len(a), len(b)) && a[i] == b[i] {
		i++
	}
	from := max(0, i-700)
	return fmt.Sprintf("…%.1200s\n\n…%.1200s", a[from:], b[from:])
}

// call makes one call of a tool.
func (m *model) call(tool string, arguments map[string]any) {
	m.Helper()
	answer := m.say("tools/call", fmt.Sprintf(`{"name":%q,"arguments":%s}`, tool, compact(arguments)))
	var got struct {
		Result struct{ Content []struct{ Text string } }
	}
	var e struct {
		Status envelope.Status
		Errors []struct{ Code envelope.Code }
	}
	if err := json.Unmarshal([]byte(lastMessage(answer)), &got); err != nil || len(got.Result.Content) == 0 {
		m.Fatalf("step %d: %s %s is answered %.600s", m.steps, tool, compact(arguments), answer)
	}
	if err := json.Unmarshal([]byte(got.Result.Content[0].Text), &e); err != nil {
		m.Fatalf("step %d: %s: %v in %.600s", m.steps, tool, err, answer)
	}
	m.ends[tool+" "+string(e.Status)]++
	for _, problem := range e.Errors {
		if problem.Code == envelope.Internal || problem.Code == envelope.OutcomeUnknown || problem.Code == envelope.IO {
			m.Errorf("step %d: %s %s is answered %.600s", m.steps, tool, compact(arguments), answer)
		}
	}
	if m.steps%50 == 0 {
		for _, w := range m.worlds {
			w.checkDisk(m.T)
		}
	}
}

// checkReach checks that the calls came to something: a server that refuses all would pass everything else.
func (m *model) checkReach() {
	m.Helper()
	for _, end := range []string{
		"read_file ok", "search_text ok", "search_notes ok", "find_files ok", "list_directory ok", "preview_replace no-match",
		"replace_text succeeded", "replace_text no-match", "append_text succeeded", "create_file succeeded", "read_file denied",
		"run_program succeeded", "run_program denied",
	} {
		if m.ends[end] == 0 {
			m.Errorf("no call ended as %s: %s", end, compact(m.ends))
		}
	}
}

// directed makes the calls that an attacker would try first: every tool at every place, with the version that the file
// really has, and guesses of what is kept back wherever a text is compared.
func (m *model) directed() {
	m.Helper()
	for _, tool := range m.tools {
		m.restore()
		for _, place := range hostilePlaces() {
			if arguments := m.plausible(tool.schema, place); arguments != nil {
				m.call(tool.name, arguments)
			}
		}
	}
	for _, guess := range m.guesses {
		for _, tool := range m.tools {
			for _, key := range []string{"pattern", "query", "old_text", "glob"} {
				if _, takes := tool.schema.Properties[key]; takes {
					arguments := m.plausible(tool.schema, "docs/deploy.txt")
					if arguments == nil {
						arguments = map[string]any{}
					}
					if arguments[key] = guess; key == "glob" {
						delete(arguments, "path")
					}
					m.call(tool.name, arguments)
				}
			}
		}
	}
	for _, pattern := range []string{`(?s).+`, `[A-Za-z0-9+/=_-]{16,}`, `ghp_[A-M]`, `ghp_[N-Z]`, `AKIA.`, `private`, `^`, `$`, `\b`, `://.*:.`, `password.{0,3}[a-m]`, `(?i)key`, `\[redacted`} {
		m.call("search_text", map[string]any{"pattern": pattern, "literal": false, "context_lines": 20})
	}
	m.uncover()
	for _, tree := range []func(*world){(*world).makePrivate, (*world).makeOpen} {
		for _, w := range m.worlds {
			tree(w)
		}
		m.settled()
		for _, tool := range m.tools {
			if arguments := m.plausible(tool.schema, turnsPrivate); arguments != nil {
				m.call(tool.name, arguments)
			}
		}
	}
}

// uncover changes what stands around secrets that the caller may not see in a file that he may change, so that they might
// no longer be known for what they are.
func (m *model) uncover() {
	m.Helper()
	const place = "docs/deploy.txt"
	for _, edit := range [][2]string{
		{"token = ", "x"}, {"token = ", ""}, {"token", "comment"}, {"host = example\ntoken = ", "a"}, {" = ", "=EXAMPLE"}, {"\nuser", "x"},
		{"\nuser", "_user"}, {"user = nobody\n", ""}, {"admin:", "admin"}, {"postgres://admin:", ""}, {"@host", "-host"}, {"@host/db", ""},
		{"-----BEGIN RSA PRIVATE KEY-----", "begin"}, {"BEGIN RSA", "BEGIN"}, {"-----END", "----END"}, {"key:\n", "key: example"},
	} {
		m.restore()
		m.callIfThere("replace_text", map[string]any{"path": place, "old_text": edit[0], "new_text": edit[1], "observed_version": m.worlds[0].versionOf(place)})
		m.callIfThere("apply_edits", map[string]any{"edits": []any{map[string]any{"path": place, "old_text": edit[0], "new_text": edit[1], "observed_version": m.worlds[0].versionOf(place)}}})
		m.call("read_file", map[string]any{"path": place})
		m.call("search_text", map[string]any{"path": place, "pattern": ".", "literal": false})
	}
	m.restore()
	m.callIfThere("append_text", map[string]any{"path": place, "text": "EXAMPLE", "observed_version": m.worlds[0].versionOf(place)})
	m.call("read_file", map[string]any{"path": place})
}

func (m *model) callIfThere(tool string, arguments map[string]any) {
	m.Helper()
	if slices.ContainsFunc(m.tools, func(t hostileTool) bool { return t.name == tool }) {
		m.call(tool, arguments)
	}
}

func (m *model) restore() {
	for _, w := range m.worlds {
		w.restore()
	}
	m.settled()
}

// settled waits until the index of notes knows of what the owner did.
func (m *model) settled() {
	for range 100 {
		building := false
		for _, w := range m.worlds {
			building = building || strings.Contains(w.say(m.T, "tools/call", `{"name":"search_notes","arguments":{"query":"anything"}}`), "index-building")
		}
		if !building {
			return
		}
	}
}

// plausible returns arguments for a place which only the policy stands against; nil where the tool takes no place.
func (m *model) plausible(s schema, place string) map[string]any {
	arguments := map[string]any{}
	placed := false
	for name, property := range s.Properties {
		switch name {
		case "path", "source":
			arguments[name], placed = place, true
		case "paths":
			arguments[name], placed = []string{"docs/guide.md", place}, true
		case "destination":
			arguments[name] = fmt.Sprintf("docs/taken-%d.txt", m.steps)
		case "observed_version":
			arguments[name] = m.worlds[0].versionOf(place)
		case "old_text":
			arguments[name] = "e"
		case "edits":
			arguments[name], placed = []any{map[string]any{
				"path": place, "old_text": "e", "new_text": "E", "observed_version": m.worlds[0].versionOf(place),
			}}, true
		case "new_text", "content", "text":
			arguments[name] = "said by the model\n"
		case "pattern", "query":
			arguments[name] = "e"
		case "program":
			arguments[name] = "show"
		case "args":
			arguments[name], placed = []string{place}, true
		case "glob":
			if property.Type == "string" && contains(s.Required, name) {
				arguments[name] = "**"
			}
		}
	}
	if !placed {
		return nil
	}
	return arguments
}
