// Package client is about the programs that use the server: it writes their configuration files, and speaks for those
// that call functions without the Model Context Protocol.
//
// A configuration file belongs to a person. One entry of it is added, replaced or taken out; every other byte stays,
// comments, order, indentation, line endings and byte order mark included. An edit is a splice into the text, and it
// counts only if the text reads as before with that one entry different; a file that can't be read, or whose entry
// stands in a form that is not edited here, is left alone.
//
// Not here on purpose: deep links and extension stores, which need a graphical client to be seen working.
package client

import (
	"context"
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/spf13/afero"
)

// Causes that a caller may want to tell apart.
var (
	// ErrDiffers: an entry of that name is there, and it is another one.
	ErrDiffers = errors.New("another entry of that name is there")
	// ErrForm: the file is sound, but holds the entry in a form that is not edited here.
	ErrForm = errors.New("it is written in a form that writ does not edit")
	// ErrUnreadable: the file is not what its client would take.
	ErrUnreadable = errors.New("it can't be read, and was not touched")
	// ErrNoReference: the client does not read tokens from its environment.
	ErrNoReference = errors.New("it can't read a token from the environment")
	// ErrChanged: another program wrote the file at the same moment.
	ErrChanged = errors.New("another program changed it just now")
)

// Scope says whose configuration is meant.
type Scope string

// The scopes.
const (
	User    Scope = "user"    // of the person, for all that they do
	Project Scope = "project" // of one directory, for all who work in it
)

// Machine is what an installation works on. Its paths are written with forward slashes.
type Machine struct {
	FS   afero.Fs
	OS   string // as runtime.GOOS
	Home string // the person's home directory
	Dir  string // the project's directory
	Env  func(string) string
	// LookPath finds a program, as [os/exec.LookPath] does.
	LookPath func(string) (string, error)
	// Run runs a program to its end; its error tells what the program said.
	Run func(ctx context.Context, name string, args ...string) error
	Now func() time.Time
}

// Server is how a client reaches the server: a program that it starts, or the address of one that runs.
type Server struct {
	Command string
	Args    []string
	URL     string // "" for a program
	// TokenEnv is the environment variable with the token that the address wants; "" for none. Clients that can are told
	// its name, and read it when they connect.
	TokenEnv string
	// Token is the token itself, for a client that can't read one from its environment; "" otherwise.
	Token string

	authorization string // the header's value, as the client's file has it; "" for none
}

// Request is what is to be done to one client's configuration.
type Request struct {
	Client string
	Name   string // under which the client knows the server
	Scope  Scope
	Server Server
	Remove bool // take the entry out
	Force  bool // replace another entry of that name
	// FileOnly edits the file even where the client has a command of its own for it.
	FileOnly bool
}

// The name is a key in three formats, and clients put it before the names of tools.
var nameForm = regexp.MustCompile(`^[A-Za-z0-9_-]{1,40}$`)

func (r *Request) check() error {
	if !nameForm.MatchString(r.Name) {
		return fmt.Errorf("the name %q is not one to 40 letters, digits, _ or -", r.Name)
	}
	for _, text := range append([]string{r.Server.Command, r.Server.URL}, r.Server.Args...) {
		if !utf8.ValidString(text) || strings.ContainsRune(text, 0) {
			return fmt.Errorf("%q is no text that a configuration file can hold", text)
		}
	}
	switch s := r.Server; {
	case s.TokenEnv != "" && !variableForm.MatchString(s.TokenEnv):
		return fmt.Errorf("%q is no name of an environment variable", s.TokenEnv)
	case s.Token != "" && !tokenForm.MatchString(s.Token):
		return errors.New("the token has characters that no token has")
	case s.Token != "" && r.Scope == Project:
		return errors.New("a project's configuration is for all who work in it, so no token is written there")
	}
	return nil
}

var (
	variableForm = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)
	tokenForm    = regexp.MustCompile(`^[A-Za-z0-9._~+/-]+=*$`) // RFC 6750
)

// authorize sets the value of the header by which the client is let in: a reference to the variable in the client's
// words, else the token itself.
func (r *Request) authorize(p *product) error {
	s := &r.Server
	switch {
	case s.Token != "":
		s.authorization = "Bearer " + s.Token
	case s.TokenEnv == "":
	case p.reference == "":
		return fmt.Errorf("%s: %w", p.title, ErrNoReference)
	default:
		s.authorization = "Bearer " + fmt.Sprintf(p.reference, s.TokenEnv)
	}
	return nil
}

// config is a directory for configuration: that of the environment variable, if it is set, else dir under the home
// directory.
func (m *Machine) config(variable, dir string) string {
	if value := m.Env(variable); value != "" {
		return filepath.ToSlash(value)
	}
	return path.Join(m.Home, dir)
}

// appData is where programs of a desktop keep their settings.
func (m *Machine) appData() string {
	switch m.OS {
	case "darwin":
		return path.Join(m.Home, "Library/Application Support")
	case "windows":
		return m.config("APPDATA", "AppData/Roaming")
	}
	return m.config("XDG_CONFIG_HOME", ".config")
}

// dotConfig is ~/.config on every system, for programs that keep to it.
func (m *Machine) dotConfig() string { return m.config("XDG_CONFIG_HOME", ".config") }

func (m *Machine) exists(name string) bool {
	_, err := m.FS.Stat(name)
	return err == nil
}

// list lists the names in a directory; none where it can't be read.
func (m *Machine) list(dir string) []string {
	infos, err := afero.ReadDir(m.FS, dir)
	if err != nil {
		return nil
	}
	names := make([]string, len(infos))
	for i, info := range infos {
		names[i] = info.Name()
	}
	return names
}

// follow returns the file that a name leads to, through links, whether it exists or not.
func (m *Machine) follow(name string) (string, error) {
	links, ok := m.FS.(afero.LinkReader)
	for range 40 {
		if !ok {
			return name, nil
		}
		target, err := links.ReadlinkIfPossible(name)
		if err != nil {
			return name, nil // no link
		}
		target = filepath.ToSlash(target)
		if !path.IsAbs(target) && filepath.VolumeName(target) == "" {
			target = path.Join(path.Dir(name), target)
		}
		name = target
	}
	return "", fmt.Errorf("%s leads through too many links", name)
}
