package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"debug/macho"
	"encoding/binary"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

var noon = time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)

// machoProgram is a program for macOS with nothing in it but a name.
func machoProgram(cpu macho.Cpu, name string) []byte {
	header := macho.FileHeader{Magic: macho.Magic64, Cpu: cpu, SubCpu: 3, Type: macho.TypeExec}
	var b bytes.Buffer
	binary.Write(&b, binary.LittleEndian, header)
	binary.Write(&b, binary.LittleEndian, uint32(0)) // reserved
	b.WriteString(name)
	return b.Bytes()
}

func TestUniversalHoldsBothPrograms(t *testing.T) {
	one, two := machoProgram(macho.CpuAmd64, "one"), machoProgram(macho.CpuArm64, strings.Repeat("two", 9000))
	file, err := universal(one, two)
	if err != nil {
		t.Fatal(err)
	}
	fat, err := macho.NewFatFile(bytes.NewReader(file))
	if err != nil {
		t.Fatal(err)
	}
	if len(fat.Arches) != 2 {
		t.Fatalf("it holds %d programs", len(fat.Arches))
	}
	for i, want := range [][]byte{one, two} {
		arch := fat.Arches[i]
		if got := file[arch.Offset : arch.Offset+arch.Size]; !bytes.Equal(got, want) {
			t.Errorf("program %d is not what was put in", i)
		}
		if arch.Offset%(1<<arch.Align) != 0 || arch.FatArchHeader.SubCpu != 3 {
			t.Errorf("program %d: %+v", i, arch.FatArchHeader)
		}
	}
	if fat.Arches[0].Cpu != macho.CpuAmd64 || fat.Arches[1].Cpu != macho.CpuArm64 {
		t.Error("the processors are wrong")
	}
	if _, err := universal([]byte("\x7fELF, and no program for macOS")); err == nil {
		t.Error("a program for another system was taken")
	}
}

