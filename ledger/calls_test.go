package ledger

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"writ/contract"
	"writ/envelope"
)

func record(t testing.TB, l *Ledger, e CallEntry) {
	t.Helper()
	if err := l.Record(t.Context(), e); err != nil {
		t.Fatal(err)
	}
}

func linesOf(t testing.TB, l *Ledger, f RowFilter) []string {
	t.Helper()
	var lines []string
	if err := l.Rows(t.Context(), f, func(row json.RawMessage) error {
		lines = append(lines, string(row))
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	return lines
}

func TestRowHoldsNoText(t *testing.T) {
	l := openNew(t)
	at := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	record(t, l, CallEntry{
		Time: at, RequestID: "req_1", Caller: "local", Client: "editor 1.0", Tool: "replace_text",
		Arguments: map[string]any{
			"path": "docs/secret.md", "old_text": "", "limit": json.Number("20"), "atomic": true,
			"edits": []any{map[string]any{"new_text": "hush"}},
		},
		Paths: []contract.Path{pathOf(t, "docs/a.md")}, Status: envelope.Conflict,
		Codes: []envelope.Code{envelope.VersionChanged}, Before: contract.VersionOf(nil), Duration: 1500 * time.Microsecond, Writes: true,
	})
	lines := linesOf(t, l, RowFilter{})
	want := `{"seq":1,"prev":"` + strings.Repeat("0", 64) + `","time":"2026-11-30T12:00:00.000000Z","request_id":"req_1",` +
		`"caller":"local","client":"editor 1.0","tool":"replace_text","arguments":{"atomic":true,` +
		`"edits":{"length":21,"sha256":"` + shaOf(`[{"new_text":"hush"}]`) + `"},"limit":20,` +
		`"old_text":{"length":0,"sha256":"` + shaOf("") + `"},"path":{"length":14,"sha256":"` + shaOf("docs/secret.md") + `"}},` +
		`"paths":["docs/a.md"],"status":"conflict","codes":["version-changed"],"before":"e3b0c44298fc1c149afbf4c8996fb924","duration_us":1500}`
	if len(lines) != 1 || lines[0] != want {
		t.Errorf("row  %s\nwant %s", lines, want)
	}
}

func shaOf(s string) string {
	sum := sha256.Sum256([]byte(s))
	return hex.EncodeToString(sum[:])
}

func TestExportedLinesProveTheirOrder(t *testing.T) {
	l := openNew(t)
	for i := range 600 {
		record(t, l, CallEntry{RequestID: "r", Tool: "read_file", Status: envelope.OK, Writes: i%50 == 0})
	}
	lines := linesOf(t, l, RowFilter{})
	if len(lines) != 600 {
		t.Fatalf("%d rows, want 600", len(lines))
	}
	for i := 1; i < len(lines); i++ {
		var row struct{ Prev string }
		if err := json.Unmarshal([]byte(lines[i]), &row); err != nil || row.Prev != shaOf(lines[i-1]) {
			t.Fatalf("row %d names %s, error %v", i+1, row.Prev, err)
		}
	}
}

func TestRowsAreFiltered(t *testing.T) {
	l := openNew(t)
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	record(t, l, CallEntry{RequestID: "r1", Tool: "read_file", Time: at})
	record(t, l, CallEntry{RequestID: "r2", Tool: "read_file", Time: at.Add(time.Hour)})
	record(t, l, CallEntry{RequestID: "r3", Tool: "find_files", Time: at.Add(time.Hour)})
	record(t, l, CallEntry{RequestID: "r4", Tool: "create_file", Caller: "http", Status: envelope.Denied, Paths: []contract.Path{pathOf(t, "docs/a b.md")}})
	record(t, l, CallEntry{RequestID: "r5", Tool: "move_file", Caller: "http", Status: envelope.Succeeded, Paths: []contract.Path{pathOf(t, "docs.md"), pathOf(t, "docs")}})
	for _, c := range []struct {
		name   string
		filter RowFilter
		want   int
	}{
		{"all", RowFilter{}, 5},
		{"a caller", RowFilter{Caller: "http"}, 2},
		{"a status", RowFilter{Status: envelope.Denied}, 1},
		{"a path", RowFilter{Path: pathOf(t, "docs.md")}, 1},
		{"a directory", RowFilter{Path: pathOf(t, "docs")}, 2},
		{"a path that nobody named", RowFilter{Path: pathOf(t, "doc")}, 0},
		{"a tool", RowFilter{Tool: "read_file"}, 2},
		{"since", RowFilter{Since: at.Add(time.Minute)}, 2},
		{"since and a tool", RowFilter{Since: at.Add(time.Minute), Tool: "read_file"}, 1},
		{"a request", RowFilter{RequestID: "r3"}, 1},
		{"none", RowFilter{RequestID: "' OR 1=1 --"}, 0},
	} {
		if got := linesOf(t, l, c.filter); len(got) != c.want {
			t.Errorf("%s: %d rows, want %d", c.name, len(got), c.want)
		}
		last, err := l.LastRows(t.Context(), c.filter, 0, 100)
		if err != nil || len(last) != c.want {
			t.Errorf("%s: the last are %d rows, %v, want %d", c.name, len(last), err, c.want)
		}
	}
}

func TestLastRows(t *testing.T) {
	l := openNew(t)
	for _, id := range []string{"r1", "r2", "r3", "r4"} {
		record(t, l, CallEntry{RequestID: id, Tool: "read_file"})
	}
	all := linesOf(t, l, RowFilter{})
	for _, c := range []struct {
		before int64
		most   int
		want   []string
	}{{0, 2, []string{all[3], all[2]}}, {3, 10, []string{all[1], all[0]}}, {1, 10, nil}} {
		got, err := l.LastRows(t.Context(), RowFilter{}, c.before, c.most)
		if err != nil || len(got) != len(c.want) {
			t.Fatalf("before %d: %s, %v", c.before, got, err)
		}
		for i, row := range got {
			if string(row) != c.want[i] {
				t.Errorf("before %d: row %d is %s, want %s", c.before, i, row, c.want[i])
			}
		}
	}
}

func TestErrorOfTheCallerEndsTheRows(t *testing.T) {
	l := openNew(t)
	for range 3 {
		record(t, l, CallEntry{RequestID: "r", Tool: "read_file"})
	}
	full, seen := &os.PathError{Op: "write", Path: "stdout", Err: os.ErrClosed}, 0
	err := l.Rows(t.Context(), RowFilter{}, func(json.RawMessage) error { seen++; return full })
	if err != error(full) || seen != 1 {
		t.Errorf("%d rows, error %v", seen, err)
	}
}

func TestReadsAreWrittenWithoutBeingAskedFor(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "state")
	l, reader := openAt(t, dir, Options{}), openAt(t, dir, Options{})
	record(t, l, CallEntry{RequestID: "r", Tool: "read_file"})
	for end := time.Now().Add(10 * time.Second); len(linesOf(t, reader, RowFilter{})) == 0; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("the row of a read was never written")
		}
	}
}

