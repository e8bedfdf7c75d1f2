package console

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"writ/contract"
	"writ/envelope"
	"writ/gate"
	"writ/ledger"
	"writ/policy"
	"writ/tools"
	"writ/workspace"
)

// room is a console over a directory, an agent that works there, and a browser.
type room struct {
	*testing.T
	root    string
	book    *ledger.Ledger
	gate    *gate.Gate
	console *Console
	site    *httptest.Server
	browser *http.Client
	links   []string
	inside  string // the address below which the pages are, once somebody is in
}

// newRoom serves a directory where src may be written after a yes and all else without one.
func newRoom(t *testing.T, files ...string) *room {
	t.Helper()
	x := &room{T: t, root: t.TempDir()}
	for i := 0; i < len(files); i += 2 {
		name := filepath.Join(x.root, files[i])
		x.must(os.MkdirAll(filepath.Dir(name), 0o755))
		x.must(os.WriteFile(name, []byte(files[i+1]), 0o644))
	}
	config := policy.FromFlags(nil, []string{"**"}, []string{"src/**"})
	config.Roots = []policy.Root{{Path: x.root}}
	rules, err := policy.Compile(config)
	x.must(err)
	state := t.TempDir()
	place, err := workspace.Open(workspace.Options{Roots: []workspace.Root{{Dir: x.root}}, State: state, FileBytes: 1 << 20})
	x.must(err)
	x.book, err = ledger.Open(state, ledger.Options{})
	x.must(err)
	x.gate = gate.New(gate.Options{Policy: rules, Files: place, Ledger: x.book, Tools: tools.All(), KeepAlways: true})
	t.Cleanup(func() {
		x.must(x.gate.Close())
		x.must(x.book.Close())
		x.must(place.Close())
	})
	x.console = New(Options{
		Gate: x.gate, Ledger: x.book, Policy: rules, Person: "eva", Base: "/console",
		Tell: func(link string) { x.links = append(x.links, link) },
	})
	x.console.Invite()
	x.site = httptest.NewServer(x.console)
	t.Cleanup(x.site.Close)
	x.browser = x.newBrowser()
	return x
}

func (x *room) newBrowser() *http.Client {
	jar, err := cookiejar.New(nil)
	x.must(err)
	return &http.Client{Jar: jar}
}

func (x *room) must(err error) {
	x.Helper()
	if err != nil {
		x.Fatal(err)
	}
}

// enter follows the last link.
func (x *room) enter() *room {
	x.Helper()
	got := x.get(x.site.URL+x.links[len(x.links)-1], nil)
	if got.status != http.StatusOK || !strings.HasSuffix(got.url.Path, "/") {
		x.Fatalf("the link leads to %d %s", got.status, got.url)
	}
	x.inside = strings.TrimSuffix(got.url.String(), "/")
	return x
}

type got struct {
	status int
	url    *url.URL
	header http.Header
	body   string
}

