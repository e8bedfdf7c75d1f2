package workspace

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"writ/contract"
	"writ/envelope"
)

// meddling is a journal during whose BeginBatch another program acts.
type meddling struct {
	*diary
	act func()
}

func (m meddling) BeginBatch(ctx context.Context, b contract.Batch) (string, []string, error) {
	defer m.act()
	return m.diary.BeginBatch(ctx, b)
}

// members are edits of whole files that hold old.
func members(t *testing.T, old string, names ...string) []Member {
	var list []Member
	for _, name := range names {
		list = append(list, Member{Path: path(t, name), Observed: contract.VersionOf([]byte(old))})
	}
	return list
}

// wholeOf makes a file hold now, and counts how many members are about it.
func wholeOf(now string) BatchEdit {
	return func(f *File, list []int) ([]contract.Splice, []envelope.ItemError) {
		return []contract.Splice{{Length: int64(len(f.Data)), New: fmt.Appendf(nil, "%s %d", now, len(list))}}, nil
	}
}

func TestReplaceAll(t *testing.T) {
	forms(t, func(t *testing.T, portable bool) {
		b := newBench(t, portable, map[string]string{"a": "old", "d/b": "old", "d/link": "->b"})
		done, err := b.ReplaceAll(context.Background(), members(t, "old", "a", "d/b", "d/link"), wholeOf("new"))
		if err != nil || len(done.Refused) > 0 || len(done.Files) != 2 || done.ChangeID != "batch" {
			t.Fatalf("got %+v, %v", done, err)
		}
		if b.onDisk("a") != "new 1" || b.onDisk("d/b") != "new 2" {
			t.Errorf("disk %q %q", b.onDisk("a"), b.onDisk("d/b"))
		}
		if target, err := os.Readlink(filepath.Join(b.root, "d/link")); target != "b" {
			t.Errorf("the link is %q, %v", target, err)
		}
		if !slices.Equal(done.Files[1].Members, []int{1, 2}) || done.Files[1].After != contract.VersionOf([]byte("new 2")) {
			t.Errorf("files %+v", done.Files)
		}
		b.wantTidy()
	})
}

func TestReplaceAllRefusesAll(t *testing.T) {
	forms(t, func(t *testing.T, portable bool) {
		b := newBench(t, portable, map[string]string{"a": "old", "b": "other", "c": "old"})
		list := append(members(t, "old", "b", "a", "missing", "c"), Member{Path: path(t, "c"), Refused: errors.New("wrong by itself")})
		done, err := b.ReplaceAll(context.Background(), list, wholeOf("new"))
		var refused []int
		for _, r := range done.Refused {
			refused = append(refused, r.Item)
		}
		if err != nil || !slices.Equal(refused, []int{0, 2, 4}) || len(done.Files) > 0 || done.ChangeID != "" {
			t.Errorf("got %+v, %v", done, err)
		}
		if b.onDisk("a") != "old" || b.onDisk("b") != "other" || b.onDisk("c") != "old" || len(b.diary.intents) > 0 {
			t.Errorf("something was done")
		}
		b.wantTidy()
	})
}

// calledOff is a guard that is asked about b when the call is given up.
type calledOff struct {
	Guard
	cancel func()
}

func (c calledOff) Allow(a Access, p Place) error {
	if p.Path.String() == "b" {
		c.cancel()
	}
	return c.Guard.Allow(a, p)
}

func TestReplaceEachThatIsGivenUp(t *testing.T) {
	b := newBench(t, false, map[string]string{"a": "old", "b": "old", "c": "old"})
	ctx, cancel := context.WithCancel(context.Background())
	list := append([]Member{{Path: path(t, "x"), Refused: errors.New("wrong by itself")}}, members(t, "old", "a", "b", "c")...)
	before := openFiles(t)
	done := b.w.Writer(calledOff{anyone{}, cancel}, b.diary, contract.Origin{}).ReplaceEach(ctx, list, wholeOf("new"))
	if after := openFiles(t); after != before {
		t.Errorf("%d files are open, %d were before", after, before)
	}
	var refused []int
	for _, r := range done.Refused {
		refused = append(refused, r.Item)
	}
	if !slices.Equal(refused, []int{0, 1, 2, 3}) {
		t.Errorf("got %+v", done)
	}
	b.wantDisk(map[string]string{"a": "old", "b": "old", "c": "old"})
}

// openFiles counts the open files of this process, on systems that tell.
func openFiles(t *testing.T) int {
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil && runtime.GOOS == "linux" {
		t.Fatal(err)
	}
	return len(entries)
}

