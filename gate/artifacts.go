package gate

import (
	"context"
	"errors"
	"log/slog"

	"writ/ledger"
	"writ/tools"
	"writ/workspace"
)

// artifacts is what the ledger keeps as one caller may see it: what was made for him, about files that he may read.
type artifacts struct {
	ledger  *ledger.Ledger
	files   workspace.Reader
	notes   noteFinder
	mayTell teller
	caller  string
	redact  bool // secrets are kept back
	tool    bool // there is read_artifact
	log     *slog.Logger
}

// Keep keeps a for the caller alone.
func (s artifacts) Keep(_ context.Context, a tools.Artifact) (string, error) {
	if s.ledger == nil {
		return "", errors.New("there is no place to keep an artifact")
	}
	name, err := s.ledger.KeepArtifact(ledger.Artifact{Caller: s.caller, About: a.About, Names: a.Names, Clean: s.redact, Query: a.Query, Text: a.Text})
	if err != nil {
		s.log.Warn("a result could not be kept", "error", err)
	}
	return name, err
}

// Names lists the caller's artifacts, newest first.
func (s artifacts) Names(most int) []string {
	if s.ledger == nil {
		return nil
	}
	names, err := s.ledger.Artifacts(s.caller, most)
	if err != nil {
		s.log.Warn("the artifacts could not be listed", "error", err)
	}
	return names
}

// HowToRead tells of the tool, where the caller has it.
func (s artifacts) HowToRead(name string) string {
	if s.tool {
		return "read_artifact with " + name + " reads it"
	}
	return "the MCP resource " + name
}

// answerAnew lists the notes that answer a query now.
func (s artifacts) answerAnew(ctx context.Context, query string) (tools.Artifact, error) {
	result, err := s.notes.SearchNotes(ctx, query, tools.ListedNotes)
	if err != nil {
		return tools.Artifact{}, err
	}
	a := tools.Artifact{Text: tools.ListNotes(result)}
	for _, m := range result.Matches {
		a.About = append(a.About, m.Path)
	}
	return a, nil
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
	if a.Query != "" {
		return s.answerAnew(ctx, a.Query)
	}
	for _, p := range a.About {
		if a.Names && s.files.Judge(workspace.Read, p) != nil || !a.Names && !s.mayTell(ctx, p) {
			return tools.Artifact{}, ledger.UnknownArtifact(name)
		}
	}
	if s.redact && !a.Clean { // it was made under another policy
		a.Text = workspace.Redact(Secrets{}, a.Text)
	}
	return tools.Artifact{Text: a.Text, About: a.About, Names: a.Names}, nil
}
