package server

import (
	"net/url"
	"strconv"
	"strings"

	"writ/contract"
	"writ/tools"
)

// Resources have these URIs. A path is percent-encoded, its slashes as they are; an artifact's URI is its name. Behind it
// may stand ?offset=N, to go on where a resource was cut.
const (
	filesURI    = "writ://files/"
	notesURI    = "writ://notes/"
	changesURI  = "writ://changes/"
	artifactURI = "artifact:"
)

var uriPrefixes = map[string]string{
	tools.KindFile: filesURI, tools.KindNote: notesURI, tools.KindChange: changesURI, tools.KindArtifact: artifactURI,
}

// address is a resource's URI, taken apart.
type address struct {
	kind   string
	name   string // a path; of an artifact or a change its name
	offset int
}

// parseAddress reads a URI; ok is false where it can't be that of a resource.
func parseAddress(uri string) (a address, ok bool) {
	rest, query, asks := strings.Cut(uri, "?")
	if asks {
		digits, isOffset := strings.CutPrefix(query, "offset=")
		n, err := strconv.Atoi(digits)
		if !isOffset || err != nil || n < 0 {
			return address{}, false
		}
		a.offset = n
	}
	for kind, prefix := range uriPrefixes {
		name, found := strings.CutPrefix(rest, prefix)
		if !found {
			continue
		}
		a.kind = kind
		if kind == tools.KindArtifact {
			a.name = rest
			return a, name != ""
		}
		decoded, err := url.PathUnescape(name)
		a.name = decoded
		return a, err == nil && decoded != "" && !strings.Contains(name, "#")
	}
	return address{}, false
}

func (a address) hasPath() bool { return a.kind == tools.KindFile || a.kind == tools.KindNote }

// path returns the path that the resource is at; the top where it is at none, or that is none.
func (a address) path() contract.Path {
	if !a.hasPath() {
		return contract.Path{}
	}
	p, err := contract.ParsePath(a.name)
	if err != nil {
		return contract.Path{}
	}
	return p
}

// String returns the URI.
func (a address) String() string {
	if a.kind == tools.KindArtifact {
		return a.name
	}
	segments := strings.Split(a.name, "/")
	for i, s := range segments {
		segments[i] = url.PathEscape(s)
	}
	return uriPrefixes[a.kind] + strings.Join(segments, "/")
}
