package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"writ/contract"
	"writ/envelope"
	"writ/gate"
	"writ/ledger"
	"writ/tools"
)

// person answers the questions that a client puts, and remembers them.
type person struct {
	mu       sync.Mutex
	says     string   // accept, decline or cancel
	does     func()   // before he answers; nil: nothing
	messages []string // what he was shown
}

func (p *person) answer(_ context.Context, r *sdk.ElicitRequest) (*sdk.ElicitResult, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.messages = append(p.messages, r.Params.Message)
	if p.does != nil {
		p.does()
	}
	return &sdk.ElicitResult{Action: p.says}, nil
}

// asked returns what the person was shown since the last time.
func (p *person) asked() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	shown := p.messages
	p.messages = nil
	return shown
}

// will has the person answer so from now on.
func (p *person) will(say string, do func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.says, p.does = say, do
}

// The official client puts the question to a person, over both transports and at every version of the protocol.
func TestApprovalByTheOfficialClient(t *testing.T) {
	t.Parallel()
	for _, version := range sdk.SupportedProtocolVersions() {
		for name, connect := range map[string]func(t *testing.T, root string) sdk.Transport{
			"stdio": func(t *testing.T, root string) sdk.Transport {
				return &sdk.CommandTransport{Command: program(t, "serve", "--tools", "all", "--ask", "**", root)}
			},
			"HTTP": func(t *testing.T, root string) sdk.Transport {
				return overHTTP(t, serveOverHTTP(t, "--tools", "all", "--ask", "**", root))
			},
		} {
			t.Run(version+" over "+name, func(t *testing.T) {
				root := vault(t, "a.md", "one\n")
				p := &person{}
				s := askingSession(t, connect(t, root), version, p)
				tryApprovals(t, s, p, root)
			})
		}
	}
}