func TestReplaceEachLeavesOthersAlone(t *testing.T) {
	forms(t, func(t *testing.T, portable bool) {
		b := newBench(t, portable, map[string]string{"a": "old", "b": "other", "c": "old"})
		done := b.ReplaceEach(context.Background(), members(t, "old", "a", "b", "missing", "c"), wholeOf("new"))
		if len(done.Refused) != 2 || done.Refused[0].Item != 1 || done.Refused[1].Item != 2 || len(done.Files) != 2 || done.ChangeID != "batch" {
			t.Errorf("got %+v", done)
		}
		if b.onDisk("a") != "new 1" || b.onDisk("b") != "other" || b.onDisk("c") != "new 1" {
			t.Errorf("disk %q %q %q", b.onDisk("a"), b.onDisk("b"), b.onDisk("c"))
		}
		b.wantTidy()
	})
}

// Another program replaces a file of the batch between the last look and the swap. Those that were swapped before are
// swapped back.
func TestBatchIsTakenBack(t *testing.T) {
	names := []string{"a", "b", "c"}
	for _, taken := range names {
		t.Run(taken, func(t *testing.T) {
			forms(t, func(t *testing.T, portable bool) {
				b := newBench(t, portable, map[string]string{"a": "old", "b": "old", "c": "old"})
				inodes := map[string]os.FileInfo{}
				for _, name := range names {
					inodes[name], _ = os.Stat(filepath.Join(b.root, name))
				}
				b.journal = meddling{b.diary, func() {
					plant(t, b.root, map[string]string{"theirs": "theirs"})
					if err := os.Rename(filepath.Join(b.root, "theirs"), filepath.Join(b.root, taken)); err != nil {
						t.Error(err)
					}
				}}
				done, err := b.ReplaceAll(context.Background(), members(t, "old", names...), wholeOf("new"))
				if err != nil || len(done.Refused) != 1 || envelope.CodeOf(done.Refused[0].Err) != envelope.VersionChanged ||
					names[done.Refused[0].Item] != taken || len(done.Files) > 0 {
					t.Errorf("got %+v, %v", done, err)
				}
				for _, name := range names {
					want := "old"
					if name == taken {
						want = "theirs"
					}
					if b.onDisk(name) != want {
						t.Errorf("%s holds %q", name, b.onDisk(name))
					}
					now, err := os.Stat(filepath.Join(b.root, name))
					if err != nil || !portable && name != taken && !os.SameFile(now, inodes[name]) {
						t.Errorf("%s is another file now (%v)", name, err)
					}
				}
				for _, o := range b.diary.ends {
					if o != contract.OutcomeNotDone {
						t.Errorf("outcomes %v", b.diary.ends)
					}
				}
				b.wantTidy()
			})
		})
	}
}

// Batches whose files overlap, in every order, neither wait for one another in a circle nor lose an edit.
func TestBatchesInParallel(t *testing.T) {
	forms(t, func(t *testing.T, portable bool) {
		names := []string{"a", "b", "c", "d", "e"}
		files := map[string]string{}
		for _, name := range names {
			files[name] = ""
		}
		b := newBench(t, portable, files)
		const batches = 20
		var wait sync.WaitGroup
		for i := range batches {
			wait.Go(func() {
				chosen := []string{names[i%5], names[(i*3+1)%5], names[(i*2+3)%5]}
				for {
					var list []Member
					for _, name := range chosen {
						f, err := b.Load(context.Background(), path(t, name))
						if err != nil {
							t.Error(err)
							return
						}
						list = append(list, Member{Path: f.Path, Observed: f.Version})
					}
					done, err := b.ReplaceAll(context.Background(), list, addMark)
					if err != nil && envelope.CodeOf(err).Status() != envelope.Unavailable {
						t.Errorf("batch %d: %v", i, err)
						return
					}
					if err == nil && len(done.Refused) == 0 {
						return
					}
				}
			})
		}
		wait.Wait()
		total := 0
		for _, name := range names {
			total += len(b.onDisk(name))
		}
		want := 0
		for i := range batches {
			want += len(slices.Compact(slices.Sorted(slices.Values([]int{i % 5, (i*3 + 1) % 5, (i*2 + 3) % 5}))))
		}
		if total != want {
			t.Errorf("%d marks are in the files, want %d", total, want)
		}
	})
}

// addMark adds one character, however many members are about the file.
func addMark(f *File, _ []int) ([]contract.Splice, []envelope.ItemError) {
	return []contract.Splice{{Offset: int64(len(f.Data)), New: []byte("x")}}, nil
}

// crashed is what a crash and other programs can have left of one file of a batch. "" is nothing.
type crashed struct{ place, temp string }

