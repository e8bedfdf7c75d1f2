package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// What the protocol asks for, sentence by sentence, is written down as transcripts in testdata/wire, and played here to the
// program itself: a real process, with the bytes as they stand there. A file has parts, each begun by "# " and served by a
// process of its own; a part has rules, each begun by "## ", which are a test each. In a rule
//
//	> text        is sent: over stdio a line, over HTTP a part of a request (its first line, headers, an empty line, the body)
//	>| text       is sent without an end of line
//	< {…}         is the next message that comes, at the least with these members
//	<* {…}        is one of the next messages, which come in any order (stdio)
//	< 200         over HTTP: the status; < Name: value is a header, with no value one that is not there
//	< .           over HTTP: the end of the answer
//	= hang up     the client ends the server's input, = term tells the server to end
//	= eof         the server's input ends; the server says nothing more, = ended, and has ended well
//	= restart     the same, and it is started again
//	= file a.md x the file holds x, = none a.md: there is no such file
//
// Of JSON that is wanted, "~x" is a text that contains x, "*" is anything, "-" is a member that is not there, and "$x" is
// kept under that name where it first comes, and must be the same later. Numbers are compared by their digits. In what is
// sent $x stands for what was kept, META for the _meta of a client since 2026-07-28, ASKS for that of one that can ask a
// person, and @9 for nine letters. After each rule over stdio a ping must be what is answered next, and nothing else.
// Over HTTP "a> " and "a< " speak on a connection that is left open until the end of the part.

func TestWireStdio(t *testing.T) { playFile(t, "testdata/wire/stdio.txt", playStdio) }

func TestWireHTTP(t *testing.T) { playFile(t, "testdata/wire/http.txt", playHTTP) }

// part is one process, and what is said to it.
type part struct {
	rules []rule
	kept  map[string]string
	root  string
	args  []string
	cmd   *exec.Cmd
	log   *lockedBuffer
	done  chan error
}

type rule struct {
	name  string
	lines []string
}

const wireMeta = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":%s,"io.modelcontextprotocol/clientInfo":{"name":"wire","version":"1"}}`

func playFile(t *testing.T, file string, play func(t *testing.T, p *part)) {
	t.Parallel()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for _, section := range strings.Split("\n"+string(text), "\n# ")[1:] {
		name, body, _ := strings.Cut(section, "\n")
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := &part{kept: map[string]string{}, root: vault(t, "a.md", "one\n", "asked/here.md", "here\n")}
			p.args = []string{"serve", "--tools", "all", "--write", "*.md", "--ask", "asked/**"}
			for _, r := range strings.Split("\n"+body, "\n## ")[1:] {
				title, lines, _ := strings.Cut(r, "\n")
				p.rules = append(p.rules, rule{title, strings.Split(strings.TrimRight(lines, "\n"), "\n")})
			}
			play(t, p)
		})
	}
}

// start starts the program; args come before the directory.
func (p *part) start(t *testing.T, args ...string) {
	t.Helper()
	p.cmd = program(t, append(append(p.args, args...), p.root)...)
	p.log, p.done = &lockedBuffer{}, make(chan error, 1)
	p.cmd.Stderr = p.log
}

// ended waits for the end of the program, which has to be a good one.
func (p *part) ended(t *testing.T) {
	t.Helper()
	select {
	case err := <-p.done:
		if err != nil {
			t.Errorf("the program ended with %v: %s", err, p.log)
		}
		p.done <- nil
	case <-time.After(time.Minute):
		t.Fatal("the program does not end")
	}
}

func (p *part) kill() {
	_ = p.cmd.Process.Kill() // it may have ended
	<-p.done
}

var (
	keptName = regexp.MustCompile(`\$[a-z]+`)
	letters  = regexp.MustCompile(`@\d+`)
)

func (p *part) fill(s string) string {
	s = strings.ReplaceAll(s, "META", fmt.Sprintf(wireMeta, "{}"))
	s = strings.ReplaceAll(s, "ASKS", fmt.Sprintf(wireMeta, `{"elicitation":{"form":{}}}`))
	s = keptName.ReplaceAllStringFunc(s, func(name string) string {
		if value, ok := p.kept[name]; ok {
			return value
		}
		return name
	})
	return letters.ReplaceAllStringFunc(s, func(n string) string {
		count, _ := strconv.Atoi(n[1:])
		return strings.Repeat("x", count)
	})
}

// check holds a message against the JSON that is wanted of it.
func (p *part) check(t *testing.T, want string, got []byte) {
	t.Helper()
	if why := p.apart(decodeExact(t, []byte(p.fill(want))), decodeExact(t, got), "it"); why != "" {
		t.Errorf("%s\ngot  %.2000s\nwant %s", why, got, want)
	}
}

func decodeExact(t *testing.T, text []byte) any {
	t.Helper()
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		t.Errorf("%v: %.300q", err, text)
	}
	return v
}

// apart tells how what came is not what was wanted, "" where it is.
func (p *part) apart(want, got any, where string) string {
	switch w := want.(type) {
	case map[string]any:
		g, ok := got.(map[string]any)
		if !ok {
			return where + " is no object"
		}
		for key, value := range w {
			there, ok := g[key]
			switch {
			case ok != (value != "-"):
				return fmt.Sprintf("%s.%s: there %t", where, key, ok)
			case ok:
				if why := p.apart(value, there, where+"."+key); why != "" {
					return why
				}
			}
		}
		return ""
	case []any:
		g, ok := got.([]any)
		if !ok || len(g) != len(w) {
			return fmt.Sprintf("%s has not %d elements", where, len(w))
		}
		for i := range w {
			if why := p.apart(w[i], g[i], fmt.Sprintf("%s[%d]", where, i)); why != "" {
				return why
			}
		}
		return ""
	case string:
		return p.apartText(w, got, where)
	}
	if want != got {
		return fmt.Sprintf("%s is %v", where, got)
	}
	return ""
}

func (p *part) apartText(want string, got any, where string) string {
	g, ok := got.(string)
	inner, contains := strings.CutPrefix(want, "~")
	switch {
	case want == "*", contains && strings.Contains(g, inner):
		return ""
	case ok && keptName.FindString(want) == want && p.kept[want] == "":
		p.kept[want] = g
		return ""
	case !ok || g != want:
		return fmt.Sprintf("%s is %v", where, got)
	}
	return ""
}

// disk carries out what a rule says of files; it is not ok for anything else.
func (p *part) disk(t *testing.T, line string) bool {
	t.Helper()
	words := strings.SplitN(line, " ", 4)
	if len(words) < 3 || words[0] != "=" {
		return false
	}
	text, err := os.ReadFile(filepath.Join(p.root, words[2]))
	switch {
	case words[1] == "none" && !os.IsNotExist(err):
		t.Errorf("there is %s: %q, %v", words[2], text, err)
	case words[1] == "file" && (err != nil || string(text) != words[3]):
		t.Errorf("%s holds %q, %v", words[2], text, err)
	}
	return words[1] == "none" || words[1] == "file"
}

// lockedBuffer is what a process writes while others read it.
type lockedBuffer struct {
	mu   sync.Mutex
	text bytes.Buffer
}

// Write keeps b.
func (l *lockedBuffer) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(b)
}

// String returns all that was written.
func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}
