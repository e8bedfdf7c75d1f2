package ledger

import (
	"bufio"
	"bytes"
	"io"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"writ/contract"
)

func TestThreeProcessesAppendAtOnce(t *testing.T) {
	state := filepath.Join(t.TempDir(), "state")
	const each = 60
	var commands []interface{ Wait() error }
	var outputs []*bytes.Buffer
	for range 3 {
		c := other(t, "write", state, each)
		out := new(bytes.Buffer)
		c.Stdout = out
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		commands, outputs = append(commands, c), append(outputs, out)
	}
	for _, c := range commands {
		if err := c.Wait(); err != nil {
			t.Error(err)
		}
	}
	l := openAt(t, state, Options{})
	seen := map[string]bool{}
	for _, out := range outputs {
		for id := range strings.FieldsSeq(out.String()) {
			if seen[id] {
				t.Errorf("two changes are named %s", id)
			}
			seen[id] = true
			if c, _, err := l.Change(t.Context(), id); err != nil || c.Outcome != contract.OutcomeDone {
				t.Errorf("%s: outcome %q, error %v", id, c.Outcome, err)
			}
		}
	}
	if len(seen) != 3*each {
		t.Errorf("%d changes, want %d", len(seen), 3*each)
	}
	v, err := l.Verify(t.Context())
	if err != nil || v.Bad != 0 || v.Rows != 3*each*2 {
		t.Errorf("audit: %+v, error %v; want %d sound rows", v, err, 3*each*2)
	}
}

func TestKilledProcessLosesNothingThatWasBegun(t *testing.T) {
	state := filepath.Join(t.TempDir(), "state")
	end := time.Now().Add(2 * time.Second)
	var begun []string
	for round := 0; time.Now().Before(end); round++ {
		c := other(t, "write", state, 1_000_000)
		stdout, err := c.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		lines := bufio.NewReader(stdout)
		first, err := lines.ReadString('\n')
		if err != nil {
			t.Fatal(err)
		}
		time.AfterFunc(time.Duration(round%7*10)*time.Millisecond, func() { _ = c.Process.Kill() })
		rest, err := io.ReadAll(lines)
		if err != nil {
			t.Fatal(err)
		}
		_ = c.Wait()
		begun = append(begun, strings.Fields(first+string(rest))...)
	}
	l := openAt(t, state, Options{})
	all, _, err := l.Changes(t.Context(), Filter{})
	if err != nil {
		t.Fatal(err)
	}
	there := map[string]bool{}
	for _, c := range all {
		there[c.ID] = true
	}
	for _, id := range begun {
		if !there[id] {
			t.Errorf("%s was begun and is lost", id)
		}
	}
	if v, err := l.Verify(t.Context()); err != nil || v.Bad != 0 {
		t.Errorf("audit: %+v, error %v", v, err)
	}
}

func TestPendingTellsTheLivingFromTheDead(t *testing.T) {
	state := filepath.Join(t.TempDir(), "state")
	c := other(t, "hang", state, 0)
	stdout, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.Process.Kill(); _ = c.Wait() }()
	theirs, err := bufio.NewReader(stdout).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	theirs = strings.TrimSpace(theirs)

	l := openAt(t, state, Options{})
	in := edit(t, "a", "1", "2")
	in.Temp, in.Directories = ".writ-1", []contract.Path{pathOf(t, "a"), pathOf(t, "a/b")}
	ours := begin(t, l, in)
	wantPending(t, l, map[string]bool{theirs: true, ours: true})

	if err := c.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = c.Wait()
	pending := wantPending(t, l, map[string]bool{theirs: false, ours: true})
	if got := pending[1].Intent; got.Temp != in.Temp || got.Path != in.Path || got.After != in.After ||
		got.Origin != in.Origin || got.Mode != in.Mode || len(got.Directories) != 2 {
		t.Errorf("intent %+v, want %+v", got, in)
	}
	if err := l.Settle(t.Context(), theirs, contract.OutcomeNotDone); err != nil {
		t.Fatal(err)
	}
	wantPending(t, l, map[string]bool{ours: true})
}

func wantPending(t *testing.T, l *Ledger, want map[string]bool) []PendingIntent {
	t.Helper()
	pending, err := l.Pending(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if len(pending) != len(want) {
		t.Fatalf("pending %+v, want %v", pending, want)
	}
	for _, p := range pending {
		alive, known := want[p.ID]
		if !known || p.Alive != alive {
			t.Errorf("%s alive %v, want %v", p.ID, p.Alive, want)
		}
	}
	return pending
}
