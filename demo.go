package main

import (
	"cmp"
	"context"
	"embed"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"writ/contract"
	"writ/envelope"
	"writ/gate"
	"writ/ledger"
)

//go:embed all:testdata/vault
var sampleVault embed.FS

func newDemo() *cobra.Command {
	return &cobra.Command{
		Use:   "demo",
		Short: "See it work on a scratch copy of the sample vault",
		Long: `Copy the sample vault to a scratch directory and make a few real calls on it: a search, a read, an edit, the same edit
again, a write that a person approves, and an escape. The directory is removed afterwards. It needs nothing to be set up.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			scratch, err := os.MkdirTemp("", "writ-demo-")
			if err != nil {
				return err
			}
			defer os.RemoveAll(scratch)
			vault := filepath.Join(scratch, "vault")
			if err := copyVault(vault); err != nil {
				return err
			}
			o := options{profile: "all", state: filepath.Join(scratch, "state"), write: []string{"projects/**"}, ask: []string{"recipes/**"}}
			h, err := o.open([]string{vault})
			if err != nil {
				return err
			}
			defer h.finish()
			return h.demonstrate(cmd.Context(), cmd.OutOrStdout())
		},
	}
}

func copyVault(to string) error {
	vault, err := fs.Sub(sampleVault, "testdata/vault")
	if err != nil {
		return err
	}
	return os.CopyFS(to, vault)
}

// step is one call of the demonstration.
type step struct{ why, tool, arguments string }

const demoNote = "projects/garden-sensor.md"

// demonstrate makes the calls and prints each with its answer. The version that the read returns is what the edits
// send. A call that a person must approve is approved, and made again.
func (h *house) demonstrate(ctx context.Context, out io.Writer) error {
	edit := fmt.Sprintf(`{"path": %q, "old_text": "status: draft", "new_text": "status: review", "observed_version": "$VERSION"}`, demoNote)
	steps := []step{
		{"An agent looks for a note.", "search_notes", `{"query": "garden sensor battery"}`},
		{"It reads the note. The version names the exact bytes that it saw.", "read_file", fmt.Sprintf(`{"path": %q, "limit": 8}`, demoNote)},
		{"It edits one line, and says which version it means.", "replace_text", edit},
		{"It sends the same edit again. Nothing is done twice, and the answer says so.", "replace_text", edit},
		{"It writes where a person must say yes.", "create_file", `{"path": "recipes/tea.md", "content": "Steep for three minutes.\n"}`},
		{"It tries to write where it may only read.", "create_file", `{"path": "people/mallory.md", "content": "x"}`},
		{"It tries to get out.", "read_file", `{"path": "../../etc/passwd"}`},
	}
	version := strings.Repeat("0", contract.VersionDigits)
	for _, s := range steps {
		arguments := strings.ReplaceAll(s.arguments, "$VERSION", version)
		fmt.Fprintf(out, "# %s\n", s.why)
		e, err := h.show(ctx, out, s.tool, arguments)
		if err != nil {
			return err
		}
		if e.Status == envelope.OK {
			version = cmp.Or(versionIn(&e), version)
		}
		if id := approvalIn(&e); id != "" {
			if err := h.approveAndRepeat(ctx, out, id, s.tool, arguments); err != nil {
				return err
			}
		}
		fmt.Fprintln(out)
	}
	return nil
}

// show makes one call and prints it with its answer.
func (h *house) show(ctx context.Context, out io.Writer, tool, arguments string) (envelope.Envelope, error) {
	e := h.gate.Call(ctx, gate.Call{Caller: gate.CallerLocal, Client: "writ demo", Tool: tool, Arguments: []byte(arguments)})
	fmt.Fprintf(out, "> %s %s\n", tool, arguments)
	return e, printAnswer(out, &e)
}

// approveAndRepeat does what a person and then the agent would.
func (h *house) approveAndRepeat(ctx context.Context, out io.Writer, id, tool, arguments string) error {
	fmt.Fprintf(out, "$ writ approvals approve %s\n", id)
	decided, err := decide(ctx, h.ledger, id, ledger.Decision{Approve: true})
	if err != nil {
		return err
	}
	fmt.Fprintln(out, toldState(decided))
	_, err = h.show(ctx, out, tool, arguments)
	return err
}

// approvalIn returns the approval that an answer says is needed, "" where none is.
func approvalIn(e *envelope.Envelope) string {
	for _, p := range e.Errors {
		if id, ok := p.Details["approval_id"].(string); ok && p.Code == envelope.ApprovalRequired {
			return id
		}
	}
	return ""
}

// versionIn returns the version that an answer tells of one file, "" if it tells none.
func versionIn(e *envelope.Envelope) string {
	var told struct {
		Version string `json:"version"`
	}
	if err := json.Unmarshal(e.AppendJSON(nil), &told); err != nil {
		return ""
	}
	return told.Version
}
