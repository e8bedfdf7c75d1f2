package main

import (
	"bufio"
	"encoding/json"
	"flag"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"writ/contract"
	"writ/ledger"
)

var crashWrites = flag.Int("crash.writes", 0, "how many acknowledged changes TestCrash goes on for; 0: as many as come in five seconds")

// TestCrash kills two servers that write to the same files, at any moment, the one while the other goes on. Then every
// file must be what the log of changes says, the log must hold every change that was acknowledged, and nothing may be
// left open or lying about.
func TestCrash(t *testing.T) {
	end := time.Now().Add(5 * time.Second)
	c := newCrash(t)
	goesOn := func() bool {
		if *crashWrites > 0 {
			return c.acknowledged < *crashWrites
		}
		return time.Now().Before(end)
	}
	rounds := 0
	for ; goesOn() && !t.Failed(); rounds++ {
		c.round()
		c.check()
	}
	t.Logf("%d rounds, %d changes were acknowledged, %d of them batches", rounds, c.acknowledged, c.batches)
}

// crash is a root and a state that processes share and die over.
type crash struct {
	*testing.T
	root, state string

	mu                    sync.Mutex
	acks                  []string // change ids of this round
	all                   []string // of all rounds
	acknowledged, batches int
}

const sharedFiles = 6

func sharedFile(i int) string { return fmt.Sprintf("d%d/f%d.txt", i%2, i) }