var crashedStates = []crashed{
	{"old", ""}, {"old", "new"}, {"new", "old"}, {"new", ""}, {"theirs", ""}, {"theirs", "old"}, {"theirs", "new"},
	{"", ""}, {"", "old"}, {"", "new"},
}

func TestSettleBatch(t *testing.T) {
	forms(t, func(t *testing.T, portable bool) {
		b := newBench(t, portable, map[string]string{})
		for _, first := range crashedStates {
			for _, second := range crashedStates {
				b.settleBatch(t, [2]crashed{first, second})
			}
		}
	})
}

func (b *bench) settleBatch(t *testing.T, states [2]crashed) {
	name := fmt.Sprintf("%q with %q, %q with %q", states[0].place, states[0].temp, states[1].place, states[1].temp)
	var intents []contract.Intent
	temps := [2]string{".writ-0000000000000001.tmp", ".writ-0000000000000002.tmp"}
	places := [2]string{"a", "b"}
	for i, s := range states {
		for file, text := range map[string]string{places[i]: s.place, temps[i]: s.temp} {
			os.Remove(filepath.Join(b.root, file))
			if text != "" {
				plant(t, b.root, map[string]string{file: text})
			}
		}
		intents = append(intents, contract.Intent{
			Kind: contract.ChangeEdit, Path: path(t, places[i]), Before: contract.VersionOf([]byte("old")), After: contract.VersionOf([]byte("new")),
			Undo: []contract.Splice{{Length: 3, New: []byte("old")}}, Temp: temps[i],
		})
	}
	outcomes, err := b.settle(intents)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	complete := states[0].place == "new" && states[1].place == "new"
	for i, s := range states {
		place, temp := b.onDisk(places[i]), b.onDisk(temps[i])
		switch outcomes[i] {
		case contract.OutcomeDone:
			if !complete || place != "new" || temp != "(nothing)" {
				t.Errorf("%s: file %d is done, holds %q, temp %q", name, i, place, temp)
			}
		case contract.OutcomeNotDone:
			want := s.place
			if want == "new" {
				want = "old"
			}
			if want == "" {
				want = "(nothing)"
			}
			if complete || place != want || temp != "(nothing)" {
				t.Errorf("%s: file %d is not done, holds %q, temp %q", name, i, place, temp)
			}
		case contract.OutcomeUnknown:
			if s.place == "old" || s.place == "new" || s.place != "" && place != s.place || s.temp != "" && temp != s.temp {
				t.Errorf("%s: file %d is unknown, holds %q, temp %q", name, i, place, temp)
			}
		}
	}
}

// unended is a batch that was left open.
type unended struct {
	settled bool // by another process
	end     func([]contract.Outcome) error
}

func (u unended) IsOpen() (bool, error)                 { return !u.settled, nil }
func (u unended) End(outcomes []contract.Outcome) error { return u.end(outcomes) }

// settle settles a batch and returns what was put on record.
func (b *bench) settle(intents []contract.Intent) (told []contract.Outcome, err error) {
	err = b.w.SettleBatch(context.Background(), intents, unended{end: func(outcomes []contract.Outcome) error {
		told = outcomes
		return nil
	}})
	return told, err
}

func TestSettleBatchThatAnotherProcessSettled(t *testing.T) {
	b := newBench(t, false, map[string]string{"a": "new", "b": "old"})
	err := b.w.SettleBatch(context.Background(), b.halfMade("a", "b"), unended{settled: true, end: func([]contract.Outcome) error {
		t.Error("it was put on record again")
		return nil
	}})
	if err != nil || b.onDisk("a") != "new" {
		t.Errorf("a holds %q, %v", b.onDisk("a"), err)
	}
}

// halfMade are the intents of a batch that makes files new that were old.
func (b *bench) halfMade(names ...string) []contract.Intent {
	var intents []contract.Intent
	for i, name := range names {
		intents = append(intents, contract.Intent{
			Kind: contract.ChangeEdit, Path: path(b.t, name), Before: contract.VersionOf([]byte("old")), After: contract.VersionOf([]byte("new")),
			Undo: []contract.Splice{{Length: 3, New: []byte("old")}}, Temp: fmt.Sprintf(".writ-%016x.tmp", i),
		})
	}
	return intents
}

