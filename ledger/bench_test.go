package ledger

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"testing"

	"writ/contract"
	"writ/envelope"
)

// smallEdit is what a change of a few words begins with.
func smallEdit(b *testing.B, i int) contract.Intent {
	in := edit(b, "docs/plans/plan.md", "a line of some fifty characters, give or take a few", fmt.Sprint(i))
	in.RequestID, in.Fingerprint = fmt.Sprintf("req_%020d", i), shaOf(fmt.Sprint(i))
	return in
}

func benchBeginEnd(b *testing.B, before int) {
	l := openNew(b)
	for i := range before {
		s, err := l.open(b.Context())
		if err != nil {
			b.Fatal(err)
		}
		row, _ := pack(smallEdit(b, i).Undo)
		id, err := s.insert(l.clock(), smallEdit(b, i), row)
		if err != nil {
			b.Fatal(err)
		}
		if err := s.settle(id, contract.OutcomeDone); err != nil {
			b.Fatal(err)
		}
	}
	i := before
	for b.Loop() {
		i++
		id, err := l.Begin(b.Context(), smallEdit(b, i))
		if err != nil {
			b.Fatal(err)
		}
		if err := l.End(b.Context(), id, contract.OutcomeDone); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkBeginEnd(b *testing.B) {
	b.Run("empty log", func(b *testing.B) { benchBeginEnd(b, 0) })
	b.Run("10000 changes in the log", func(b *testing.B) { benchBeginEnd(b, 10_000) })
}

// BenchmarkBeginEndUnflushed is the part of BenchmarkBeginEnd that is not the disk's.
func BenchmarkBeginEndUnflushed(b *testing.B) {
	l := openNew(b)
	s, err := l.open(b.Context())
	if err != nil {
		b.Fatal(err)
	}
	s.wal.flush = func(*os.File) error { return nil }
	i := 0
	for b.Loop() {
		i++
		if err := l.End(b.Context(), begin(b, l, smallEdit(b, i)), contract.OutcomeDone); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkBeginEndParallel(b *testing.B) {
	l := openNew(b)
	b.SetParallelism(8)
	b.RunParallel(func(pb *testing.PB) {
		for i := 0; pb.Next(); i++ {
			id, err := l.Begin(b.Context(), smallEdit(b, i))
			if err != nil {
				b.Error(err)
				return
			}
			if err := l.End(b.Context(), id, contract.OutcomeDone); err != nil {
				b.Error(err)
			}
		}
	})
}

func aCall(i int, writes bool) CallEntry {
	return CallEntry{
		RequestID: fmt.Sprintf("req_%020d", i), Caller: "local", Client: "editor", Tool: "read_file",
		Arguments: map[string]any{"path": "docs/plans/plan.md", "limit": float64(20)}, Status: envelope.OK, Writes: writes,
	}
}

func BenchmarkRecord(b *testing.B) {
	for name, writes := range map[string]bool{"write": true, "read": false} {
		b.Run(name, func(b *testing.B) {
			l := openNew(b)
			for i := 0; b.Loop(); i++ {
				record(b, l, aCall(i, writes))
			}
			if err := l.flush(b.Context(), math.MaxInt); err != nil {
				b.Fatal(err)
			}
		})
	}
}

// BenchmarkFlush is one flush of a file that is written over, as the write-ahead log mostly is.
func BenchmarkFlush(b *testing.B) {
	f, err := os.Create(filepath.Join(b.TempDir(), "f"))
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close()
	block := make([]byte, 20_000)
	for i := 0; b.Loop(); i++ {
		if _, err := f.WriteAt(block, int64(i%200)*20_000); err != nil {
			b.Fatal(err)
		}
		if err := flushData(f); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkReady(b *testing.B) {
	dir := b.TempDir()
	for b.Loop() {
		l, err := Open(dir, Options{})
		if err != nil {
			b.Fatal(err)
		}
		if err := l.Ready(b.Context()); err != nil {
			b.Fatal(err)
		}
		if err := l.Close(); err != nil {
			b.Fatal(err)
		}
	}
}
