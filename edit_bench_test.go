package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"writ/contract"
	"writ/gate"
)

// BenchmarkEdit compares a journalled edit through the gate with what any durable edit costs: a temporary file, its
// flush, a rename, and the flush of the directory. The two take turns, so that what else the machine does meets both, and
// the fastest tenth of each is compared: x-plain is how many times longer the journalled one takes.
func BenchmarkEdit(b *testing.B) {
	for _, size := range []int{2 << 10, 10 << 20} {
		for _, before := range []int{0, 10_000} {
			b.Run(fmt.Sprintf("%d bytes, %d changes in the log", size, before), func(b *testing.B) { benchEdit(b, size, before) })
		}
	}
}

func benchEdit(b *testing.B, size, before int) {
	h, root := benchHouse(b)
	h.fill(b, before)
	text := strings.Repeat("a line of text\n", size/15)
	name, plain := filepath.Join(root, "a.txt"), filepath.Join(b.TempDir(), "a.txt")
	content := "mark 0\n" + text
	if err := os.WriteFile(name, []byte(content), 0o644); err != nil {
		b.Fatal(err)
	}
	version := contract.VersionOf([]byte(content)).String()
	var ours, theirs []time.Duration
	for i := 0; b.Loop(); i++ {
		start := time.Now()
		version = nextMark(b, h, i, version)
		between := time.Now()
		if err := replaceDurably(plain, fmt.Appendf(nil, "mark %d\n%s", i, text)); err != nil {
			b.Fatal(err)
		}
		ours, theirs = append(ours, between.Sub(start)), append(theirs, time.Since(between))
	}
	b.ReportMetric(float64(tenth(ours).Microseconds()), "us-journalled")
	b.ReportMetric(float64(tenth(theirs).Microseconds()), "us-plain")
	b.ReportMetric(float64(tenth(ours))/float64(tenth(theirs)), "x-plain")
}

// tenth is the duration that a tenth stays below.
func tenth(times []time.Duration) time.Duration {
	slices.Sort(times)
	return times[len(times)/10]
}

// fill puts so many changes into the log, without the calls that they come from.
func (h *house) fill(b *testing.B, changes int) {
	for i := range changes {
		origin := contract.Origin{RequestID: fmt.Sprintf("req_%020d", i), Tool: "replace_text", Caller: gate.CallerLocal, Fingerprint: fmt.Sprintf("%064x", i)}
		path, err := contract.ParsePath(fmt.Sprintf("docs/%d.md", i%100))
		if err != nil {
			b.Fatal(err)
		}
		in := contract.Intent{Origin: origin, Kind: contract.ChangeEdit, Path: path,
			Undo: []contract.Splice{{New: []byte("a line of some fifty characters, give or take a few")}}}
		id, err := h.ledger.Begin(b.Context(), in)
		if err == nil {
			err = h.ledger.End(b.Context(), id, contract.OutcomeDone)
		}
		if err != nil {
			b.Fatal(err)
		}
	}
}

func replaceDurably(name string, data []byte) error {
	f, err := os.CreateTemp(filepath.Dir(name), "tmp")
	if err != nil {
		return err
	}
	if _, err := f.Write(data); err != nil {
		return err
	}
	if err := f.Sync(); err != nil {
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	if err := os.Rename(f.Name(), name); err != nil {
		return err
	}
	d, err := os.Open(filepath.Dir(name))
	if err != nil {
		return err
	}
	defer d.Close()
	return d.Sync()
}

func benchHouse(b *testing.B) (*house, string) {
	root := b.TempDir()
	o := options{profile: "all", state: b.TempDir(), write: []string{"**"}}
	h, err := o.open([]string{root})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = h.close() })
	return h, root
}

// nextMark replaces the mark i by the next one and returns the new version.
func nextMark(b *testing.B, h *house, i int, version string) string {
	arguments := fmt.Appendf(nil, `{"path":"a.txt","old_text":"mark %d\n","new_text":"mark %d\n","observed_version":%q}`, i, i+1, version)
	e := h.gate.Call(context.Background(), gate.Call{Caller: gate.CallerLocal, Tool: "replace_text", Arguments: arguments})
	var told struct{ Version string }
	if err := json.Unmarshal(e.AppendJSON(nil), &told); err != nil || e.IsError() {
		b.Fatalf("%s, %v", e.AppendJSON(nil), err)
	}
	return told.Version
}
