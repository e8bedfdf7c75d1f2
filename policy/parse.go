package policy

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/goccy/go-yaml/ast"
	"github.com/spf13/afero"
	"golang.org/x/text/encoding/htmlindex"

	"writ/contract"
	"writ/envelope"
)

// maxFile bounds a policy file, in bytes.
const maxFile = 64 << 10

// Load reads the policy file. What is wrong in it is returned as [Mistakes].
func Load(fs afero.Fs, file string) (Config, error) {
	info, err := fs.Stat(file)
	if err != nil {
		return Config{}, fmt.Errorf("find the policy: %w", err)
	}
	if info.Size() > maxFile {
		return Config{}, Mistakes{{File: file, Message: fmt.Sprintf("A policy has at most %d bytes.", maxFile)}}
	}
	data, err := afero.ReadFile(fs, file)
	if err != nil {
		return Config{}, fmt.Errorf("read the policy: %w", err)
	}
	return Parse(data, file)
}

// Parse reads a policy, YAML or JSON, that was found in the file name. What is wrong in it is returned as [Mistakes].
func Parse(data []byte, name string) (Config, error) {
	r := &reader{file: name}
	c := Default()
	c.File = name
	if body := r.document(bytes.TrimPrefix(data, []byte("\ufeff"))); body != nil {
		r.policy(body, &c)
	}
	if len(r.mistakes) > 0 {
		slices.SortStableFunc(r.mistakes, func(a, b Mistake) int { return a.Line - b.Line })
		return Config{}, r.mistakes
	}
	return c, nil
}

func (r *reader) policy(n ast.Node, c *Config) {
	var callers ast.Node
	r.mapping(n, "the policy", []field{
		{"roots", func(n ast.Node) { c.Roots = r.roots(n) }},
		{"scope", func(n ast.Node) { c.Scope = r.scope(n) }},
		{"notes", func(n ast.Node) { c.Notes = r.notes(n) }},
		{"limits", func(n ast.Node) { c.Limits = r.limits(n) }},
		{"encodings", func(n ast.Node) { c.Encodings = r.encodings(n) }},
		{"audit", func(n ast.Node) { c.Audit = r.audit(n) }},
		{"redact", func(n ast.Node) {
			if value, ok := r.truth(n, "redact"); ok {
				c.Redact = value
			}
		}},
		{"programs", func(n ast.Node) { c.Programs = r.programs(n) }},
		{"callers", func(n ast.Node) { c.Callers, callers = r.callers(n), n }},
		{"oauth", func(n ast.Node) { c.OAuth = r.oauth(n) }},
		{"checks", func(n ast.Node) { c.Checks = r.checks(n) }},
	})
	if fault := subjectFault(c.Callers, c.OAuth); fault != "" {
		r.fault(callers, "%s", fault)
	}
}

func (r *reader) roots(n ast.Node) []Root {
	var roots []Root
	var places []ast.Node
	r.items(n, "roots", "[{path: docs}]", func(n ast.Node) {
		before := len(r.mistakes)
		root := r.root(n)
		if len(r.mistakes) == before {
			roots, places = append(roots, root), append(places, n)
		}
	})
	for i, message := range rootFaults(roots) {
		if message != "" {
			r.fault(places[i], "%s", message)
		}
	}
	return roots
}

func (r *reader) root(n ast.Node) Root {
	var root Root
	before := len(r.mistakes)
	r.mapping(n, "a root", []field{
		{"path", func(n ast.Node) {
			path, ok := r.text(n, "The path of a root", "docs")
			if ok && (path == "" || strings.Contains(path, "\x00")) {
				r.fault(n, `The path of a root must name a directory, such as "docs".`)
			}
			root.Given = path
		}},
		{"name", func(n ast.Node) {
			name, ok := r.text(n, "The name of a root", "docs")
			if fault := mountFault(name); ok && fault != "" {
				r.fault(n, "%s", fault)
			}
			root.Name = name
		}},
	})
	if root.Given == "" && len(r.mistakes) == before {
		r.fault(n, "A root needs a path.")
	}
	root.Path = filepath.FromSlash(root.Given)
	if !filepath.IsAbs(root.Path) {
		root.Path = filepath.Join(filepath.Dir(r.file), root.Path)
	}
	return root
}