// schema compiles one of the schemas that others publish. They are copies, of the registry v1.8.9 and of mcpb 2.1.2.
func schema(t *testing.T, name string) *jsonschema.Schema {
	t.Helper()
	s, err := jsonschema.NewCompiler().Compile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// hold fails unless a value, written as JSON, is as a schema wants it.
func hold(t *testing.T, s *jsonschema.Schema, value any) {
	t.Helper()
	text, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	document, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Validate(document); err != nil {
		t.Errorf("%v\n%s", err, text)
	}
}

func TestManifest(t *testing.T) {
	s := schema(t, "manifest.schema.json")
	for _, p := range platforms {
		for _, o := range []order{{}, {repository: "https://github.com/OWNER/writ"}} {
			m := o.manifestFor(p, "1.2.3")
			hold(t, s, m)
			if len(m.Tools) < 5 || m.Compatibility.Platforms[0] == "" {
				t.Errorf("%s: %+v", p, m)
			}
		}
	}
}

// What a person need not answer must come out as nothing. Clients put an answer into an argument, or in the place of one
// that is nothing but its name; there an empty answer leaves the name.
func TestQuestionsOfABundle(t *testing.T) {
	name := regexp.MustCompile(`\$\{user_config\.(\w+)\}`)
	asked := map[string]bool{}
	for _, argument := range bundleArguments {
		for _, found := range name.FindAllStringSubmatch(argument, -1) {
			q, ok := bundleQuestions[found[1]]
			asked[found[1]] = true
			if !ok {
				t.Errorf("%s asks for what the manifest does not", argument)
			}
			if !q.Required && (argument == found[0] || q.Default == nil) {
				t.Errorf("%s: left empty, it stays as it is", argument)
			}
			if q.Multiple && (argument != found[0] || bundleArguments[len(bundleArguments)-2] != "--") {
				t.Errorf("%s may be several, and one of them may look like a flag", argument)
			}
		}
	}
	for question := range bundleQuestions {
		if !asked[question] {
			t.Errorf("the answer to %s goes nowhere", question)
		}
	}
}

func TestRegistryEntry(t *testing.T) {
	s := schema(t, "server.schema.json")
	bundles := []made{{"writ-1.2.3-macos.mcpb", strings.Repeat("0a", 32)}, {"writ-1.2.3-linux-amd64.mcpb", strings.Repeat("1b", 32)}}
	for _, c := range []struct{ repository, image, name, identifier string }{
		{"https://github.com/Owner/writ", "", "io.github.Owner/writ", "https://github.com/Owner/writ/releases/download/v1.2.3/writ-1.2.3-macos.mcpb"},
		{"https://gitlab.com/owner/writ", "ghcr.io/owner/writ:1.2.3", "io.gitlab.owner/writ", "https://gitlab.com/owner/writ/-/releases/v1.2.3/downloads/writ-1.2.3-macos.mcpb"},
	} {
		o := order{repository: c.repository, image: c.image}
		e, err := o.entryFor("1.2.3", bundles)
		if err != nil {
			t.Fatal(err)
		}
		hold(t, s, e)
		if e.Name != c.name || e.Packages[0].Identifier != c.identifier || (len(e.Packages) == 3) != (c.image != "") {
			t.Errorf("%+v", e)
		}
	}
	for _, wrong := range []string{"http://github.com/o/writ", "https://github.com/writ", "https://example.org/o/writ", "https://github.com/o/writ/tree/main", "writ"} {
		o := order{repository: wrong}
		if _, err := o.entryFor("1.2.3", bundles); err == nil {
			t.Errorf("%s was taken for a project", wrong)
		}
	}
}

func TestArchivesAreTheSameEachTime(t *testing.T) {
	files := []entry{{"writ", []byte("program"), 0o755}, {"docs/a.md", []byte("text"), 0o644}}
	for name, pack := range map[string]func([]entry, time.Time) ([]byte, error){"tar": tarOf, "zip": zipOf} {
		one, err := pack(files, noon)
		two, again := pack(files, noon.In(time.FixedZone("east", 3600)).UTC())
		if err != nil || again != nil || !bytes.Equal(one, two) {
			t.Errorf("%s: %v, %v, or not the same", name, err, again)
		}
	}
	packed, err := tarOf(files, noon)
	if err != nil {
		t.Fatal(err)
	}
	plain, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		t.Fatal(err)
	}
	r := tar.NewReader(plain)
	for _, want := range files {
		h, err := r.Next()
		if err != nil {
			t.Fatal(err)
		}
		data, err := io.ReadAll(r)
		if err != nil || h.Name != want.name || h.FileInfo().Mode().Perm() != want.mode || !bytes.Equal(data, want.data) || h.Uid != 0 || !h.ModTime.Equal(noon) {
			t.Errorf("%+v %q %v", h, data, err)
		}
	}
	packed, err = zipOf(files, noon)
	if err != nil {
		t.Fatal(err)
	}
	z, err := zip.NewReader(bytes.NewReader(packed), int64(len(packed)))
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range files {
		if f := z.File[i]; f.Name != want.name || f.Mode().Perm() != want.mode || !f.Modified.Equal(noon) {
			t.Errorf("%+v", f.FileHeader)
		}
	}
}

func infoOf(version, modified, at string) *debug.BuildInfo {
	return &debug.BuildInfo{
		GoVersion: "go1.26.8", Main: debug.Module{Path: "writ", Version: version},
		Deps:     []*debug.Module{{Path: "example.org/b", Version: "v1.0.0", Sum: "h1:AQI="}, {Path: "example.org/a", Version: "v2.0.0"}},
		Settings: []debug.BuildSetting{{Key: "vcs.modified", Value: modified}, {Key: "vcs.time", Value: at}},
	}
}

