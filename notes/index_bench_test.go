//go:build !windows

package notes

import (
	"context"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"syscall"
	"testing"
	"time"
)

// cpu returns the processor time that this process has used.
func cpu() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// peak returns the most memory that the process has had resident, in MB.
func peak() float64 {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(err)
	}
	return float64(u.Maxrss) / 1024
}

// BenchmarkIndex measures an index of 36,000 notes: WRIT_NOTES says how many instead.
func BenchmarkIndex(b *testing.B) {
	n := 36_000
	if s := os.Getenv("WRIT_NOTES"); s != "" {
		if _, err := fmt.Sscan(s, &n); err != nil {
			b.Fatal(err)
		}
	}
	dir := b.TempDir()
	c := newCorpus(1)
	bytes := c.write(b, dir, n)
	c.english.zipf, c.chinese.zipf = nil, nil
	runtime.GC()
	fmt.Printf("\t%d notes, %d MB, %.0f MB resident before\n", n, bytes>>20, peak())
	time.Sleep(100 * time.Millisecond)

	at := filepath.Join(b.TempDir(), "notes.db")
	f := openFiles(b, dir)
	began, used := time.Now(), cpu()
	x := indexOf(b, f, IndexOptions{File: at})
	took := cpu() - used
	fmt.Printf("\tbuild: %.1f s of processor, %.1f s; %.0f notes per second of processor; %.0f MB at most\n", took.Seconds(), time.Since(began).Seconds(), float64(n)/took.Seconds(), peak())
	x.Close()
	if info, err := os.Stat(at); err == nil {
		fmt.Printf("\tindex: %d MB, %.2f of the text\n", info.Size()>>20, float64(info.Size())/float64(bytes))
	}

	f = openFiles(b, dir)
	x = NewIndex(IndexOptions{File: at, Vault: f})
	began, used = time.Now(), cpu()
	q, _ := ParseQuery(c.titles[0].title)
	if _, err := x.Search(context.Background(), q, f); err != nil || x.store == nil {
		b.Fatal("no index answered", err)
	}
	fmt.Printf("\tfirst answer: %v, %v of processor\n", time.Since(began).Round(time.Millisecond), (cpu() - used).Round(time.Millisecond))
	b.Run("query", func(b *testing.B) { c.measureQueries(b, x, f) })
	b.Run("update", func(b *testing.B) { c.measureUpdates(b, x, f, dir) })
	b.Run("known item", func(b *testing.B) { c.wantKnown(b, x, f, 200) })
	b.Run("recall", func(b *testing.B) { c.measureRecall(b, x, f) })
	x.Close()
}

func percentiles(b *testing.B, what string, all []time.Duration) {
	slices.Sort(all)
	at := func(p float64) time.Duration { return all[min(len(all)-1, int(p*float64(len(all))))] }
	fmt.Printf("\t%-14s p50 %8v  p90 %8v  p99 %8v  max %8v  (%d)\n", what, at(.5).Round(10*time.Microsecond), at(.9).Round(10*time.Microsecond), at(.99).Round(10*time.Microsecond), at(1).Round(10*time.Microsecond), len(all))
}

// measureQueries takes the best of four runs of each query, since the machine has other work to do.
func (c *corpus) measureQueries(b *testing.B, x *Index, f files) {
	kinds := map[string][]time.Duration{}
	var all, work []time.Duration
	questions := c.questions(17)
	used := cpu()
	for _, q := range questions {
		best, least := time.Duration(math.MaxInt64), time.Duration(math.MaxInt64)
		for range 4 {
			clear(x.store.counts)
			began, before := time.Now(), cpu()
			search(b, x, f, q.text)
			best, least = min(best, time.Since(began)), min(least, cpu()-before)
		}
		kinds[q.kind] = append(kinds[q.kind], best)
		all = append(all, best)
		work = append(work, least)
	}
	fmt.Printf("\t%.2f ms of processor a query\n", (cpu()-used).Seconds()*1000/float64(4*len(questions)))
	for kind, times := range kinds {
		percentiles(b, kind, times)
	}
	percentiles(b, "all", all)
	percentiles(b, "all, processor", work)
}

// measureUpdates measures the search right after a change less the same search once more.
func (c *corpus) measureUpdates(b *testing.B, x *Index, f files, dir string) {
	var times []time.Duration
	used := time.Duration(0)
	for i := range 200 {
		name := filepath.Join(dir, c.titles[i*37%len(c.titles)].path)
		text, err := os.ReadFile(name)
		if err != nil {
			b.Fatal(err)
		}
		if err := os.WriteFile(name, fmt.Appendf(text, "\nunheardof%d\n", i), 0o644); err != nil {
			b.Fatal(err)
		}
		word := fmt.Sprintf("unheardof%d", i)
		before, began := cpu(), time.Now()
		x.fresh(context.Background(), forever)
		times = append(times, time.Since(began))
		used += cpu() - before
		if r := search(b, x, f, word); r.Total != 1 {
			b.Fatalf("%s was written and is found %d times", word, r.Total)
		}
	}
	fmt.Printf("\t%.2f ms of processor an update\n", used.Seconds()*1000/float64(len(times)))
	percentiles(b, "update", times)
}

func (c *corpus) measureRecall(b *testing.B, x *Index, f files) {
	found, there := 0, 0
	for range 25 {
		q := c.part(2)
		found += search(b, x, f, q).Total
		there += search(b, Scanner{}, f, q).Total
	}
	fmt.Printf("\tChinese, 2 characters: %d of %d notes found, recall %.4f\n", found, there, float64(found)/float64(there))
}
