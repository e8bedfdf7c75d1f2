package client

import (
	"path"
	"slices"
	"strings"
)

// product is a client and how it is configured.
type product struct {
	name, title string
	syntax      syntax
	section     string
	// file is where the configuration of a scope is; "" where the client has none there.
	file func(m *Machine, scope Scope) string
	// entry is what the client wants to be told of a server.
	entry func(s Server, name string) object
	// reference is how the client writes the value of an environment variable in a header; "" where it can't, or where
	// its versions differ in that.
	reference string
	// workspace stands for the project's directory in a project's file.
	workspace string
	// native is the client's own command that adds the entry; nil where it has none that is known.
	native func(r *Request, entry object) []string
	// nativeRemove takes it out.
	nativeRemove func(r *Request) []string
	// prefersNative: the client rewrites its file all the time, so that its own command is safer.
	prefersNative bool
}

// Products lists the names of the clients that are known, with their titles, sorted.
func Products() [][2]string {
	var list [][2]string
	for _, p := range products {
		list = append(list, [2]string{p.name, p.title})
	}
	return list
}

func productOf(name string) *product {
	i := slices.IndexFunc(products, func(p product) bool { return p.name == name })
	if i < 0 {
		return nil
	}
	return &products[i]
}

// in makes a file function of two places; project is relative to the project's directory, "" for none.
func in(user func(*Machine) string, project string) func(*Machine, Scope) string {
	return func(m *Machine, scope Scope) string {
		switch {
		case scope == User:
			return user(m)
		case project == "":
			return ""
		}
		return path.Join(m.Dir, project)
	}
}

func underHome(file string) func(*Machine) string {
	return func(m *Machine) string { return path.Join(m.Home, file) }
}

// plainEntry is what most clients want; kind and address name the fields of a server that is reached by HTTP.
func plainEntry(kind, address string, more ...field) func(Server, string) object {
	return func(s Server, _ string) object {
		o := object{{"command", s.Command}, {"args", s.Args}}
		if s.URL != "" {
			o = object{{address, s.URL}}
			if kind != "" {
				o = append(object{{"type", kind}}, o...)
			}
			o = append(o, s.headers("headers")...)
		}
		return append(o, more...)
	}
}

// headers is a field with the headers that the server wants; none where it wants none.
func (s Server) headers(key string) object {
	if s.authorization == "" {
		return nil
	}
	return object{{key, object{{"Authorization", s.authorization}}}}
}

// typedEntry names the transport of both kinds.
func typedEntry(more ...field) func(Server, string) object {
	http := plainEntry("http", "url", more...)
	return func(s Server, name string) object {
		o := http(s, name)
		if s.URL == "" {
			o = append(object{{"type", "stdio"}}, o...)
		}
		return o
	}
}

// products are sorted by name.
var products = []product{
	{
		name: "claude-code", reference: "${%s}", title: "Claude Code", syntax: jsonc{}, section: "mcpServers", entry: typedEntry(), workspace: ".",
		file: in(func(m *Machine) string {
			if dir := m.Env("CLAUDE_CONFIG_DIR"); dir != "" {
				return path.Join(dir, ".claude.json")
			}
			return path.Join(m.Home, ".claude.json")
		}, ".mcp.json"),
		native: func(r *Request, entry object) []string {
			return []string{"claude", "mcp", "add-json", "-s", string(r.Scope), r.Name, string(entry.appendJSON(nil, "", "", ""))}
		},
		nativeRemove:  func(r *Request) []string { return []string{"claude", "mcp", "remove", "-s", string(r.Scope), r.Name} },
		prefersNative: true,
	},
	{
		name: "claude-desktop", title: "Claude Desktop", syntax: jsonc{}, section: "mcpServers", entry: stdioOnly(plainEntry("", "url")),
		file: in(claudeDesktop, ""),
	},
	{
		name: "cline", title: "Cline in VS Code", syntax: jsonc{}, section: "mcpServers",
		entry: plainEntry("streamableHttp", "url", field{"disabled", false}),
		file: in(func(m *Machine) string {
			return path.Join(m.appData(), "Code/User/globalStorage/saoudrizwan.claude-dev/settings/cline_mcp_settings.json")
		}, ""),
	},
	{
		name: "codex", reference: "%s", title: "Codex", syntax: tomlText{}, section: "mcp_servers", entry: codexEntry, workspace: ".",
		file: in(func(m *Machine) string { return path.Join(m.config("CODEX_HOME", ".codex"), "config.toml") }, ".codex/config.toml"),
		native: func(r *Request, _ object) []string {
			if r.Server.URL != "" {
				command := []string{"codex", "mcp", "add", r.Name, "--url", r.Server.URL}
				if r.Server.TokenEnv != "" {
					command = append(command, "--bearer-token-env-var", r.Server.TokenEnv)
				}
				return command
			}
			return append([]string{"codex", "mcp", "add", r.Name, "--", r.Server.Command}, r.Server.Args...)
		},
		nativeRemove: func(r *Request) []string { return []string{"codex", "mcp", "remove", r.Name} },
	},
	{
		name: "copilot", title: "GitHub Copilot CLI", syntax: jsonc{}, section: "mcpServers", workspace: ".",
		entry: typedEntry(field{"tools", []string{"*"}}),
		file:  in(func(m *Machine) string { return path.Join(m.config("COPILOT_HOME", ".copilot"), "mcp-config.json") }, ""),
	},
	{
		name: "cursor", reference: "${env:%s}", title: "Cursor", syntax: jsonc{}, section: "mcpServers", entry: plainEntry("", "url"), workspace: "${workspaceFolder}",
		file: in(underHome(".cursor/mcp.json"), ".cursor/mcp.json"),
	},
	{
		name: "gemini", reference: "${%s}", title: "Gemini CLI", syntax: jsonc{}, section: "mcpServers", entry: plainEntry("http", "url"), workspace: ".",
		file: in(underHome(".gemini/settings.json"), ".gemini/settings.json"),
	},
	{
		name: "goose", reference: "$%s", title: "Goose", syntax: yamlText{}, section: "extensions", entry: gooseEntry,
		file: in(func(m *Machine) string {
			if m.OS == "windows" {
				return path.Join(m.appData(), "Block/goose/config/config.yaml")
			}
			return path.Join(m.dotConfig(), "goose/config.yaml")
		}, ""),
	},
	{
		name: "junie", title: "Junie", syntax: jsonc{}, section: "mcpServers", entry: plainEntry("", "url"), workspace: ".",
		file: in(underHome(".junie/mcp/mcp.json"), ".junie/mcp/mcp.json"),
	},
	{
		name: "kiro", reference: "${%s}", title: "Kiro", syntax: jsonc{}, section: "mcpServers", entry: plainEntry("", "url"), workspace: ".",
		file: in(underHome(".kiro/settings/mcp.json"), ".kiro/settings/mcp.json"),
	},
	{
		name: "opencode", reference: "{env:%s}", title: "OpenCode", syntax: jsonc{}, section: "mcp", entry: openCodeEntry, workspace: ".",
		file: openCodeFile,
	},
	{
		name: "vscode", title: "Visual Studio Code", syntax: jsonc{}, section: "servers", entry: typedEntry(), workspace: "${workspaceFolder}",
		file: in(func(m *Machine) string { return path.Join(m.appData(), "Code/User/mcp.json") }, ".vscode/mcp.json"),
		native: func(r *Request, entry object) []string {
			if r.Scope != User {
				return nil
			}
			named := append(object{{"name", r.Name}}, entry...)
			return []string{"code", "--add-mcp", string(named.appendJSON(nil, "", "", ""))}
		},
	},
	{
		name: "windsurf", reference: "${env:%s}", title: "Windsurf", syntax: jsonc{}, section: "mcpServers", entry: plainEntry("", "serverUrl"),
		file: in(underHome(".codeium/windsurf/mcp_config.json"), ""),
	},
	{
		name: "zed", title: "Zed", syntax: jsonc{}, section: "context_servers",
		entry: func(s Server, name string) object {
			o := plainEntry("", "url")(s, name)
			if s.URL == "" {
				o = append(object{{"source", "custom"}}, o...)
			}
			return o
		},
		file: in(func(m *Machine) string {
			switch m.OS {
			case "windows":
				return path.Join(m.appData(), "Zed/settings.json")
			case "darwin":
				return path.Join(m.Home, ".config/zed/settings.json")
			}
			return path.Join(m.dotConfig(), "zed/settings.json")
		}, ""),
	},
}

