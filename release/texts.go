package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"slices"
	"strings"
)

// texts are the files that go with every program: how to use it, and the licences of what it is made of.
func (o *order) texts(builds []*build) ([]entry, error) {
	var list []entry
	for _, pattern := range []string{"LICENSE*", "README.md", "docs/*.md"} {
		names, err := filepath.Glob(pattern)
		if err != nil {
			return nil, err
		}
		for _, name := range names {
			data, err := os.ReadFile(name)
			if err != nil {
				return nil, err
			}
			list = append(list, entry{filepath.ToSlash(name), data, 0o644})
		}
	}
	notices, err := noticesOf(builds)
	return append(list, entry{"THIRD-PARTY-NOTICES.txt", notices, 0o644}), err
}

// modulesOf lists the modules that any of the programs is made of, sorted.
func modulesOf(builds []*build) []*debug.Module {
	all := map[string]*debug.Module{}
	for _, b := range builds {
		for _, m := range b.info.Deps {
			all[m.Path] = cmp.Or(m.Replace, m)
		}
	}
	return slices.SortedFunc(maps.Values(all), func(a, b *debug.Module) int { return cmp.Compare(a.Path, b.Path) })
}

var licenceName = regexp.MustCompile(`(?i)^(licen[cs]e|copying|notice|patents)([.-].*)?$`)

// noticesOf holds the licences of Go and of every module. A module without one can't be given to others, and is an error.
func noticesOf(builds []*build) ([]byte, error) {
	root, err := goOutput("env", "GOROOT")
	if err != nil {
		return nil, err
	}
	b := []byte("writ is made of these, each under its own terms.\n")
	if b, err = appendLicences(b, "Go "+builds[0].info.GoVersion, strings.TrimSpace(string(root))); err != nil {
		return nil, err
	}
	for _, m := range modulesOf(builds) {
		listed, err := goOutput("mod", "download", "-json", m.Path+"@"+m.Version)
		if err != nil {
			return nil, err
		}
		var place struct{ Dir string }
		if err := json.Unmarshal(listed, &place); err != nil {
			return nil, err
		}
		if b, err = appendLicences(b, m.Path+" "+m.Version, place.Dir); err != nil {
			return nil, err
		}
	}
	return b, nil
}

func appendLicences(b []byte, title, dir string) ([]byte, error) {
	list, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	found := false
	for _, file := range list {
		if file.IsDir() || !licenceName.MatchString(file.Name()) {
			continue
		}
		text, err := os.ReadFile(filepath.Join(dir, file.Name()))
		if err != nil {
			return nil, err
		}
		found = true
		text = bytes.TrimSpace(bytes.ReplaceAll(text, []byte("\r\n"), []byte("\n")))
		b = fmt.Appendf(b, "\n%s\n%s (%s)\n\n%s\n", strings.Repeat("=", 72), title, file.Name(), text)
	}
	if !found {
		return nil, fmt.Errorf("%s has no licence in %s", title, dir)
	}
	return b, nil
}

func goOutput(args ...string) ([]byte, error) {
	command := exec.Command("go", args...)
	command.Stderr = os.Stderr
	return command.Output()
}