func askingSession(t *testing.T, transport sdk.Transport, version string, p *person) *sdk.ClientSession {
	t.Helper()
	client := sdk.NewClient(&sdk.Implementation{Name: "official", Version: "1"}, &sdk.ClientOptions{ElicitationHandler: p.answer})
	s, err := client.Connect(context.WithoutCancel(t.Context()), transport, &sdk.ClientSessionOptions{ProtocolVersion: version})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

func tryApprovals(t *testing.T, s *sdk.ClientSession, p *person, root string) {
	t.Helper()
	file := filepath.Join(root, "a.md")
	holds := func(want string) {
		t.Helper()
		if data, err := os.ReadFile(file); string(data) != want || err != nil {
			t.Errorf("the file holds %q, %v; want %q", data, err, want)
		}
	}
	ends := func(e map[string]any, status, code string) {
		t.Helper()
		if codes := (&answered{envelope: e}).codes(); e["status"] != status || code != "" && !slices.Equal(codes, []envelope.Code{envelope.Code(code)}) {
			t.Errorf("it ends with %s, want %s %s", compact(e), status, code)
		}
	}
	to := func(content string) map[string]any { return edit("a.md", "one", content, "one\n") }

	p.will("decline", nil)
	ends(callSession(t, s, "replace_text", to("three")), "denied", "approval-declined")
	ends(callSession(t, s, "replace_text", to("three")), "denied", "approval-declined")
	ends(callSession(t, s, "overwrite_file", overwrite("a.md", "three\n", "one\n")), "denied", "approval-declined")
	if n := len(p.asked()); n != 1 {
		t.Errorf("after a no it was asked %d times", n)
	}
	p.will("cancel", nil)
	ends(callSession(t, s, "replace_text", to("four")), "denied", "approval-required")
	holds("one\n")
	p.asked()
	p.will("accept", nil)
	ends(callSession(t, s, "replace_text", to("two")), "succeeded", "")
	holds("two\n")
	shown := strings.Join(p.asked(), "|")
	for _, want := range []string{"replace_text", `change "a.md"`, "    -one\n", "    +two\n", "once."} {
		if !strings.Contains(shown, want) {
			t.Errorf("the question has no %q: %s", want, shown)
		}
	}
	p.will("accept", func() {
		if err := os.WriteFile(file, []byte("changed\n"), 0o644); err != nil {
			t.Error(err)
		}
	})
	ends(callSession(t, s, "replace_text", edit("a.md", "two", "three", "two\n")), "conflict", "version-changed")
	holds("changed\n")
}

func overwrite(path, content, before string) map[string]any {
	return map[string]any{"path": path, "content": content, "observed_version": contract.VersionOf([]byte(before)).String()}
}

// What a client can't ask is answered on the command line, by another process.
func TestApprovalOnTheCommandLine(t *testing.T) {
	t.Parallel()
	root := vault(t, "a.md", "one\n")
	s := stdioSession(t, "--tools", "all", "--ask", "**", root)
	call := func() map[string]any { return callSession(t, s, "replace_text", edit("a.md", "one", "two", "one\n")) }
	first, second := &answered{envelope: call()}, &answered{envelope: call()}
	id := first.approvalID()
	if id == "" || second.approvalID() != id || first.status() != envelope.Denied {
		t.Fatalf("refused with %s, then with %s", compact(first.envelope), compact(second.envelope))
	}
	run := func(want int, args ...string) string {
		t.Helper()
		got := writ(t, "", append([]string{"approvals", "--root", root}, args...)...)
		if got.status != want {
			t.Errorf("writ approvals %v ends with %d: %s%s", args, got.status, got.stdout, got.stderr)
		}
		return got.stdout
	}
	var line approvalLine
	if err := json.Unmarshal([]byte(run(0)), &line); err != nil || line.ApprovalID != id || line.State != ledger.ApprovalPending || line.Tool != "replace_text" {
		t.Errorf("lists %+v, %v", line, err)
	}
	if shown := run(0, "show", id); !strings.Contains(shown, "-one\n+two\n") || !strings.Contains(shown, `change "a.md"`) {
		t.Errorf("shows %s", shown)
	}
	run(2, "approve", "apr_0000000000000000")
	if got := writ(t, "", "approvals", "approve", id); got.status != 0 { // from anywhere
		t.Errorf("approve: %+v", got)
	}
	run(1, "approve", id)
	if anywhere := writ(t, "", "approvals", "--all"); !strings.Contains(anywhere.stdout, id) {
		t.Errorf("without a directory it lists %+v", anywhere)
	}
	if other := callSession(t, s, "replace_text", edit("a.md", "one", "three", "one\n")); other["status"] != "denied" {
		t.Errorf("another call: %s", compact(other))
	}
	if done := call(); done["status"] != "succeeded" {
		t.Errorf("the call that was approved: %s", compact(done))
	}
	if again := call(); again["status"] != "conflict" {
		t.Errorf("the same again: %s", compact(again))
	}
	later := func(content string) map[string]any {
		return callSession(t, s, "overwrite_file", overwrite("a.md", content, readText(t, filepath.Join(root, "a.md"))))
	}
	run(2, "approve", id, "--for", "48h")
	run(0, "approve", (&answered{envelope: later("three\n")}).approvalID(), "--for", "1h")
	for _, content := range []string{"four\n", "five\n"} {
		if e := later(content); e["status"] != "succeeded" {
			t.Errorf("a change of a file that is approved for a while: %s", compact(e))
		}
	}
	if audit := writ(t, "", "audit", "--root", root); strings.Count(audit.stdout, id) < 4 || !strings.Contains(audit.stdout, `"way":"writ approvals"`) {
		t.Errorf("the audit says %s%s", audit.stdout, audit.stderr)
	}
}

// Whoever undoes a change on the command line is the person who would be asked.
func TestUndoInTheAskZone(t *testing.T) {
	t.Parallel()
	root := vault(t, "a.md", "one\n")
	done := callSession(t, stdioSession(t, "--write", "**", root), "replace_text", edit("a.md", "one", "two", "one\n"))
	id, _ := done["change_id"].(string)
	if got := writ(t, "", "undo", "--root", root, "--read", "**", "--ask", "**", "--write", "other/**", id); got.status != 0 {
		t.Errorf("undo: %+v", got)
	}
	if text := readText(t, filepath.Join(root, "a.md")); text != "one\n" {
		t.Errorf("the file holds %q", text)
	}
}

func readText(t *testing.T, file string) string {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// desk is a gate with one file in the ask zone, and a person who can be asked by way of the client.
type desk struct {
	*testing.T
	house *house
	root  string
}

func newDesk(t *testing.T, files ...string) *desk {
	t.Helper()
	root := vault(t, append([]string{"a.md", "one\n", "b.md", "one\n"}, files...)...)
	o := options{profile: "all", state: t.TempDir(), read: []string{"**"}, ask: []string{"**"}, keepAlways: true}
	h, err := o.open([]string{root})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := h.close(); err != nil {
			t.Error(err)
		}
	})
	return &desk{t, h, root}
}

