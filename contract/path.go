package contract

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"writ/envelope"
)

// Bounds of a path, in bytes; those of Linux.
const (
	MaxPath    = 4096
	MaxSegment = 255
)

// Path names a place inside the roots: segments joined by '/', in the names' exact bytes. With several roots the first
// segment is the mount. The zero Path is the top. Only [ParsePath] and the methods below make one, so none holds an
// empty, "." or ".." segment.
type Path struct{ s string }

// ParsePath returns name as a Path, or an Error of code path-not-allowed. The grammar is that of io/fs.ValidPath
// without ".", and without anything that another system reads as absolute or as a step up.
func ParsePath(name string) (Path, error) {
	switch {
	case name == "":
		return Path{}, notAllowedPath(name, "it is empty. Give a path relative to the root, such as docs/plan.md.")
	case len(name) > MaxPath:
		return Path{}, notAllowedPath(name, fmt.Sprintf("it has more than %d bytes.", MaxPath))
	case !utf8.ValidString(name):
		return Path{}, notAllowedPath(name, "it is not valid UTF-8.")
	case strings.IndexByte(name, 0) >= 0:
		return Path{}, notAllowedPath(name, "it holds a NUL character.")
	case isAbsolute(name):
		// The path goes along for the gate, which may know the relative form.
		return Path{}, notAllowedPath(name, "it is absolute. Give a path relative to the root, such as docs/plan.md.").With("path", name)
	}
	for segment := range strings.SplitSeq(name, "/") {
		switch {
		case segment == "":
			return Path{}, notAllowedPath(name, "it has an empty segment. Write one slash between names and none at the end.")
		case segment == "." || segment == "..":
			return Path{}, notAllowedPath(name, "it has a "+segment+" segment. Name the place itself, relative to the root.")
		case len(segment) > MaxSegment:
			return Path{}, notAllowedPath(name, fmt.Sprintf("one of its names has more than %d bytes.", MaxSegment))
		case climbs(segment):
			return Path{}, notAllowedPath(name, `it steps up with a backslash. Separate names with "/".`)
		}
	}
	return Path{name}, nil
}

func notAllowedPath(name, why string) *envelope.Error {
	return envelope.Errorf(envelope.PathNotAllowed, "The path %s is not allowed: %s", Quote(name), why)
}

// isAbsolute also knows the absolute forms of Windows, so that C:\x is refused and not taken for a name.
func isAbsolute(name string) bool {
	if name[0] == '/' || strings.HasPrefix(name, `\\`) {
		return true
	}
	letter := name[0] | 0x20
	return len(name) >= 3 && letter >= 'a' && letter <= 'z' && name[1] == ':' && (name[2] == '\\' || name[2] == '/')
}

// climbs tells whether a backslash in the segment would make a step up on Windows.
func climbs(segment string) bool {
	if strings.IndexByte(segment, '\\') < 0 {
		return false
	}
	for part := range strings.SplitSeq(segment, `\`) {
		if part == ".." {
			return true
		}
	}
	return false
}

func (p Path) String() string { return p.s }

// IsTop tells whether p is the top: the root itself, or with several roots the place where they are mounted.
func (p Path) IsTop() bool { return p.s == "" }

// Segments returns the names that p is made of; none for the top.
func (p Path) Segments() []string {
	if p.s == "" {
		return nil
	}
	return strings.Split(p.s, "/")
}

// Base returns the last segment, "" for the top.
func (p Path) Base() string { return p.s[strings.LastIndexByte(p.s, '/')+1:] }

// Dir returns the path without its last segment.
func (p Path) Dir() Path {
	if i := strings.LastIndexByte(p.s, '/'); i >= 0 {
		return Path{p.s[:i]}
	}
	return Path{}
}

// Join returns the place name in p. name is one segment as a directory lists it; a name that no path can hold (with a
// slash or NUL, empty, "." or "..") panics, since no file system lists one.
func (p Path) Join(name string) Path {
	if name == "" || name == "." || name == ".." || strings.ContainsAny(name, "/\x00") {
		panic("contract: " + Quote(name) + " is no segment of a path")
	}
	if p.s == "" {
		return Path{name}
	}
	return Path{p.s + "/" + name}
}

// Below tells whether p is dir or lies in it. Segments are compared whole.
func (p Path) Below(dir Path) bool {
	return dir.s == "" || p.s == dir.s || strings.HasPrefix(p.s, dir.s) && p.s[len(dir.s)] == '/'
}

// Mount splits off the first segment, which names the root where there are several.
func (p Path) Mount() (mount string, rest Path) {
	mount, after, _ := strings.Cut(p.s, "/")
	return mount, Path{after}
}

// Quote returns s in double quotes for a message, with everything escaped that a terminal or a reader could take for
// something else: control, bidi and zero-width characters, and invalid UTF-8. It cuts a text of more than 200 bytes.
func Quote(s string) string {
	const most = 200
	if len(s) > most {
		cut := most
		for cut > 0 && !utf8.RuneStart(s[cut]) {
			cut--
		}
		return fmt.Sprintf("%+q…", s[:cut])
	}
	if isPlain(s) {
		return `"` + s + `"`
	}
	return quoteVisible(s)
}

func isPlain(s string) bool {
	for i := 0; i < len(s); i++ {
		if s[i] < ' ' || s[i] >= 0x7f || s[i] == '"' || s[i] == '\\' {
			return false
		}
	}
	return true
}

// AppendText makes a path appear in JSON as its text.
func (p Path) AppendText(b []byte) ([]byte, error) { return append(b, p.s...), nil }
