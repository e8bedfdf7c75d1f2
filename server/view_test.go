package server

import (
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"regexp"
	"strings"
	"testing"
)

const announcing = `{"extensions":{"io.modelcontextprotocol/ui":{"mimeTypes":["text/html;profile=mcp-app"]}}}`

// Only a client that says that it shows views is told of one, in both eras; for all others the list is as it was.
func TestViewsAreToldToThoseWhoShowThem(t *testing.T) {
	house, _ := realGate(t)
	list := func(lines ...string) string {
		t.Helper()
		c := connectTo(t, house)
		last := ""
		for _, line := range lines {
			c.send(line + "\n")
			last = c.next()
		}
		return last
	}
	hello := func(capabilities string) string {
		return requestLine("1", "initialize", `{"protocolVersion":"2025-11-25","capabilities":`+capabilities+`,"clientInfo":{"name":"host","version":"1"}}`)
	}
	modern := func(capabilities string) string {
		return requestLine("2", "tools/list", `{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":`+capabilities+`,"io.modelcontextprotocol/clientInfo":{"name":"host","version":"1"}}}`)
	}
	const another = `{"extensions":{"io.modelcontextprotocol/ui":{"mimeTypes":["text/plain"]}}}`
	for name, lists := range map[string][3]string{
		"older":  {list(hello(announcing), requestLine("2", "tools/list", "{}")), list(hello("{}"), requestLine("2", "tools/list", "{}")), list(hello(another), requestLine("2", "tools/list", "{}"))},
		"modern": {list(modern(announcing)), list(modern("{}")), list(modern(another))},
	} {
		with, without, other := lists[0], lists[1], lists[2]
		if strings.Contains(without, "ui://") || other != without {
			t.Errorf("%s: others are told of views: %s", name, without)
		}
		if n := strings.Count(with, viewMember); n != len(viewed) || strings.ReplaceAll(with, viewMember, "") != without {
			t.Errorf("%s: %d tools have a view: %s", name, n, with)
		}
		tool := regexp.MustCompile(`\{"name":"preview_replace".*?"_meta":\{"ui":\{"resourceUri":"ui://writ/diff.html"\}`).FindString(with)
		if tool == "" || strings.Count(tool, `"annotations"`) != 1 {
			t.Errorf("%s: the preview has none: %s", name, with)
		}
	}
}

// The view is one page that holds all it needs, and allows nothing but that.
func TestViewIsOnePage(t *testing.T) {
	house, _ := realGate(t)
	c := connectTo(t, house)
	c.send(requestLine("1", "resources/read", `{"uri":"ui://writ/diff.html"}`) + "\n")
	got := decode(t, c.next())
	content := at(got, "result.contents.0")
	if at(content, "mimeType") != viewType || at(content, "uri") != viewURI || compact(t, at(content, "_meta.ui.csp")) != `{"connectDomains":[],"resourceDomains":[]}` {
		t.Fatalf("got %v", got)
	}
	page, _ := at(content, "text").(string)
	if regexp.MustCompile(`(?i)https?://|\ssrc=|\shref=|innerHTML|insertAdjacent|document\.write|eval\(`).MatchString(page) {
		t.Errorf("it reaches out, or takes text for more: %s", page)
	}
	for tag, part := range map[string]string{"script": viewScript, "style": viewStyle} {
		sum := sha256.Sum256([]byte(part))
		if hash := "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"; !strings.Contains(page, "<"+tag+">"+part+"</"+tag+">") || !strings.Contains(page, fmt.Sprintf("%s-src %s", tag, hash)) {
			t.Errorf("its %s is not the one that it allows", tag)
		}
	}
	c.send(requestLine("2", "resources/read", `{"uri":"ui://writ/other.html"}`) + "\n")
	if got := decode(t, c.next()); at(got, "error.code") == nil {
		t.Errorf("another view: %v", got)
	}
}