// asker is a client of the newer era, which answers later.
type asker struct{ asked *gate.Question }

func (a *asker) Ask(_ context.Context, q gate.Question) (gate.Answer, error) {
	a.asked = &q
	return gate.Dismissed, gate.ErrAnswersLater
}

// call makes a call, with a reply unless that is nil, and returns how it ended and the question that was put.
func (d *desk) call(caller, arguments string, reply *gate.Reply) (string, *gate.Question) {
	d.Helper()
	a := &asker{}
	e := d.house.gate.Call(d.Context(), gate.Call{
		Caller: caller, Tool: "replace_text", Arguments: json.RawMessage(arguments), Asker: a, Reply: reply,
	})
	if len(e.Errors) > 0 {
		return string(e.Errors[0].Code), a.asked
	}
	return string(e.Status), a.asked
}

func arguments(path, newText, before string) string {
	return compact(edit(path, "one", newText, before))
}

// A yes that comes back with a question's state is good for that very question and nothing else.
func TestReplyIsBound(t *testing.T) {
	t.Parallel()
	const one = "one\n"
	for name, attack := range map[string]struct {
		caller, arguments string
		want              string
	}{
		"other arguments":   {"local", arguments("a.md", "evil", one), "approval-required"},
		"another file":      {"local", arguments("b.md", "two", one), "approval-required"},
		"another caller":    {"http", arguments("a.md", "two", one), "approval-required"},
		"the very question": {"local", arguments("a.md", "two", one), "succeeded"},
	} {
		t.Run(name, func(t *testing.T) {
			d := newDesk(t)
			_, q := d.call("local", arguments("a.md", "two", one), nil)
			if q == nil || d.house.gate.CheckState(t.Context(), q.State) != nil {
				t.Fatalf("asked %v", q)
			}
			got, asked := d.call(attack.caller, attack.arguments, &gate.Reply{State: q.State, Answer: gate.Approved})
			if got != attack.want {
				t.Errorf("ends with %s, want %s", got, attack.want)
			}
			if attack.want == "approval-required" && (asked == nil || asked.State == q.State) {
				t.Errorf("a yes to another question is followed by the question %v", asked)
			}
		})
	}
}

// A state is good once: not after a yes was used, nor after a no, nor under another key.
func TestReplyIsNotReplayed(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	file := filepath.Join(d.root, "a.md")
	_, q := d.call("local", arguments("a.md", "two", "one\n"), nil)
	yes := &gate.Reply{State: q.State, Answer: gate.Approved}
	if got, _ := d.call("local", arguments("a.md", "two", "one\n"), yes); got != "succeeded" {
		t.Fatalf("a yes ends with %s", got)
	}
	if err := os.WriteFile(file, []byte("one\n"), 0o644); err != nil { // a person takes it back
		t.Fatal(err)
	}
	got, asked := d.call("local", arguments("a.md", "two", "one\n"), yes)
	if got != "approval-required" || asked == nil || asked.State == q.State {
		t.Errorf("the same yes again ends with %s and the question %v", got, asked)
	}
	if got, _ := d.call("local", arguments("a.md", "two", "one\n"), &gate.Reply{State: asked.State, Answer: gate.Declined}); got != "approval-declined" {
		t.Errorf("a no ends with %s", got)
	}
	if got, _ := d.call("local", arguments("a.md", "two", "one\n"), &gate.Reply{State: asked.State, Answer: gate.Approved}); got != "approval-declined" {
		t.Errorf("a yes after the no ends with %s", got)
	}
	for _, state := range []string{"", ".", q.State + "x", "x" + q.State, strings.Replace(q.State, ".", "", 1)} {
		if d.house.gate.CheckState(t.Context(), state) == nil {
			t.Errorf("%q counts as a state", state)
		}
	}
	if other := newDesk(t); other.house.gate.CheckState(t.Context(), q.State) == nil {
		t.Error("the state of another server counts")
	}
}

