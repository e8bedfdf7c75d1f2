// Package checks looks at text that was written and tells what is wrong with it, so that a caller learns at once that
// written is not yet right. It decides nothing: a text that fails a check stays written.
//
// What a checker finds in a text is compared with what it finds in the text before, since only a problem that was not
// there before can be called new. The built-in checkers parse and do no more: they look at nothing but the text, and
// each is bounded by the size of the texts that it takes to a few milliseconds.
package checks

import (
	"bytes"
	"context"
	"fmt"
	"path"
	"strings"
)

// Problem is one thing that is wrong in a text.
type Problem struct {
	Line    int // from 1; 0 where the checker does not say
	Column  int // in characters, from 1; 0 where the checker does not say
	Message string
}

// Found is what a checker found in one text.
type Found struct {
	Problems []Problem
	Skipped  string // why the checker did not look; "" where it did
	Nothing  bool   // the text holds nothing that the checker is for
}

// Checker finds what is wrong with a text.
type Checker interface {
	// Name is the checker as callers know it.
	Name() string
	// FindsAll tells whether a look finds all problems, and not only the first.
	FindsAll() bool
	// Find looks at a text of the file of that base name. The text is UTF-8 without byte order mark.
	Find(ctx context.Context, base string, text []byte) Found
}

// builtin is a checker that parses.
type builtin struct {
	name  string
	most  int // the size of the largest text that is looked at, in bytes: a few milliseconds' work
	all   bool
	parse func(text []byte) Found
}

func (b *builtin) Name() string   { return b.name }
func (b *builtin) FindsAll() bool { return b.all }

// Find parses the text. A parser that panics has found nothing: it meets text that nobody has tried on it.
func (b *builtin) Find(_ context.Context, _ string, text []byte) (f Found) {
	if len(text) > b.most {
		return Found{Skipped: fmt.Sprintf("The file has %d bytes of text, and %s is checked up to %d.", len(text), b.name, b.most)}
	}
	defer func() {
		if recover() != nil {
			f = Found{Skipped: "The checker failed on this text."}
		}
	}()
	return b.parse(text)
}

var (
	goChecker    = &builtin{name: "go", most: 256 << 10, all: true, parse: findInGo}
	jsonChecker  = &builtin{name: "json", most: 512 << 10, parse: findInJSON}
	yamlChecker  = &builtin{name: "yaml", most: maxYAML, parse: findInYAML}
	tomlChecker  = &builtin{name: "toml", most: 128 << 10, parse: findInTOML}
	xmlChecker   = &builtin{name: "xml", most: 128 << 10, parse: findInXML}
	frontChecker = &builtin{name: "front-matter", most: 32 << 20, parse: findInFrontMatter}
)

var byExtension = map[string]*builtin{
	".go":   goChecker,
	".json": jsonChecker, ".webmanifest": jsonChecker, ".geojson": jsonChecker,
	".yaml": yamlChecker, ".yml": yamlChecker,
	".toml": tomlChecker,
	".xml":  xmlChecker, ".svg": xmlChecker, ".xsd": xmlChecker, ".xsl": xmlChecker, ".plist": xmlChecker, ".csproj": xmlChecker,
	".md": frontChecker, ".markdown": frontChecker,
}

// For returns the built-in checkers of a file by its base name.
func For(base string) []Checker {
	if c := byExtension[strings.ToLower(path.Ext(base))]; c != nil {
		return []Checker{c}
	}
	return nil
}

// position returns line and column of a byte of the text.
func position(text []byte, offset int) (line, column int) {
	before := string(text[:max(0, min(offset, len(text)))])
	line = strings.Count(before, "\n") + 1
	return line, len([]rune(before[strings.LastIndexByte(before, '\n')+1:])) + 1
}

// lineStart returns where the line of that number starts.
func lineStart(text []byte, line int) int {
	at := 0
	for n := 1; n < line; n++ {
		i := bytes.IndexByte(text[at:], '\n')
		if i < 0 {
			return len(text)
		}
		at += i + 1
	}
	return at
}
