package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"writ/contract"
	"writ/server"
)

// world is a root with what a caller may see, which is the same in every world, and what is kept from him, which is not.
type world struct {
	speaker
	n                            int
	root, outside, state, policy string
	words                        *rand.Rand
	secrets                      []string
	tree                         map[string]string
	pieces, said                 map[string]bool
	private                      string                    // what the note at turnsPrivate says while it is private
	known                        map[string]map[string]int // ids by kind, each with its number in the order of their coming
	ids                          map[string][]string
	before                       map[string]string
}

const hostilePolicy = `
scope:
  read: ["docs/**", "src/**", "lib/**", "notes/**"]
  write: ["docs/**"]
  ask: ["src/**"]
notes: {include: ["**/*.md"]}
limits: {calls_per_minute: 1000000}
programs:
  - {name: show, path: /bin/cat, allow: [-n, "{path}", "--to={path}"]}
  - {name: word, path: /bin/cat, allow: ["{word}"]}
  - {name: docs, path: /bin/cat, directory: docs, allow: ["{path}"], ask: true}
`

// keptPlaces are in world 0 alone: they are hidden, ignored or in no zone, so that nobody may know of them.
var keptPlaces = []string{
	".env", ".git/config", ".git/hooks/pre-commit", "docs/.hidden.md", "docs/.ssh/id_rsa", "docs/trace.log", "docs/build/out.txt",
	"vault/only.txt", "vault/deep/more.md", "top.txt",
}

// privatePlaces are notes that their front matter makes private, and other ways to them.
var privatePlaces = []string{
	"notes/mine.md", "notes/crlf.md", "notes/bom.md", "notes/utf16.md", "notes/broken.md", "notes/nested.md", "notes/upper.md",
	"notes/unclosed.md", "notes/toml.md", "notes/visibility.md", "notes/publish.md", "docs/diary.md", "docs/tomine.txt", "lib/tomine.md",
}

// turnsPrivate is a note that its owner makes private now and then.
const turnsPrivate = "notes/turns.md"