func newCrash(t *testing.T) *crash {
	c := &crash{T: t, root: t.TempDir(), state: t.TempDir()}
	for i := range sharedFiles {
		name := filepath.Join(c.root, sharedFile(i))
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte("mark:0;\nfirst\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return c
}

func (c *crash) round() {
	c.acks = nil
	var done sync.WaitGroup
	var servers []*doomed
	for i := range 2 {
		d := c.startDoomed(i)
		servers = append(servers, d)
		done.Go(d.work)
	}
	long := 200 * time.Millisecond
	if *crashWrites > 0 {
		long = time.Second
	}
	time.Sleep(rand.N(2 * long))
	servers[0].kill()
	time.Sleep(rand.N(long))
	servers[1].kill()
	done.Wait()
}

// doomed is a server that will be killed, with a client that gives it work.
type doomed struct {
	*crash
	number  int
	command *exec.Cmd
	out     *bufio.Reader
	in      interface{ Write([]byte) (int, error) }
	id      int
}

func (c *crash) startDoomed(number int) *doomed {
	command := program(c.T, "serve", "--tools", "all", "--write", "**", "--state", c.state, c.root)
	in, err1 := command.StdinPipe()
	out, err2 := command.StdoutPipe()
	if err1 != nil || err2 != nil {
		c.Fatal(err1, err2)
	}
	command.Stderr = os.Stderr
	if err := command.Start(); err != nil {
		c.Fatal(err)
	}
	d := &doomed{crash: c, number: number, command: command, in: in, out: bufio.NewReader(out)}
	if _, ok := d.send("initialize", `{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"test","version":"1"}}`); !ok {
		c.Fatal("the server ended by itself")
	}
	return d
}

func (d *doomed) kill() {
	_ = d.command.Process.Kill()
	_ = d.command.Wait()
}

// send makes a request; false once the server is gone.
func (d *doomed) send(method, params string) (result json.RawMessage, ok bool) {
	d.id++
	if _, err := fmt.Fprintf(d.in, `{"jsonrpc":"2.0","id":%d,"method":%q,"params":%s}`+"\n", d.id, method, params); err != nil {
		return nil, false
	}
	line, err := d.out.ReadBytes('\n')
	if err != nil {
		return nil, false
	}
	var m message
	if err := json.Unmarshal(line, &m); err != nil {
		d.Errorf("%v in %s", err, line)
	}
	return m.Result, true
}

// call makes one call, and notes the change that it was told of.
func (d *doomed) call(tool string, arguments map[string]any) bool {
	params, err := json.Marshal(map[string]any{"name": tool, "arguments": arguments})
	if err != nil {
		panic(err)
	}
	result, ok := d.send("tools/call", string(params))
	if !ok {
		return false
	}
	a := readAnswer(d.T, tool, result)
	switch status := a.envelope["status"]; status {
	case "succeeded", "partial":
		if id, changed := a.envelope["change_id"].(string); changed {
			d.acknowledge(tool, id)
		}
	case "conflict", "unavailable", "not-found", "no-match", "denied": // the other server was faster
	default:
		d.Errorf("%s was answered %s", tool, compact(a.envelope))
	}
	return true
}

func (d *doomed) acknowledge(tool, id string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.acks, d.all = append(d.acks, id), append(d.all, id)
	d.acknowledged++
	if tool == "apply_edits" {
		d.batches++
	}
}

// work writes until the server is gone.
func (d *doomed) work() {
	for n := 0; ; n++ {
		var ok bool
		switch rand.IntN(6) {
		case 0, 1, 2:
			ok = d.batch()
		case 3:
			ok = d.overwrite()
		case 4:
			ok = d.private(n)
		case 5:
			ok = d.revert()
		}
		if !ok {
			return
		}
	}
}

// read returns a file's version and its mark.
func (d *doomed) read(name string) (version, mark string) {
	data, err := os.ReadFile(filepath.Join(d.root, name))
	if err != nil {
		return strings.Repeat("0", contract.VersionDigits), "mark:none;"
	}
	mark, _, _ = strings.Cut(string(data), "\n")
	return contract.VersionOf(data).String(), mark
}

func newMark() string { return fmt.Sprintf("mark:%d;", rand.Uint64()) }

func (d *doomed) batch() bool {
	var edits []map[string]any
	for _, i := range rand.Perm(sharedFiles)[:2+rand.IntN(sharedFiles-2)] {
		version, mark := d.read(sharedFile(i))
		edits = append(edits, map[string]any{"path": sharedFile(i), "old_text": mark, "new_text": newMark(), "observed_version": version})
	}
	return d.call("apply_edits", map[string]any{"edits": edits, "atomic": rand.IntN(4) > 0})
}

func (d *doomed) overwrite() bool {
	name := sharedFile(rand.IntN(sharedFiles))
	version, _ := d.read(name)
	content := newMark() + "\n" + strings.Repeat("some text\n", rand.IntN(30_000))
	return d.call("overwrite_file", map[string]any{"path": name, "content": content, "observed_version": version})
}

// private creates, moves and deletes a file that no other server touches.
func (d *doomed) private(n int) bool {
	name := fmt.Sprintf("own/%d/%d/a.txt", d.number, n%3)
	moved := fmt.Sprintf("own/%d/moved-%d.txt", d.number, n%3)
	_, there := os.Stat(filepath.Join(d.root, name))
	_, movedThere := os.Stat(filepath.Join(d.root, moved))
	switch {
	case there != nil && movedThere != nil:
		return d.call("create_file", map[string]any{"path": name, "content": newMark() + "\n"})
	case there == nil && movedThere != nil:
		version, _ := d.read(name)
		return d.call("move_file", map[string]any{"source": name, "destination": moved, "observed_version": version})
	}
	version, _ := d.read(moved)
	return d.call("delete_file", map[string]any{"path": moved, "observed_version": version})
}

func (d *doomed) revert() bool {
	d.mu.Lock()
	id := "chg_000000000000"
	if len(d.all) > 0 {
		id = d.all[len(d.all)-1-rand.IntN(min(4, len(d.all)))]
	}
	d.mu.Unlock()
	return d.call("revert_change", map[string]any{"change_id": id})
}

// check starts writ once more and looks at what is left.
func (c *crash) check() {
	o := options{profile: "all", state: c.state, write: []string{"**"}}
	h, err := o.open([]string{c.root})
	if err != nil {
		c.Fatal(err)
	}
	defer h.finish()
	if err := h.gate.Recover(c.Context()); err != nil {
		c.Errorf("recover: %v", err)
	}
	pending, err := h.ledger.Pending(c.Context())
	if err != nil || len(pending) > 0 {
		c.Errorf("%d changes are open after the recovery (%v): %+v", len(pending), err, pending)
	}
	changes, _, err := h.ledger.Changes(c.Context(), ledger.Filter{})
	if err != nil {
		c.Fatal(err)
	}
	c.checkAcknowledged(h, changes)
	c.checkAudit(h, changes)
	c.checkTree(replay(c.T, changes))
	if v, err := h.ledger.Verify(c.Context()); err != nil || v.Bad != 0 {
		c.Errorf("the audit is broken: %+v, %v", v, err)
	}
}

// checkAcknowledged looks for every change that a client was told of.
func (c *crash) checkAcknowledged(h *house, changes []contract.Change) {
	known := map[string]contract.Change{}
	for _, change := range changes {
		known[change.ID] = change
		if change.Outcome != contract.OutcomeDone {
			c.Errorf("the outcome of %s of %s is %s", change.Kind, change.Path, change.Outcome)
		}
	}
	for _, id := range c.acks {
		if change, found := known[id]; found && change.Outcome == contract.OutcomeDone {
			continue
		}
		parts, err := h.ledger.Batch(c.Context(), id)
		if err != nil || len(parts) == 0 {
			c.Errorf("the change %s was acknowledged and is not in the log (%v)", id, err)
		}
	}
}

// checkAudit looks for the row of every call that changed something, whether it was answered or not.
func (c *crash) checkAudit(h *house, changes []contract.Change) {
	recorded := map[string]bool{}
	err := h.ledger.Rows(c.Context(), ledger.RowFilter{}, func(line json.RawMessage) error {
		var row struct {
			RequestID string `json:"request_id"`
		}
		err := json.Unmarshal(line, &row)
		recorded[row.RequestID] = true
		return err
	})
	if err != nil {
		c.Fatal(err)
	}
	for _, change := range changes {
		if !recorded[change.RequestID] {
			c.Errorf("the call %s, which changed %s, is not in the audit", change.RequestID, change.Path)
		}
	}
}

// replay returns what the log says that each path holds, zero where nothing is, and sees to it that each change began
// where the last one of its path ended.
func replay(t *testing.T, newestFirst []contract.Change) map[contract.Path]contract.Version {
	state := map[contract.Path]contract.Version{}
	for i := range sharedFiles {
		p, err := contract.ParsePath(sharedFile(i))
		if err != nil {
			t.Fatal(err)
		}
		state[p] = contract.VersionOf([]byte("mark:0;\nfirst\n"))
	}
	for i := len(newestFirst) - 1; i >= 0; i-- {
		c := newestFirst[i]
		if state[c.Path] != c.Before {
			t.Errorf("%s, a %s of %s by %s, began at %q, and the change before it ended at %q", c.ID, c.Kind, c.Path, c.Tool, c.Before, state[c.Path])
		}
		if c.Kind == contract.ChangeMove {
			state[c.Path], state[c.To] = contract.Version{}, c.After
			continue
		}
		state[c.Path] = c.After
	}
	return state
}

// checkTree compares the disk with the log: no file is lost, half written or left over.
func (c *crash) checkTree(state map[contract.Path]contract.Version) {
	err := filepath.WalkDir(c.root, func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		relative, err := filepath.Rel(c.root, name)
		if err != nil {
			return err
		}
		p, err := contract.ParsePath(filepath.ToSlash(relative))
		if err != nil {
			return err
		}
		data, err := os.ReadFile(name)
		if v := contract.VersionOf(data); err != nil || v != state[p] {
			c.Errorf("%s has the version %s, and the log says %q (%v)", relative, v, state[p], err)
		}
		delete(state, p)
		return nil
	})
	if err != nil {
		c.Fatal(err)
	}
	for p, v := range state {
		if !v.IsZero() {
			c.Errorf("%s is gone, and the log says that it is there", p)
		}
	}
}
