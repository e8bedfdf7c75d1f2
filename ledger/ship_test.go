package ledger

import (
	"bytes"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"writ/envelope"
)

// shipping opens a ledger in a directory of its own that ships beside it.
func shipping(t *testing.T, o Options) (l *Ledger, file string) {
	t.Helper()
	base := t.TempDir()
	if o.Shipping.File == "" {
		o.Shipping.File = filepath.Join(base, "ship", "audit.jsonl")
	}
	return openAt(t, filepath.Join(base, "state"), o), o.Shipping.File
}

func recordSome(t *testing.T, l *Ledger, n int) {
	t.Helper()
	for i := range n {
		record(t, l, CallEntry{RequestID: fmt.Sprint("r", i), Tool: "create_file", Status: envelope.Succeeded, Writes: true})
	}
}

// wantShipped wants the audit's lines in the files, oldest file first, once each and in order.
func wantShipped(t *testing.T, l *Ledger, files ...string) {
	t.Helper()
	l.ship()
	var got strings.Builder
	for _, name := range files {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		got.Write(data)
	}
	if want := strings.Join(linesOf(t, l, RowFilter{}), "\n") + "\n"; got.String() != want {
		t.Fatalf("shipped\n%s\nwant\n%s", got.String(), want)
	}
}

func TestShippedLinesAreTheAudits(t *testing.T) {
	l, file := shipping(t, Options{})
	recordSome(t, l, 5)
	record(t, l, CallEntry{RequestID: "read", Tool: "read_file"})
	l.flushSoon()
	wantShipped(t, l, file)
	recordSome(t, l, 5)
	wantShipped(t, l, file)
}

func TestLinesAreShippedWithoutBeingAskedForAndAtTheEnd(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "state")
	file := filepath.Join(t.TempDir(), "audit.jsonl")
	l, err := Open(dir, Options{Shipping: Shipping{File: file}})
	if err != nil {
		t.Fatal(err)
	}
	recordSome(t, l, 2)
	l.shipper.mu.Lock()
	if l.shipper.timer == nil {
		t.Error("nobody will ship what was written")
	}
	l.shipper.mu.Unlock()
	record(t, l, CallEntry{RequestID: "read", Tool: "read_file"})
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	if data, err := os.ReadFile(file); err != nil || bytes.Count(data, []byte("\n")) != 3 {
		t.Errorf("shipped %q, %v", data, err)
	}
}

func TestFullFilesAreRotated(t *testing.T) {
	l, file := shipping(t, Options{Shipping: Shipping{Bytes: 1000, Files: 3}})
	recordSome(t, l, 9) // a little more than 300 bytes each
	wantShipped(t, l, file+".2", file+".1", file)
	recordSome(t, l, 9)
	l.ship()
	entries, err := os.ReadDir(filepath.Dir(file))
	if err != nil || len(entries) != 5 { // three full ones, the one that is written, and the position
		t.Errorf("files %v, %v", entries, err)
	}
	for _, e := range entries {
		if info, err := e.Info(); err != nil || info.Size() > 1000 || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v, %v", e.Name(), info, err)
		}
	}
}

// What a crash or somebody else did to the files neither loses a line nor brings one twice.
func TestShippingGoesOnFromWhatIsThere(t *testing.T) {
	for name, do := range map[string]func(file string) error{
		"half a line": func(file string) error {
			f, err := os.OpenFile(file, os.O_APPEND|os.O_WRONLY, 0)
			if err != nil {
				return err
			}
			defer f.Close()
			_, err = f.WriteString(`{"seq":6,"pr`)
			return err
		},
		"the position is gone":   func(file string) error { return os.Remove(file + ".position") },
		"the position is behind": func(file string) error { return os.WriteFile(file+".position", []byte(shippedLine{}.String()), 0o600) },
		"the position is empty":  func(file string) error { return os.WriteFile(file+".position", nil, 0o600) },
		"nothing":                func(string) error { return nil },
	} {
		t.Run(name, func(t *testing.T) {
			l, file := shipping(t, Options{})
			recordSome(t, l, 5)
			wantShipped(t, l, file)
			if err := do(file); err != nil {
				t.Fatal(err)
			}
			recordSome(t, l, 5)
			wantShipped(t, l, file)
		})
	}
}

func TestFilesMayBeTakenAway(t *testing.T) {
	l, file := shipping(t, Options{})
	recordSome(t, l, 5)
	l.ship()
	taken := file + ".taken"
	if err := os.Rename(file, taken); err != nil {
		t.Fatal(err)
	}
	recordSome(t, l, 5)
	wantShipped(t, l, taken, file)
}

func TestANewDatabaseIsShippedFromItsBeginning(t *testing.T) {
	l, file := shipping(t, Options{})
	recordSome(t, l, 5)
	l.ship()
	second, _ := shipping(t, Options{Shipping: Shipping{File: file}})
	record(t, second, CallEntry{RequestID: "other", Tool: "create_file", Writes: true})
	wantShipped(t, second, file)
	wantShipped(t, l, file)
}

func TestAFileOfSomebodyElseIsLeftAlone(t *testing.T) {
	for _, text := range []string{"not ours", "not ours\n", "{\"level\":\"info\"}\n", strings.Repeat("x", 100_000)} {
		var log bytes.Buffer
		l, file := shipping(t, Options{Logger: slog.New(slog.NewTextHandler(&log, nil))})
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		recordSome(t, l, 1)
		l.ship()
		l.ship()
		if data, err := os.ReadFile(file); err != nil || string(data) != text {
			t.Errorf("%q became %q, %v", text, data, err)
		}
		if n := strings.Count(log.String(), "level=ERROR"); n != 1 {
			t.Errorf("%d errors were logged: %s", n, log.String())
		}
		if err := os.Remove(file); err != nil {
			t.Fatal(err)
		}
		wantShipped(t, l, file) // once the cause is gone, what was kept back comes
	}
}

func TestSeveralProcessesShipToOneFile(t *testing.T) {
	base := t.TempDir()
	o := Options{Shipping: Shipping{File: filepath.Join(base, "audit.jsonl"), Bytes: 4000}}
	var ledgers []*Ledger
	done := make(chan struct{})
	for range 3 {
		l := openAt(t, filepath.Join(base, "state"), o)
		ledgers = append(ledgers, l)
		go func() {
			defer func() { done <- struct{}{} }()
			for i := range 20 {
				if err := l.Record(t.Context(), CallEntry{RequestID: fmt.Sprint(i), Tool: "create_file", Writes: true}); err != nil {
					t.Error(err)
				}
				l.ship()
			}
		}()
	}
	for range ledgers {
		<-done
	}
	ledgers[0].ship()
	file := o.Shipping.File
	files := []string{file}
	for i := 1; ; i++ {
		full := fmt.Sprintf("%s.%d", file, i)
		if _, err := os.Stat(full); err != nil {
			break
		}
		files = append([]string{full}, files...)
	}
	if len(files) < 4 {
		t.Errorf("only the files %v", files)
	}
	wantShipped(t, ledgers[0], files...)
}

func TestALongLastLineIsFound(t *testing.T) {
	l, file := shipping(t, Options{})
	recordSome(t, l, 1)
	record(t, l, CallEntry{RequestID: strings.Repeat("x", 300_000), Tool: "create_file", Writes: true})
	wantShipped(t, l, file)
	recordSome(t, l, 1)
	wantShipped(t, l, file)
}
