package gate

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"

	"writ/contract"
	"writ/ledger"
	"writ/workspace"
)

// Question is what a person is asked.
type Question struct {
	Approval string // its name
	// Message is text for a person: which tool, which places, and what would change there. Nothing in it is the caller's own
	// word but inside the diff, where each line is indented.
	Message string
	// State names the question to a client that calls again with the answer. It is signed, so a client can't make one, and
	// bound to the approval, and by that to caller, tool, arguments and versions.
	State string
}

const (
	questionLines = 40        // of the diff in a question
	questionFiles = 100       // places that a question names
	keptLines     = 2000      // of the diff of one file that is kept for a closer look
	keptBytes     = 256 << 10 // of all diffs of a call
)

var kindVerbs = map[contract.ChangeKind]string{
	contract.ChangeEdit: "change", contract.ChangeCreate: "create", contract.ChangeDelete: "delete", contract.ChangeMove: "move",
	contract.ChangeMkdir: "create the directory", contract.ChangeRmdir: "remove the directory", contract.ChangeRun: "run the program",
}

// DescribeApproved tells in words what a change of an approval does.
func DescribeApproved(c ledger.ApprovalChange) string {
	text := kindVerbs[c.Kind] + " " + contract.Quote(c.Path)
	if c.Kind == contract.ChangeRun {
		return text + " " + c.To // the arguments, quoted
	}
	if c.To != "" {
		text += " to " + contract.Quote(c.To)
	}
	return text
}

func questionText(k *call, a ledger.Approval) string {
	var b strings.Builder
	fmt.Fprintf(&b, "The tool %s asks for permission to", k.Tool)
	if len(a.Changes) == 1 {
		fmt.Fprintf(&b, " %s.\n", DescribeApproved(a.Changes[0]))
	} else {
		b.WriteString(":\n")
		for _, c := range a.Changes[:min(len(a.Changes), questionFiles)] {
			fmt.Fprintf(&b, "- %s\n", DescribeApproved(c))
		}
		if more := len(a.Changes) - questionFiles; more > 0 {
			fmt.Fprintf(&b, "- and %d more\n", more)
		}
	}
	lines := strings.SplitAfter(strings.TrimSuffix(a.Diff, "\n"), "\n")
	if a.Diff != "" {
		b.WriteString("\n")
		for _, line := range lines[:min(len(lines), questionLines)] {
			b.WriteString("    " + line)
		}
		b.WriteString("\n")
	}
	if more := len(lines) - questionLines; more > 0 {
		fmt.Fprintf(&b, "\n%d more lines are not shown here; `writ approvals show %s` shows them.\n", more, a.ID)
	}
	b.WriteString("\nIf you accept, exactly this is done, once.")
	return b.String()
}

// diffOf shows what a call would change, for a person. Secrets are kept back in it, and what does not show is made to.
func (g *Gate) diffOf(k *call, r *rehearsal) string {
	files := g.files.Reader(guard{k.policy})
	var b strings.Builder
	for _, p := range r.planned {
		diff := workspace.Visible(diffOf(files, p))
		if b.Len()+len(diff) > keptBytes {
			b.WriteString("(the rest of the changes is too long to be kept)\n")
			break
		}
		b.WriteString(diff)
	}
	return b.String()
}

func diffOf(files workspace.Reader, p workspace.Planned) string {
	switch p.Kind {
	case contract.ChangeEdit, contract.ChangeCreate, contract.ChangeDelete:
	default:
		return "" // no content differs
	}
	before, err1 := files.Decode(p.Old, p.Path)
	after, err2 := files.Decode(p.New, p.Path)
	isCut := p.Old == nil && !p.Before.IsZero() || p.New == nil && !p.After.IsZero()
	if err1 != nil || err2 != nil || isCut {
		return fmt.Sprintf("(what changes in %s can't be shown: it is not text, or too long)\n", contract.Quote(p.Path.String()))
	}
	return files.Diff(p.Path, before.String(), after.String(), keptLines)
}

// stateOf returns the text by which the question is known again:
//
//	base64url(NAME "." EXPIRES "." BINDING) "." base64url(HMAC-SHA-256 of the first part)
//
// EXPIRES is in seconds since 1970, BINDING is [ledger.Approval.Binding].
func (g *Gate) stateOf(ctx context.Context, a ledger.Approval) (string, error) {
	payload := fmt.Sprintf("%s.%d.%s", a.ID, a.Expires.Unix(), a.Binding())
	return g.sign(ctx, base64.RawURLEncoding.EncodeToString([]byte(payload)))
}

func (g *Gate) sign(ctx context.Context, text string) (string, error) {
	key, err := g.ledger.ApprovalKey(ctx)
	if err != nil {
		return "", err
	}
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte("writ question 1\x00" + text))
	return text + "." + base64.RawURLEncoding.EncodeToString(mac.Sum(nil)), nil
}

func sameState(a, b string) bool { return hmac.Equal([]byte(a), []byte(b)) }

var errForged = errors.New("not a state of this server")

// CheckState returns an error unless the state of a reply is one that a server of this state directory has given out.
// Whether it fits the call that brings it is another matter: one that does not counts as no answer.
func (g *Gate) CheckState(ctx context.Context, state string) error {
	text, _, found := strings.Cut(state, ".")
	if !found || g.ledger == nil {
		return errForged
	}
	signed, err := g.sign(ctx, text)
	if err == nil && !sameState(signed, state) {
		err = errForged
	}
	return err
}