func (x *room) do(method, address string, form url.Values, header map[string]string) got {
	x.Helper()
	if strings.HasPrefix(address, "/") {
		address = x.inside + address
	}
	r, err := http.NewRequestWithContext(x.Context(), method, address, strings.NewReader(form.Encode()))
	x.must(err)
	if form != nil {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	for name, value := range header {
		r.Header.Set(name, value)
		if name == "Host" {
			r.Host = value
		}
	}
	answer, err := x.browser.Do(r)
	x.must(err)
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	x.must(err)
	return got{answer.StatusCode, answer.Request.URL, answer.Header, string(body)}
}

func (x *room) get(address string, header map[string]string) got {
	x.Helper()
	return x.do(http.MethodGet, address, nil, header)
}

// press sends a form of the page at an address, as a browser does.
func (x *room) press(page, action string, fields ...string) got {
	x.Helper()
	form := url.Values{"token": {x.token(page)}}
	for i := 0; i < len(fields); i += 2 {
		form.Set(fields[i], fields[i+1])
	}
	return x.do(http.MethodPost, action, form, map[string]string{"Origin": x.site.URL, "Sec-Fetch-Site": "same-origin"})
}

func (x *room) token(page string) string {
	x.Helper()
	m := regexp.MustCompile(`name="token" value="([a-z0-9]+)"`).FindStringSubmatch(x.get(page, nil).body)
	if m == nil {
		x.Fatalf("%s has no form", page)
	}
	return m[1]
}

// told is what an agent is answered.
type told struct {
	status, code, approval, change string
}

func (x *room) call(tool, arguments string) told {
	x.Helper()
	e := x.gate.Call(x.Context(), gate.Call{Caller: gate.CallerLocal, Client: "agent/1", Tool: tool, Arguments: json.RawMessage(arguments)})
	var body struct {
		ChangeID string `json:"change_id"`
	}
	x.must(json.Unmarshal(e.AppendJSON(nil), &body))
	t := told{status: string(e.Status), change: body.ChangeID}
	if e.IsError() {
		t.code = string(e.Errors[0].Code)
		t.approval, _ = e.Errors[0].Details["approval_id"].(string)
	}
	return t
}

func replace(path, content, old, fresh string) string {
	return fmt.Sprintf(`{"path":%q,"old_text":%q,"new_text":%q,"observed_version":%q}`, path, old, fresh, contract.VersionOf([]byte(content)))
}

func (x *room) holds(path, want string) {
	x.Helper()
	data, err := os.ReadFile(filepath.Join(x.root, path))
	if err != nil || string(data) != want {
		x.Errorf("%s holds %q, %v; want %q", path, data, err, want)
	}
}

func (x *room) contains(text string, wanted ...string) {
	x.Helper()
	for _, want := range wanted {
		if !strings.Contains(text, want) {
			x.Errorf("%q is not in the page:\n%s", want, text)
		}
	}
}

// A person approves what an agent asked for, it goes on, and the person undoes it.
func TestApproveAndUndo(t *testing.T) {
	t.Parallel()
	x := newRoom(t, "src/a.go", "one\ntwo\n").enter()
	edit := replace("src/a.go", "one\ntwo\n", "two", "three")
	asked := x.call("replace_text", edit)
	if asked.code != string(envelope.ApprovalRequired) {
		t.Fatalf("it was not asked: %+v", asked)
	}
	page := x.get("/", nil).body
	x.contains(page, asked.approval, "<b><bdi>agent/1</bdi></b>", "<del>t<mark>wo</mark></del>", "<ins>t<mark>hree</mark></ins>", "(1) ")
	answer := x.press("/", "/approvals/"+asked.approval+"/approve", "for", "once")
	x.contains(answer.body, "Approved: the same call goes on")
	x.holds("src/a.go", "one\ntwo\n")
	done := x.call("replace_text", edit)
	if done.status != string(envelope.Succeeded) {
		t.Fatalf("after a yes: %+v", done)
	}
	x.holds("src/a.go", "one\nthree\n")
	if a, err := x.book.Approval(t.Context(), asked.approval); err != nil || a.Decider != "eva" || a.Way != "writ console" {
		t.Errorf("decided by %q, %q, %v", a.Decider, a.Way, err)
	}
	answer = x.press("/", "/approvals/"+asked.approval+"/decline")
	x.contains(answer.body, `role="alert"`, "the call was carried out")

	x.contains(x.get("/changes", nil).body, "src/a.go", done.change)
	x.contains(x.get("/changes/"+done.change, nil).body, "<del>t<mark>wo</mark></del>", "Undo")
	answer = x.press("/changes/"+done.change, "/changes/"+done.change+"/undo", "back", "/changes/"+done.change)
	x.contains(answer.body, "Undone.", "undone")
	if answer.url.Path != strings.TrimPrefix(x.inside, x.site.URL)+"/changes/"+done.change {
		t.Errorf("after undoing it leads to %s", answer.url)
	}
	x.holds("src/a.go", "one\ntwo\n")
	answer = x.press("/changes", "/changes/"+done.change+"/undo")
	x.contains(answer.body, `role="alert"`, "was undone already")
	x.contains(x.get("/audit?tool=revert_change", nil).body, "writ console", "succeeded", "The chain is whole")
}

func TestDeclineAndStanding(t *testing.T) {
	t.Parallel()
	x := newRoom(t, "src/a.go", "one\n", "src/b.go", "one\n").enter()
	no := replace("src/a.go", "one\n", "one", "two")
	asked := x.call("replace_text", no)
	x.contains(x.press("/", "/approvals/"+asked.approval+"/decline").body, "Declined: such a call is refused until")
	if again := x.call("replace_text", no); again.code != string(envelope.ApprovalDeclined) {
		t.Errorf("after a no: %+v", again)
	}
	asked = x.call("replace_text", replace("src/b.go", "one\n", "one", "two"))
	if answer := x.press("/", "/approvals/"+asked.approval+"/approve", "for", "1000h"); answer.status != http.StatusBadRequest {
		t.Errorf("for a time that is not offered: %d", answer.status)
	}
	x.contains(x.press("/", "/approvals/"+asked.approval+"/approve", "for", "15m").body, "such changes of these files go on until", "Allowed for now")
	if first := x.call("replace_text", replace("src/b.go", "one\n", "one", "two")); first.status != string(envelope.Succeeded) {
		t.Fatalf("the first: %+v", first)
	}
	if second := x.call("replace_text", replace("src/b.go", "two\n", "two", "three")); second.status != string(envelope.Succeeded) {
		t.Errorf("the second: %+v", second)
	}
	x.press("/", "/approvals/"+asked.approval+"/decline", "back", "/approvals/"+asked.approval)
	if third := x.call("replace_text", replace("src/b.go", "three\n", "three", "four")); third.status != string(envelope.Denied) {
		t.Errorf("after it was taken back: %+v", third)
	}
}
