package gate

import (
	"writ/tools"
)

// scope tells the caller what it may do here.
func (g *Gate) scope() tools.Scope {
	zones, l := g.policy.Zones(), g.policy.Limits()
	return tools.Scope{
		Roots: g.files.Mounts(),
		Zones: tools.ScopeZones{Read: zones.Read, Write: zones.Write, Ask: zones.Ask},
		Limits: tools.ScopeLimits{
			FileBytes: l.FileBytes, ResultBytes: l.ResultBytes, CallMillis: l.CallTime.Milliseconds(),
			Lines: l.PageLines, Entries: l.PageEntries, Matches: l.PageMatches, Notes: l.PageNotes,
		},
		Tools:   g.names,
		Sandbox: g.sandbox(),
	}
}
