// Release builds what is given to people: archives for six platforms, bundles that a desktop client opens, the entry for
// the public registry, sums, and what is inside.
//
//	go run ./release -repository https://github.com/OWNER/writ
//
// The version is that of the commit, as the toolchain stamps it: v1.2.3 where the commit has that tag, a pseudo-version
// else. A tree with changes that are not committed is refused. The same commit and the same toolchain give the same bytes
// on every machine: no path, clock, user or environment gets into them, and every time is the commit's.
package main

import (
	"crypto/sha256"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// order says what is to be built.
type order struct {
	out        string // directory for the results, made if it is not there
	platforms  []platform
	repository string // where the code is, https://HOST/OWNER/NAME; "": no entry for the registry
	image      string // a container image that was pushed, such as ghcr.io/owner/writ:1.2.3; "" for none
}

func main() {
	var o order
	var names string
	flag.StringVar(&o.out, "out", "dist", "`directory` for the results")
	flag.StringVar(&names, "platforms", strings.Join(platformNames(), ","), "`list` of systems and processors")
	flag.StringVar(&o.repository, "repository", "", "`address` of the code, https://github.com/OWNER/writ; wanted for server.json")
	flag.StringVar(&o.image, "image", "", "`name` of a pushed container image, for server.json too")
	flag.Parse()
	err := o.choose(names)
	if err == nil {
		err = o.carryOut()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

func (o *order) choose(names string) error {
	for name := range strings.SplitSeq(names, ",") {
		i := slices.IndexFunc(platforms, func(p platform) bool { return p.String() == name })
		if i < 0 {
			return fmt.Errorf("there is no platform %q; known are %s", name, strings.Join(platformNames(), ", "))
		}
		o.platforms = append(o.platforms, platforms[i])
	}
	return nil
}

// carryOut builds everything, and writes the sums last: a directory with SHA256SUMS is whole.
func (o *order) carryOut() error {
	if err := os.MkdirAll(o.out, 0o755); err != nil {
		return err
	}
	if list, err := os.ReadDir(o.out); err != nil || len(list) > 0 {
		return fmt.Errorf("%s is not empty; a release is built into a directory of its own", o.out)
	}
	builds, err := o.build()
	if err != nil {
		return err
	}
	n, err := noticesOf(builds)
	if err != nil {
		return err
	}
	guides, err := guides()
	if err != nil {
		return err
	}
	for _, b := range builds {
		if err := o.archive(b, n.texts(guides, b)); err != nil {
			return err
		}
		if err := o.write(b.fileName(".cdx.json"), billOf(b)); err != nil {
			return err
		}
	}
	bundles, err := o.bundle(builds, func(of ...*build) []entry { return n.texts(guides, of...) })
	if err != nil {
		return err
	}
	if err := o.enter(builds[0].version, bundles); err != nil {
		return err
	}
	return o.sum()
}

func (o *order) write(name string, data []byte) error {
	return os.WriteFile(filepath.Join(o.out, name), data, 0o644)
}

// sum writes the SHA-256 of every result, as `sha256sum -c` reads it.
func (o *order) sum() error {
	list, err := os.ReadDir(o.out)
	if err != nil {
		return err
	}
	var sums []byte
	for _, file := range list {
		data, err := os.ReadFile(filepath.Join(o.out, file.Name()))
		if err != nil {
			return err
		}
		sums = fmt.Appendf(sums, "%x  %s\n", sha256.Sum256(data), file.Name())
	}
	return o.write("SHA256SUMS", sums)
}
