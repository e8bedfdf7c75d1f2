package workspace

import (
	"net/http"
	"strings"
)

// MediaType returns the media type of a picture or sound that MCP clients can show, judged by its first bytes alone,
// or "" for anything else.
func MediaType(data []byte) string {
	kind := http.DetectContentType(data)
	switch kind {
	case "image/png", "image/jpeg", "image/gif", "image/webp":
		return kind
	case "audio/wave":
		return "audio/wav"
	case "application/ogg":
		return "audio/ogg"
	}
	if strings.HasPrefix(kind, "audio/") {
		return kind
	}
	return ""
}
