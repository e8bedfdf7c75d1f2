package console

import (
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"writ/contract"
	"writ/envelope"
	"writ/gate"
	"writ/ledger"
	"writ/workspace"
)

const listedChanges = 50 // on one page

// changed is a change as a page shows it.
type changed struct {
	contract.Change
	State   string // a word
	CanUndo bool
	Diff    diff
	Why     string // there is no diff
}

func (v *visit) changedOf(c contract.Change) changed {
	told := changed{Change: c, State: "change.done"}
	switch {
	case c.Outcome != contract.OutcomeDone:
		told.State = "change.unknown"
	case c.Reverted:
		told.State = "change.undone"
	default:
		told.CanUndo = v.Gate.CanUndo()
	}
	return told
}

// changes lists what was changed, newest first.
func (v *visit) changes() error {
	query := v.r.URL.Query()
	at := strings.TrimSpace(query.Get("path"))
	offset, _ := strconv.Atoi(query.Get("offset"))
	offset = max(0, offset)
	filter := ledger.Filter{Offset: offset, Limit: listedChanges}
	var err error
	if at != "" {
		if filter.Path, err = contract.ParsePath(at); err != nil {
			return err
		}
	}
	list, total, err := v.Ledger.Changes(v.r.Context(), filter)
	if err != nil {
		return err
	}
	data := struct {
		Path               string
		List               []changed
		First, Last, Total int
		Earlier, Later     string
	}{Path: at, First: offset + 1, Last: offset + len(list), Total: total}
	for _, c := range list {
		data.List = append(data.List, v.changedOf(c))
	}
	link := func(offset int) string {
		return v.root() + "/changes?" + url.Values{"path": {at}, "offset": {strconv.Itoa(offset)}}.Encode()
	}
	if data.Last < total {
		data.Earlier = link(data.Last)
	}
	if offset > 0 {
		data.Later = link(max(0, offset-listedChanges))
	}
	return v.render("changes", page{Title: "changes.title", Section: "changes", Live: "swap", Data: data})
}

// change shows one change, or all of a batch.
func (v *visit) change() error {
	id := v.r.PathValue("id")
	parts, err := v.Ledger.Parts(v.r.Context(), id)
	if err != nil {
		return err
	}
	if len(parts) == 0 {
		return ledger.UnknownChange(id)
	}
	data := struct {
		changed
		Parts []changed // of a batch its files, else the change alone
	}{changed: v.changedOf(parts[0])}
	if data.Kind == contract.ChangeBatch {
		parts = parts[1:]
	}
	for _, c := range parts {
		told := v.changedOf(c)
		told.Diff, told.Why = v.diffOf(c)
		data.Parts = append(data.Parts, told)
	}
	return v.render("change", page{Title: "change.title", Section: "changes", Live: "tell", Data: data})
}

// diffOf returns what a change did, as everybody is shown it who reads the change as a resource: secrets are kept back, and
// what the policy does not show is not shown. Without one it says why.
func (v *visit) diffOf(c contract.Change) (diff, string) {
	arguments := append(envelope.AppendString([]byte(`{"kind":"change","name":`), c.ID), '}')
	e := v.Gate.Serve(v.r.Context(), gate.Call{Caller: gate.CallerLocal, Client: way, Tool: "read_resource", Arguments: arguments})
	if e.IsError() {
		return diff{}, e.Errors[0].Message
	}
	if len(e.Texts) != 1 {
		return diff{}, ""
	}
	_, text, _ := strings.Cut(e.Texts[0], "\n") // the facts, which are known
	return parseDiff(workspace.Visible(text), everyRow).under(1), ""
}

// undo undoes as `writ undo` does, and says what was answered.
func (v *visit) undo() error {
	if !v.Gate.CanUndo() {
		v.fail(http.StatusForbidden, notice{Word: "error.readonly"})
		return nil
	}
	e := v.Gate.Undo(v.r.Context(), way, v.r.PathValue("id"))
	for _, p := range e.Errors {
		v.session.tell(notice{Text: p.Message, IsBad: true})
	}
	if !e.IsError() {
		v.session.tell(notice{Word: "told.undone"})
	}
	for _, w := range e.Warnings {
		v.session.tell(notice{Text: fmt.Sprintf("%s: %s", w.Code, w.Message)})
	}
	return v.goTo(v.back())
}
