package main

import (
	"debug/buildinfo"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"strings"
	"time"
)

// platform is a system and a processor, in Go's words.
type platform struct{ system, processor string }

func (p platform) String() string { return p.system + "/" + p.processor }

func (p platform) program() string {
	if p.system == "windows" {
		return "writ.exe"
	}
	return "writ"
}

var platforms = []platform{
	{"darwin", "amd64"}, {"darwin", "arm64"}, {"linux", "amd64"}, {"linux", "arm64"}, {"windows", "amd64"}, {"windows", "arm64"},
}

func platformNames() []string {
	var list []string
	for _, p := range platforms {
		list = append(list, p.String())
	}
	return list
}

// build is a program for one platform.
type build struct {
	platform
	version string    // as the program says it, without the v: 1.2.3
	time    time.Time // of the commit
	info    *debug.BuildInfo
	binary  []byte
}

// fileName is the name of a result for the platform.
func (b *build) fileName(ending string) string {
	return fmt.Sprintf("writ_%s_%s_%s%s", b.version, b.system, b.processor, ending)
}

// build makes the program for each platform.
func (o *order) build() ([]*build, error) {
	scratch, err := os.MkdirTemp("", "writ-release-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(scratch)
	var builds []*build
	for _, p := range o.platforms {
		fmt.Fprintln(os.Stderr, "building for", p)
		b, err := buildFor(p, filepath.Join(scratch, p.system+"-"+p.processor))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", p, err)
		}
		builds = append(builds, b)
	}
	return builds, nil
}

func buildFor(p platform, file string) (*build, error) {
	command := exec.Command("go", "build", "-trimpath", "-buildvcs=true", "-ldflags=-s -w", "-o", file, ".")
	command.Env = p.environment(os.Environ())
	command.Stderr = os.Stderr
	if err := command.Run(); err != nil {
		return nil, err
	}
	info, err := buildinfo.ReadFile(file)
	if err != nil {
		return nil, err
	}
	b := &build{platform: p, info: info}
	if err := b.identify(); err != nil {
		return nil, err
	}
	b.binary, err = os.ReadFile(file)
	return b, err
}

// environment is one in which nothing that a person set changes what is built.
func (p platform) environment(own []string) []string {
	var kept []string
	for _, variable := range own {
		name, _, _ := strings.Cut(variable, "=")
		switch name {
		case "GOFLAGS", "GOEXPERIMENT", "GOFIPS140", "GODEBUG", "GOWORK":
			continue
		}
		kept = append(kept, variable)
	}
	return append(kept, "CGO_ENABLED=0", "GOOS="+p.system, "GOARCH="+p.processor, "GOAMD64=v1", "GOARM64=v8.0", "GOFLAGS=", "GOEXPERIMENT=",
		"GOFIPS140=off", "GOWORK=off")
}

// identify takes version and time from what the toolchain stamped.
func (b *build) identify() error {
	var modified bool
	for _, s := range b.info.Settings {
		switch s.Key {
		case "vcs.modified":
			modified = s.Value == "true"
		case "vcs.time":
			at, err := time.Parse(time.RFC3339, s.Value)
			if err != nil {
				return err
			}
			b.time = at.UTC()
		}
	}
	version, ok := strings.CutPrefix(b.info.Main.Version, "v")
	switch {
	case modified || strings.Contains(version, "+dirty"):
		return fmt.Errorf("the tree has changes that are not committed; a release is of a commit")
	case !ok || b.time.IsZero():
		return fmt.Errorf("the toolchain found no commit to take the version from (%q); build in a git clone (linked worktrees have none for it)", b.info.Main.Version)
	}
	b.version = version
	return nil
}
