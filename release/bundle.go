package main

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"

	"writ/tools"
)

// A bundle (.mcpb) is a zip with the program and a manifest. A client opens it, asks the person for what the manifest
// calls user_config, and starts the program with the answers. A manifest tells systems apart and processors not, so
// there is one bundle for macOS and one for each processor elsewhere.

const about = "File and note tools for AI agents that keep their word"

type manifest struct {
	ManifestVersion string            `json:"manifest_version"`
	Name            string            `json:"name"`
	DisplayName     string            `json:"display_name"`
	Version         string            `json:"version"`
	Description     string            `json:"description"`
	LongDescription string            `json:"long_description"`
	Author          author            `json:"author"`
	Repository      *repository       `json:"repository,omitempty"`
	Server          manifestServer    `json:"server"`
	Tools           []manifestTool    `json:"tools"`
	ToolsGenerated  bool              `json:"tools_generated"`
	Keywords        []string          `json:"keywords"`
	Compatibility   compatibility     `json:"compatibility"`
	UserConfig      map[string]option `json:"user_config"`
}

type author struct {
	Name string `json:"name"`
	URL  string `json:"url,omitempty"`
}

type repository struct {
	Type string `json:"type"`
	URL  string `json:"url"`
}

type manifestServer struct {
	Type       string    `json:"type"`
	EntryPoint string    `json:"entry_point"`
	MCPConfig  mcpConfig `json:"mcp_config"`
}

type mcpConfig struct {
	Command string   `json:"command"`
	Args    []string `json:"args"`
}

type manifestTool struct {
	Name        string `json:"name"`
	Description string `json:"description"`
}

type compatibility struct {
	Platforms []string `json:"platforms"`
}

type option struct {
	Type        string  `json:"type"`
	Title       string  `json:"title"`
	Description string  `json:"description"`
	Required    bool    `json:"required"`
	Multiple    bool    `json:"multiple,omitempty"`
	Default     *string `json:"default,omitempty"`
}

// The globs are one argument with their flag: as arguments of their own, clients leave the name of an answer that is
// empty as it stands, and it would be a glob. Directories come last and are any number.
var bundleArguments = []string{"serve", "--write=${user_config.write}", "--ask=${user_config.ask}", "--", "${user_config.directories}"}

var bundleQuestions = map[string]option{
	"directories": {Type: "directory", Title: "Folders", Required: true, Multiple: true,
		Description: "What may be read. Nothing outside of these folders can be reached."},
	"write": {Type: "string", Title: "May be changed without a question", Default: new(""),
		Description: "A pattern such as docs/** or {notes,journal}/**, within the folders; with several folders it begins with the folder's name. Empty: nothing."},
	"ask": {Type: "string", Title: "May be changed after a yes", Default: new(""),
		Description: "A pattern of what may be changed once you agree to the change. Empty: nothing."},
}

// systemNames are the names of systems in a manifest.
var systemNames = map[string]string{"darwin": "darwin", "linux": "linux", "windows": "win32"}

// manifestFor describes the bundle for a platform.
func (o *order) manifestFor(p platform, version string) manifest {
	program := "server/" + p.program()
	m := manifest{
		ManifestVersion: "0.3", Name: "writ", DisplayName: "writ", Version: version, Description: about,
		LongDescription: "Search, read and edit the files and Markdown notes in folders that you choose. Every answer says whether the " +
			"disk is different, no edit is applied twice or to a file that changed in between, and every change can be undone. " +
			"Without a pattern of what may be changed, it only reads.",
		Author:        author{Name: "The writ authors", URL: o.repository},
		Server:        manifestServer{"binary", program, mcpConfig{"${__dirname}/" + program, bundleArguments}},
		Keywords:      []string{"files", "notes", "markdown", "edit", "search", "undo"},
		Compatibility: compatibility{[]string{systemNames[p.system]}},
		UserConfig:    bundleQuestions,
	}
	if o.repository != "" {
		m.Repository = &repository{"git", o.repository}
	}
	for _, t := range tools.All() {
		if t.Core {
			m.Tools = append(m.Tools, manifestTool{t.Name, t.Title})
		}
	}
	return m
}

// made is a result that the registry is told of.
type made struct {
	name string
	sum  string // SHA-256 in hexadecimal
}

// bundle packs the bundles. That for macOS is made only where both of its programs are.
func (o *order) bundle(builds []*build, texts func(...*build) []entry) ([]made, error) {
	var list []made
	var mac []*build
	for _, b := range builds {
		if b.system == "darwin" {
			mac = append(mac, b)
			continue
		}
		m, err := o.pack(b, b.binary, b.system+"-"+b.processor, texts(b))
		if err != nil {
			return nil, err
		}
		list = append(list, m)
	}
	if len(mac) != 2 {
		return list, nil
	}
	program, err := universal(mac[0].binary, mac[1].binary)
	if err != nil {
		return nil, err
	}
	m, err := o.pack(mac[0], program, "macos", texts(mac...))
	return append(list, m), err
}

func (o *order) pack(b *build, program []byte, kind string, texts []entry) (made, error) {
	m := o.manifestFor(b.platform, b.version)
	text, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return made{}, err
	}
	files := append([]entry{{"manifest.json", append(text, '\n'), 0o644}, {m.Server.EntryPoint, program, 0o755}}, texts...)
	data, err := zipOf(files, b.time)
	if err != nil {
		return made{}, err
	}
	name := fmt.Sprintf("writ-%s-%s.mcpb", b.version, kind)
	sum := sha256.Sum256(data)
	return made{name, hex.EncodeToString(sum[:])}, o.write(name, data)
}
