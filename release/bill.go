package main

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"runtime/debug"
	"strings"
	"time"
)

// The bill of materials is CycloneDX 1.6: the program, the toolchain that made it, and every module in it, as the
// toolchain wrote them into the program.

type bill struct {
	Format     string      `json:"bomFormat"`
	Spec       string      `json:"specVersion"`
	Version    int         `json:"version"`
	Metadata   billHead    `json:"metadata"`
	Components []component `json:"components"`
}

type billHead struct {
	Time      string    `json:"timestamp"`
	Component component `json:"component"`
}

type component struct {
	Type       string     `json:"type"`
	Ref        string     `json:"bom-ref,omitempty"`
	Name       string     `json:"name"`
	Version    string     `json:"version"`
	PURL       string     `json:"purl,omitempty"`
	Properties []property `json:"properties,omitempty"`
}

type property struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

func billOf(b *build) []byte {
	program := component{Type: "application", Ref: "writ", Name: "writ", Version: b.version}
	for _, s := range b.info.Settings {
		program.Properties = append(program.Properties, property{"go:build:" + s.Key, s.Value})
	}
	goVersion := strings.TrimPrefix(b.info.GoVersion, "go")
	list := []component{{Type: "library", Ref: "std", Name: "std", Version: goVersion, PURL: "pkg:golang/std@" + goVersion}}
	for _, m := range modulesOf([]*build{b}) {
		list = append(list, componentOf(m))
	}
	text, err := json.MarshalIndent(bill{"CycloneDX", "1.6", 1, billHead{b.time.Format(time.RFC3339), program}, list}, "", "  ")
	if err != nil {
		panic(err) // strings and numbers alone
	}
	return append(text, '\n')
}

// componentOf tells of a module. Its sum is that of go.sum: a hash over the hashes of its files, in hexadecimal here.
func componentOf(m *debug.Module) component {
	address := "pkg:golang/" + m.Path + "@" + m.Version
	c := component{Type: "library", Ref: address, Name: m.Path, Version: m.Version, PURL: address}
	if sum, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(m.Sum, "h1:")); err == nil && len(sum) > 0 {
		c.Properties = []property{{"go:module:h1", hex.EncodeToString(sum)}}
	}
	return c
}
