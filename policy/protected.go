package policy

import (
	"strings"
	"unicode"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"

	"writ/contract"
)

// Some files are read by other programs, which then do what the files say: hooks, settings of editors and agents, build
// servers. Whoever may write them can do more than write. So a write glob opens such a place only if it spells the
// protected names out, and else the ask zone must hold it.

// protectedNames are the protected places, at any depth, with all that lies below them. A * stands for any beginning of
// a name. They are in the form of foldName.
var protectedNames = []string{
	// version control: hooks, filters and commands in its settings
	".git", ".hg", ".svn", ".jj", ".bzr", ".gitmodules", ".gitattributes", ".gitconfig", ".githooks", ".husky",
	".pre-commit-config.yaml", ".pre-commit-hooks.yaml", "lefthook.yml", "lefthook.yaml", ".lefthook.yml", ".lefthook",
	// editors: tasks, launchers, extensions
	".vscode", ".idea", ".fleet", ".zed", ".devcontainer", ".devcontainer.json", "*.code-workspace", ".vimrc", ".nvimrc",
	".exrc", ".dir-locals.el",
	// agents: what they take as orders, and what they may do
	"agents.md", "claude.md", "claude.local.md", "gemini.md", "mcp.json", ".mcp.json", ".cursor", ".cursorrules", ".claude",
	".codex", ".gemini", ".windsurf", ".windsurfrules", ".cline", ".clinerules", ".roo", ".roorules", ".continue", ".kiro",
	".aider.conf.yml", ".goosehints", ".github/copilot-instructions.md", ".github/instructions", ".github/prompts",
	// build servers
	".github/workflows", ".github/actions", ".gitea/workflows", ".forgejo/workflows", ".gitlab-ci.yml", ".circleci",
	".travis.yml", ".drone.yml", ".buildkite", ".woodpecker", ".woodpecker.yml", "jenkinsfile", "azure-pipelines.yml",
	"bitbucket-pipelines.yml",
	// shells, sessions and package managers
	".envrc", ".bashrc", ".bash_profile", ".bash_login", ".bash_logout", ".bash_aliases", ".profile", ".zshrc", ".zshenv",
	".zprofile", ".zlogin", ".zlogout", ".xprofile", ".xinitrc", ".ssh", ".npmrc", ".yarnrc", ".yarnrc.yml", ".direnvrc",
	".config/fish", ".config/systemd", ".config/autostart", ".config/git",
	// what writ itself may do
	"writ.yaml", "writ.yml",
}

// guardedNames are the names of a path that are protected, by their number in it, from 0.
type guardedNames []bool

func (g guardedNames) has(i int) bool { return i < len(g) && g[i] }

// protected returns which names of the path are protected, nil where none is. Spellings that a file system may take for
// the protected name count as it.
func (p *Policy) protected(path string) guardedNames {
	var found guardedNames
	folded := foldPath(path)
	for i, from := 0, 0; from < len(folded); i++ {
		rest := folded[from:]
		for _, entry := range protectedNames {
			if startsWith(rest, entry) {
				found = found.with(i, i+strings.Count(entry, "/"))
			}
		}
		next := strings.IndexByte(rest, '/') + 1
		if next == 0 {
			if p.file != "" && folded == p.file {
				found = found.with(i, i)
			}
			break
		}
		from += next
	}
	return found
}

// with returns g and the names from the first to the last.
func (g guardedNames) with(first, last int) guardedNames {
	for len(g) <= last {
		g = append(g, false)
	}
	for i := first; i <= last; i++ {
		g[i] = true
	}
	return g
}

// startsWith tells whether the path begins with the entry.
func startsWith(path, entry string) bool {
	if entry[0] == '*' {
		name, _, _ := strings.Cut(path, "/")
		return strings.HasSuffix(name, entry[1:])
	}
	rest, found := strings.CutPrefix(path, entry)
	return found && (rest == "" || rest[0] == '/')
}

// foldPath folds each name of a path.
func foldPath(path string) string {
	if isPlain(path) {
		return path
	}
	names := strings.Split(path, "/")
	for i, name := range names {
		names[i] = foldName(name)
	}
	return strings.Join(names, "/")
}

// foldName returns a name as the most careless file system compares it: without case, compatible characters, characters
// that do not show, and what some systems cut off its end.
func foldName(name string) string {
	name = strings.Map(func(r rune) rune {
		if unicode.In(r, unicode.Cf, unicode.Variation_Selector) {
			return -1
		}
		return r
	}, name)
	name = cases.Fold().String(norm.NFKC.String(name))
	name, _, _ = strings.Cut(name, ":") // a stream of a file, on Windows
	return strings.ReplaceAll(strings.TrimRight(name, ". "), "/", "_")
}

// isPlain tells whether folding each name of a path changes nothing.
func isPlain(path string) bool {
	for i := range len(path) {
		switch c := path[i]; {
		case c >= 0x80 || 'A' <= c && c <= 'Z' || c == ':':
			return false
		case (c == '.' || c == ' ') && (i+1 == len(path) || path[i+1] == '/'):
			return false
		}
	}
	return true
}

// spells tells whether the pattern opens the place and spells out its protected names.
func (p *pattern) spells(at place, guarded guardedNames) bool {
	i := -1
	states := p.closure(1)
	for name := range strings.SplitSeq(at.path, "/") {
		i++
		states = p.step(states, func(s *contract.GlobSegment) bool {
			if guarded.has(i) {
				if _, literal := s.Literal(); !literal {
					return false
				}
			}
			return at.reachable(i+1, name, s)
		})
	}
	return states&(1<<len(p.segments)) != 0
}

// spelling returns the first pattern that opens the place and spells out its protected names.
func spelling(patterns []pattern, at place, guarded guardedNames) *pattern {
	for i := range patterns {
		if patterns[i].spells(at, guarded) {
			return &patterns[i]
		}
	}
	return nil
}
