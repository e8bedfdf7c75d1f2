package gate

import (
	"context"
	"errors"

	"writ/ledger"
	"writ/tools"
	"writ/workspace"
)

// artifacts is what the ledger keeps as one caller may see it: what was made for him, about files that he may read.
type artifacts struct {
	ledger *ledger.Ledger
	files  workspace.Reader
	caller string
}

// Keep keeps a for the caller alone.
func (s artifacts) Keep(_ context.Context, a tools.Artifact) (string, error) {
	if s.ledger == nil {
		return "", errors.New("there is no place to keep an artifact")
	}
	return s.ledger.KeepArtifact(ledger.Artifact{Caller: s.caller, About: a.About, Text: a.Text})
}

// Artifact returns what is kept under the name.
func (s artifacts) Artifact(ctx context.Context, name string) (tools.Artifact, error) {
	if s.ledger == nil {
		return tools.Artifact{}, ledger.UnknownArtifact(name)
	}
	a, err := s.ledger.Artifact(ctx, name)
	if err != nil {
		return tools.Artifact{}, err
	}
	if a.Caller != s.caller {
		return tools.Artifact{}, ledger.UnknownArtifact(name)
	}
	for _, p := range a.About {
		if s.files.Judge(workspace.Read, p) != nil {
			return tools.Artifact{}, ledger.UnknownArtifact(name)
		}
	}
	return tools.Artifact{Text: a.Text, About: a.About}, nil
}