func TestCloseWritesWhatWaits(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "state")
	l := openAt(t, dir, Options{})
	for range 300 {
		record(t, l, CallEntry{RequestID: "r", Tool: "read_file"})
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	if got := linesOf(t, openAt(t, dir, Options{}), RowFilter{}); len(got) != 300 {
		t.Errorf("%d rows, want 300", len(got))
	}
}

func TestOutcomeOfAnEarlierCall(t *testing.T) {
	l := openNew(t)
	ctx := t.Context()
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	call := func(name string, s envelope.Status, codes ...envelope.Code) {
		record(t, l, CallEntry{RequestID: "req_" + name, Time: at, Tool: "replace_text", Status: s, Codes: codes, Writes: true})
	}
	settle := func(name string, o contract.Outcome) {
		if err := l.End(ctx, begin(t, l, edit(t, name, "1", "2")), o); err != nil {
			t.Fatal(err)
		}
	}
	settle("plain", contract.OutcomeDone)
	call("plain", envelope.Succeeded)
	call("refused", envelope.Conflict, envelope.VersionChanged, envelope.IO)
	settle("settled", contract.OutcomeDone)
	call("settled", envelope.Unknown, envelope.OutcomeUnknown)
	settle("never", contract.OutcomeNotDone)
	call("never", envelope.Unknown, envelope.OutcomeUnknown)
	settle("still", contract.OutcomeUnknown)
	call("still", envelope.Unknown, envelope.OutcomeUnknown)
	begin(t, l, edit(t, "cut short", "1", "2"))
	settle("cut after", contract.OutcomeDone)
	settle("half", contract.OutcomeDone)
	settle("half", contract.OutcomeNotDone)
	record(t, l, CallEntry{RequestID: "req_read", Time: at, Tool: "read_file", Status: envelope.OK})

	for _, c := range []struct {
		name    string
		status  envelope.Status
		code    envelope.Code
		changes int
	}{
		{"plain", envelope.Succeeded, "", 1},
		{"refused", envelope.Conflict, envelope.VersionChanged, 0},
		{"settled", envelope.Succeeded, "", 1},
		{"never", envelope.Unavailable, "", 0},
		{"still", envelope.Unknown, envelope.OutcomeUnknown, 1},
		{"cut short", envelope.Unknown, envelope.OutcomeUnknown, 1},
		{"cut after", envelope.Succeeded, "", 1},
		{"half", envelope.Partial, "", 1},
		{"read", envelope.OK, "", 0},
	} {
		r, err := l.Outcome(ctx, "req_"+c.name)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if r.Status != c.status || r.Code != c.code || len(r.Changes) != c.changes || r.RequestID != "req_"+c.name || r.Tool == "" || r.Time.IsZero() {
			t.Errorf("%s: %+v, want %s %q with %d changes", c.name, r, c.status, c.code, c.changes)
		}
	}
	for _, id := range []string{"req_nobody", ""} {
		_, err := l.Outcome(ctx, id)
		wantCode(t, err, envelope.UnknownRequest)
	}
}

