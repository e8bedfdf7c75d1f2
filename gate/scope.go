package gate

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"writ/tools"
)

// maxStates is how many stopped calls, and how many unsettled places, a caller is told of at once.
const maxStates = 20

// scope tells the caller what it may do here, and what of it not at the moment.
func (g *Gate) scope(caller string) tools.Scope {
	p := g.policyOf(caller)
	zones, l := p.Zones(), p.Limits()
	return tools.Scope{
		Roots: g.files.Mounts(),
		Zones: tools.ScopeZones{Read: zones.Read, Write: zones.Write, Ask: zones.Ask},
		Limits: tools.ScopeLimits{
			FileBytes: l.FileBytes, ResultBytes: l.ResultBytes, CallMillis: l.CallTime.Milliseconds(),
			Lines: l.PageLines, Entries: l.PageEntries, Matches: l.PageMatches, Notes: l.PageNotes,
		},
		Tools:    g.namesFor(p),
		Programs: g.programs.told(p),
		Sandbox:  g.sandbox(),

		Stopped: g.breaker.stopped(caller), Unsettled: g.unsettled.of(caller), Stuck: g.flights.stuck(caller),
	}
}

// stopped lists the calls of a caller that are refused now, the one that is refused for longest first.
func (b *breaker) stopped(caller string) []tools.StoppedCall {
	b.mu.Lock()
	defer b.mu.Unlock()
	var list []tools.StoppedCall
	for key, f := range b.failed {
		left := CoolDown - b.clock().Sub(f.last)
		if strings.HasPrefix(key, caller+"\x00") && f.count >= f.most && left >= 0 {
			list = append(list, tools.StoppedCall{Tool: f.tool, FirstCode: string(f.first.Code), RetryAfterMillis: int64(left / time.Millisecond)})
		}
	}
	slices.SortFunc(list, func(x, y tools.StoppedCall) int {
		return cmp.Or(cmp.Compare(y.RetryAfterMillis, x.RetryAfterMillis), cmp.Compare(x.Tool, y.Tool), cmp.Compare(x.FirstCode, y.FirstCode))
	})
	return list[:min(len(list), maxStates)]
}

// of lists the places that a caller must not write for now, sorted by path.
func (u *unsettled) of(caller string) []tools.Unsettled {
	u.mu.Lock()
	defer u.mu.Unlock()
	var list []tools.Unsettled
	for key, id := range u.places {
		if path, ok := strings.CutPrefix(key, caller+"\x00"); ok {
			list = append(list, tools.Unsettled{Path: path, RequestID: id})
		}
	}
	slices.SortFunc(list, func(x, y tools.Unsettled) int { return cmp.Compare(x.Path, y.Path) })
	return list[:min(len(list), maxStates)]
}
