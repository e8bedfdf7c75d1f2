package server

import (
	"context"

	"github.com/mark3labs/mcp-go/mcp"

	"writ/tools"
)

// complete completes an argument of a resource template or of a prompt.
func (o *offer) complete(ctx context.Context) ([]byte, *fault) {
	var params struct {
		Ref      struct{ Type, URI, Name string }
		Argument struct {
			Name  string
			Value *string
		}
	}
	if f := o.into(&params); f != nil {
		return nil, f
	}
	what, known := "", false
	switch params.Ref.Type {
	case "ref/resource":
		what, known = ofTemplate(params.Ref.URI, params.Argument.Name)
	case "ref/prompt":
		what, known = ofPrompt(params.Ref.Name, params.Argument.Name)
	}
	if !known || params.Argument.Value == nil {
		return nil, o.fault(mcp.INVALID_PARAMS, "There is no such template or prompt, or it has no such argument")
	}
	words := &tools.Completions{Values: []string{}}
	if what != "" {
		e := o.serve(ctx, "complete_word", map[string]string{"what": what, "start": *params.Argument.Value})
		found, ok := e.Body.(*tools.Completions)
		if e.IsError() || !ok {
			return nil, o.refusal("", &e)
		}
		words = found
	}
	type completion struct {
		Values []string `json:"values"`
		Total  *int     `json:"total,omitempty"`
		More   bool     `json:"hasMore"`
	}
	c := completion{Values: words.Values, Total: &words.Total, More: words.More}
	if words.More && words.Total <= len(words.Values) {
		c.Total = nil // nobody has counted them
	}
	return o.result(struct {
		Completion completion `json:"completion"`
	}{c}, nil, unstated), nil
}

// ofTemplate tells what a template's variable stands for; "" for what can't be completed.
func ofTemplate(uri, variable string) (what string, known bool) {
	for _, t := range templates {
		if t.URI != uri {
			continue
		}
		if variable == t.variable {
			return t.kind, true
		}
		return "", variable == "offset" && t.kind != tools.KindChange
	}
	return "", false
}
