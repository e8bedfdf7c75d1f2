package client

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"strings"

	"github.com/spf13/afero"
)

// Change is what a plan does to the entry.
type Change string

// The changes.
const (
	Nothing Change = "nothing" // it is as it should be
	Add     Change = "add"
	Replace Change = "replace"
	Remove  Change = "remove"
)

// Plan is what an installation would do, and does when it is carried out.
type Plan struct {
	Title  string // of the client, for people
	File   string // the file of the client's configuration
	Target string // the same, or what a link there leads to
	Change Change
	Before []byte // nil where there is no file
	After  []byte
	Mode   fs.FileMode
	// Commands are the client's own, which do the same; empty where there are none.
	Commands [][]string
	// Native: the commands are run instead of writing the file.
	Native bool

	request Request
	product *product
	entry   object
}

// Snippet is the entry as it stands in a file of its own, for a person to paste.
func (p *Plan) Snippet() ([]byte, error) {
	return edit(p.product.syntax, nil, p.product.section, p.request.Name, p.entry)
}

// Outline is a plan that looks at no file: what would be written where, and the client's own commands.
func (m *Machine) Outline(r Request) (*Plan, error) {
	if err := r.check(); err != nil {
		return nil, err
	}
	product := productOf(r.Client)
	if product == nil {
		return nil, fmt.Errorf("there is no client %q here; known are %s", r.Client, strings.Join(names(), ", "))
	}
	p := &Plan{Title: product.title, File: product.file(m, r.Scope), request: r, product: product, Mode: 0o600}
	if p.File == "" {
		return nil, fmt.Errorf("%s has no configuration of the scope %q that writ knows of", product.title, r.Scope)
	}
	if r.Scope == Project {
		p.Mode = 0o644
	}
	if err := p.request.authorize(product); err != nil {
		return nil, err
	}
	r = p.request
	if p.entry = product.entry(r.Server, r.Name); p.entry == nil {
		return nil, fmt.Errorf("%s starts its servers itself and reaches none by HTTP", product.title)
	}
	p.Change = Add
	if r.Remove {
		p.Change = Remove
	}
	p.Commands = p.commands()
	return p, nil
}

// Place is how a path that a person gave is written for the client: absolute for the person's own configuration, from
// the project's directory, by the client's word for it, for that of a project. An absolute path stays as it is.
func (m *Machine) Place(r Request, name string) string {
	if filepath.IsAbs(name) || path.IsAbs(filepath.ToSlash(name)) {
		return name
	}
	product := productOf(r.Client)
	if r.Scope != Project || product == nil || product.workspace == "" {
		return filepath.FromSlash(path.Join(m.Dir, filepath.ToSlash(name)))
	}
	switch name = path.Clean(filepath.ToSlash(name)); {
	case product.workspace == ".":
		return name
	case name == ".":
		return product.workspace
	}
	return product.workspace + "/" + name
}

func names() []string {
	var list []string
	for _, p := range products {
		list = append(list, p.name)
	}
	return list
}

// commands are the client's own that make the change.
func (p *Plan) commands() [][]string {
	var list [][]string
	if p.product.nativeRemove != nil && (p.Change == Remove || p.Change == Replace) {
		list = append(list, p.product.nativeRemove(&p.request))
	}
	if p.product.native != nil && (p.Change == Add || p.Change == Replace) {
		if command := p.product.native(&p.request, p.entry); command != nil {
			list = append(list, command)
		}
	}
	return list
}

// Plan looks at the client's configuration and tells what is to be done. It changes nothing.
func (m *Machine) Plan(r Request) (*Plan, error) {
	p, err := m.Outline(r)
	if err != nil {
		return nil, err
	}
	if p.Target, err = m.follow(p.File); err != nil {
		return nil, err
	}
	if err := p.read(m); err != nil {
		return nil, err
	}
	found, err := find(p.product.syntax, p.Before, p.product.section, r.Name)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", p.File, err)
	}
	switch {
	case found == nil && r.Remove, found != nil && !r.Remove && p.entry.covers(found):
		p.Change, p.Commands, p.After = Nothing, nil, p.Before
		return p, nil
	case found != nil && !r.Remove && !r.Force:
		return nil, fmt.Errorf("%s: %w: %q", p.File, ErrDiffers, r.Name)
	case found != nil && !r.Remove:
		p.Change = Replace
	}
	p.Commands = p.commands()
	p.Native = p.product.prefersNative && r.Scope == User && !r.FileOnly && len(p.Commands) > 0 && m.has(p.Commands[0][0])
	entry := p.entry
	if r.Remove {
		entry = nil
	}
	if p.After, err = edit(p.product.syntax, p.Before, p.product.section, r.Name, entry); err != nil {
		return nil, fmt.Errorf("%s: %w", p.File, err)
	}
	return p, nil
}

func (m *Machine) has(program string) bool {
	_, err := m.LookPath(program)
	return err == nil
}

// maxConfiguration is the size of the largest file that is read, in bytes.
const maxConfiguration = 64 << 20

func (p *Plan) read(m *Machine) error {
	info, err := m.FS.Stat(p.Target)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() || info.Size() > maxConfiguration {
		return fmt.Errorf("%s: %w", p.File, ErrUnreadable)
	}
	if p.request.Server.Token == "" { // a file with a token in it is its owner's alone
		p.Mode = info.Mode().Perm()
	}
	p.Before, err = afero.ReadFile(m.FS, p.Target)
	if p.Before == nil {
		p.Before = []byte{}
	}
	return err
}