// One place that is not as it was keeps no other from being taken back, and is itself left alone.
func TestSettleBatchInOddPlaces(t *testing.T) {
	for _, c := range []struct {
		name  string
		files map[string]string // beside a and c
	}{
		{"a file stands where the directory was", map[string]string{"d": "a person's"}},
		{"the directory is a link to another one", map[string]string{"d": "->e", "e/b": "new"}},
		{"the directory is a link that leads out", map[string]string{"d": "->.."}},
		{"the directory is gone", nil},
		{"a link stands in the place", map[string]string{"d/b": "->x", "d/x": "new"}},
		{"a directory stands in the place", map[string]string{"d/b/x": "x"}},
		{"the file is too large", map[string]string{"d/b": string(make([]byte, 2<<10))}},
	} {
		t.Run(c.name, func(t *testing.T) {
			forms(t, func(t *testing.T, portable bool) {
				files := map[string]string{"a": "new", "c": "old"}
				maps.Copy(files, c.files)
				b := newBench(t, portable, files)
				b.w.options.FileBytes = 1 << 10
				outcomes, err := b.settle(b.halfMade("a", "d/b", "c"))
				want := []contract.Outcome{contract.OutcomeNotDone, contract.OutcomeUnknown, contract.OutcomeNotDone}
				if err != nil || !slices.Equal(outcomes, want) {
					t.Errorf("got %v, %v", outcomes, err)
				}
				b.wantDisk(map[string]string{"a": "old", "c": "old"})
				for name, text := range c.files {
					if !strings.HasPrefix(text, "->") && b.onDisk(name) != text {
						t.Errorf("%s holds %q", name, b.onDisk(name))
					}
				}
			})
		})
	}
}

// What is odd under the temporary name is not ours, and stays.
func TestSettleBatchWithOddTemporaryFile(t *testing.T) {
	b := newBench(t, false, map[string]string{"a": "new", "b": "new", ".writ-0000000000000001.tmp": "->a"})
	outcomes, err := b.settle(b.halfMade("a", "b"))
	if err != nil || !slices.Equal(outcomes, []contract.Outcome{contract.OutcomeDone, contract.OutcomeDone}) {
		t.Errorf("got %v, %v", outcomes, err)
	}
	b.wantDisk(map[string]string{"a": "new", "b": "new"})
	if target, err := os.Readlink(filepath.Join(b.root, ".writ-0000000000000001.tmp")); target != "a" {
		t.Errorf("the link leads to %q, %v", target, err)
	}
}

// Without undo data there is no way back, for that file alone.
func TestSettleBatchWithoutUndoData(t *testing.T) {
	b := newBench(t, false, map[string]string{"a": "new", "b": "new", "c": "old"})
	intents := b.halfMade("a", "b", "c")
	intents[0].Undo = nil
	outcomes, err := b.settle(intents)
	want := []contract.Outcome{contract.OutcomeUnknown, contract.OutcomeNotDone, contract.OutcomeNotDone}
	if err != nil || !slices.Equal(outcomes, want) {
		t.Errorf("got %v, %v", outcomes, err)
	}
	b.wantDisk(map[string]string{"a": "new", "b": "old", "c": "old"})
	b.wantTidy()
}

// A fault of the moment leaves the batch open; the other files are taken back, and the next try does the rest.
func TestSettleBatchOnAFailingDisk(t *testing.T) {
	b := newBench(t, false, map[string]string{"a": "new", "b": "new", "c": "old"})
	b.faulty(once("link", refusal))
	if outcomes, err := b.settle(b.halfMade("a", "b", "c")); err == nil || outcomes != nil {
		t.Errorf("got %v, %v", outcomes, err)
	}
	b.wantDisk(map[string]string{"a": "new", "b": "old", "c": "old"})
	outcomes, err := b.settle(b.halfMade("a", "b", "c"))
	want := []contract.Outcome{contract.OutcomeNotDone, contract.OutcomeNotDone, contract.OutcomeNotDone}
	if err != nil || !slices.Equal(outcomes, want) {
		t.Errorf("got %v, %v", outcomes, err)
	}
	b.wantDisk(map[string]string{"a": "old", "b": "old", "c": "old"})
	b.wantTidy()
}

// Until the end is on record, no other change can come to the places.
func TestSettleBatchRecordsUnderTheLocks(t *testing.T) {
	b := newBench(t, false, map[string]string{"a": "new", "b": "old"})
	var during error
	err := b.w.SettleBatch(context.Background(), b.halfMade("a", "b"), unended{end: func([]contract.Outcome) error {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Millisecond)
		defer cancel()
		_, during = b.Replace(ctx, path(t, "a"), contract.VersionOf([]byte("old")), whole("mine"))
		return nil
	}})
	if err != nil || envelope.CodeOf(during).Status() != envelope.Unavailable {
		t.Errorf("a change meanwhile: %v; settled: %v", during, err)
	}
	b.wantDisk(map[string]string{"a": "old", "b": "old"})
}

