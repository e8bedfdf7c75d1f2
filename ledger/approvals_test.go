package ledger

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"writ/contract"
	"writ/envelope"
)

func question(fingerprint, after string) Approval {
	return Approval{
		Caller: "local", Client: "test", Tool: "replace_text", RequestID: "req_1", Fingerprint: fingerprint,
		Changes: []ApprovalChange{{Kind: contract.ChangeEdit, Path: "a.md", Before: "1", After: after, Asks: true}},
		Diff:    "-a\n+b\n",
	}
}

// bookAt opens the ledger of a directory under a clock.
func bookAt(t *testing.T, dir string, now *time.Time) *Ledger {
	t.Helper()
	l, err := Open(dir, Options{Clock: func() time.Time { return *now }})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return l
}

func openApproval(t *testing.T, l *Ledger, a Approval) Approval {
	t.Helper()
	a, err := l.OpenApproval(t.Context(), a)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func TestApprovalIsGoodForOneCall(t *testing.T) {
	now := time.UnixMicro(1_800_000_000_000_000)
	dir := t.TempDir()
	l := bookAt(t, dir, &now)
	a := openApproval(t, l, question("f", "2"))
	if again := openApproval(t, l, question("f", "2")); again.ID != a.ID || again.State != ApprovalPending {
		t.Errorf("the same call asks anew: %+v", again)
	}
	for name, other := range map[string]Approval{"arguments": question("g", "2"), "outcome": question("f", "3")} {
		if o := openApproval(t, l, other); o.ID == a.ID {
			t.Errorf("other %s, the same question", name)
		}
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	l = bookAt(t, dir, &now) // it survives the process
	if used, err := l.UseApproval(t.Context(), a.ID); used || err != nil {
		t.Errorf("used before anybody approved: %v, %v", used, err)
	}
	decided, err := l.Decide(t.Context(), a.ID, Decision{Approve: true, By: "eva", Way: "test"})
	if err != nil || decided.State != ApprovalApproved || decided.Decider != "eva" || decided.Diff != a.Diff {
		t.Fatalf("got %+v, %v", decided, err)
	}
	for i, want := range []bool{true, false} {
		if used, err := l.UseApproval(t.Context(), a.ID); used != want || err != nil {
			t.Errorf("use %d: %v, %v", i, used, err)
		}
	}
	if err := l.ReturnApproval(t.Context(), a.ID); err != nil {
		t.Fatal(err)
	}
	now = now.Add(ApprovedTime)
	if used, err := l.UseApproval(t.Context(), a.ID); used || err != nil {
		t.Errorf("used after its time: %v, %v", used, err)
	}
	if o := openApproval(t, l, question("f", "2")); o.ID == a.ID {
		t.Error("an expired approval is asked for no more")
	}
}

func TestDeclinedStaysDeclinedForAWhile(t *testing.T) {
	now := time.UnixMicro(1_800_000_000_000_000)
	l := bookAt(t, t.TempDir(), &now)
	a := openApproval(t, l, question("f", "2"))
	if _, err := l.Decide(t.Context(), a.ID, Decision{}); err != nil {
		t.Fatal(err)
	}
	if other := openApproval(t, l, question("other call", "2")); other.State != ApprovalDeclined {
		t.Errorf("another call for the same changes is %s", other.State)
	}
	if other := openApproval(t, l, question("f", "3")); other.State != ApprovalPending {
		t.Errorf("a call for other changes is %s", other.State)
	}
	if _, err := l.Decide(t.Context(), a.ID, Decision{Approve: true}); !errors.Is(err, ErrDecided) {
		t.Errorf("a no was turned into a yes: %v", err)
	}
	now = now.Add(DeclinedTime)
	if again := openApproval(t, l, question("f", "2")); again.State != ApprovalPending {
		t.Errorf("after the cool-down it is %s", again.State)
	}
}

// A no takes back a yes that was not used, and only that.
func TestDeclineTakesBack(t *testing.T) {
	now := time.UnixMicro(1_800_000_000_000_000)
	l := bookAt(t, t.TempDir(), &now)
	for _, lasts := range []time.Duration{0, time.Hour} {
		a := openApproval(t, l, question("f", lasts.String()))
		if _, err := l.Decide(t.Context(), a.ID, Decision{Approve: true, For: lasts}); err != nil {
			t.Fatal(err)
		}
		if back, err := l.Decide(t.Context(), a.ID, Decision{}); err != nil || back.State != ApprovalDeclined {
			t.Errorf("got %s, %v", back.State, err)
		}
	}
	a := openApproval(t, l, question("f", "used"))
	if _, err := l.Decide(t.Context(), a.ID, Decision{Approve: true}); err != nil {
		t.Fatal(err)
	}
	if _, err := l.UseApproval(t.Context(), a.ID); err != nil {
		t.Fatal(err)
	}
	if late, err := l.Decide(t.Context(), a.ID, Decision{}); !errors.Is(err, ErrDecided) || late.State != ApprovalUsed {
		t.Errorf("got %s, %v", late.State, err)
	}
}

// Of those who decide at once, in whatever process, one decides; of those who use a yes at once, one uses it.
func TestOnePersonDecidesAndOneCallGoesOn(t *testing.T) {
	now := time.UnixMicro(1_800_000_000_000_000)
	dir := t.TempDir()
	books := []*Ledger{bookAt(t, dir, &now), bookAt(t, dir, &now), bookAt(t, dir, &now)}
	a := openApproval(t, books[0], question("f", "2"))
	count := func(try func(l *Ledger) bool) int {
		var wait sync.WaitGroup
		var mu sync.Mutex
		n := 0
		for _, l := range books {
			wait.Go(func() {
				if try(l) {
					mu.Lock()
					defer mu.Unlock()
					n++
				}
			})
		}
		wait.Wait()
		return n
	}
	if n := count(func(l *Ledger) bool {
		_, err := l.Decide(context.Background(), a.ID, Decision{Approve: true})
		return err == nil
	}); n != 1 {
		t.Errorf("%d have decided", n)
	}
	if n := count(func(l *Ledger) bool {
		used, err := l.UseApproval(context.Background(), a.ID)
		return used && err == nil
	}); n != 1 {
		t.Errorf("%d calls have used it", n)
	}
}

func TestApprovalsAreListedAndAudited(t *testing.T) {
	now := time.UnixMicro(1_800_000_000_000_000)
	l := bookAt(t, t.TempDir(), &now)
	first, second := openApproval(t, l, question("f", "2")), openApproval(t, l, question("f", "3"))
	if _, err := l.Decide(t.Context(), first.ID, Decision{Approve: true, By: "eva", Way: "writ approvals"}); err != nil {
		t.Fatal(err)
	}
	states := func(f ApprovalFilter) string {
		list, err := l.Approvals(t.Context(), f)
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, a := range list {
			names = append(names, string(a.State))
		}
		return strings.Join(names, " ")
	}
	if got := states(ApprovalFilter{State: ApprovalPending}); got != "pending" {
		t.Errorf("pending: %s", got)
	}
	if got := states(ApprovalFilter{Caller: "http"}); got != "" {
		t.Errorf("of another caller: %s", got)
	}
	if _, err := l.Approval(t.Context(), "apr_none"); envelope.CodeOf(err) != envelope.UnknownRequest {
		t.Errorf("a name that nothing has: %v", err)
	}
	var lines []string
	if err := l.Rows(t.Context(), RowFilter{}, func(row json.RawMessage) error {
		lines = append(lines, string(row))
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	want := `"approval":{"id":"` + first.ID + `","state":"approved","by":"eva","way":"writ approvals"}`
	if len(lines) != 1 || !strings.Contains(lines[0], want) || !strings.Contains(lines[0], `"event":"approval approved"`) {
		t.Errorf("the audit has %s", lines)
	}
	now = now.Add(PendingTime)
	if got := states(ApprovalFilter{State: ApprovalExpired}); got != "expired expired" {
		t.Errorf("a day later, expired: %s", got)
	}
	if a, err := l.Decide(t.Context(), second.ID, Decision{Approve: true}); !errors.Is(err, ErrDecided) || a.State != ApprovalExpired {
		t.Errorf("an expired question was answered: %s, %v", a.State, err)
	}
}

func TestOpenQuestionsAreBounded(t *testing.T) {
	now := time.UnixMicro(1_800_000_000_000_000)
	l := bookAt(t, t.TempDir(), &now)
	for i := range maxPending {
		openApproval(t, l, question("f", strings.Repeat("x", i)))
	}
	if _, err := l.OpenApproval(t.Context(), question("f", "one more")); envelope.CodeOf(err) != envelope.RateLimited {
		t.Errorf("got %v", err)
	}
	other := question("f", "one more")
	other.Caller = "http"
	openApproval(t, l, other)
}

func TestProcessesShareTheKey(t *testing.T) {
	now := time.UnixMicro(1_800_000_000_000_000)
	dir := t.TempDir()
	one, err1 := bookAt(t, dir, &now).ApprovalKey(t.Context())
	two, err2 := bookAt(t, dir, &now).ApprovalKey(t.Context())
	if err := errors.Join(err1, err2); err != nil || !bytes.Equal(one, two) || len(one) != 32 {
		t.Errorf("%x, %x, %v", one, two, err)
	}
	if other, err := bookAt(t, t.TempDir(), &now).ApprovalKey(t.Context()); err != nil || bytes.Equal(one, other) {
		t.Errorf("two state directories have one key (%v)", err)
	}
}

// What was declined is not made as a part of more either; of a larger call that was declined a part is asked for anew.
func TestDeclinedHoldsForMore(t *testing.T) {
	now := time.UnixMicro(1_800_000_000_000_000)
	l := bookAt(t, t.TempDir(), &now)
	small, large := question("small", "2"), question("large", "2")
	large.Changes = append(large.Changes, ApprovalChange{Kind: contract.ChangeCreate, Path: "b.md", After: "1", Asks: true})
	decline := func(a Approval) {
		t.Helper()
		if _, err := l.Decide(t.Context(), openApproval(t, l, a).ID, Decision{}); err != nil {
			t.Fatal(err)
		}
	}
	decline(large)
	if part := openApproval(t, l, small); part.State != ApprovalPending {
		t.Errorf("a part of what was declined is %s", part.State)
	}
	decline(small)
	other := question("other", "2")
	other.Changes = append(other.Changes, ApprovalChange{Kind: contract.ChangeCreate, Path: "c.md", After: "1"})
	if more := openApproval(t, l, other); more.State != ApprovalDeclined {
		t.Errorf("more than what was declined is %s", more.State)
	}
	other.Caller = "http"
	if more := openApproval(t, l, other); more.State != ApprovalPending {
		t.Errorf("what another caller was declined is %s", more.State)
	}
}

// After eight questions without a yes a person is left in peace for a while, unless he says yes.
func TestNobodyIsWornDown(t *testing.T) {
	now := time.UnixMicro(1_800_000_000_000_000)
	l := bookAt(t, t.TempDir(), &now)
	put := func(after string) (Approval, bool) {
		t.Helper()
		a := openApproval(t, l, question("f"+after, after))
		may, err := l.CountQuestion(t.Context(), a.ID, 3)
		if err != nil {
			t.Fatal(err)
		}
		return a, may
	}
	for i := range 3 * maxUnanswered {
		a, may := put(strings.Repeat("x", i))
		if want := i < maxUnanswered+maxUnanswered/2; may != want {
			t.Fatalf("question %d is put: %v", i+1, may)
		}
		if i >= maxUnanswered {
			continue
		}
		if _, err := l.Decide(t.Context(), a.ID, Decision{Approve: i%2 == 0}); err != nil {
			t.Fatal(err)
		}
	}
	now = now.Add(DeclinedTime)
	if _, may := put("later"); !may {
		t.Error("after a while nobody is asked")
	}
}
