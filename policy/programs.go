package policy

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"writ/contract"
	"writ/envelope"
)

// Callers run no program but those that the policy declares, and those with no argument but the ones that it lists: many
// a flag makes a harmless program write a file or start another one, so a list of what is forbidden is never complete.

// Program is a program that callers may run.
type Program struct {
	Name      string    // by which callers know it
	Path      string    // absolute
	Directory string    // where it works, as tools write paths; "" is the top of the only root
	Commands  []Command // what it takes, by its first argument; nil where Allow says all
	Allow     []string  // what it takes, where it has no commands; see [Program.Fit]
	Writes    bool      // it may change what is in its directory
	Ask       bool      // each run needs a person's yes

	Time   time.Duration // wall time of one run; 0: a minute
	Memory int64         // bytes that each of its processes may write to; 0: 1 GiB
	Output int64         // bytes of its output that are kept; 0: 256 KiB

	Env   []string // variables that it gets from the server's own environment
	Reads []string // absolute directories outside the roots whose files it may read and run
}

// Command is a first argument and what may follow it.
type Command struct {
	Name  string
	Allow []string
}

// Argument is an argument that was found to fit. One that names a file stands for itself only once that was judged.
type Argument struct {
	Text string        // all of it, or what stands before Path
	Path contract.Path // what it ends with, where Kind is NamesFile
	Kind ArgumentKind
}

// ArgumentKind says what there is to judge in an argument.
type ArgumentKind uint8

// The kinds.
const (
	Listed    ArgumentKind = iota // nothing: the policy has it as it stands, or as a flag with a harmless value
	NamesFile                     // the place of its path
	IsWord                        // the place of that name in the program's directory, since the program may take it for a file
)

// The defaults of a program, and the bounds of what a policy may say instead.
const (
	defaultProgramTime   = time.Minute
	defaultProgramMemory = 1 * gibi
	defaultProgramOutput = 256 * kibi

	minProgramMemory = 16 * mebi
	minProgramOutput = 1 * kibi
	maxProgramOutput = 8 * mebi
	maxProgramTime   = 6 * time.Hour
)

func (p Program) filled() Program {
	fill(&p.Time, defaultProgramTime)
	fill(&p.Memory, defaultProgramMemory)
	fill(&p.Output, defaultProgramOutput)
	return p
}

// Placeholders of a pattern. Whatever stands for one does not begin with a dash, so no caller makes a flag of it.
const (
	anyPath   = "{path}"   // a file or directory as tools write it, which is judged
	anyNumber = "{number}" // 1 to 18 digits
	anyWord   = "{word}"   // 1 to 100 letters of ASCII, digits, _ and -
)

var placeholders = []string{anyPath, anyNumber, anyWord}

const (
	longestNumber = 18
	longestWord   = 100
)

// Fit returns the arguments as they are understood, or an Error of code program-not-allowed where the program does not take
// them, and of path-not-allowed where a path in them is none. Each must be one that the policy lists, as it stands there,
// or as PREFIX{path}, PREFIX{number} or PREFIX{word}, the longest prefix first.
func (p Program) Fit(args []string) ([]Argument, error) {
	var fitting []Argument
	allow, rest := p.Allow, args
	if p.Commands != nil {
		i := slices.IndexFunc(p.Commands, func(c Command) bool { return len(args) > 0 && c.Name == args[0] })
		if i < 0 {
			return nil, p.misfit(args, 0)
		}
		allow, fitting, rest = p.Commands[i].Allow, []Argument{{Text: args[0]}}, args[1:]
	}
	for i, arg := range rest {
		a, fits, err := fit(allow, arg)
		if err != nil {
			return nil, err
		}
		if !fits {
			return nil, p.misfit(args, len(args)-len(rest)+i)
		}
		fitting = append(fitting, a)
	}
	return fitting, nil
}

func fit(allow []string, arg string) (a Argument, fits bool, err error) {
	if slices.Contains(allow, arg) && !strings.ContainsAny(arg, "{}") {
		return Argument{Text: arg}, true, nil
	}
	best, kind := -1, ""
	for _, pattern := range allow {
		prefix, placeholder := split(pattern)
		if placeholder != "" && len(prefix) > best && strings.HasPrefix(arg, prefix) {
			best, kind = len(prefix), placeholder
		}
	}
	if best < 0 {
		return Argument{}, false, nil
	}
	prefix, value := arg[:best], arg[best:]
	switch kind {
	case anyNumber:
		return Argument{Text: arg}, len(value) <= longestNumber && value != "" && strings.Trim(value, "0123456789") == "", nil
	case anyWord:
		a = Argument{Text: arg}
		if prefix == "" {
			a.Kind = IsWord
		}
		return a, isWord(value), nil
	}
	if strings.HasPrefix(value, "-") || strings.ContainsFunc(value, isControl) {
		return Argument{}, false, nil
	}
	path, err := contract.ParsePath(value)
	return Argument{Text: prefix, Path: path, Kind: NamesFile}, err == nil, err
}

