package workspace

import (
	"bytes"
	"context"
	"encoding/json"
	"math/rand/v2"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"writ/contract"
)

const crashBytes = 64 << 10

// logbook is a journal in a file, one line an event. It holds what Settle needs.
type logbook struct{ f *os.File }

type logLine struct {
	Path, Before, After, Temp string
	End                       contract.Outcome
}

func (l logbook) Begin(_ context.Context, in contract.Intent) (string, error) {
	defer l.dieSoon()
	return "c", l.add(logLine{Path: in.Path.String(), Before: in.Before.String(), After: in.After.String(), Temp: in.Temp})
}

func (l logbook) End(_ context.Context, _ string, o contract.Outcome) error {
	return l.add(logLine{End: o})
}

// dieSoon kills this process while it carries the intent out, or a little later.
func (l logbook) dieSoon() {
	go func() {
		spin(time.Duration(rand.Int64N(int64(400 * time.Microsecond))))
		syscall.Kill(os.Getpid(), syscall.SIGKILL)
	}()
}

func (l logbook) add(line logLine) error {
	b, err := json.Marshal(line)
	if err != nil {
		return err
	}
	_, err = l.f.Write(append(b, '\n'))
	return err
}

// openIntent returns the intent at the end of a logbook that has no outcome.
func openIntent(t *testing.T, data []byte) (contract.Intent, bool) {
	t.Helper()
	lines := strings.Split(strings.TrimSpace(string(data)), "\n")
	var last logLine
	if err := json.Unmarshal([]byte(lines[len(lines)-1]), &last); err != nil {
		t.Fatal(err)
	}
	if last.End != "" {
		return contract.Intent{}, false
	}
	before, err1 := contract.ParseVersion(last.Before)
	after, err2 := contract.ParseVersion(last.After)
	if err1 != nil || err2 != nil {
		t.Fatal(err1, err2)
	}
	return contract.Intent{Kind: contract.ChangeEdit, Path: path(t, last.Path), Before: before, After: after, Temp: last.Temp}, true
}

// writeUntilKilled fills a file with one letter after another.
func writeUntilKilled(top, log string, portable bool) {
	w, err := Open(Options{Roots: []Root{{Dir: top + "/root"}}, State: top + "/state", portable: portable})
	if err != nil {
		panic(err)
	}
	f, err := os.OpenFile(log, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		panic(err)
	}
	wr := w.Writer(anyone{}, logbook{f}, contract.Origin{})
	p, _ := contract.ParsePath("f")
	for letter := byte('a'); ; letter = 'a' + (letter-'a'+1)%26 {
		old, err := wr.Load(context.Background(), p)
		if err != nil {
			panic(err)
		}
		content := string(bytes.Repeat([]byte{letter}, crashBytes))
		if _, err := wr.Replace(context.Background(), p, old.Version, whole(content)); err != nil {
			panic(err)
		}
	}
}

// However a process ends, the file is whole, and what it was doing can be told and tidied up.
func TestKilledWhileWriting(t *testing.T) {
	forms(t, func(t *testing.T, portable bool) {
		top := fastDir(t)
		plant(t, top, map[string]string{"root/f": strings.Repeat("A", crashBytes), "state/": ""})
		form := "native"
		if portable {
			form = "portable"
		}
		settled := map[contract.Outcome]int{}
		for end := time.Now().Add(attackTime(700 * time.Millisecond)); time.Now().Before(end); {
			log := top + "/log"
			os.Remove(log)
			cmd := attack(t, "crash", top, log, form)
			cmd.Wait()
			wantWhole(t, top+"/root/f")
			settled[settleCrash(t, top, log, portable)]++
		}
		t.Log(settled)
		if settled[contract.OutcomeUnknown] > 0 {
			t.Error("an outcome could not be told")
		}
	})
}

func wantWhole(t *testing.T, name string) byte {
	t.Helper()
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if len(data) != crashBytes || bytes.Count(data, data[:1]) != crashBytes {
		t.Fatalf("the file is not whole: %d bytes", len(data))
	}
	return data[0]
}

func settleCrash(t *testing.T, top, log string, portable bool) contract.Outcome {
	t.Helper()
	data, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	w := open(t, Options{Roots: []Root{{Dir: top + "/root"}}, State: top + "/state", portable: portable})
	in, ok := openIntent(t, data)
	outcome := contract.Outcome("nothing open")
	if ok {
		if outcome, err = w.Settle(context.Background(), in); err != nil {
			t.Fatal(err)
		}
	}
	entries, err := os.ReadDir(top + "/root")
	if err != nil || len(entries) != 1 {
		t.Fatalf("left behind: %v, %v", entries, err)
	}
	f, err := w.Reader(anyone{}).Load(context.Background(), path(t, "f"))
	if err != nil {
		t.Fatal(err)
	}
	if ok && (outcome == contract.OutcomeDone) != (f.Version == in.After) {
		t.Fatalf("outcome %s, but the version is %v of %v to %v", outcome, f.Version, in.Before, in.After)
	}
	return outcome
}
