package workspace

import (
	"bytes"
	"context"
	"fmt"
	"runtime"
	"testing"

	"writ/contract"
)

func BenchmarkLoad(b *testing.B) {
	for _, size := range []int{1 << 10, 1 << 20} {
		b.Run(fmt.Sprint(size), func(b *testing.B) {
			w := open(b, Options{Roots: []Root{{Dir: world(b, map[string]string{"docs/plans/f": string(make([]byte, size))})}}})
			r, p := w.Reader(anyone{}), path(b, "docs/plans/f")
			b.ReportAllocs()
			for b.Loop() {
				if _, err := r.Load(context.Background(), p); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkStat(b *testing.B) {
	w := open(b, Options{Roots: []Root{{Dir: world(b, map[string]string{"docs/plans/f": "x"})}}})
	r, p := w.Reader(anyone{}), path(b, "docs/plans/f")
	b.ReportAllocs()
	for b.Loop() {
		if _, err := r.Stat(context.Background(), p); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkReplace(b *testing.B) {
	for _, size := range []int{2 << 10, 10 << 20} {
		b.Run(fmt.Sprint(size), func(b *testing.B) {
			data := bytes.Repeat([]byte("0123456789abcde\n"), size/16)
			f := newBench(b, false, map[string]string{"f": string(data)})
			f.journal = nil
			p, v := path(b, "f"), contract.VersionOf(data)
			n := 0
			b.ReportAllocs()
			for b.Loop() {
				n++
				done, err := f.Replace(context.Background(), p, v, func(*File) ([]contract.Splice, error) {
					return []contract.Splice{{Offset: int64(size / 2), Length: 8, New: fmt.Appendf(nil, "%08d", n)}}, nil
				})
				if err != nil {
					b.Fatal(err)
				}
				v = done.After
			}
			var m runtime.MemStats
			runtime.ReadMemStats(&m)
			b.ReportMetric(float64(m.HeapSys)/(1<<20), "heap-MB")
		})
	}
}

func BenchmarkCreate(b *testing.B) {
	f := newBench(b, false, nil)
	f.journal = nil
	data := make([]byte, 1<<10)
	n := 0
	for b.Loop() {
		n++
		if _, err := f.Create(context.Background(), path(b, fmt.Sprint("f", n)), data); err != nil {
			b.Fatal(err)
		}
	}
}
