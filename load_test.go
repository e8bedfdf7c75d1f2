package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"writ/callers"
)

var loadTime = flag.Duration("load", 3*time.Second, "how long TestLoad goes on")

// caller sends calls as clients since 2026-07-28 do: each stands alone.
type caller struct {
	client *http.Client
	url    string
	token  string
}

// outcome is what an answer comes to.
type outcome struct {
	http     int
	envelope struct {
		Status, Version string
		Errors          []struct{ Code, Message string }
	}
	text  string // the first bulk text
	total int
}

func (o outcome) code() string {
	if len(o.envelope.Errors) == 0 {
		return ""
	}
	return o.envelope.Errors[0].Code
}

func (c caller) call(ctx context.Context, tool string, arguments map[string]any) (outcome, error) {
	raw, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": map[string]any{
		"name": tool, "arguments": arguments, "_meta": map[string]any{
			"io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": map[string]any{},
			"io.modelcontextprotocol/clientInfo": map[string]any{"name": "load", "version": "1"},
		},
	}})
	if err != nil {
		return outcome{}, err
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, c.url, bytes.NewReader(raw))
	if err != nil {
		return outcome{}, err
	}
	for key, value := range map[string]string{
		"Content-Type": "application/json", "Accept": "application/json, text/event-stream", "Mcp-Protocol-Version": "2026-07-28",
		"Mcp-Method": "tools/call", "Mcp-Name": tool, "Authorization": "Bearer " + c.token,
	} {
		r.Header.Set(key, value)
	}
	w, err := c.client.Do(r)
	if err != nil {
		return outcome{}, err
	}
	defer w.Body.Close()
	body, err := io.ReadAll(w.Body)
	if err != nil {
		return outcome{}, err
	}
	o := outcome{http: w.StatusCode}
	var m struct {
		Result struct{ Content []struct{ Text string } }
	}
	if err := json.Unmarshal(body, &m); err != nil || len(m.Result.Content) == 0 {
		return o, fmt.Errorf("%s is answered %d %.300s", tool, w.StatusCode, body)
	}
	if len(m.Result.Content) > 1 {
		o.text = m.Result.Content[1].Text
	}
	var listed struct{ Total int }
	text := []byte(m.Result.Content[0].Text)
	err = errors.Join(json.Unmarshal(text, &o.envelope), json.Unmarshal(text, &listed))
	o.total = listed.Total
	return o, err
}

// callersPolicy writes a policy with so many callers and returns its name and their tokens.
func callersPolicy(t *testing.T, root string, n int) (file string, tokens []string) {
	t.Helper()
	var b strings.Builder
	fmt.Fprintf(&b, "roots: [{path: %q}]\nscope: {write: [\"**\"]}\nlimits: {calls_per_minute: 1000000}\ncallers:\n", root)
	for i := range n {
		token, hash := callers.NewToken()
		tokens = append(tokens, token)
		fmt.Fprintf(&b, "  - {name: caller-%d, token: %q}\n", i, hash)
	}
	file = filepath.Join(t.TempDir(), "writ.yaml")
	if err := os.WriteFile(file, []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	return file, tokens
}

var residentLine = regexp.MustCompile(`VmRSS:\s+(\d+) kB`)

// residentKiB is how much memory a process has; 0 where that can't be told.
func residentKiB(pid int) int {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0
	}
	n, _ := strconv.Atoi(string(append(residentLine.FindSubmatch(status), nil, nil)[1]))
	return n
}

// load is what 200 callers do, and what came of it.
type load struct {
	t        *testing.T
	ctx      context.Context
	edits    [loadFiles]atomic.Int64 // that succeeded, by file
	calls    atomic.Int64
	limited  atomic.Int64 // refused by a limit, which says so
	conflict atomic.Int64
	faults   atomic.Int64
}

const (
	loadCallers = 200
	loadFiles   = 20
)

// fault notes what must not happen; a few are enough.
func (l *load) fault(format string, args ...any) {
	if l.faults.Add(1) < 10 {
		l.t.Errorf(format, args...)
	}
}

// note counts an answer, and tells whether the call was carried out.
func (l *load) note(o outcome, err error) bool {
	switch {
	case l.ctx.Err() != nil && err != nil:
		return false
	case err != nil:
		l.fault("%v", err)
		return false
	}
	l.calls.Add(1)
	switch o.envelope.Status {
	case "ok", "succeeded":
		return true
	case "conflict", "no-match": // another one was faster
		l.conflict.Add(1)
	case "unavailable":
		l.limited.Add(1)
	default:
		l.fault("a call is answered %s %s: %v", o.envelope.Status, o.code(), o.envelope.Errors)
	}
	return false
}

// work goes on until the time is over.
func (l *load) work(c caller, seed uint64) {
	random := rand.New(rand.NewPCG(seed, 1))
	for l.ctx.Err() == nil {
		file := random.IntN(loadFiles)
		name := fmt.Sprintf("shared/%d.txt", file)
		switch n := random.IntN(10); {
		case n < 5:
			l.note(c.call(l.ctx, "read_file", map[string]any{"path": fmt.Sprintf("docs/%d.md", random.IntN(100))}))
		case n < 7:
			l.note(c.call(l.ctx, "search_text", map[string]any{"pattern": "needle " + strconv.Itoa(random.IntN(100)), "path": "docs"}))
		default:
			l.edit(c, file, name)
		}
	}
}