// A file that was changed after the question is a conflict, and the yes is not used up by that.
func TestReplyAfterAChange(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	file := filepath.Join(d.root, "a.md")
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	_, q := d.call("local", arguments("a.md", "two", "one\n"), nil)
	write("one, too\n")
	if got, _ := d.call("local", arguments("a.md", "two", "one\n"), &gate.Reply{State: q.State, Answer: gate.Approved}); got != "version-changed" {
		t.Errorf("ends with %s", got)
	}
	if data, _ := os.ReadFile(file); string(data) != "one, too\n" {
		t.Errorf("the file holds %q", data)
	}
	write("one\n")
	if got, asked := d.call("local", arguments("a.md", "two", "one\n"), &gate.Reply{State: q.State, Answer: gate.Approved}); got != "succeeded" || asked != nil {
		t.Errorf("when it is as it was, it ends with %s, asked %v", got, asked)
	}
}

// A link is another way to the same place: a no holds for it, and a yes for the one call does not.
func TestApprovalByAnotherName(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	if err := os.Symlink("a.md", filepath.Join(d.root, "link.md")); err != nil {
		t.Skip(err)
	}
	_, q := d.call("local", arguments("link.md", "two", "one\n"), nil)
	if q == nil || !strings.Contains(q.Message, `change "a.md"`) {
		t.Errorf("the question about a link does not name the place: %v", q)
	}
	if got, asked := d.call("local", arguments("a.md", "two", "one\n"), &gate.Reply{State: q.State, Answer: gate.Approved}); got != "approval-required" || asked == nil {
		t.Errorf("a yes for the link, used for the file: %s", got)
	}
	if got, _ := d.call("local", arguments("link.md", "two", "one\n"), &gate.Reply{State: q.State, Answer: gate.Declined}); got != "approval-declined" {
		t.Errorf("a no: %s", got)
	}
	if got, _ := d.call("local", arguments("a.md", "two", "one\n"), nil); got != "approval-declined" {
		t.Errorf("after a no for the link, the file: %s", got)
	}
	if got, asked := d.call("local", arguments("a.md", "two", "one\n"), &gate.Reply{State: q.State, Answer: gate.Approved}); got != "approval-declined" || asked != nil {
		t.Errorf("after a no, an old yes: %s", got)
	}
}

// Of equal calls that were approved once and come at once, through two servers, one goes on.
func TestApprovalIsUsedOnce(t *testing.T) {
	t.Parallel()
	root := vault(t, "log.md", "one\n")
	sessions := []*sdk.ClientSession{stdioSession(t, "--ask", "**", root), stdioSession(t, "--ask", "**", root)}
	create := map[string]any{"path": "new.md", "content": "new\n"}
	id := (&answered{envelope: callSession(t, sessions[0], "create_file", create)}).approvalID()
	approvals := make(chan int, 2)
	for range 2 {
		go func() { approvals <- writ(t, "", "approvals", "approve", "--root", root, id).status }()
	}
	if sum := <-approvals + <-approvals; sum != 1 {
		t.Errorf("of two who approve at once, %d fail", sum)
	}
	statuses := make(chan any, 8)
	for i := range cap(statuses) {
		go func() { statuses <- callSession(t, sessions[i%2], "create_file", create)["status"] }()
	}
	done := 0
	for range cap(statuses) {
		if <-statuses == "succeeded" {
			done++
		}
	}
	if done != 1 {
		t.Errorf("%d calls went on", done)
	}
}

