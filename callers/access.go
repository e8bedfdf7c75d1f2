package callers

import "context"

type accessTokens struct{}

func (a *accessTokens) subjectOf(context.Context, string) (string, error) { return "", invalid }
