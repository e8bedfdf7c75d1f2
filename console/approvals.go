package console

import (
	"errors"
	"net/http"
	"slices"
	"time"

	"writ/ledger"
)

const (
	listedDecided = 20  // settled approvals that the list shows
	listedRows    = 400 // rows of diffs on one page; what is left is behind a link
)

// approvalLasts are for how long such changes of the same files can be approved.
var approvalLasts = []struct {
	Value string
	Word  string
	For   time.Duration
}{
	{"once", "for.once", 0},
	{"15m", "for.15m", 15 * time.Minute},
	{"1h", "for.1h", time.Hour},
	{"8h", "for.8h", 8 * time.Hour},
	{"24h", "for.24h", ledger.MaxStanding},
}

// question is an approval as a page shows it.
type question struct {
	ledger.Approval
	Diff   diff
	IsOpen bool   // it waits for an answer
	CanEnd bool   // a yes can be taken back
	Word   string // for its state
}

func (v *visit) questionOf(a ledger.Approval, most int) question {
	q := question{Approval: a, Diff: parseDiff(a.Diff, most).under(len(a.Changes)), Word: "state." + string(a.State)}
	q.IsOpen = a.State == ledger.ApprovalPending
	q.CanEnd = a.State == ledger.ApprovalApproved || a.State == ledger.ApprovalStanding
	return q
}

// approvals lists what waits, what was asked for first at the top, so that what comes later moves nothing.
func (v *visit) approvals() error {
	all, err := v.Ledger.Approvals(v.r.Context(), ledger.ApprovalFilter{})
	if err != nil {
		return err
	}
	var data struct {
		Waiting, Good, Settled []question
		Lasts                  any
	}
	data.Lasts = approvalLasts
	left := listedRows
	for _, a := range slices.Backward(all) {
		if a.State == ledger.ApprovalPending {
			q := v.questionOf(a, left)
			left = max(0, left-len(q.Diff.Rows))
			data.Waiting = append(data.Waiting, q)
		}
	}
	for _, a := range all {
		switch q := v.questionOf(a, 0); {
		case q.CanEnd:
			data.Good = append(data.Good, q)
		case !q.IsOpen && len(data.Settled) < listedDecided:
			data.Settled = append(data.Settled, q)
		}
	}
	live := "tell"
	if len(data.Waiting)+len(data.Good) == 0 {
		live = "swap" // there is nothing to press
	}
	return v.render("approvals", page{Title: "approvals.title", Section: "approvals", Live: live, Data: data})
}

func (v *visit) approval() error {
	a, err := v.Ledger.Approval(v.r.Context(), v.r.PathValue("id"))
	if err != nil {
		return err
	}
	data := struct {
		question
		Lasts any
	}{v.questionOf(a, everyRow), approvalLasts}
	return v.render("approval", page{Title: "approval.title", Section: "approvals", Live: "tell", Data: data})
}

func (v *visit) approve() error {
	for _, l := range approvalLasts {
		if l.Value == v.r.PostFormValue("for") {
			return v.decide(ledger.Decision{Approve: true, For: l.For})
		}
	}
	v.fail(http.StatusBadRequest, notice{Word: "error.form"})
	return nil
}

func (v *visit) decline() error { return v.decide(ledger.Decision{}) }

// decide answers as `writ approvals` does, and says what became of it.
func (v *visit) decide(d ledger.Decision) error {
	d.By, d.Way = v.Person, way
	a, err := v.Ledger.Decide(v.r.Context(), v.r.PathValue("id"), d)
	tooLate := errors.Is(err, ledger.ErrDecided)
	if err != nil && !tooLate {
		return err
	}
	told := notice{Word: "told." + string(a.State), Args: []any{a.Expires.Local().Format(time.DateTime)}, IsBad: tooLate}
	switch a.State {
	case ledger.ApprovalUsed, ledger.ApprovalExpired:
		told.Args = nil
	}
	v.session.tell(told)
	return v.goTo(v.back())
}

// answering is what the form of an answer is made of.
type answering struct {
	Page            page
	Question, Lasts any
}
