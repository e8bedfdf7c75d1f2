package console

import (
	"errors"
	"fmt"
	"net/http"
	"runtime/debug"
	"strings"

	"writ/envelope"
	"writ/ledger"
)

// visit is one request of somebody who is in.
type visit struct {
	*Console
	w       http.ResponseWriter
	r       *http.Request
	session *session // nil where nobody is
	lang    string
	status  int // 0: 200
}

// notice is something to be said once: a sentence of ours, or what was answered.
type notice struct {
	Word  string // see words.json; "" where Text says it all
	Args  []any
	Text  string
	IsBad bool
}

// inside shows a page to whoever has a session. A form must come from one of its pages.
func (c *Console) inside(show func(*visit) error) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		v := &visit{Console: c, w: w, r: r, session: c.sessions.of(r), lang: languageOf(r)}
		defer v.recoverPanic()
		switch {
		case v.session == nil:
			c.closed(w, r)
			return
		case r.Method == http.MethodPost && !v.session.sent(r):
			v.fail(http.StatusForbidden, notice{Word: "error.form"})
			return
		case v.chooseLanguage():
			return
		}
		if err := show(v); err != nil {
			v.explain(err)
		}
	}
}

func (v *visit) recoverPanic() {
	p := recover()
	if p == nil {
		return
	}
	if p == http.ErrAbortHandler {
		panic(p)
	}
	v.Log.Error("a page of the console panicked", "path", v.r.URL.Path, "panic", p, "stack", string(debug.Stack()))
	http.Error(v.w, "The console failed. The log has the reason.", http.StatusInternalServerError)
}

// explain answers with an error: what is not there, or what failed.
func (v *visit) explain(err error) {
	if v.r.Context().Err() != nil {
		return // nobody is there any more
	}
	var known *envelope.Error
	if !errors.As(err, &known) {
		v.Log.Error("a page of the console failed", "path", v.r.URL.Path, "error", err)
		v.fail(http.StatusInternalServerError, notice{Word: "error.failed"})
		return
	}
	status := http.StatusInternalServerError
	switch known.Code {
	case envelope.UnknownChange, envelope.UnknownRequest, envelope.PathNotAllowed:
		status = http.StatusNotFound
	}
	v.fail(status, notice{Text: known.Message})
}

func (v *visit) fail(status int, n notice) {
	v.status = status
	n.IsBad = true
	v.session.tell(n)
	v.renderOrSay("error", page{Title: "error.title"})
}

// renderOrSay shows a page that tells of something that did not work, and says so in plain text where even that fails.
func (v *visit) renderOrSay(name string, p page) {
	if err := v.render(name, p); err != nil {
		v.Log.Error("a page could not be shown", "error", err)
		http.Error(v.w, "The console failed. The log has the reason.", http.StatusInternalServerError)
	}
}

// goTo sends the browser on after a form, so that a reload does not send it again.
func (v *visit) goTo(path string) error {
	http.Redirect(v.w, v.r, v.root()+path, http.StatusSeeOther)
	return nil
}

// back is where a form was sent from, as that says itself: one of the pages of this console, else the first.
func (v *visit) back() string {
	if to := v.r.PostFormValue("back"); strings.HasPrefix(to, "/changes") || strings.HasPrefix(to, "/approvals") {
		return to
	}
	return "/"
}

// pulse is the state of the log; what waits is told on every page.
func (v *visit) pulse() (ledger.Pulse, error) {
	p, err := v.Ledger.Pulse(v.r.Context())
	if err != nil {
		return p, fmt.Errorf("the change log: %w", err)
	}
	return p, nil
}
