package console

import (
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	"writ/ledger"
)

const (
	livePause = time.Second      // between looks at the log
	liveSign  = 20 * time.Second // between signs of life
)

// news is what a page is told: the state of what it shows, and how many questions wait.
type news struct {
	Mark    string `json:"mark"`
	Pending int    `json:"pending"`
}

// markOf names the state of what a section shows.
func markOf(section string, p ledger.Pulse) string {
	switch section {
	case "approvals":
		return fmt.Sprint(p.Approvals)
	case "changes":
		return fmt.Sprint(p.Changes)
	case "audit":
		return fmt.Sprint(p.Calls)
	}
	return ""
}

// live tells a page when what it shows is another: as a stream of events, or, to one that wants no stream, once.
func (v *visit) live() error {
	section := v.r.URL.Query().Get("section")
	look := func() (news, error) {
		p, err := v.pulse()
		return news{markOf(section, p), p.Pending()}, err
	}
	now, err := look()
	if err != nil {
		return err
	}
	if v.r.Header.Get("Accept") != "text/event-stream" {
		v.w.Header().Set("Content-Type", "application/json")
		return json.NewEncoder(v.w).Encode(now)
	}
	select {
	case v.streams <- struct{}{}:
		defer func() { <-v.streams }()
	default:
		http.Error(v.w, "Too many pages are open", http.StatusServiceUnavailable)
		return nil
	}
	return v.stream(now, look)
}

// stream tells what is new until the page is closed, the session is over or the server ends.
func (v *visit) stream(now news, look func() (news, error)) error {
	h := v.w.Header()
	h.Set("Content-Type", "text/event-stream")
	h.Set("X-Accel-Buffering", "no")
	out := http.NewResponseController(v.w)
	send := func(format string, args ...any) error {
		if _, err := fmt.Fprintf(v.w, format, args...); err != nil {
			return err
		}
		return out.Flush()
	}
	tell := func(n news) error {
		data, err := json.Marshal(n)
		if err != nil {
			return err
		}
		return send("data: %s\n\n", data)
	}
	if tell(now) != nil {
		return nil
	}
	tick, sign := time.NewTicker(livePause), time.NewTicker(liveSign)
	defer tick.Stop()
	defer sign.Stop()
	for {
		select {
		case <-v.r.Context().Done():
			return nil
		case <-sign.C:
			if v.sessions.of(v.r) == nil || send(": \n\n") != nil {
				return nil
			}
		case <-tick.C:
			fresh, err := look()
			if err != nil {
				v.Log.Warn("a page is not told any more of what is new", "error", err)
				return nil
			}
			if fresh != now && tell(fresh) != nil {
				return nil
			}
			now = fresh
		}
	}
}
