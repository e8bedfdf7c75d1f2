package server

import (
	"crypto/sha256"
	_ "embed" // the view's parts
	"encoding/base64"
	"slices"
	"strings"
	"sync"

	"github.com/mark3labs/mcp-go/mcp"
)

// In a host that shows views (MCP Apps), a tool that answers with a diff names the view that lays it out. The view is a
// resource: one page that holds all it needs, reaches nothing but the host, and runs nothing but its own script. Only
// clients that say that they show such views are told of it; everybody has the whole answer as text.

const (
	extensionViews = "io.modelcontextprotocol/ui"
	viewURI        = "ui://writ/diff.html"
	viewType       = "text/html;profile=mcp-app"
)

// viewed are the tools whose answers the view shows.
var viewed = []string{"preview_replace", "replace_text", "append_text", "create_file", "overwrite_file"}

// viewMember is the member of a definition that names the view: as it is specified, and as older hosts look for it.
const viewMember = `,"_meta":{"ui":{"resourceUri":"` + viewURI + `"},"ui/resourceUri":"` + viewURI + `"}`

var (
	//go:embed view/view.html
	viewHTML string
	//go:embed view/view.css
	viewStyle string
	//go:embed view/view.js
	viewScript string
)

// viewPage is the view, which allows its own style and script by their hashes.
var viewPage = sync.OnceValue(func() string {
	hash := func(text string) string {
		sum := sha256.Sum256([]byte(text))
		return base64.StdEncoding.EncodeToString(sum[:])
	}
	return strings.NewReplacer("SCRIPT-HASH", hash(viewScript), "STYLE-HASH", hash(viewStyle),
		"<script>SCRIPT", "<script>"+viewScript, "<style>STYLE", "<style>"+viewStyle).Replace(viewHTML)
})

// showsViews tells whether a client shows views of our kind.
func showsViews(c mcp.ClientCapabilities) bool {
	settings, ok := c.Extensions[extensionViews].(map[string]any)
	if !ok {
		return false
	}
	types, _ := settings["mimeTypes"].([]any)
	return slices.Contains(types, any(viewType))
}

// viewContent is the view as resources/read returns it. Empty lists of domains say that it wants no network.
type viewContent struct {
	content
	Meta struct {
		UI struct {
			CSP struct {
				Connect   []string `json:"connectDomains"`
				Resources []string `json:"resourceDomains"`
			} `json:"csp"`
			PrefersBorder bool `json:"prefersBorder"`
		} `json:"ui"`
	} `json:"_meta"`
}

func (o *offer) readView() []byte {
	page := viewPage()
	v := viewContent{content: content{URI: viewURI, MediaType: viewType, Text: &page}}
	v.Meta.UI.CSP.Connect, v.Meta.UI.CSP.Resources, v.Meta.UI.PrefersBorder = []string{}, []string{}, true
	return o.result(struct {
		Contents []viewContent `json:"contents"`
	}{[]viewContent{v}}, nil, listTTL)
}