// A program that saves into a new file as soon as it is there, as a formatter does, has changed it since. The batch is
// done, all of it.
func TestBatchWrittenToOnceSwapped(t *testing.T) {
	forms(t, func(t *testing.T, portable bool) {
		b := newBench(t, portable, map[string]string{"a": "old", "b": "old", "c": "old"})
		b.faulty(once(swapStep(portable), func(make func() error) error {
			err := make()
			b.save("a", "formatted on save")
			return err
		}))
		done, err := b.ReplaceAll(context.Background(), members(t, "old", "a", "b", "c"), wholeOf("new"))
		if err != nil || len(done.Refused) > 0 || len(done.Files) != 3 || done.ChangeID != "batch" {
			t.Errorf("got %+v, %v", done, err)
		}
		b.wantDisk(map[string]string{"a": "formatted on save", "b": "new 1", "c": "new 1"})
		if !slices.Equal(b.diary.ends, []contract.Outcome{contract.OutcomeDone, contract.OutcomeDone, contract.OutcomeDone}) {
			t.Errorf("outcomes %v", b.diary.ends)
		}
		b.wantTidy()
	})
}

// A fault of ours in the midst of a swap leaves what the swap displaced, which nobody has looked at yet.
func TestPanicInABatchKeepsWhatWasDisplaced(t *testing.T) {
	b := newBench(t, false, map[string]string{"a": "old", "b": "old"})
	b.faulty(once("exchange", func(make func() error) error {
		b.save("theirs", "theirs")
		os.Rename(filepath.Join(b.root, "theirs"), filepath.Join(b.root, "a"))
		if err := make(); err != nil {
			t.Error(err)
		}
		panic("a fault of ours")
	}))
	func() {
		defer func() { recover() }()
		b.ReplaceAll(context.Background(), members(t, "old", "a", "b"), wholeOf("new"))
		t.Error("there was no panic")
	}()
	if kept := slices.Collect(maps.Values(b.temps())); !slices.Equal(kept, []string{"theirs"}) {
		t.Errorf("kept are %q", kept)
	}
	b.wantDisk(map[string]string{"a": "new 1", "b": "old"})
}

// forgetful is a journal that fails to record the end of a batch so often.
type forgetful struct {
	*diary
	failures int
}

func (f *forgetful) EndBatch(ctx context.Context, id string, outcomes map[string]contract.Outcome) error {
	if f.failures--; f.failures >= 0 {
		return errors.New("the database is locked")
	}
	return f.diary.EndBatch(ctx, id, outcomes)
}

func TestEndOfBatchIsToldAgain(t *testing.T) {
	for failures, want := range map[int]envelope.Code{1: "", recordings - 1: "", recordings: envelope.OutcomeUnknown} {
		b := newBench(t, false, map[string]string{"a": "old", "b": "old"})
		b.journal = &forgetful{b.diary, failures}
		done, err := b.ReplaceAll(context.Background(), members(t, "old", "a", "b"), wholeOf("new"))
		if envelope.CodeOf(err) != want || (err == nil) != (len(done.Files) == 2) {
			t.Errorf("%d failures: %+v, %v", failures, done, err)
		}
		b.wantDisk(map[string]string{"a": "new 1", "b": "new 1"})
		if len(b.temps()) > 0 {
			t.Errorf("left behind: %v", b.temps())
		}
	}
}

// Somebody saves into a file that is about to be taken back. What he wrote is kept, its outcome is unknown, and the
// other files are as they were.
func TestBatchIsTakenBackOverASave(t *testing.T) {
	forms(t, func(t *testing.T, portable bool) {
		b := newBench(t, portable, map[string]string{"a": "old", "b": "old", "c": "old"})
		swaps := 0
		b.faulty(func(step string, make func() error) error {
			if step != swapStep(portable) {
				return make()
			}
			swaps++
			switch swaps {
			case 2:
				b.save("a", "an hour of work")
			case 3:
				return refusal(make)
			}
			return make()
		})
		done, err := b.ReplaceAll(context.Background(), members(t, "old", "a", "b", "c"), wholeOf("new"))
		if err != nil || len(done.Files) > 0 || len(done.Refused) != 2 || done.Refused[0].Item != 0 || done.Refused[1].Item != 2 ||
			envelope.CodeOf(done.Refused[0].Err) != envelope.OutcomeUnknown {
			t.Errorf("got %+v, %v", done, err)
		}
		b.wantDisk(map[string]string{"b": "old", "c": "old"})
		kept := append(slices.Collect(maps.Values(b.temps())), b.onDisk("a"))
		if !slices.Contains(kept, "an hour of work") {
			t.Errorf("kept are %q", kept)
		}
	})
}
