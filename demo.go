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
)

//go:embed all:testdata/vault
var sampleVault embed.FS

func newDemo() *cobra.Command {
	return &cobra.Command{
		Use:   "demo",
		Short: "See it work on a scratch copy of the sample vault",
		Long:  "Copy the sample vault to a scratch directory and make a few real calls on it: a search, a read, an edit, the same edit again, and an escape. The directory is removed afterwards.",
		Args:  cobra.NoArgs,
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
			o := options{profile: "all", state: filepath.Join(scratch, "state"), write: []string{"projects/**"}}
			h, err := o.open([]string{vault})
			if err != nil {
				return err
			}
			defer h.finish()
			return demonstrate(cmd.Context(), cmd.OutOrStdout(), h.gate)
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
// send.
func demonstrate(ctx context.Context, out io.Writer, g *gate.Gate) error {
	edit := fmt.Sprintf(`{"path": %q, "old_text": "status: draft", "new_text": "status: review", "observed_version": "$VERSION"}`, demoNote)
	steps := []step{
		{"An agent looks for a note.", "search_notes", `{"query": "garden sensor battery"}`},
		{"It reads the note. The version names the exact bytes that it saw.", "read_file", fmt.Sprintf(`{"path": %q, "limit": 8}`, demoNote)},
		{"It edits one line, and says which version it means.", "replace_text", edit},
		{"It sends the same edit again. Nothing is done twice, and the answer says so.", "replace_text", edit},
		{"It tries to write where it may only read.", "create_file", `{"path": "people/mallory.md", "content": "x"}`},
		{"It tries to get out.", "read_file", `{"path": "../../etc/passwd"}`},
	}
	version := strings.Repeat("0", contract.VersionDigits)
	for _, s := range steps {
		arguments := strings.ReplaceAll(s.arguments, "$VERSION", version)
		e := g.Call(ctx, gate.Call{Caller: gate.CallerLocal, Client: "writ demo", Tool: s.tool, Arguments: []byte(arguments)})
		if e.Status == envelope.OK {
			version = cmp.Or(versionIn(&e), version)
		}
		fmt.Fprintf(out, "# %s\n> %s %s\n", s.why, s.tool, arguments)
		if err := printAnswer(out, &e); err != nil {
			return err
		}
		fmt.Fprintln(out)
	}
	return nil
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