// The question shows what happens and never what hides it: a secret is kept back, what does not show is written out, and
// text of the file can't pass for text of the question.
func TestQuestionIsHonest(t *testing.T) {
	t.Parallel()
	secret := "ghp_" + "16C7e42F292c6912E7710c838347Ae178B4a"
	d := newDesk(t)
	_, q := d.call("local", arguments("a.md", "two\u202e\u200b\x1b[2J "+secret+"\n\nIf you accept, nothing is done.", "one\n"), nil)
	if q == nil {
		t.Fatal("nobody is asked")
	}
	if strings.Contains(q.Message, secret) || !strings.Contains(q.Message, "[redacted:") {
		t.Errorf("the secret: %s", q.Message)
	}
	if !strings.Contains(q.Message, `two\u{202e}\u{200b}\u{1b}[2J`) {
		t.Errorf("what is hidden: %q", q.Message)
	}
	for line := range strings.SplitSeq(q.Message, "\n") {
		if strings.Contains(line, "nothing is done") && !strings.HasPrefix(line, "    +") {
			t.Errorf("text of the file stands as the question's: %q", line)
		}
	}
}

// One question names all that a batch does, with a line for each place.
func TestQuestionNamesAll(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	a := &asker{}
	version := contract.VersionOf([]byte("one\n")).String()
	batch := fmt.Sprintf(`{"edits":[{"path":"a.md","old_text":"one","new_text":"two","observed_version":%q},{"path":"b.md","old_text":"one","new_text":"three","observed_version":%[1]q}]}`, version)
	e := d.house.gate.Call(t.Context(), gate.Call{Caller: "local", Tool: "apply_edits", Arguments: json.RawMessage(batch), Asker: a})
	if a.asked == nil {
		t.Fatalf("nobody is asked: %s", e.AppendJSON(nil))
	}
	for _, want := range []string{"apply_edits", "- change \"a.md\"\n", "- change \"b.md\"\n", "    +two\n", "    +three\n"} {
		if !strings.Contains(a.asked.Message, want) {
			t.Errorf("the question has no %q: %s", want, a.asked.Message)
		}
	}
	e = d.house.gate.Call(t.Context(), gate.Call{
		Caller: "local", Tool: "apply_edits", Arguments: json.RawMessage(batch), Reply: &gate.Reply{State: a.asked.State, Answer: gate.Approved},
	})
	if e.Status != envelope.Succeeded || readText(t, filepath.Join(d.root, "b.md")) != "three\n" {
		t.Errorf("after a yes: %s", e.AppendJSON(nil))
	}
}

// A person who does not answer is asked three times at most.
func TestQuestionIsNotAskedForever(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	for i := range 5 {
		got, q := d.call("local", arguments("a.md", "two", "one\n"), nil)
		if got != "approval-required" || (q != nil) != (i < 3) {
			t.Errorf("time %d: %s, asked %v", i+1, got, q)
		}
	}
}

// A cancelled call and a client that fails are no yes.
func TestNoAnswerIsNoYes(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	for name, ask := range map[string]askFunc{
		"fails": func(context.Context, context.CancelFunc) (gate.Answer, error) { return gate.Approved, errors.New("no") },
		"cancelled, yes": func(_ context.Context, cancel context.CancelFunc) (gate.Answer, error) {
			cancel()
			return gate.Approved, nil
		},
		"cancelled": func(ctx context.Context, cancel context.CancelFunc) (gate.Answer, error) {
			cancel()
			return gate.Dismissed, ctx.Err()
		},
	} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			e := d.house.gate.Call(ctx, gate.Call{
				Caller: "local", Tool: "replace_text", Arguments: json.RawMessage(arguments("a.md", fmt.Sprintf("two %s", name), "one\n")),
				Asker: cancelling{cancel, ask},
			})
			if e.Changed != envelope.No || e.Status == envelope.Succeeded {
				t.Errorf("ends with %s", e.AppendJSON(nil))
			}
			if data, _ := os.ReadFile(filepath.Join(d.root, "a.md")); string(data) != "one\n" {
				t.Errorf("the file holds %q", data)
			}
		})
	}
}

type askFunc func(context.Context, context.CancelFunc) (gate.Answer, error)

type cancelling struct {
	cancel context.CancelFunc
	ask    askFunc
}

func (c cancelling) Ask(ctx context.Context, _ gate.Question) (gate.Answer, error) {
	return c.ask(ctx, c.cancel)
}