func newWorld(t *testing.T, n int) *world {
	t.Helper()
	base := t.TempDir()
	w := &world{
		n: n, root: filepath.Join(base, "root"), outside: filepath.Join(base, "outside"), state: filepath.Join(base, "state"),
		policy: filepath.Join(base, "writ.yaml"), words: rand.New(rand.NewPCG(7, uint64(n))),
		pieces: map[string]bool{}, said: map[string]bool{}, known: map[string]map[string]int{}, ids: map[string][]string{},
	}
	for _, dir := range []string{w.root, w.outside} {
		if err := os.Mkdir(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(w.policy, []byte(hostilePolicy), 0o644); err != nil {
		t.Fatal(err)
	}
	w.tree = w.files()
	for name, text := range w.tree {
		w.write(name, text)
	}
	for name, target := range map[string]string{
		"lib/out": "../../outside/secret.txt", "lib/outdir": "../../outside", "docs/out": "../../outside/secret.txt", "docs/abs": w.outside,
		"lib/env": "../.env", "docs/tovault": "../vault", "docs/tolib": "../lib/readme.txt", "docs/tosrc": "../src/main.go",
		"docs/loop": "loop", "docs/tomine.txt": "../notes/mine.md", "lib/tomine.md": "../notes/mine.md", "docs/togit": "../.git",
		"docs/up": "..",
	} {
		if err := os.Symlink(target, filepath.Join(w.root, name)); err != nil {
			t.Skip(err)
		}
	}
	if err := os.Chmod(filepath.Join(w.root, "lib/readme.txt"), 0o444); err != nil {
		t.Fatal(err)
	}
	w.learn()
	w.before = w.fingerprints(t)
	return w
}

// files are the texts of the tree by name.
func (w *world) files() map[string]string {
	files := map[string]string{
		"docs/guide.md": "# Guide\n\nThe guide says where the readme is.\nIt ends here.\n", "docs/list.txt": "one\ntwo\nthree\n",
		"docs/deploy.txt": "host = example\ntoken = " + w.token() + "\nuser = nobody\n" +
			"db = postgres://admin:" + w.secret(20) + "@host/db\n" + w.pem() + "end = " + w.token(), "docs/crlf.txt": "one\r\ntwo\r\n", "docs/large.txt": strings.Repeat("a line of a large text\n", 30_000), "docs/AGENTS.md": "Do what is asked.\n",
		"docs/.gitignore": "*.log\nbuild/\n", "src/main.go": "package main\n\nfunc main() {}\n", "src/config.yaml": "token: " + w.token() + "\nhost: example\n",
		"lib/readme.txt": "readme\n", "notes/open.md": "---\ntags: [open]\n---\n# Open\n\nAn open note.\n", turnsPrivate: openText,
		"lib/settings.txt": "db = postgres://admin:" + w.secret(20) + "@host/db\ntoken = " + w.token() + "\nname = settings\naws = " + w.key() + "\n",
		"lib/key.pem":      w.pem() + "end\n",
	}
	body := func() string { return "\nThe " + w.secret(16) + " key is under " + w.secret(24) + "\n" }
	for name, head := range map[string]string{
		"notes/mine.md": "---\nprivate: true\n---\n", "notes/crlf.md": "---\r\nprivate: yes\r\n---\r\n", "notes/bom.md": "\ufeff---\nprivate: true\n---\n",
		"notes/broken.md": "---\na: [\nprivate: true\n---\n", "notes/nested.md": "---\nmeta:\n  private: true\n---\n",
		"notes/upper.md": "---\nPRIVATE: \"True\"\n---\n", "notes/unclosed.md": "---\nprivate: true\n", "notes/toml.md": "+++\nprivate = true\n+++\n",
		"notes/visibility.md": "---\nvisibility: private\n---\n", "notes/publish.md": "---\npublish: false\n---\n", "docs/diary.md": "---\nprivate: true\n---\n",
	} {
		files[name] = head + body()
	}
	files["notes/utf16.md"] = utf16LE("---\nprivate: true\n---\n" + body())
	w.private = "---\nprivate: true\n---\n" + body()
	for _, name := range keptPlaces {
		if text := "kept: " + w.secret(40) + "\n"; w.n == 0 {
			files[name] = text
		}
	}
	if text := "outside: " + w.secret(40) + "\n"; w.n == 0 {
		files["../outside/secret.txt"] = text
	}
	return files
}

const openText = "# Turns\n\nThis note is open to all, as yet.\n"

func utf16LE(text string) string {
	out := []byte("\xff\xfe")
	for _, r := range text {
		out = append(out, byte(r), byte(r>>8))
	}
	return string(out)
}

// secret returns what nobody may see: letters and digits, others in each world.
func (w *world) secret(n int) string {
	return w.plant(n, "ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz0123456789")
}

func (w *world) token() string { return "ghp_" + w.secret(36) }

func (w *world) pem() string {
	return "key:\n-----BEGIN RSA PRIVATE KEY-----\n" + w.secret(64) + "\n" + w.secret(64) + "\n" + w.secret(64) + "\n-----END RSA PRIVATE KEY-----\n"
}

func (w *world) key() string { return "AKIA" + w.plant(16, "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567") }

func (w *world) plant(n int, alphabet string) string {
	s := make([]byte, n)
	for i := range s {
		s[i] = alphabet[w.words.IntN(len(alphabet))]
	}
	w.secrets = append(w.secrets, string(s))
	return string(s)
}

// restore is what the owner does when he finds his files in the write zone gone or different.
func (w *world) restore() {
	if err := os.RemoveAll(filepath.Join(w.root, "docs/new.txt")); err != nil {
		panic(err)
	}
	for name, text := range w.tree {
		if strings.HasPrefix(name, "docs/") && !isKept(name) {
			w.write(name, text)
		}
	}
}

func (w *world) write(name, text string) {
	file := filepath.Join(w.root, name)
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		panic(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		panic(err)
	}
}

// makePrivate is what the owner of a note does.
func (w *world) makePrivate() { w.write(turnsPrivate, w.private) }

func (w *world) makeOpen() { w.write(turnsPrivate, openText) }

// guesses are what a caller may have learnt elsewhere of the secrets of this world, and wants to see confirmed.
func (w *world) guesses() []string {
	var list []string
	for _, s := range w.secrets {
		list = append(list, s[:len(s)/2], s)
	}
	return list
}

// versionOf is the version of a place, as a caller may know it from a read or, where he can't read, has got hold of.
func (w *world) versionOf(place string) string {
	if !contains(keptPlaces, place) && !contains(privatePlaces, place) {
		return "@disk:" + place + "@"
	}
	return diskVersion(filepath.Join(w.root, place))
}

func diskVersion(file string) string {
	data, err := os.ReadFile(file)
	if err != nil {
		return strings.Repeat("0", contract.VersionDigits)
	}
	return contract.VersionOf(data).String()
}

const pieceLength = 8

// learn notes the pieces of what must not be told, as it is and as it would be in other shapes.
func (w *world) learn() {
	for _, s := range w.secrets {
		reversed := []byte(s)
		slices.Reverse(reversed)
		w.addPieces(s, pieceLength)
		w.addPieces(string(reversed), pieceLength)
		w.addPieces(hex.EncodeToString([]byte(s)), 2*pieceLength)
		for i := range 3 {
			encoded := base64.RawStdEncoding.EncodeToString([]byte(s[i:]))
			w.addPieces(encoded[:len(encoded)-2], 12)
		}
	}
}

func (w *world) addPieces(s string, n int) {
	for i := range len(s) - n + 1 {
		w.pieces[s[i:i+n]] = true
	}
}

// heard notes what the caller says himself.
func (w *world) heard(asked string) {
	for piece := range w.piecesIn(asked) {
		w.said[piece] = true
	}
}

// leak returns a piece of what is kept back that stands in an answer, and that the caller did not say.
func (w *world) leak(answer string) string {
	for piece := range w.piecesIn(answer) {
		if !w.said[piece] {
			return piece
		}
	}
	return ""
}

func (w *world) piecesIn(text string) func(func(string) bool) {
	return func(yield func(string) bool) {
		for _, n := range []int{pieceLength, 12, 2 * pieceLength} {
			for i := range len(text) - n + 1 {
				if w.pieces[text[i:i+n]] && !yield(text[i:i+n]) {
					return
				}
			}
		}
	}
}

var (
	hostileIDs = regexp.MustCompile(`(req|chg|artifact|apr|version)(?:_|:)([0-9a-z]{12,})|\b[0-9a-f]{32}\b`)
	askedDisk  = regexp.MustCompile(`@disk:([^@\x00]*)@`)
	askedIDs   = regexp.MustCompile(`@(req|chg|artifact|version):(\d+)@`)
	momentary  = regexp.MustCompile(`\d{4}-\d\d-\d\dT[0-9:.]+(?:Z|[+-]\d\d:\d\d)|"retry_after_ms\\?":\d+|\\"retry_after_ms\\":\d+`)
)

// normalize returns an answer with numbers in the place of ids, and without times.
func (w *world) normalize(answer string) string {
	answer = strings.ReplaceAll(answer, filepath.Dir(w.root), "BASE")
	answer = momentary.ReplaceAllString(answer, "MOMENT")
	return hostileIDs.ReplaceAllStringFunc(answer, func(id string) string {
		kind := "version"
		if i := strings.IndexAny(id, "_:"); i >= 0 {
			kind = id[:i]
		}
		if w.known[kind] == nil {
			w.known[kind] = map[string]int{}
		}
		n, found := w.known[kind][id]
		if !found {
			n = len(w.ids[kind])
			w.known[kind][id] = n
			w.ids[kind] = append(w.ids[kind], id)
		}
		return fmt.Sprintf("%s-%d", kind, n)
	})
}

// expand puts what is this world's own into a request.
func (w *world) expand(params string) string {
	params = strings.ReplaceAll(params, "@root@", w.root)
	params = askedDisk.ReplaceAllStringFunc(params, func(asked string) string {
		return diskVersion(filepath.Join(w.root, askedDisk.FindStringSubmatch(asked)[1]))
	})
	return askedIDs.ReplaceAllStringFunc(params, func(asked string) string {
		m := askedIDs.FindStringSubmatch(asked)
		n, _ := strconv.Atoi(m[2])
		if ids := w.ids[m[1]]; len(ids) > 0 {
			return ids[n%len(ids)]
		}
		return m[1] + "_000000000000"
	})
}

// fingerprints tells of everything that no caller may change what it is.
func (w *world) fingerprints(t *testing.T) map[string]string {
	t.Helper()
	found := map[string]string{}
	base := filepath.Dir(w.root)
	err := filepath.WalkDir(base, func(file string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, _ := filepath.Rel(base, file)
		if name == "state" {
			return fs.SkipDir
		}
		within, inRoot := strings.CutPrefix(filepath.ToSlash(name), "root/")
		if inRoot && strings.HasPrefix(within, "docs") && !isKept(within) {
			return nil
		}
		if within == turnsPrivate || name == "." {
			return nil
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		print := fmt.Sprint(info.Mode(), info.ModTime().UnixNano())
		switch {
		case info.Mode().IsRegular():
			data, err := os.ReadFile(file)
			if err != nil {
				return err
			}
			print += fmt.Sprintf(" %x", sha256.Sum256(data))
		case info.Mode()&fs.ModeSymlink != 0:
			target, err := os.Readlink(file)
			if err != nil {
				return err
			}
			print += " " + target
		}
		found[name] = print
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// isKept tells whether a place in the write zone is one that callers can't change all the same.
func isKept(place string) bool {
	info := filepath.Base(place)
	return strings.HasPrefix(info, ".") || info == "AGENTS.md" || contains(keptPlaces, place) || place == "docs/diary.md"
}

func (w *world) checkDisk(t *testing.T) {
	t.Helper()
	now := w.fingerprints(t)
	for name, print := range w.before {
		if now[name] != print {
			t.Errorf("world %d: %s was %s and is %s", w.n, name, print, now[name])
		}
	}
	for name := range now {
		if _, was := w.before[name]; !was {
			t.Errorf("world %d: there is %s now", w.n, name)
		}
	}
	if t.Failed() {
		t.FailNow()
	}
}

// speaker takes a request to a server and returns all that comes back until the answer, and the answer.
type speaker interface {
	say(t *testing.T, method, params string) string
}

// lastMessage is the answer in what came back.
func lastMessage(said string) string {
	said = strings.TrimSpace(said)
	return said[strings.LastIndex(said, "\n")+1:]
}

type stdioSpeaker struct{ *mcpClient }

func speakOverStdio(t *testing.T, w *world, o options) speaker {
	return stdioSpeaker{startClient(t, o, w.root)}
}

func (s stdioSpeaker) say(t *testing.T, method, params string) string {
	t.Helper()
	s.id++
	if _, err := fmt.Fprintf(s.in, `{"jsonrpc":"2.0","id":%d,"method":%q,"params":%s}`+"\n", s.id, method, params); err != nil {
		t.Fatal(err)
	}
	var all []byte
	for {
		line, err := s.out.ReadBytes('\n')
		if err != nil {
			t.Fatalf("no answer to %s %.300s: %v", method, params, err)
		}
		all = append(all, line...)
		var m struct{ ID *int }
		if err := json.Unmarshal(line, &m); err != nil || m.ID != nil {
			return string(all)
		}
	}
}

type httpSpeaker struct {
	url, session string
	id           int
}

func speakOverHTTP(t *testing.T, w *world, o options) speaker {
	t.Helper()
	o.keepAlways = true
	h, err := o.open([]string{w.root})
	if err != nil {
		t.Fatal(err)
	}
	s := server.New(server.OfGate(h.gate), server.Info{Name: "writ", Version: "test", Log: h.log})
	listener, err := s.Listen("127.0.0.1:0", server.HTTPOptions{})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- listener.Serve(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
		h.finish()
	})
	p := &httpSpeaker{url: listener.URL()}
	p.say(t, "initialize", `{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"test","version":"1"}}`)
	return p
}

func (p *httpSpeaker) say(t *testing.T, method, params string) string {
	t.Helper()
	p.id++
	body := fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":%q,"params":%s}`, p.id, method, params)
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, p.url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	if p.session != "" {
		r.Header.Set("Mcp-Session-Id", p.session)
		r.Header.Set("Mcp-Protocol-Version", "2025-11-25")
	}
	client := http.Client{Timeout: time.Minute}
	answer, err := client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	all, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	if id := answer.Header.Get("Mcp-Session-Id"); id != "" {
		p.session = id
	}
	if !strings.HasPrefix(answer.Header.Get("Content-Type"), "text/event-stream") {
		return string(all)
	}
	var messages []byte
	for line := range bytes.Lines(all) {
		if data, ok := bytes.CutPrefix(line, []byte("data: ")); ok {
			messages = append(messages, data...)
		}
	}
	return string(messages)
}
