package tools

import (
	"fmt"

	"writ/envelope"
	"writ/workspace"
)

// truncated tells that an answer ends before its end. Nothing is cut without it.
type truncated struct {
	Returned   int    `json:"returned"`
	Total      int    `json:"total"`
	Unit       string `json:"unit"` // lines, entries, files, matches, notes, changes, bytes, diffs
	NextOffset int    `json:"next_offset,omitempty"`
	Artifact   string `json:"artifact,omitempty" doc:"what is kept of the whole, for read_artifact"`
}

// cut marks an answer that ends at nextOffset, and adds the warning that tells how to go on.
func cut(n *envelope.Notes, t truncated) *truncated {
	n.Warn(envelope.Warning{
		Code:    envelope.Cut,
		Message: fmt.Sprintf("This is not all: %d of %d %s are here. %s", t.Returned, t.Total, t.Unit, t.howToGoOn()),
	})
	return &t
}

func (t truncated) howToGoOn() string {
	if t.NextOffset == 0 {
		return "No offset reaches further: ask for a smaller part."
	}
	return fmt.Sprintf("Call again with offset %d for more.", t.NextOffset)
}

// page is the part of a list that an answer holds: from offset on, at most limit entries. last is the largest offset that
// can be asked for; 0: any.
type page struct{ offset, limit, last int }

// rest is the truncated of a page that ended with returned entries of total, or nil where nothing is left.
func (p page) rest(n *envelope.Notes, returned, total int, unit string) *truncated {
	if p.offset+returned >= total {
		p.warnPastEnd(n, returned, total, unit)
		return nil
	}
	next := p.offset + returned
	if p.last > 0 && next > p.last {
		next = 0
	}
	return cut(n, truncated{Returned: returned, Total: total, Unit: unit, NextOffset: next})
}

// warnPastEnd tells that an empty page is one behind the end, and no sign that there is nothing.
func (p page) warnPastEnd(n *envelope.Notes, returned, total int, unit string) {
	if returned == 0 && p.offset > 0 {
		n.Warn(envelope.Warning{Code: envelope.PastEnd, Message: fmt.Sprintf("The offset %d lies behind the end: there are %d %s.", p.offset, total, unit)})
	}
}

// warnSkipped tells which files could not be looked at, so that nothing found is not taken for nothing there.
func warnSkipped(n *envelope.Notes, skipped workspace.Skips) {
	if w, any := skipped.Warning(); any {
		n.Warn(w)
	}
}
