package notes

import (
	"bytes"
	"path"
	"slices"
	"strings"
	"unicode"

	"writ/contract"
)

// Note is what a Markdown note says about itself. Lines count from 1 at the start of the file.
type Note struct {
	Path     contract.Path
	Title    string // that of the front matter, else the first heading of level 1, else the file's name
	Aliases  []string
	Tags     []string // without '#', as written, each once; those of the front matter first
	Headings []Heading
	Links    []Link
	// Body is the offset of the first byte after the front matter.
	Body int

	marks marks
}

// Heading is one heading of a note, its text as written.
type Heading struct {
	Level int // 1 to 6
	Line  int
	Text  string
}

// Link is a link from one note to another place.
type Link struct {
	Target string // as written: a note's name or path, perhaps with #heading, or a URL
	Text   string // what is shown, "" where the link says nothing of its own
	Line   int
}

// The visibilities that a policy can set.
const (
	VisibilityUnmarked = "unmarked" // all but notes marked private
	VisibilityPublic   = "public"   // only notes marked public
)

// Hidden tells whether the note is to be kept from callers, see [Hides].
func (n Note) Hidden(visibility string) bool { return n.marks.hidden(visibility) }

// Parse reads what a note says about itself. Nothing in a note is an error: what can't be understood is text.
func Parse(path contract.Path, text []byte) Note {
	block, body := splitFrontMatter(text)
	note := Note{Path: path, Body: body, marks: marksIn(text)}
	props := readProperties(block)
	note.readBody(text[body:], 1+bytes.Count(text[:body], []byte("\n")))
	note.Title = note.titleFrom(props)
	note.Aliases = slices.Concat(props.list("aliases", oneItem), props.list("alias", oneItem))
	note.Tags = distinctTags(props.list("tags", splitTags), props.list("tag", splitTags), note.Tags)
	return note
}

func (n *Note) titleFrom(props properties) string {
	if title := props.text("title"); title != "" {
		return title
	}
	for _, h := range n.Headings {
		if h.Level == 1 && h.Text != "" {
			return h.Text
		}
	}
	return stem(n.Path)
}

// stem returns a file's name without its extension.
func stem(p contract.Path) string {
	base := p.Base()
	if s := strings.TrimSuffix(base, path.Ext(base)); s != "" {
		return s
	}
	return base
}

func oneItem(s string) []string {
	if s = strings.TrimSpace(s); s == "" {
		return nil
	}
	return []string{s}
}

func splitTags(s string) []string {
	return strings.FieldsFunc(s, func(r rune) bool { return r == ',' || r == '，' || unicode.IsSpace(r) })
}

func distinctTags(lists ...[]string) []string {
	var tags []string
	seen := map[string]bool{}
	for _, tag := range slices.Concat(lists...) {
		tag = strings.Trim(tag, "# \t\r\n/")
		if key := fold(tag); tag != "" && !seen[key] {
			seen[key] = true
			tags = append(tags, tag)
		}
	}
	return tags
}

// hasTag tells whether the note has a tag, or one below it: research has research/ai. wanted is folded.
func (n *Note) hasTag(wanted string) bool {
	return slices.ContainsFunc(n.Tags, func(tag string) bool {
		below, found := strings.CutPrefix(fold(tag), wanted)
		return found && (below == "" || below[0] == '/')
	})
}

// headingAt returns the text of the nearest heading at or above a line.
func (n *Note) headingAt(line int) string {
	text := ""
	for _, h := range n.Headings {
		if h.Line > line {
			break
		}
		text = h.Text
	}
	return text
}
