package console

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"time"

	"writ/contract"
	"writ/envelope"
	"writ/ledger"
)

const (
	listedCalls = 50 // on one page
	// chainTime is how long a page waits for the look through the whole audit, and chainPatience how long somebody does who
	// asked for it.
	chainTime, chainPatience = 2 * time.Second, 5 * time.Minute
)

// calledRow is an audit row as a page shows it.
type calledRow struct {
	Seq       int64
	Time      time.Time
	RequestID string `json:"request_id"`
	Event     string
	Caller    string
	Client    string
	Tool      string
	Status    string
	Codes     []string
	Paths     []string
	Approval  *ledger.ApprovalNote
	Duration  int64 `json:"duration_us"`
	Line      string
}

// IsBad tells whether the call was refused or failed.
func (c calledRow) IsBad() bool { return c.Status != "" && c.Status != "ok" && c.Status != "succeeded" }

// auditSince are the times that the filter offers.
var auditSince = []struct {
	Value, Word string
	Ago         time.Duration
}{{"", "since.all", 0}, {"1h", "since.1h", time.Hour}, {"24h", "since.24h", 24 * time.Hour}, {"168h", "since.7d", 7 * 24 * time.Hour}}

// statuses are those that the filter offers.
var statuses = []envelope.Status{
	envelope.OK, envelope.Succeeded, envelope.Partial, envelope.Invalid, envelope.Denied, envelope.Conflict, envelope.NoMatch,
	envelope.MultipleMatches, envelope.NotFound, envelope.Unavailable, envelope.Failed, envelope.Unknown,
}

// audit lists calls, newest first, and says whether the chain is whole.
func (v *visit) audit() error {
	query := v.r.URL.Query()
	filter, err := rowFilter(query, v.Clock())
	if err != nil {
		return err
	}
	before, _ := strconv.ParseInt(query.Get("before"), 10, 64)
	lines, err := v.Ledger.LastRows(v.r.Context(), filter, before, listedCalls+1)
	if err != nil {
		return err
	}
	data := struct {
		Query          url.Values
		Rows           []calledRow
		Earlier, Check string
		IsLater        bool
		Chain          chain
		Since, Status  any
	}{Query: query, IsLater: before > 0, Since: auditSince, Status: statuses}
	for i, line := range lines {
		row := calledRow{Line: string(line)}
		if err := json.Unmarshal(line, &row); err != nil {
			return fmt.Errorf("an audit row: %w", err)
		}
		if i == listedCalls {
			data.Earlier = v.auditLink(query, "before", strconv.FormatInt(data.Rows[i-1].Seq, 10))
			break
		}
		data.Rows = append(data.Rows, row)
	}
	data.Check = v.auditLink(query, "check", "all")
	if data.Chain, err = v.chainState(query.Get("check") == "all"); err != nil {
		return err
	}
	return v.render("audit", page{Title: "audit.title", Section: "audit", Live: "swap", Data: data})
}

func (v *visit) auditLink(query url.Values, key, value string) string {
	with := url.Values{key: {value}}
	for name, values := range query {
		if name != key && name != "check" {
			with[name] = values
		}
	}
	return v.root() + "/audit?" + with.Encode()
}

func rowFilter(query url.Values, now time.Time) (ledger.RowFilter, error) {
	text := func(key string) string { return strings.TrimSpace(query.Get(key)) }
	filter := ledger.RowFilter{
		Tool: text("tool"), Caller: text("caller"), RequestID: text("request"), Status: envelope.Status(text("status")),
	}
	for _, s := range auditSince {
		if s.Ago > 0 && s.Value == text("since") {
			filter.Since = now.Add(-s.Ago)
		}
	}
	var err error
	if at := text("path"); at != "" {
		filter.Path, err = contract.ParsePath(at)
	}
	return filter, err
}

// chain is what a look through the audit found.
type chain struct {
	ledger.Verdict
	TooLong bool // it was not looked through to the end
}

func (v *visit) chainState(patiently bool) (chain, error) {
	limit := chainTime
	if patiently {
		limit = chainPatience
	}
	ctx, cancel := context.WithTimeout(v.r.Context(), limit)
	defer cancel()
	verdict, err := v.Ledger.Verify(ctx)
	if ctx.Err() != nil && v.r.Context().Err() == nil {
		return chain{TooLong: true}, nil
	}
	return chain{Verdict: verdict}, err
}