// stdioOnly is for clients that start servers and reach none.
func stdioOnly(entry func(Server, string) object) func(Server, string) object {
	return func(s Server, name string) object {
		if s.URL != "" {
			return nil
		}
		return entry(s, name)
	}
}

// claudeDesktop finds the file of Claude Desktop. Where it was installed from a package, Windows shows it another
// directory in the place of the usual one.
func claudeDesktop(m *Machine) string {
	const file = "claude_desktop_config.json"
	if m.OS == "windows" {
		packages := path.Join(m.config("LOCALAPPDATA", "AppData/Local"), "Packages")
		for _, name := range m.list(packages) {
			dir := path.Join(packages, name, "LocalCache/Roaming/Claude")
			if strings.HasPrefix(name, "Claude_") && m.exists(dir) {
				return path.Join(dir, file)
			}
		}
	}
	return path.Join(m.appData(), "Claude", file)
}

// openCodeFile is the one with comments if it is there; OpenCode reads both.
func openCodeFile(m *Machine, scope Scope) string {
	dir := m.Dir
	if scope == User {
		dir = path.Join(m.dotConfig(), "opencode")
	}
	if commented := path.Join(dir, "opencode.jsonc"); m.exists(commented) {
		return commented
	}
	return path.Join(dir, "opencode.json")
}

// codexEntry has a field of its own for the variable with the token.
func codexEntry(s Server, _ string) object {
	switch {
	case s.URL == "":
		return object{{"command", s.Command}, {"args", s.Args}}
	case s.Token != "":
		return append(object{{"url", s.URL}}, s.headers("http_headers")...)
	case s.TokenEnv != "":
		return object{{"url", s.URL}, {"bearer_token_env_var", s.TokenEnv}}
	}
	return object{{"url", s.URL}}
}

func openCodeEntry(s Server, _ string) object {
	if s.URL != "" {
		o := append(object{{"type", "remote"}, {"url", s.URL}}, s.headers("headers")...)
		if s.authorization != "" {
			o = append(o, field{"oauth", false}) // a refused token is told as such, and no login is looked for
		}
		return append(o, field{"enabled", true})
	}
	return object{{"type", "local"}, {"command", append([]string{s.Command}, s.Args...)}, {"enabled", true}}
}

func gooseEntry(s Server, name string) object {
	o := object{{"name", name}, {"description", "File and note tools with a contract"}}
	if s.URL != "" {
		o = append(append(o, object{{"type", "streamable_http"}, {"uri", s.URL}}...), s.headers("headers")...)
		if s.Token == "" && s.TokenEnv != "" {
			o = append(o, field{"env_keys", []string{s.TokenEnv}})
		}
	} else {
		o = append(o, object{{"type", "stdio"}, {"cmd", s.Command}, {"args", s.Args}}...)
	}
	return append(o, object{{"envs", object{}}, {"enabled", true}, {"timeout", 300}}...)
}
