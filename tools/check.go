package tools

import (
	"context"

	"writ/contract"
	"writ/workspace"
)

// Check is what one checker says of a text that was written. It undoes nothing: written is not the same as right.
type Check struct {
	Checker     string       `json:"checker"`
	Status      string       `json:"status" enum:"passed,failed,skipped"`
	Diagnostics []Diagnostic `json:"diagnostics"` // those that are new first
	Reason      string       `json:"reason,omitempty" doc:"why it was skipped"`
	Total       int          `json:"total,omitempty" doc:"problems found, where more than are listed"`
	Before      int          `json:"before,omitempty" doc:"problems that the text before had"`
}

// Diagnostic is one problem. Line and column are 0 where the checker does not name them.
type Diagnostic struct {
	Line    int    `json:"line"`
	Column  int    `json:"column"`
	Message string `json:"message" text:"line"`
	New     bool   `json:"new,omitempty" doc:"the text before did not have this problem"`
}

// Checks has what is written checked.
type Checks interface {
	// Check returns what each checker of the file says of a change that was made.
	Check(ctx context.Context, w workspace.Written) []Check
	// Foresee returns what those checkers that cost next to nothing would say of a change that was not made.
	Foresee(path contract.Path, before, after []byte) []Check
}

// check has a change checked, and puts what is said of it into the answer.
func (o *written) check(ctx context.Context, c Checks, w workspace.Written) {
	o.Checks = c.Check(ctx, w)
	o.Untrusted = o.Untrusted || tells(o.Checks)
}

// tells tells whether checks hold text that may come from the file.
func tells(checks []Check) bool {
	for _, c := range checks {
		if len(c.Diagnostics) > 0 {
			return true
		}
	}
	return false
}

// checkFiles has the files of a batch checked. What is said of a file stands in the first of its items.
func checkFiles(ctx context.Context, c Checks, items []editItem, done workspace.BatchWritten) (untrusted bool) {
	for _, f := range done.Files {
		checks := c.Check(ctx, f.Written)
		items[f.Members[0]].Checks = checks
		untrusted = untrusted || tells(checks)
	}
	return untrusted
}
