package policy

import (
	"fmt"
	"slices"

	"github.com/goccy/go-yaml/ast"
)

func (r *reader) programs(n ast.Node) []Program {
	var programs []Program
	r.items(n, "programs", "[{name: wc, path: /usr/bin/wc}]", func(n ast.Node) {
		before := len(r.mistakes)
		p := r.program(n)
		if len(r.mistakes) > before {
			return
		}
		if fault := p.fault(); fault != "" {
			r.fault(n, "%s", fault)
			return
		}
		if slices.ContainsFunc(programs, func(other Program) bool { return other.Name == p.Name }) {
			r.fault(n, "The name %s is taken by a program before it.", p.Name)
			return
		}
		programs = append(programs, p)
	})
	return programs
}

func (r *reader) program(n ast.Node) Program {
	var p Program
	text := func(key, example string, value *string) field {
		return field{key, func(n ast.Node) { *value, _ = r.text(n, "The "+key+" of a program", example) }}
	}
	truth := func(key string, value *bool) field {
		return field{key, func(n ast.Node) { *value, _ = r.truth(n, key+" of a program") }}
	}
	r.mapping(n, "a program", []field{
		text("name", "wc", &p.Name),
		text("path", "/usr/bin/wc", &p.Path),
		text("directory", "docs", &p.Directory),
		{"commands", func(n ast.Node) { p.Commands = r.commands(n) }},
		{"allow", func(n ast.Node) { p.Allow = r.texts(n, "What a program allows", anyPath) }},
		truth("writes", &p.Writes),
		truth("ask", &p.Ask),
		{"time", func(n ast.Node) {
			p.Time = r.time(n, "The time of a program")
			if p.Time > maxProgramTime {
				r.fault(n, "The time of a program is at most 6h.")
			}
		}},
		{"memory", func(n ast.Node) { p.Memory = r.size(n, "The memory of a program", minProgramMemory, maxMemory) }},
		{"output", func(n ast.Node) {
			p.Output = r.size(n, "The output of a program", minProgramOutput, maxProgramOutput)
		}},
		{"env", func(n ast.Node) { p.Env = r.texts(n, "env of a program", "LANG") }},
		{"reads", func(n ast.Node) { p.Reads = r.texts(n, "What a program reads", "/opt/go") }},
	})
	return p
}

func (r *reader) commands(n ast.Node) []Command {
	commands := []Command{}
	r.entries(n, "commands", func(name string, _, value ast.Node) {
		commands = append(commands, Command{name, r.texts(value, "What a command allows", anyPath)})
	})
	return commands
}

// texts reads a list of texts. An empty list is not nil.
func (r *reader) texts(n ast.Node, what, example string) []string {
	texts := []string{}
	r.items(n, what, fmt.Sprintf("[%q]", example), func(n ast.Node) {
		if text, ok := r.text(n, "An entry of it", example); ok {
			texts = append(texts, text)
		}
	})
	return texts
}

func (b *builder) addPrograms(programs []Program) {
	for i, p := range programs {
		fault := p.fault()
		if slices.ContainsFunc(programs[:i], func(other Program) bool { return other.Name == p.Name }) {
			fault = "The name " + p.Name + " is taken by a program before it."
		}
		if fault != "" {
			b.fault("%s", fault)
			continue
		}
		b.p.programs = append(b.p.programs, p.filled())
	}
}