// edit counts the number in the file up by one. Once begun it is seen to its end, so that what is on disk is known.
func (l *load) edit(c caller, file int, name string) {
	ctx := context.WithoutCancel(l.ctx)
	read, err := c.call(ctx, "read_file", map[string]any{"path": name})
	if !l.note(read, err) {
		return
	}
	n, err := strconv.Atoi(strings.TrimSpace(read.text))
	if err != nil {
		l.fault("%s holds %q", name, read.text)
		return
	}
	done, err := c.call(ctx, "replace_text", map[string]any{
		"path": name, "old_text": read.text, "new_text": fmt.Sprintf("%d\n", n+1), "observed_version": read.envelope.Version,
	})
	if l.note(done, err) {
		l.edits[file].Add(1)
	} else if err != nil {
		l.fault("an edit ends with %v", err)
	}
}

// hostile is traffic that must change nothing for the others: each goes on until the time is over.
func (l *load) hostile(address string) []func() {
	send := func(text string, pause time.Duration) func() {
		return func() {
			for l.ctx.Err() == nil {
				conn, err := (&net.Dialer{Timeout: time.Second}).DialContext(l.ctx, "tcp", address)
				if err != nil {
					return
				}
				_ = conn.SetDeadline(time.Now().Add(2 * time.Second))
				for part := range slices.Chunk([]byte(text), max(1, len(text)/10)) {
					if _, err := conn.Write(part); err != nil || l.ctx.Err() != nil {
						break
					}
					time.Sleep(pause) // that is the attack
				}
				_, _ = io.Copy(io.Discard, conn)
				conn.Close()
			}
		}
	}
	head := "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
	return []func(){
		send(head+"X-Slow: aaaaaaaaaaaaaaaaaaaaaaaaa", 100*time.Millisecond),
		send(head+"Content-Length: 1000\r\n\r\n{", 100*time.Millisecond),
		send(head+"Content-Length: 99999999999\r\n\r\n"+strings.Repeat("x", 1<<20), time.Millisecond),
		send(head+"X-Long: "+strings.Repeat("x", 1<<20), time.Millisecond),
		send("\x16\x03\x01 nonsense\r\n\r\n", 10*time.Millisecond),
		send(head+"Content-Length: 2\r\n\r\n{}", 10*time.Millisecond),
		send(head+"Authorization: Bearer wrong\r\nContent-Length: 2\r\n\r\n{}", 10*time.Millisecond),
		send("GET /sse HTTP/1.1\r\nHost: evil.example\r\n\r\n", 10*time.Millisecond),
	}
}

// Two hundred callers read, search and edit while others attack. Nothing but stated limits is an error, no update is lost,
// and memory stays flat. With -load=60s it goes on for a minute.
func TestLoad(t *testing.T) {
	root := loadVault(t)
	file, tokens := callersPolicy(t, root, loadCallers)
	s := startHTTP(t, "--policy", file, "--state", t.TempDir())
	ctx, stop := context.WithTimeout(t.Context(), *loadTime)
	defer stop()
	l := &load{t: t, ctx: ctx}
	transport := &http.Transport{MaxIdleConnsPerHost: loadCallers}
	defer transport.CloseIdleConnections()
	client := &http.Client{Transport: transport, Timeout: time.Minute}
	var all sync.WaitGroup
	for i, token := range tokens {
		all.Go(func() { l.work(caller{client, s.url, token}, uint64(i)) })
	}
	address := strings.TrimSuffix(strings.TrimPrefix(s.url, "http://"), "/mcp")
	for _, attack := range l.hostile(address) {
		for range 4 {
			all.Go(attack)
		}
	}
	memory := watchMemory(ctx, s.command.Process.Pid)
	all.Wait()
	var edits int64
	for i := range l.edits {
		want := fmt.Sprintf("%d\n", l.edits[i].Load())
		edits += l.edits[i].Load()
		if got, err := os.ReadFile(filepath.Join(root, fmt.Sprintf("shared/%d.txt", i))); err != nil || string(got) != want {
			t.Errorf("file %d holds %q after %s edits, %v", i, got, strings.TrimSpace(want), err)
		}
	}
	if edits == 0 || l.calls.Load() < loadCallers {
		t.Errorf("only %d calls and %d edits", l.calls.Load(), edits)
	}
	seen := <-memory
	t.Logf("%d calls in %v: %d edits, %d conflicts, %d limited; memory in MiB %v",
		l.calls.Load(), *loadTime, edits, l.conflict.Load(), l.limited.Load(), seen)
	checkFlat(t, seen)
}

// watchMemory returns what the process had over time, in MiB: ten looks.
func watchMemory(ctx context.Context, pid int) <-chan []int {
	seen := make(chan []int, 1)
	go func() {
		var list []int
		ticker := time.NewTicker(*loadTime / 10)
		defer ticker.Stop()
		for {
			select {
			case <-ctx.Done():
				seen <- list
				return
			case <-ticker.C:
				list = append(list, residentKiB(pid)/1024)
			}
		}
	}()
	return seen
}

// checkFlat compares the last third with the one before. A collector that lags is no leak, so there is some room.
func checkFlat(t *testing.T, seen []int) {
	t.Helper()
	if len(seen) < 9 || seen[0] == 0 {
		return
	}
	third := len(seen) / 3
	middle, end := slices.Max(seen[third:2*third]), slices.Max(seen[2*third:])
	if end > middle+middle/2+32 {
		t.Errorf("memory grows from %d to %d MiB", middle, end)
	}
}

func loadVault(t *testing.T) string {
	t.Helper()
	root := t.TempDir()
	files := map[string]string{}
	for i := range loadFiles {
		files[fmt.Sprintf("shared/%d.txt", i)] = "0\n"
	}
	for i := range 100 {
		files[fmt.Sprintf("docs/%d.md", i)] = strings.Repeat("Some words that nobody looks for.\n", 100) + fmt.Sprintf("needle %d\n", i)
	}
	for name, text := range files {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(root, name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(root, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return root
}
