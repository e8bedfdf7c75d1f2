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

// guides are the files that go with every program: how to use it, and its own licence.
func guides() ([]entry, error) {
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
	return list, nil
}

// notices are the licences of what programs are made of.
type notices struct {
	goLicence []byte
	modules   map[string][]byte // by PATH@VERSION
}

// texts are what goes with a program that is made of these builds: the guides, and the licences of all that is in it. They
// hang on nothing else, so that an archive is the same whatever is built beside it.
func (n *notices) texts(guides []entry, builds ...*build) []entry {
	b := append([]byte("writ is made of these, each under its own terms.\n"), n.goLicence...)
	for _, m := range modulesOf(builds) {
		b = append(b, n.modules[m.Path+"@"+m.Version]...)
	}
	return append(slices.Clone(guides), entry{"THIRD-PARTY-NOTICES.txt", b, 0o644})
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

// noticesOf finds the licences of Go and of every module. A module without one can't be given to others, and is an error.
func noticesOf(builds []*build) (*notices, error) {
	root, err := goOutput("env", "GOROOT")
	if err != nil {
		return nil, err
	}
	n := &notices{modules: map[string][]byte{}}
	if n.goLicence, err = licencesIn("Go "+builds[0].info.GoVersion, strings.TrimSpace(string(root))); err != nil {
		return nil, err
	}
	wanted := []string{"mod", "download", "-json"}
	for _, m := range modulesOf(builds) {
		wanted = append(wanted, m.Path+"@"+m.Version)
	}
	listed, err := goOutput(wanted...)
	if err != nil {
		return nil, err
	}
	for places := json.NewDecoder(bytes.NewReader(listed)); places.More(); {
		var m struct{ Path, Version, Dir string }
		if err := places.Decode(&m); err != nil {
			return nil, err
		}
		if n.modules[m.Path+"@"+m.Version], err = licencesIn(m.Path+" "+m.Version, m.Dir); err != nil {
			return nil, err
		}
	}
	return n, nil
}

func licencesIn(title, dir string) ([]byte, error) {
	var b []byte
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
