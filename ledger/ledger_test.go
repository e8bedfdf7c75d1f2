package ledger

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"writ/contract"
	"writ/envelope"
)

func TestMain(m *testing.M) {
	if role := os.Getenv("LEDGER_TEST_ROLE"); role != "" {
		os.Exit(playRole(role))
	}
	os.Exit(m.Run())
}

func openAt(t testing.TB, dir string, o Options) *Ledger {
	t.Helper()
	l, err := Open(dir, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := l.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	return l
}

func openNew(t testing.TB) *Ledger { return openAt(t, filepath.Join(t.TempDir(), "state"), Options{}) }

func pathOf(t testing.TB, name string) contract.Path {
	t.Helper()
	p, err := contract.ParsePath(name)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// edit is the intent to change one file from before to after.
func edit(t testing.TB, name, before, after string) contract.Intent {
	return contract.Intent{
		Origin: contract.Origin{RequestID: "req_" + name, Tool: "replace_text", Caller: "local", Fingerprint: "print of " + name},
		Kind:   contract.ChangeEdit, Path: pathOf(t, name), Mode: 0o640,
		Before: contract.VersionOf([]byte(before)), After: contract.VersionOf([]byte(after)),
		Undo: []contract.Splice{{Offset: 0, Length: int64(len(after)), New: []byte(before)}},
	}
}

func begin(t testing.TB, l *Ledger, in contract.Intent) string {
	t.Helper()
	id, err := l.Begin(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	return id
}

func done(t testing.TB, l *Ledger, in contract.Intent) string {
	t.Helper()
	id := begin(t, l, in)
	if err := l.End(t.Context(), id, contract.OutcomeDone); err != nil {
		t.Fatal(err)
	}
	return id
}

func wantCode(t testing.TB, err error, code envelope.Code) {
	t.Helper()
	if envelope.CodeOf(err) != code {
		t.Fatalf("error %v, want code %s", err, code)
	}
}

func idsOf(changes []contract.Change) []string {
	var ids []string
	for _, c := range changes {
		ids = append(ids, c.ID)
	}
	return ids
}

func TestChangeComesBackAsItWasBegun(t *testing.T) {
	at := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	l := openAt(t, filepath.Join(t.TempDir(), "state"), Options{Clock: func() time.Time { return at }})
	in := edit(t, "docs/ä b.md", "one", "two")
	in.Directories = []contract.Path{pathOf(t, "docs")}
	id := done(t, l, in)
	if len(id) != 16 || !strings.HasPrefix(id, "chg_") {
		t.Errorf("name %q", id)
	}

	c, u, err := l.Change(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	want := contract.Change{
		ID: id, RequestID: in.RequestID, Time: at, Tool: "replace_text", Kind: contract.ChangeEdit, Path: in.Path,
		Before: in.Before, After: in.After, Outcome: contract.OutcomeDone, Caller: "local",
	}
	if c != want {
		t.Errorf("change %+v\nwant   %+v", c, want)
	}
	if u.Mode != 0o640 || !slices.Equal(u.Directories, in.Directories) || len(u.Splices) != 1 || string(u.Splices[0].New) != "one" {
		t.Errorf("undo %+v", u)
	}
}

func TestMoveHasNoUndoBytes(t *testing.T) {
	l := openNew(t)
	id := done(t, l, contract.Intent{Kind: contract.ChangeMove, Path: pathOf(t, "a"), To: pathOf(t, "b/c")})
	c, u, err := l.Change(t.Context(), id)
	if err != nil || c.To != pathOf(t, "b/c") || len(u.Splices) != 0 {
		t.Fatalf("change %+v, undo %+v, error %v", c, u, err)
	}
}

func TestChangesAreListedNewestFirstByPath(t *testing.T) {
	l := openNew(t)
	a := done(t, l, edit(t, "docs/a.md", "1", "2"))
	done(t, l, edit(t, "docs.md", "1", "2"))
	done(t, l, edit(t, "docs0", "1", "2"))
	moved := edit(t, "other", "1", "1")
	moved.Kind, moved.To = contract.ChangeMove, pathOf(t, "docs/sub/m")
	m := done(t, l, moved)
	undone := begin(t, l, edit(t, "docs/never.md", "1", "2"))
	if err := l.End(t.Context(), undone, contract.OutcomeNotDone); err != nil {
		t.Fatal(err)
	}
	open := begin(t, l, edit(t, "docs/open.md", "1", "2"))

	for _, c := range []struct {
		name   string
		filter Filter
		want   []string
		total  int
	}{
		{"a directory, not its namesakes", Filter{Path: pathOf(t, "docs")}, []string{open, m, a}, 3},
		{"one file", Filter{Path: pathOf(t, "docs/a.md")}, []string{a}, 1},
		{"a page", Filter{Path: pathOf(t, "docs"), Offset: 1, Limit: 1}, []string{m}, 3},
		{"past the end", Filter{Path: pathOf(t, "docs"), Offset: 9}, nil, 3},
		{"nothing there", Filter{Path: pathOf(t, "nowhere")}, nil, 0},
	} {
		got, total, err := l.Changes(t.Context(), c.filter)
		if err != nil || total != c.total || !slices.Equal(idsOf(got), c.want) {
			t.Errorf("%s: %v of %d, error %v; want %v of %d", c.name, idsOf(got), total, err, c.want, c.total)
		}
	}
	all, total, err := l.Changes(t.Context(), Filter{})
	if err != nil || total != 5 || len(all) != 5 {
		t.Errorf("all: %d of %d, error %v", len(all), total, err)
	}
	if all[0].Outcome != contract.OutcomeUnknown {
		t.Errorf("an open change is %s, want unknown", all[0].Outcome)
	}
	_, _, err = l.Change(t.Context(), undone)
	wantCode(t, err, envelope.UnknownChange)
}

func TestUnknownChange(t *testing.T) {
	l := openNew(t)
	for _, name := range []string{"", "chg_", "chg_000000000000", "chg_00000000000w", "CHG_000000000000", "chg_0000000000000", "../../etc"} {
		_, _, err := l.Change(t.Context(), name)
		wantCode(t, err, envelope.UnknownChange)
		wantCode(t, l.End(t.Context(), name, contract.OutcomeDone), envelope.UnknownChange)
	}
}

func TestNamesSortAndAreReadBack(t *testing.T) {
	now := time.Now()
	l := openAt(t, filepath.Join(t.TempDir(), "s"), Options{Clock: func() time.Time { now = now.Add(-time.Hour); return now }})
	last := ""
	for range 50 {
		id := begin(t, l, edit(t, "a", "1", "2"))
		if id <= last {
			t.Fatalf("%s after %s, with a clock that goes backwards", id, last)
		}
		if n, err := parseName(id); err != nil || nameOf(n) != id {
			t.Fatalf("%s reads as %d, error %v", id, n, err)
		}
		last = id
	}
}

func TestFirstOutcomeStands(t *testing.T) {
	l := openNew(t)
	id := begin(t, l, edit(t, "a", "1", "2"))
	for _, o := range []contract.Outcome{contract.OutcomeUnknown, contract.OutcomeDone, contract.OutcomeNotDone} {
		if err := l.Settle(t.Context(), id, o); err != nil {
			t.Fatal(err)
		}
	}
	c, _, err := l.Change(t.Context(), id)
	if err != nil || c.Outcome != contract.OutcomeDone {
		t.Fatalf("outcome %s, error %v", c.Outcome, err)
	}
	if err := l.End(t.Context(), id, "perhaps"); err == nil {
		t.Error("an outcome that is none was taken")
	}
}

func TestAppliedFindsTheNewestDoneChangeOfTheSameCall(t *testing.T) {
	l := openNew(t)
	in := edit(t, "a", "1", "2")
	begin(t, l, in)
	if _, found, err := l.Applied(t.Context(), in.Fingerprint); found || err != nil {
		t.Fatalf("an open change was found: error %v", err)
	}
	done(t, l, in)
	second := done(t, l, in)
	done(t, l, edit(t, "b", "1", "2"))
	c, found, err := l.Applied(t.Context(), in.Fingerprint)
	if err != nil || !found || c.ID != second {
		t.Fatalf("found %v %s, error %v; want %s", found, c.ID, err, second)
	}
}

func TestRevertingARevertPutsTheChangeInForce(t *testing.T) {
	l := openNew(t)
	ids := []string{done(t, l, edit(t, "a", "1", "2"))}
	for i, want := range [][]bool{{true, false}, {false, true, false}, {true, false, true, false}} {
		in := edit(t, "a", "1", "2")
		in.Reverts = ids[i]
		id := begin(t, l, in)
		if c, _, err := l.Change(t.Context(), ids[i]); err != nil || c.Reverted || c.RevertedBy != "" {
			t.Errorf("reverted by %q (%v, %v) before that is done", c.RevertedBy, c.Reverted, err)
		}
		if err := l.End(t.Context(), id, contract.OutcomeDone); err != nil {
			t.Fatal(err)
		}
		ids = append(ids, id)
		for k, id := range ids {
			c, _, err := l.Change(t.Context(), id)
			if err != nil || c.Reverted != want[k] {
				t.Errorf("after %d reverts change %d is reverted: %v, error %v", i+1, k, c.Reverted, err)
			}
			if k <= i && c.RevertedBy != ids[k+1] {
				t.Errorf("change %d was reverted by %q, want %q", k, c.RevertedBy, ids[k+1])
			}
		}
	}
	in := edit(t, "a", "1", "2")
	in.Reverts = ids[0]
	if err := l.End(t.Context(), begin(t, l, in), contract.OutcomeNotDone); err != nil {
		t.Fatal(err)
	}
	if c, _, err := l.Change(t.Context(), ids[0]); err != nil || !c.Reverted || c.RevertedBy != ids[1] {
		t.Errorf("a revert that was not done counts: %+v, %v", c, err)
	}
}

func TestLargeUndoDataGoIntoAnImage(t *testing.T) {
	l := openNew(t)
	big := bytes.Repeat([]byte("0123456789abcdef"), 40_000)
	in := edit(t, "big", string(big), "")
	in.Undo = append(in.Undo, contract.Splice{Offset: 700_000, Length: 3, New: []byte("tail")})
	id := done(t, l, in)
	again := done(t, l, in)

	images, err := filepath.Glob(filepath.Join(l.dir, imagesDir, "*"))
	if err != nil || len(images) != 1 {
		t.Fatalf("images %v, error %v; want one for both changes", images, err)
	}
	_, u, err := l.Change(t.Context(), id)
	if err != nil || len(u.Splices) != 2 || !bytes.Equal(u.Splices[0].New, big) || string(u.Splices[1].New) != "tail" {
		t.Fatalf("%d splices, error %v", len(u.Splices), err)
	}

	if err := os.WriteFile(images[0], big[1:], 0o600); err != nil {
		t.Fatal(err)
	}
	_, _, err = l.Change(t.Context(), again)
	wantCode(t, err, envelope.Expired)
	if err := os.Remove(images[0]); err != nil {
		t.Fatal(err)
	}
	c, _, err := l.Change(t.Context(), again)
	wantCode(t, err, envelope.Expired)
	if c.ID != again {
		t.Error("the change itself is not returned when its undo data are gone")
	}
}

func TestFilesAreForTheirOwnerOnly(t *testing.T) {
	l := openNew(t)
	done(t, l, edit(t, "big", strings.Repeat("x", inlineLimit+1), ""))
	err := filepath.WalkDir(l.dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		if info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s has mode %v", name, info.Mode())
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestOpenTouchesNoDatabase(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "state")
	l := openAt(t, dir, Options{})
	if _, err := os.Stat(filepath.Join(dir, databaseName)); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("database after Open: %v", err)
	}
	if err := l.Ready(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(dir, databaseName)); err != nil {
		t.Errorf("database after Ready: %v", err)
	}
}

func TestStateSurvivesClose(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a?b#c %41") // what a URI would misread
	l := openAt(t, dir, Options{})
	id := done(t, l, edit(t, "a", "1", "2"))
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(dir, databaseName+"-wal")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the write-ahead log was not emptied into the database: %v", err)
	}
	if _, err := l.Begin(t.Context(), edit(t, "a", "1", "2")); !errors.Is(err, errClosed) {
		t.Errorf("begin after close: %v", err)
	}
	c, _, err := openAt(t, dir, Options{}).Change(t.Context(), id)
	if err != nil || c.ID != id {
		t.Fatalf("change %+v, error %v", c, err)
	}
	if _, err := os.Stat(filepath.Join(dir, databaseName+"-wal")); err != nil {
		t.Errorf("the open ledger has no write-ahead log: %v", err)
	}
	left, err := filepath.Glob(filepath.Join(dir, processesDir, "*"))
	if err != nil || len(left) != 1 {
		t.Errorf("marks %v, error %v; want that of the open ledger alone", left, err)
	}
}

func TestCancelledCallBeginsNothingAndYetEnds(t *testing.T) {
	l := openNew(t)
	id := begin(t, l, edit(t, "a", "1", "2"))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := l.Begin(ctx, edit(t, "a", "1", "2")); !errors.Is(err, context.Canceled) {
		t.Errorf("begin: %v", err)
	}
	if err := l.End(ctx, id, contract.OutcomeDone); err != nil {
		t.Errorf("end: %v", err)
	}
}
