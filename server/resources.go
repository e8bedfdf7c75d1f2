package server

import (
	"context"
	"encoding/base64"
	"fmt"
	"time"

	"github.com/mark3labs/mcp-go/mcp"

	"writ/tools"
)

// template is a resource template as clients see it.
type template struct {
	URI         string `json:"uriTemplate"`
	Name        string `json:"name"`
	Title       string `json:"title"`
	Description string `json:"description"`
	MediaType   string `json:"mimeType,omitempty"`

	kind, variable string
}

// templates are all kinds of resources, one template each.
var templates = []template{
	{filesURI + "{+path}{?offset}", "file", "A file", "The text of a file, or a picture or sound, by its path relative to the root. offset: lines to skip.", "", tools.KindFile, "path"},
	{notesURI + "{+path}{?offset}", "note", "A note", "A Markdown note by its path relative to the root. offset: lines to skip.", "text/markdown", tools.KindNote, "path"},
	{changesURI + "{change}", "change", "A change", "What one change did: its facts in one line of JSON, then its diff.", "text/x-diff", tools.KindChange, "change"},
	{artifactURI + "{name}{?offset}", "artifact", "A result that was too large", "What an answer had no room for, by the artifact that it named. offset: bytes to skip.", "text/plain", tools.KindArtifact, "name"},
}

var templateList = struct {
	Templates []template `json:"resourceTemplates"`
}{templates}

// listed is a resource as clients see it.
type listed struct {
	URI         string       `json:"uri"`
	Name        string       `json:"name"`
	Title       string       `json:"title,omitempty"`
	MediaType   string       `json:"mimeType,omitempty"`
	Size        int64        `json:"size,omitempty"`
	Annotations *annotations `json:"annotations,omitempty"`
}

type annotations struct {
	Modified time.Time `json:"lastModified"`
}

func (o *offer) listResources(ctx context.Context) ([]byte, *fault) {
	if o.asksForPage() {
		return nil, o.fault(mcp.INVALID_PARAMS, "There is one page. Leave the cursor out")
	}
	e := o.serve(ctx, "list_resources", struct{}{})
	list, ok := e.Body.(*tools.ResourceList)
	if e.IsError() || !ok {
		return nil, o.refusal("", &e)
	}
	all := make([]listed, len(list.Resources))
	for i, r := range list.Resources {
		all[i] = ofResource(r)
	}
	return o.result(struct {
		Resources []listed `json:"resources"`
	}{all}, nil, notKept), nil
}

func ofResource(r tools.ListedResource) listed {
	a := address{kind: r.Kind, name: r.Name}
	if a.hasPath() {
		a.name = r.Path.String()
	}
	l := listed{URI: a.String(), Name: a.name, Title: r.Title, MediaType: r.MediaType, Size: r.Size}
	if !r.Modified.IsZero() {
		l.Annotations = &annotations{r.Modified}
	}
	return l
}

// content is what a resource holds.
type content struct {
	URI       string  `json:"uri"`
	MediaType string  `json:"mimeType,omitempty"`
	Text      *string `json:"text,omitempty"`
	Blob      string  `json:"blob,omitempty"`
}

// metaAnswer is the member of _meta that holds the envelope of what is no answer to a tools/call.
const metaAnswer = "writ/answer"

func (o *offer) readResource(ctx context.Context) ([]byte, *fault) {
	var params struct {
		URI string `json:"uri"`
	}
	if f := o.into(&params); f != nil {
		return nil, f
	}
	if params.URI == viewURI {
		return o.readView(), nil
	}
	read, answer, f := o.read(ctx, params.URI)
	if f != nil {
		return nil, f
	}
	extra := append([]byte(`"`+metaAnswer+`":`), answer...)
	return o.result(struct {
		Contents []content `json:"contents"`
	}{[]content{read}}, extra, notKept), nil
}

// read reads a resource, and returns the envelope too.
func (o *offer) read(ctx context.Context, uri string) (content, []byte, *fault) {
	a, ok := parseAddress(uri)
	if !ok {
		return content{}, nil, o.noResource(uri)
	}
	e := o.serve(ctx, "read_resource", a.arguments())
	r, ok := e.Body.(*tools.Resource)
	if e.IsError() || !ok {
		return content{}, nil, o.refusal(uri, &e)
	}
	c := content{URI: uri, MediaType: r.MediaType}
	switch {
	case e.Media != nil:
		c.Blob = base64.StdEncoding.EncodeToString(e.Media.Data)
	case len(e.Texts) == 1:
		c.Text = &e.Texts[0]
	default:
		return content{}, nil, o.fault(mcp.INTERNAL_ERROR, "The server failed")
	}
	return c, e.AppendJSON(nil), nil
}

// noResource answers a URI that no resource can have.
func (o *offer) noResource(uri string) *fault {
	code := mcp.INVALID_PARAMS
	if !o.isModern() {
		code = mcp.RESOURCE_NOT_FOUND
	}
	f := o.fault(code, "There is no such resource. resources/templates/list tells the forms that a URI can have")
	f.data = map[string]string{"uri": uri}
	return f
}

func (a address) arguments() any {
	arguments := map[string]any{"kind": a.kind, "offset": a.offset}
	if a.hasPath() {
		arguments["path"] = a.name
	} else {
		arguments["name"] = a.name
	}
	return arguments
}

// subscribe keeps in mind that a client before 2026-07-28 wants to be told of changes.
func (o *offer) subscribe(ctx context.Context) ([]byte, *fault) {
	uri, f := o.subscribed()
	if f != nil {
		return nil, f
	}
	if !o.subs.add(ctx, uri) {
		return nil, o.fault(mcp.INVALID_PARAMS, fmt.Sprintf("More than %d subscriptions are not kept", mostSubscriptions))
	}
	return []byte("{}"), nil
}

func (o *offer) unsubscribe() ([]byte, *fault) {
	uri, f := o.subscribed()
	if f != nil {
		return nil, f
	}
	o.subs.remove(uri)
	return []byte("{}"), nil
}

func (o *offer) subscribed() (string, *fault) {
	var params struct {
		URI string `json:"uri"`
	}
	if f := o.into(&params); f != nil {
		return "", f
	}
	if _, ok := parseAddress(params.URI); !ok {
		return "", o.noResource(params.URI)
	}
	if o.subs == nil {
		return "", o.fault(mcp.INVALID_REQUEST, "There is no session to keep a subscription in")
	}
	return params.URI, nil
}
