package main

import (
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
)

// The public registry of MCP servers is told of a release by server.json: where the bundles lie, their sums, and how the
// container image is run. `mcp-publisher publish` sends it once the release is public.

const entrySchema = "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json"

type registryEntry struct {
	Schema      string            `json:"$schema"`
	Name        string            `json:"name"`
	Title       string            `json:"title"`
	Description string            `json:"description"`
	Version     string            `json:"version"`
	Repository  registryCode      `json:"repository"`
	Packages    []registryPackage `json:"packages"`
}

type registryCode struct {
	URL    string `json:"url"`
	Source string `json:"source"`
}

type registryPackage struct {
	RegistryType     string             `json:"registryType"`
	Identifier       string             `json:"identifier"`
	Version          string             `json:"version,omitempty"`
	FileSHA256       string             `json:"fileSha256,omitempty"`
	RuntimeHint      string             `json:"runtimeHint,omitempty"`
	Transport        transport          `json:"transport"`
	RuntimeArguments []registryArgument `json:"runtimeArguments,omitempty"`
	PackageArguments []registryArgument `json:"packageArguments,omitempty"`
}

type transport struct {
	Type string `json:"type"`
}

type registryArgument struct {
	Type        string                   `json:"type"`
	Name        string                   `json:"name,omitempty"`
	Value       string                   `json:"value,omitempty"`
	Description string                   `json:"description,omitempty"`
	Required    bool                     `json:"isRequired,omitempty"`
	Repeated    bool                     `json:"isRepeated,omitempty"`
	Variables   map[string]registryInput `json:"variables,omitempty"`
}

type registryInput struct {
	Description string `json:"description"`
	Format      string `json:"format"`
	Required    bool   `json:"isRequired"`
	Default     string `json:"default,omitempty"`
}

// enter writes server.json. Without an address of the code there is none, since the entry's name is made of it.
func (o *order) enter(version string, bundles []made) error {
	if o.repository == "" {
		return nil
	}
	e, err := o.entryFor(version, bundles)
	if err != nil {
		return err
	}
	text, err := json.MarshalIndent(e, "", "  ")
	if err != nil {
		return err
	}
	return o.write("server.json", append(text, '\n'))
}

func (o *order) entryFor(version string, bundles []made) (*registryEntry, error) {
	source, name, err := serverName(o.repository)
	if err != nil {
		return nil, err
	}
	e := &registryEntry{
		Schema: entrySchema, Name: name, Title: "writ", Description: about, Version: version,
		Repository: registryCode{URL: o.repository, Source: source},
	}
	for _, b := range bundles {
		address := o.repository + "/releases/download/v" + version + "/" + b.name
		if source == "gitlab" {
			address = o.repository + "/-/releases/v" + version + "/downloads/" + b.name
		}
		e.Packages = append(e.Packages, registryPackage{
			RegistryType: "mcpb", Identifier: address, Version: version, FileSHA256: b.sum, Transport: transport{"stdio"},
		})
	}
	if o.image != "" {
		e.Packages = append(e.Packages, imagePackage(o.image))
	}
	return e, nil
}

// serverName is the name of the server in the registry, which only the owner of the code may use. The registry compares
// the owner's name letter by letter.
func serverName(repository string) (source, name string, err error) {
	u, err := url.Parse(repository)
	if err != nil {
		return "", "", err
	}
	owner, project, ok := strings.Cut(strings.Trim(u.Path, "/"), "/")
	source = map[string]string{"github.com": "github", "gitlab.com": "gitlab"}[u.Host]
	if u.Scheme != "https" || source == "" || !ok || owner == "" || project == "" || strings.Contains(project, "/") {
		return "", "", fmt.Errorf("%q is not the address of a project: https://github.com/OWNER/NAME, or the same at gitlab.com", repository)
	}
	return source, "io." + source + "." + owner + "/" + project, nil
}

// imagePackage says how the image of the Dockerfile is run: without a network, with a file system that it can't change
// but for the directory that it serves and the place of its change log.
func imagePackage(image string) registryPackage {
	named := func(name, value string) registryArgument {
		return registryArgument{Type: "named", Name: name, Value: value}
	}
	directory := named("--mount", "type=bind,src={directory},dst=/data")
	directory.Required, directory.Description = true, "The directory to serve"
	directory.Variables = map[string]registryInput{"directory": {"Absolute path of the directory to serve", "filepath", true, ""}}
	state := named("--mount", "type=volume,src={volume},dst=/state")
	state.Variables = map[string]registryInput{"volume": {"Volume for the change log; each directory wants one of its own", "string", false, "writ-state"}}
	return registryPackage{
		RegistryType: "oci", Identifier: image, RuntimeHint: "docker", Transport: transport{"stdio"},
		RuntimeArguments: []registryArgument{
			{Type: "named", Name: "--interactive"}, {Type: "named", Name: "--rm"}, {Type: "named", Name: "--read-only"},
			named("--network", "none"), state, directory,
		},
		PackageArguments: []registryArgument{
			{Type: "positional", Value: "serve"}, {Type: "positional", Value: "/data"},
		},
	}
}
