package checks

import (
	"bytes"
	"encoding/json"
	"errors"
	"go/parser"
	"go/scanner"
	"go/token"
	"strings"

	"github.com/goccy/go-yaml"
	yamlparser "github.com/goccy/go-yaml/parser"
	"github.com/pelletier/go-toml/v2"

	"writ/notes"
)

// findInGo finds the syntax errors of a Go file, the first of each line: those that follow on it come of that one.
func findInGo(text []byte) Found {
	files := token.NewFileSet()
	_, err := parser.ParseFile(files, "", text, parser.AllErrors|parser.SkipObjectResolution)
	list, ok := errors.AsType[scanner.ErrorList](err)
	if err != nil && !ok {
		return Found{Problems: []Problem{{Message: err.Error()}}}
	}
	list.RemoveMultiples()
	var found Found
	for _, e := range list {
		// Where a //line comment says otherwise, the offset still tells the place.
		line, column := position(text, e.Pos.Offset)
		found.Problems = append(found.Problems, Problem{line, column, e.Msg})
	}
	return found
}

// findInJSON finds the first syntax error. Some programs read JSON with comments; their files are left to them.
func findInJSON(text []byte) Found {
	var whole json.RawMessage
	err := json.Unmarshal(text, &whole)
	if err == nil {
		return Found{}
	}
	syntax, ok := errors.AsType[*json.SyntaxError](err)
	if !ok {
		return Found{Problems: []Problem{{Message: err.Error()}}}
	}
	at := max(0, int(syntax.Offset)-1)
	if at < len(text) && text[at] == '/' {
		return Found{Skipped: "The file has comments, which JSON does not know."}
	}
	if at == len(text)-1 && syntax.Error() == "unexpected end of JSON input" {
		at++ // it is behind the last byte that something is missing
	}
	line, column := position(text, at)
	return Found{Problems: []Problem{{line, column, syntax.Error()}}}
}

const (
	maxYAML      = 8 << 10 // the parser takes 0.3 ms for each KiB, and hostile text makes it take the square
	maxYAMLDepth = 64      // brackets inside brackets, and dashes on a line
)

// findInYAML finds the first syntax error of a YAML file.
func findInYAML(text []byte) Found {
	if isDeep(text) {
		return Found{Skipped: "The file is nested too deeply to be checked."}
	}
	_, err := yamlparser.ParseBytes(text, 0)
	if err == nil {
		return Found{}
	}
	if bytes.Contains(text, []byte("{{")) || bytes.Contains(text, []byte("{%")) {
		return Found{Skipped: "The file is a template, not YAML yet."}
	}
	p := Problem{Message: oneLine(err.Error())}
	if e, ok := errors.AsType[yaml.Error](err); ok {
		p.Message = oneLine(e.GetMessage())
		if t := e.GetToken(); t != nil && t.Position != nil {
			p.Line, p.Column = max(t.Position.Line, 1), max(t.Position.Column, 1)
		}
	}
	return Found{Problems: []Problem{p}}
}

// isDeep tells whether the parser, which is recursive, could cost more than the size of a text allows for.
func isDeep(text []byte) bool {
	brackets := 0
	for line := range bytes.Lines(text) {
		dashes := 0
		for i, c := range line {
			switch c {
			case '[', '{':
				brackets++
			case ']', '}':
				brackets = max(0, brackets-1)
			case '-', '?':
				if i+1 < len(line) && line[i+1] == ' ' {
					dashes++
				}
			}
			if brackets > maxYAMLDepth || dashes > maxYAMLDepth {
				return true
			}
		}
	}
	return false
}

func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

// findInTOML finds the first error of a TOML file, keys that are given twice included.
func findInTOML(text []byte) Found {
	var all map[string]any
	err := toml.Unmarshal(text, &all)
	if err == nil {
		return Found{}
	}
	p := Problem{Message: strings.TrimPrefix(err.Error(), "toml: ")}
	if e, ok := errors.AsType[*toml.DecodeError](err); ok {
		line, column := e.Position()
		p.Line, p.Column = position(text, lineStart(text, line)+column-1)
	}
	return Found{Problems: []Problem{p}}
}

// findInFrontMatter finds the first error of the front matter of a note.
func findInFrontMatter(text []byte) Found {
	block, line := notes.FrontMatter(text)
	if line == 0 {
		return Found{Nothing: true}
	}
	if len(block) > maxYAML {
		return Found{Skipped: "The front matter is too large to be checked."}
	}
	found := findInYAML(block)
	for i := range found.Problems {
		if found.Problems[i].Line > 0 {
			found.Problems[i].Line += line - 1
		}
	}
	return found
}