// mountFault says what is wrong with a mount name, "" if nothing is. It is one segment of a path, and globs can spell it.
func mountFault(name string) string {
	quoted := contract.Quote(name)
	switch {
	case strings.ContainsAny(name, `/\`):
		return "The root's name " + quoted + " holds a slash; it is one name, not a path."
	case strings.HasPrefix(name, "."):
		return "The root's name " + quoted + " begins with a dot, which would hide it."
	case strings.ContainsAny(name, "*?[]{},"):
		return "The root's name " + quoted + " holds a character that means something else in a glob."
	}
	if _, err := contract.ParsePath(name); err != nil {
		return "The root's name " + quoted + " can't be the first name of a path."
	}
	return ""
}

// rootFaults says for each root what is wrong with it beside the others, "" if nothing is.
func rootFaults(roots []Root) []string {
	faults := make([]string, len(roots))
	if len(roots) < 2 {
		return faults
	}
	taken := make(map[string]bool, len(roots))
	for i, root := range roots {
		switch {
		case root.Name == "":
			faults[i] = "Each of several roots needs a name, since its paths begin with it."
		case taken[root.Name]:
			faults[i] = "The root's name " + contract.Quote(root.Name) + " is taken by a root before it."
		}
		taken[root.Name] = true
	}
	return faults
}

func (r *reader) scope(n ast.Node) *Scope {
	var s Scope
	r.mapping(n, "scope", []field{
		{"read", func(n ast.Node) { s.Read = r.globs(n, "scope.read") }},
		{"write", func(n ast.Node) { s.Write = r.globs(n, "scope.write") }},
		{"ask", func(n ast.Node) { s.Ask = r.globs(n, "scope.ask") }},
	})
	return &s
}

// globs reads a list of globs. An empty list is not nil.
func (r *reader) globs(n ast.Node, what string) []string {
	globs := []string{}
	r.items(n, what, `["docs/**"]`, func(n ast.Node) {
		glob, ok := r.text(n, "A glob of "+what, "docs/**")
		if ok && r.glob(n, glob) {
			globs = append(globs, glob)
		}
	})
	return globs
}

func (r *reader) glob(n ast.Node, glob string) bool {
	_, err := contract.ParseGlob(glob)
	if err != nil {
		r.fault(n, "%s", sentence(err))
	}
	return err == nil
}

// sentence returns what a person is told of err.
func sentence(err error) string {
	if e, ok := errors.AsType[*envelope.Error](err); ok {
		return e.Message
	}
	return err.Error()
}

func (r *reader) notes(n ast.Node) Notes {
	var notes Notes
	r.mapping(n, "notes", []field{
		{"include", func(n ast.Node) { notes.Include = r.globs(n, "notes.include") }},
		{"visibility", func(n ast.Node) {
			text, ok := r.text(n, "notes.visibility", string(Unmarked))
			notes.Visibility = Visibility(text)
			if ok && notes.Visibility != Unmarked && notes.Visibility != Public {
				r.fault(n, "notes.visibility must be %s (all notes but those marked private) or %s (only those marked public).", Unmarked, Public)
			}
		}},
	})
	return notes
}

// beside returns a file's place: a relative one starts at the policy's directory.
func (r *reader) beside(file string) string {
	if file == "" || filepath.IsAbs(file) {
		return file
	}
	return filepath.Join(filepath.Dir(r.file), file)
}

func (r *reader) audit(n ast.Node) Audit {
	var a Audit
	before := len(r.mistakes)
	r.mapping(n, "audit", []field{
		{"file", func(n ast.Node) {
			file, ok := r.text(n, "audit.file", "/var/log/writ/audit.jsonl")
			if ok && (file == "" || strings.Contains(file, "\x00")) {
				r.fault(n, `audit.file must name a file, such as "/var/log/writ/audit.jsonl".`)
			}
			a.File = r.beside(file)
		}},
		{"bytes", func(n ast.Node) { a.Bytes = r.size(n, "audit.bytes", minAuditBytes, maxAuditBytes) }},
		{"files", func(n ast.Node) { a.Files = int(r.whole(n, "audit.files", maxAuditFiles)) }},
	})
	if a.File == "" && len(r.mistakes) == before {
		r.fault(n, "audit needs a file.")
	}
	return a
}

// Bounds of the limits.
const (
	minFileBytes   = 1
	maxFileBytes   = 1 << 40
	minResultBytes = 1 * kibi
	maxResultBytes = 1 * gibi

	minArtifactBytes = 64 * kibi
	maxArtifactBytes = 1 << 40

	minAuditBytes = 64 * kibi
	maxAuditBytes = 1 << 40
	maxAuditFiles = 1000

	minMemory    = 64 * mebi
	maxMemory    = 1 << 42
	minUndoBytes = 1 * mebi
	maxUndoBytes = 1 << 40
	maxUndoDays  = 36500

	minCallTime = time.Millisecond
	maxCallTime = 24 * time.Hour
)

func (r *reader) limits(n ast.Node) Limits {
	var l Limits
	r.mapping(n, "limits", append(r.perCaller(&l, "limits."), []field{
		{"file_bytes", func(n ast.Node) { l.FileBytes = r.size(n, "limits.file_bytes", minFileBytes, maxFileBytes) }},
		{"artifact_bytes", func(n ast.Node) {
			l.ArtifactBytes = r.size(n, "limits.artifact_bytes", minArtifactBytes, maxArtifactBytes)
		}},
		{"undo_bytes", func(n ast.Node) { l.UndoBytes = r.size(n, "limits.undo_bytes", minUndoBytes, maxUndoBytes) }},
		{"undo_days", func(n ast.Node) { l.UndoDays = int(r.whole(n, "limits.undo_days", maxUndoDays)) }},
		{"memory", func(n ast.Node) { l.Memory = r.size(n, "limits.memory", minMemory, maxMemory) }},
	}...))
	return l
}

// perCaller are the fields of limits that can be set for one caller alone too.
func (r *reader) perCaller(l *Limits, prefix string) []field {
	count := func(key string, limit *int) field {
		return field{key, func(n ast.Node) { *limit = int(r.whole(n, prefix+key, math.MaxInt32)) }}
	}
	return []field{
		{"result_bytes", func(n ast.Node) {
			l.ResultBytes = int(r.size(n, prefix+"result_bytes", minResultBytes, maxResultBytes))
		}},
		{"call_time", func(n ast.Node) { l.CallTime = r.time(n, prefix+"call_time") }},
		count("calls_per_minute", &l.CallsPerMinute),
		count("calls_in_flight", &l.CallsInFlight),
		count("page_lines", &l.PageLines),
		count("page_entries", &l.PageEntries),
		count("page_matches", &l.PageMatches),
		count("page_notes", &l.PageNotes),
	}
}

func (r *reader) size(n ast.Node, what string, least, most int64) int64 {
	switch n.(type) {
	case *ast.StringNode, *ast.IntegerNode:
	default:
		r.fault(n, "%s must be a size, such as 32MiB, not %s.", what, kindOf(n))
		return 0
	}
	size, err := parseSize(n.GetToken().Value)
	switch {
	case err != nil:
		r.fault(n, "%s: %v.", what, err)
	case size < least || size > most:
		r.fault(n, "%s must be from %s to %s.", what, formatSize(least), formatSize(most))
	}
	return size
}

func (r *reader) time(n ast.Node, what string) time.Duration {
	text, ok := n.(*ast.StringNode)
	if !ok {
		r.fault(n, "%s must be a duration with its unit, such as 30s, not %s.", what, kindOf(n))
		return 0
	}
	d, err := parseTime(text.Value)
	switch {
	case err != nil:
		r.fault(n, "%s: %v.", what, err)
	case d < minCallTime || d > maxCallTime:
		r.fault(n, "%s must be from 1ms to 24h.", what)
	}
	return d
}

func (r *reader) checks(n ast.Node) []Check {
	var checks []Check
	r.entries(n, "checks", func(glob string, at, value ast.Node) {
		sound := r.glob(at, glob)
		c := Check{Glob: glob}
		before := len(r.mistakes)
		r.items(value, "A check", `[python3, -m, py_compile, "{path}"]`, func(n ast.Node) {
			if word, ok := r.text(n, "A word of a check", CheckedPath); ok {
				c.Command = append(c.Command, word)
			}
		})
		if len(r.mistakes) > before {
			return
		}
		if fault := commandFault(c.Command); fault != "" {
			r.fault(value, "%s", fault)
		} else if sound {
			checks = append(checks, c)
		}
	})
	return checks
}

// commandFault says what is wrong with the command of a check, "" if nothing is.
func commandFault(command []string) string {
	switch {
	case len(command) == 0 || command[0] == "":
		return "A check needs a program to run."
	case strings.ContainsAny(command[0], `/\`) && !strings.HasPrefix(command[0], "/") && !filepath.IsAbs(command[0]):
		return "The program of a check must be an absolute path or a bare name, not " + contract.Quote(command[0]) + "."
	case strings.Contains(strings.Join(command, ""), "\x00"):
		return "No word of a check can hold a NUL."
	case !strings.Contains(strings.Join(command[1:], "\n"), CheckedPath):
		return "No argument of the check holds " + CheckedPath + ", which stands for the file to look at."
	}
	return ""
}

func (r *reader) encodings(n ast.Node) []Encoding {
	var encodings []Encoding
	r.entries(n, "encodings", func(glob string, at, value ast.Node) {
		if !r.glob(at, glob) {
			return
		}
		label, ok := r.text(value, "An encoding", "gb18030")
		if !ok {
			return
		}
		name, fault := encodingName(label)
		if fault != "" {
			r.fault(value, "%s", fault)
			return
		}
		encodings = append(encodings, Encoding{Glob: glob, Name: name})
	})
	return encodings
}

// encodingName returns the standard's own name for an encoding that text can be written in, or says what is wrong.
func encodingName(label string) (name, fault string) {
	e, err := htmlindex.Get(label)
	if err != nil {
		return "", "There is no encoding " + contract.Quote(label) +
			"; names are those of the WHATWG encoding standard, such as gb18030, shift_jis or windows-1252."
	}
	name, err = htmlindex.Name(e)
	if err != nil {
		return "", "There is no encoding " + contract.Quote(label) + "."
	}
	switch name {
	case "replacement", "x-user-defined", "iso-2022-jp": // the last has states, so that no part of a file stands for itself
		return "", "Text can't be written in the encoding " + contract.Quote(label) + "."
	}
	return name, ""
}