// A release is of a commit, and says which.
func TestVersionIsTheCommits(t *testing.T) {
	const at = "2026-11-30T12:00:00Z"
	for _, c := range []struct {
		info    *debug.BuildInfo
		version string
		err     string
	}{
		{infoOf("v1.2.3", "false", at), "1.2.3", ""},
		{infoOf("v0.0.0-20261130235312-12d429c5ea39", "false", at), "0.0.0-20261130235312-12d429c5ea39", ""},
		{infoOf("v1.2.3+dirty", "true", at), "", "not committed"},
		{infoOf("(devel)", "false", at), "", "no commit"},
		{infoOf("v1.2.3", "false", "noon"), "", "noon"},
	} {
		b := &build{platform: platforms[0], info: c.info}
		err := b.identify()
		switch {
		case c.err == "" && (err != nil || b.version != c.version || !b.time.Equal(noon)):
			t.Errorf("%s: %q, %v, %v", c.info.Main.Version, b.version, b.time, err)
		case c.err != "" && (err == nil || !strings.Contains(err.Error(), c.err)):
			t.Errorf("%s: %v", c.info.Main.Version, err)
		}
	}
}

func TestNothingOfAPersonsGetsIntoABuild(t *testing.T) {
	p := platform{"linux", "arm64"}
	got := p.environment([]string{"GOFLAGS=-tags=mine", "GOWORK=/w", "HOME=/h", "GOEXPERIMENT=x", "GOARCH=386"})
	last := map[string]string{}
	for _, variable := range got {
		name, value, _ := strings.Cut(variable, "=")
		last[name] = value
	}
	if last["GOFLAGS"] != "" || last["GOWORK"] != "off" || last["GOARCH"] != "arm64" || last["GOEXPERIMENT"] != "" || last["CGO_ENABLED"] != "0" || last["HOME"] != "/h" {
		t.Errorf("%v", got)
	}
}

func TestBillOfMaterials(t *testing.T) {
	b := &build{platform: platforms[0], version: "1.2.3", time: noon, info: infoOf("v1.2.3", "false", "")}
	var got bill
	if err := json.Unmarshal(billOf(b), &got); err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, c := range got.Components {
		names = append(names, c.PURL)
	}
	if want := []string{"pkg:golang/std@1.26.8", "pkg:golang/example.org/a@v2.0.0", "pkg:golang/example.org/b@v1.0.0"}; !slices.Equal(names, want) {
		t.Errorf("%v", names)
	}
	if p := got.Components[2].Properties; len(p) != 1 || p[0].Value != "0102" {
		t.Errorf("the sum is %v", p)
	}
}

// An archive is the same whatever was built beside it.
func TestTextsAreOfOneProgram(t *testing.T) {
	one := &build{platform: platforms[0], info: infoOf("v1.0.0", "false", "")}
	two := &build{platform: platforms[1], info: &debug.BuildInfo{Deps: []*debug.Module{{Path: "example.org/c", Version: "v3.0.0"}}}}
	n := &notices{modules: map[string][]byte{"example.org/a@v2.0.0": []byte("A"), "example.org/b@v1.0.0": []byte("B"), "example.org/c@v3.0.0": []byte("C")}}
	for want, builds := range map[string][]*build{"AB": {one}, "C": {two}, "ABC": {one, two}} {
		list := n.texts([]entry{{name: "README.md"}}, builds...)
		if got := string(list[1].data); len(list) != 2 || !strings.HasSuffix(got, "\n"+want) {
			t.Errorf("%q, want %s", got, want)
		}
	}
}

// Who gets the program gets the licences of all that is in it.
func TestNoticesNeedALicence(t *testing.T) {
	dir := t.TempDir()
	if _, err := licencesIn("a", dir); err == nil {
		t.Error("a module without a licence was taken")
	}
	for name, text := range map[string]string{"LICENSE-MIT": "one\r\ntwo\r\n", "NOTICE.md": "three", "license_test.go": "no"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	got, err := licencesIn("a v1", dir)
	if err != nil || !strings.Contains(string(got), "a v1 (LICENSE-MIT)\n\none\ntwo\n") || !strings.Contains(string(got), "three") || strings.Contains(string(got), "license_test") {
		t.Errorf("%q, %v", got, err)
	}
}