func TestTamperingIsNamed(t *testing.T) {
	for _, c := range []struct {
		name   string
		tamper string
		bad    int64
	}{
		{"nothing", "", 0},
		{"a changed row", "UPDATE calls SET line = replace(line, 'read_file', 'find_files') WHERE seq = 3", 3},
		{"a changed row with a hash to match", "UPDATE calls SET line = '{}', hash = x'44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a' WHERE seq = 3", 3},
		{"a row taken out", "DELETE FROM calls WHERE seq = 3", 3},
		{"the first row taken out", "DELETE FROM calls WHERE seq = 1", 1},
		{"the last rows taken out", "DELETE FROM calls WHERE seq >= 4", 4},
		{"the last row changed with its hash", "UPDATE calls SET line = replace(line, 'read_file', 'x'), hash = x'00' WHERE seq = 5", 5},
		{"all rows taken out", "DELETE FROM calls", 1},
		{"a row added", "INSERT INTO calls SELECT 6, request_id, line, hash FROM calls WHERE seq = 5", 6},
		{"two rows swapped", "UPDATE calls SET seq = 9 WHERE seq = 2; UPDATE calls SET seq = 2 WHERE seq = 3; UPDATE calls SET seq = 3 WHERE seq = 9", 2},
		{"the note of the last row taken out", "DELETE FROM head", 6},
		{"everything taken out", "DELETE FROM calls; DELETE FROM head", 1},
		{"a request renamed", "UPDATE calls SET request_id = 'x' WHERE seq = 4", 4},
	} {
		l := openNew(t)
		for range 5 {
			record(t, l, CallEntry{RequestID: "r", Tool: "read_file", Writes: true})
		}
		tamper(t, l, c.tamper)
		v, err := l.Verify(t.Context())
		if err != nil || v.Bad != c.bad || (v.Why == "") != (c.bad == 0) {
			t.Errorf("%s: %+v, error %v; want row %d", c.name, v, err, c.bad)
		}
	}
}

func tamper(t *testing.T, l *Ledger, statements string) {
	t.Helper()
	db, err := openPool(filepath.Join(l.dir, databaseName))
	if err != nil {
		t.Fatal(err)
	}
	defer func(db *sql.DB) { _ = db.Close() }(db)
	if _, err := db.ExecContext(context.Background(), statements); err != nil {
		t.Fatal(err)
	}
}
