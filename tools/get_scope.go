package tools

import (
	"context"

	"writ/contract"
	"writ/envelope"
)

// Scope is what the caller may do here.
type Scope struct {
	Roots  []string    `json:"roots" doc:"mount names; [\".\"] where there is one root, whose paths have no mount"`
	Zones  ScopeZones  `json:"zones"`
	Limits ScopeLimits `json:"limits"`
	Tools  []string    `json:"tools"`

	Programs []ScopeProgram `json:"programs,omitempty" outline:"-" doc:"what run_program runs, one entry for each command of a program"`

	Sandbox string `json:"sandbox,omitempty" outline:"-" doc:"what the kernel keeps the server to, such as landlock-abi7; none where it does not"`

	Stopped   []StoppedCall `json:"stopped,omitempty" outline:"-" doc:"calls of yours that failed too often in the very same way and are not carried out for now, unless what they are about changes"`
	Unsettled []Unsettled   `json:"unsettled,omitempty" outline:"-" doc:"places that you can't write before the outcome of an earlier call of yours was read"`
	Stuck     int           `json:"stuck,omitempty" outline:"-" doc:"calls of yours that were answered at their deadline and have not come back: a drive may hang"`
}

// ScopeProgram is a program, or one command of it, as callers may run it.
type ScopeProgram struct {
	Program   string   `json:"program"`
	Command   string   `json:"command,omitempty" doc:"the first argument"`
	Arguments []string `json:"arguments" doc:"what may follow; {path}, {number} and {word} stand for one"`
	Directory string   `json:"directory" doc:"where it works; . is the top"`
	Writes    bool     `json:"writes"`
	Asks      bool     `json:"asks" doc:"a person must approve each run"`
}

// StoppedCall is a call that is refused as retry-stopped.
type StoppedCall struct {
	Tool             string `json:"tool"`
	FirstCode        string `json:"first_code" doc:"what it failed with first"`
	RetryAfterMillis int64  `json:"retry_after_ms"`
}

// Unsettled is a place whose last write has no known outcome.
type Unsettled struct {
	Path      string `json:"path"`
	RequestID string `json:"request_id" doc:"the call to ask get_outcome about"`
}

// ScopeZones are the globs of each zone. What is in none does not exist for the tools.
type ScopeZones struct {
	Read  []string `json:"read"`
	Write []string `json:"write" doc:"no question asked"`
	Ask   []string `json:"ask" doc:"a person must approve"`
}

// ScopeLimits are the bounds of a call and its answer.
type ScopeLimits struct {
	FileBytes   int64 `json:"file_bytes"`
	ResultBytes int   `json:"result_bytes"`
	CallMillis  int64 `json:"call_time_ms"`
	Lines       int   `json:"lines"`
	Entries     int   `json:"entries"`
	Matches     int   `json:"matches"`
	Notes       int   `json:"notes"`
}

var getScope = reads(contract.Contract{
	Name:  "get_scope",
	Title: "What you may do here",
	Core:  true,
	Doc:   "Tell the roots, the zones open to reading and writing, the limits and the tools. Call it first, or after a denied. Hidden names and what .gitignore names are in no zone unless listed.",
}, runGetScope)

type getScopeIn struct{}

type getScopeOut struct {
	envelope.Notes
	Scope
}

func runGetScope(_ context.Context, r Reader, _ getScopeIn) (getScopeOut, error) {
	return getScopeOut{Scope: r.Scope()}, nil
}