// Whatever a model sends, with every tool and argument at its command, nothing in the ask zone is different while nobody
// says yes: not after a no, nor with the name of a question, nor by way of a link or another tool.
func TestNoModelApproves(t *testing.T) {
	t.Parallel()
	d := newDesk(t, "dir/c.md", "one\n")
	for link, target := range map[string]string{"link.md": "a.md", "dir/up.md": "../b.md"} {
		if err := os.Symlink(target, filepath.Join(d.root, link)); err != nil {
			t.Skip(err)
		}
	}
	before := treeOf(t, d.root)
	random := rand.New(rand.NewPCG(1, 2))
	names := []string{"apr_0000000000000000", "approve", "accept"}
	says := map[gate.Answer]int{}
	offered := slices.DeleteFunc(tools.All(), func(t *tools.Tool) bool { return !d.house.gate.Has(t.Name) })
	for range 600 {
		tool := offered[random.IntN(len(offered))]
		e := d.house.gate.Call(t.Context(), gate.Call{
			Caller: gate.CallerLocal, Client: "accept", Tool: tool.Name, Arguments: wildArguments(t, random, tool.Contract, names),
			Asker: cancelling{func() {}, func(context.Context, context.CancelFunc) (gate.Answer, error) {
				answer := gate.Answer(random.IntN(2) * int(gate.Declined))
				says[answer]++
				return answer, nil
			}},
		})
		if e.Changed == envelope.Yes || e.Changed == envelope.MaybeChanged {
			t.Fatalf("%s answers %s", tool.Name, e.AppendJSON(nil))
		}
		if id := approvalIn(&e); id != "" {
			names = append(names, id)
		}
	}
	if after := treeOf(t, d.root); !maps.Equal(before, after) {
		t.Errorf("the tree is %v, was %v", after, before)
	}
	list, err := d.house.ledger.Approvals(t.Context(), ledger.ApprovalFilter{})
	if err != nil || len(list) < 5 || says[gate.Declined] == 0 || says[gate.Dismissed] == 0 {
		t.Errorf("%d questions, %v, answered %v: the calls do not come to anything", len(list), err, says)
	}
	for _, a := range list {
		if a.State != ledger.ApprovalPending && a.State != ledger.ApprovalDeclined {
			t.Errorf("%s of %s is %s", a.ID, a.Tool, a.State)
		}
	}
}

// wildArguments are arguments by the tool's schema, of which each is one that leads somewhere.
func wildArguments(t *testing.T, random *rand.Rand, c *contract.Contract, names []string) json.RawMessage {
	t.Helper()
	var schema struct {
		Properties map[string]struct{ Type string }
		Required   []string
	}
	if err := json.Unmarshal(c.InputSchema(), &schema); err != nil {
		t.Fatal(err)
	}
	one := func(of ...string) string { return of[random.IntN(len(of))] }
	path := func() string {
		return one("a.md", "b.md", "link.md", "dir/c.md", "dir/up.md", "new.md", "dir/new", "dir", "../state", ".git/hooks/x")
	}
	version := contract.VersionOf([]byte("one\n")).String()
	arguments := map[string]any{}
	for _, name := range slices.Sorted(maps.Keys(schema.Properties)) {
		kind := schema.Properties[name].Type
		switch {
		case !slices.Contains(schema.Required, name) && random.IntN(4) > 0:
		case name == "observed_version":
			arguments[name] = version
		case name == "old_text":
			arguments[name] = "one"
		case name == "edits":
			arguments[name] = []any{edit(path(), "one", "two", "one\n"), edit(path(), "one", one("two", "three"), "one\n")}
		case name == "paths":
			arguments[name] = []string{path(), path()}
		case strings.HasSuffix(name, "_id") || name == "artifact":
			arguments[name] = one(names...)
		case name == "new_text" || name == "content" || name == "text" || name == "query" || name == "pattern":
			arguments[name] = one("two", "three", one(names...))
		case kind == "boolean":
			arguments[name] = random.IntN(2) == 0
		case kind == "integer":
			arguments[name] = random.IntN(3)
		case kind == "string":
			arguments[name] = path()
		}
	}
	return json.RawMessage(compact(arguments))
}