// misfit is the refusal of argument i, which is the first that does not fit.
func (p Program) misfit(args []string, i int) error {
	what, takes := p.Name, p.Allow
	switch {
	case p.Commands != nil && i == 0:
		takes = nil
		for _, c := range p.Commands {
			takes = append(takes, c.Name)
		}
		what += ", as its first argument,"
	case p.Commands != nil:
		what += " " + args[0]
		takes = p.Commands[slices.IndexFunc(p.Commands, func(c Command) bool { return c.Name == args[0] })].Allow
	}
	refused := "No argument"
	if i < len(args) {
		refused = "The argument " + contract.Quote(args[i])
	}
	open := "nothing"
	if len(takes) > 0 {
		open = list(quote(takes))
	}
	return &envelope.Error{
		Code: envelope.ProgramNotAllowed, Next: envelope.FixArguments,
		Message: fmt.Sprintf("%s is not one that the policy lists: %s takes %s, each argument by itself and spelled so. A person can list more in the policy file.",
			refused, what, open),
		Details: map[string]any{"takes": append([]string{}, takes...)},
	}
}

// isControl tells of what a program that prints or splits names could take for something else than a part of one.
func isControl(r rune) bool { return r < ' ' || r == 0x7f }

// isWord tells whether s can't be taken for a flag, a path, a list or a file to read arguments from.
func isWord(s string) bool {
	for i := range len(s) {
		switch c := s[i]; {
		case c == '_', '0' <= c && c <= '9', 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', c == '-' && i > 0:
		default:
			return false
		}
	}
	return s != "" && len(s) <= longestWord
}

// split returns what stands before the placeholder of a pattern; "" for the placeholder of one that has none.
func split(pattern string) (prefix, placeholder string) {
	for _, p := range placeholders {
		if prefix, found := strings.CutSuffix(pattern, p); found {
			return prefix, p
		}
	}
	return pattern, ""
}

// fault says what is wrong with the program, "" if nothing is.
func (p Program) fault() string {
	switch {
	case !isWord(p.Name):
		return "A program needs a name of letters, digits, _ and -, by which callers know it."
	case !filepath.IsAbs(p.Path) || strings.Contains(p.Path, "\x00"):
		return "The program " + p.Name + " needs the absolute path of its file, such as \"/usr/bin/wc\"."
	case p.Commands != nil && p.Allow != nil:
		return "The program " + p.Name + " has both commands and allow; with commands, each lists what may follow it."
	}
	if p.Directory != "" {
		if _, err := contract.ParsePath(p.Directory); err != nil {
			return "The directory of " + p.Name + " must be a path as tools write it, without . and .. in it; leave it out for the top."
		}
	}
	for _, name := range p.Env {
		if fault := variableFault(name); fault != "" {
			return fault
		}
	}
	for _, directory := range p.Reads {
		if !filepath.IsAbs(directory) || strings.Contains(directory, "\x00") {
			return "What " + p.Name + " reads must be absolute directories, not " + contract.Quote(directory) + "."
		}
	}
	return p.argumentFault()
}

func (p Program) argumentFault() string {
	if fault := patternsFault(p.Allow); fault != "" {
		return fault
	}
	for _, c := range p.Commands {
		if c.Name == "" || c.Name[0] == '-' || strings.ContainsAny(c.Name, "{}") || strings.ContainsFunc(c.Name, isControl) {
			return "A command of " + p.Name + " is a first argument as it stands, and no flag, not " + contract.Quote(c.Name) + "."
		}
		if fault := patternsFault(c.Allow); fault != "" {
			return fault
		}
	}
	return ""
}

// patternsFault says what is wrong with the arguments that a program takes. What two patterns could stand for differently
// is a fault: which one holds must not depend on how it is read.
func patternsFault(patterns []string) string {
	prefixes := map[string]string{}
	for _, pattern := range patterns {
		prefix, placeholder := split(pattern)
		quoted := contract.Quote(pattern)
		switch {
		case pattern == "" || strings.ContainsFunc(pattern, isControl):
			return "An argument can't be empty, nor hold control characters."
		case strings.ContainsAny(prefix, "{}"):
			return fmt.Sprintf("The argument %s is not one that can be listed: it is text, and may end with %s.", quoted, list(placeholders))
		case placeholder == "":
		case prefixes[prefix] != "" && prefixes[prefix] != placeholder:
			return fmt.Sprintf("Both %s and %s are listed, so that one argument could mean either.", contract.Quote(prefix+prefixes[prefix]), quoted)
		case prefix != "" && placeholder == anyWord && prefix[0] != '-' && !strings.HasSuffix(prefix, "="):
			return "What stands before {word} begins with a dash or ends with =, or else the argument could be a name of a file: not " + quoted + "."
		default:
			prefixes[prefix] = placeholder
		}
	}
	return ""
}

// variableFault says why a program can't be given a variable, "" if it can.
func variableFault(name string) string {
	upper := strings.ToUpper(name)
	switch {
	case name == "" || strings.Trim(upper, "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") != "":
		return "A variable is named by letters, digits and _, not " + contract.Quote(name) + "."
	case strings.HasPrefix(upper, "LD_") || strings.HasPrefix(upper, "DYLD_"):
		return "The variable " + name + " makes a program run other code than its own, so none is given it."
	}
	return ""
}

// Programs returns the programs that callers may run, defaults filled in. They must not be changed.
func (p *Policy) Programs() []Program { return p.programs }

// Program returns the index in [Policy.Programs] of the program of that name, or an Error of code program-not-allowed.
func (p *Policy) Program(name string) (int, error) {
	names := make([]string, len(p.programs))
	for i, one := range p.programs {
		if names[i] = one.Name; one.Name == name {
			return i, nil
		}
	}
	return 0, &envelope.Error{
		Code: envelope.ProgramNotAllowed,
		Message: fmt.Sprintf("There is no program %s here: the policy declares %s. A person can declare more in the policy file.",
			contract.Quote(name), list(quote(names))),
		Details: map[string]any{"programs": names},
	}
}
