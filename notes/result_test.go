package notes

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"writ/contract"
	"writ/envelope"
	"writ/workspace"
)

// Each case gives notes in the order in which they must come; their names are a.md, b.md and so on, stored so that
// neither path nor time helps.
func TestOrder(t *testing.T) {
	cases := []struct {
		name, query string
		notes       []string
	}{
		{"a title before a body", "sensor", []string{"# The sensor\nx\n", "# Other\nsensor sensor sensor sensor\n"}},
		{"a title before a heading", "sensor", []string{"# The sensor\n", "# Other\n## The sensor\n"}},
		{"a heading before a body", "sensor", []string{"# A\n## The sensor\nx\n", "# A\nthe sensor\nx\n"}},
		{"a tag before a body", "sensor", []string{"# A\n#sensor x\n", "# A\nsensor x\n"}},
		{"the whole title before its start", "garden sensor", []string{"# Garden Sensor\n", "# Garden sensor plan\n"}},
		{"the start of a title before its middle", "garden sensor", []string{"# Garden sensor plan\n", "# My garden sensor\n"}},
		{"an alias is a title", "moisture probe", []string{"---\naliases: [Moisture probe]\n---\n# X\n", "# Some moisture probe\n"}},
		{"the phrase before the words apart", "garden sensor", []string{"# A\nthe garden sensor is on\n", "# A\nsensor of a garden\n"}},
		{"more often before once", "sensor", []string{"sensor and sensor x y\n", "sensor and other x y\n"}},
		{"a short note before a long one", "sensor", []string{"sensor\n", "sensor\n" + strings.Repeat("filler words here\n", 50)}},
		{"a Chinese title before a body", "传感器", []string{"# 花园传感器\n", "# 其他\n传感器传感器\n"}},
		{"a title spelt with a space", "KV缓存", []string{"# KV 缓存\n", "# A\nKV缓存\n"}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			files := map[string]string{}
			var want []string
			for i, text := range c.notes {
				name := fmt.Sprintf("%c.md", 'z'-i)
				files[name] = text
				want = append(want, name)
			}
			r := vault(t, files).search(t, c.query)
			if got := paths(r); !slices.Equal(got, want) {
				t.Fatalf("%q: %q, want %q", c.query, got, want)
			}
			if r.Matches[0].Score <= r.Matches[1].Score {
				t.Errorf("scores %v and %v do not show the order", r.Matches[0].Score, r.Matches[1].Score)
			}
		})
	}
}

func TestTies(t *testing.T) {
	d := vault(t, map[string]string{"b.md": "sensor\n", "a.md": "sensor\n", "c.md": "sensor\n"})
	d.date(t, "c.md", time.Unix(1_800_000_000, 0))
	if got, want := paths(d.search(t, "sensor")), []string{"c.md", "a.md", "b.md"}; !slices.Equal(got, want) {
		t.Errorf("equal notes come as %q, want the newer first, then by path: %q", got, want)
	}
}

func TestMatch(t *testing.T) {
	long := strings.Repeat("filler words ", 60) + "the moisture sensor reads " + strings.Repeat("and more ", 60)
	cases := []struct {
		name, text, query string
		line              int
		heading, snippet  string
	}{
		{"a line and the next", "# T\n\n## Part\n\nfirst\nthe sensor here\nnext line\nmore\n", "sensor", 6, "Part", "the sensor here\nnext line"},
		{"no empty next line", "# T\n\nthe sensor\n\nmore\n", "sensor", 3, "T", "the sensor"},
		{"indented", "- a\n    - the sensor  \n", "sensor", 2, "", "- the sensor"},
		{"CRLF", "# T\r\n\r\nthe sensor\r\nnext\r\nmore\r\n", "sensor", 3, "T", "the sensor\r\nnext"},
		{"front matter alone", "---\ntype: litnote\n---\n# T\n", "litnote", 2, "", "type: litnote"},
		{"a body before front matter", "---\nkind: sensor\n---\n# T\n\nthe sensor\n", "sensor", 6, "T", "the sensor"},
		{"the line with most words", "sensor\n\ngarden\n\ngarden sensor\n", "sensor garden", 5, "", "garden sensor"},
		{"the name itself, not its parts", "ask and review\n\nask-review\n", "ask-review", 3, "", "ask-review"},
		{"the middle of a long line", long, "moisture sensor", 1, "", "words filler words filler words the moisture sensor reads"},
		{"a name alone", "# Title\n\nFirst words.\n", "n", 3, "Title", "First words."},
		{"no text", "", "n", 1, "", ""},
		{"a heading and the text below it", "# Sensor\n\nSix boards.\nMore.\n", "sensor", 1, "Sensor", "# Sensor\n\nSix boards."},
		{"a heading and a long text below it", "# Sensor\n" + strings.Repeat("boards ", 60), "sensor", 1, "Sensor", "# Sensor\nboards boards"},
		{"a heading with nothing below it", "# Sensor\n", "sensor", 1, "Sensor", "# Sensor"},
		{"a line before a heading with the same words", "# Sensor\n\nx\n\nThe sensor.\n", "sensor", 5, "Sensor", "The sensor."},
		{"Chinese", "# 题\n\n关于悬空引用。\n", "悬空", 3, "题", "关于悬空引用。"},
		{"the last line", "a\nsensor", "sensor", 2, "", "sensor"},
		{"a phrase over two lines", "x\nthe garden\nsensor y\n", `"garden sensor"`, 2, "", "the garden\nsensor y"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			r := vault(t, map[string]string{"n.md": c.text}).search(t, c.query)
			if len(r.Matches) != 1 {
				t.Fatalf("%d matches", len(r.Matches))
			}
			m := r.Matches[0]
			if m.Line != c.line || m.Heading != c.heading || !strings.HasPrefix(m.Snippet, c.snippet) {
				t.Errorf("line %d, heading %q, snippet %q; want %d, %q, %q", m.Line, m.Heading, m.Snippet, c.line, c.heading, c.snippet)
			}
			if len(m.Snippet) > SnippetBytes || !strings.Contains(c.text, m.Snippet) || len(strings.Split(strings.ReplaceAll(m.Snippet, "\n\n", "\n"), "\n")) > 2 {
				t.Errorf("snippet of %d bytes is no part of the text: %q", len(m.Snippet), m.Snippet)
			}
			if m.Version != contract.VersionOf([]byte(c.text)) || m.Tags == nil {
				t.Errorf("version %s, tags %v", m.Version, m.Tags)
			}
		})
	}
}

func TestLongLineOfChinese(t *testing.T) {
	text := strings.Repeat("一二三四五六七八九十", 60) + "悬空引用" + strings.Repeat("甲乙丙丁", 100)
	m := vault(t, map[string]string{"n.md": text}).search(t, "悬空").Matches[0]
	if !utf8.ValidString(m.Snippet) || len(m.Snippet) > SnippetBytes || !strings.Contains(m.Snippet, "悬空引用") {
		t.Errorf("snippet %q", m.Snippet)
	}
}

func TestHiddenNotesLeaveNoTrace(t *testing.T) {
	d := vault(t, map[string]string{
		"a.md": "---\nprivate: true\n---\nsensor gardening\n",
		"b.md": "---\nvisibility: private\ntags: [secret]\n---\nsensor\n",
		"c.md": "---\npublish: false\n---\nsensor\n",
		"d.md": "---\ntags: [broken\nprivate: true\n---\nsensor\n",
		"e.md": "the sensor\n",
		"f.md": "---\nvisibility: public\n---\na sensor\n",
	})
	if r := d.search(t, "sensor"); !slices.Equal(paths(r), []string{"f.md", "e.md"}) && !slices.Equal(paths(r), []string{"e.md", "f.md"}) || r.Total != 2 {
		t.Errorf("found %q, total %d", paths(r), r.Total)
	}
	if r := d.searchWith(t, Scanner{Visibility: VisibilityPublic}, "sensor"); !slices.Equal(paths(r), []string{"f.md"}) || r.Total != 1 {
		t.Errorf("public: found %q, total %d", paths(r), r.Total)
	}
	if r := d.search(t, "gardenin"); len(r.Matches) > 0 || len(r.Repaired) > 0 {
		t.Errorf("a word is repaired from a hidden note: %+v", r)
	}
	if r := d.search(t, "tag:secret"); r.Total != 0 {
		t.Errorf("a tag of a hidden note is found: %+v", r)
	}
	others := vault(t, map[string]string{"e.md": "the sensor\n", "f.md": "---\nvisibility: public\n---\na sensor\n"})
	if got, want := d.search(t, "sensor").Matches, others.search(t, "sensor").Matches; !reflect.DeepEqual(got, want) {
		t.Errorf("hidden notes change the answer: %+v, without them %+v", got, want)
	}
}

func TestRepair(t *testing.T) {
	d := vault(t, map[string]string{
		"a.md": "# Garden\nthe moisture sensor\n", "b.md": "garden wardens, 100821\n", "c.md": "house mouse\n",
	})
	cases := []struct {
		name, query string
		want        []string
		repaired    map[string]string
	}{
		{"a letter left out", "gardn", []string{"a.md", "b.md"}, map[string]string{"gardn": "garden"}},
		{"letters swapped", "mositure", []string{"a.md"}, map[string]string{"mositure": "moisture"}},
		{"two letters", "moistuer senser", []string{"a.md"}, map[string]string{"moistuer": "moisture", "senser": "sensor"}},
		{"a right word beside it", "moisture sensr", []string{"a.md"}, map[string]string{"sensr": "sensor"}},
		{"not two guesses that no note has together", "moistre wardans", []string{}, nil},
		{"not a number", "100822", []string{}, nil},
		{"not a short word", "tje", []string{}, nil},
		{"not a word that exists", "house", []string{"c.md"}, nil},
		{"not where a right word is enough", "garden xmoistury zzz", []string{"a.md", "b.md"}, nil},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			r := d.search(t, c.query)
			got := paths(r)
			slices.Sort(got)
			if !slices.Equal(got, c.want) || !maps.Equal(r.Repaired, c.repaired) {
				t.Errorf("%q found %q, repaired %v; want %q, %v", c.query, got, r.Repaired, c.want, c.repaired)
			}
		})
	}
}

func TestOwnWritesAreSeenAtOnce(t *testing.T) {
	d := vault(t, map[string]string{"t.md": "---\ntags: [alpha]\n---\nfirst text\n"})
	if got := paths(d.search(t, "first")); !slices.Equal(got, []string{"t.md"}) {
		t.Errorf("before: %q", got)
	}
	d.write(t, "t.md", "---\ntags: [alpha]\n---\nsecond text\n")
	if got := paths(d.search(t, "second")); !slices.Equal(got, []string{"t.md"}) {
		t.Errorf("the new text: %q", got)
	}
	if got := paths(d.search(t, "first")); len(got) > 0 {
		t.Errorf("the old text: %q", got)
	}
	if err := os.Remove(filepath.Join(d.root, "t.md")); err != nil {
		t.Fatal(err)
	}
	if got := paths(d.search(t, "second")); len(got) > 0 {
		t.Errorf("after the end of the note: %q", got)
	}
}

func TestLimitAndTotal(t *testing.T) {
	files := map[string]string{}
	for i := range 50 {
		files[fmt.Sprintf("n%02d.md", i)] = "the sensor\n"
	}
	d := vault(t, files)
	if r := d.search(t, "sensor"); len(r.Matches) != DefaultLimit || r.Total != 50 {
		t.Errorf("%d matches of %d", len(r.Matches), r.Total)
	}
	if r := d.searchWith(t, Scanner{Limit: 3}, "sensor"); len(r.Matches) != 3 || r.Total != 50 {
		t.Errorf("%d matches of %d", len(r.Matches), r.Total)
	}
}

func TestFilesThatAreNoText(t *testing.T) {
	d := vault(t, map[string]string{"a.md": "sensor\n", "b.md": "sensor \xff\xfe\n", "c.md": "\x80sensor\n"})
	r := d.search(t, "sensor")
	if !slices.Equal(paths(r), []string{"a.md"}) || !maps.Equal(r.Skipped, map[envelope.Code]int{envelope.NotText: 2}) {
		t.Errorf("found %q, skipped %v", paths(r), r.Skipped)
	}
}

func TestSameOrderEveryTime(t *testing.T) {
	files := map[string]string{}
	for i := range 120 {
		files[fmt.Sprintf("d%d/n%03d.md", i%7, i)] = strings.Repeat("the garden sensor\n", 1+i%3) + strings.Repeat("x\n", i%5)
	}
	d := vault(t, files)
	x := indexOf(t, watchless{d}, IndexOptions{})
	for i, query := range []string{"sensor", "garden sensr", "what does the garden sensor measure", "sensor", "garden sensr"} {
		var s Searcher = Scanner{}
		if i > 2 {
			s = x
		}
		want := d.searchWith(t, s, query)
		answers := make(chan Result)
		for range 20 {
			go func() { answers <- d.searchWith(t, s, query) }()
		}
		for range 20 {
			if got := <-answers; !reflect.DeepEqual(got, want) {
				t.Errorf("%q is answered in two ways", query)
			}
		}
	}
}

func TestSearchEndsWithItsContext(t *testing.T) {
	d := vault(t, map[string]string{"a.md": "sensor\n"})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	q, err := ParseQuery("sensor")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := (Scanner{}).Search(ctx, q, d); !errors.Is(err, context.Canceled) {
		t.Errorf("Search: %v", err)
	}
}

// Any part of a run is found, wherever it stands: a reader sees it there.
func TestEveryPartOfARunIsFound(t *testing.T) {
	texts := []string{
		"重跑后五十条悬空引用清零，花园传感器的校准步骤", "今日は成語しりとりをした。サンドボックス修正テスト",
		"오늘 끝말잇기게임을 했다", "混合gen-itgc文字ABC结束",
	}
	for _, text := range texts {
		d := vault(t, map[string]string{"n.md": text + "\n", "o.md": "---\nkey: " + text + "\n---\n"})
		x := indexOf(t, watchless{d}, IndexOptions{})
		runes := []rune(text)
		for size := 1; size <= 4; size++ {
			for i := range len(runes) - size + 1 {
				part := string(runes[i : i+size])
				if strings.ContainsFunc(part, func(r rune) bool { return !isUnspaced(r) }) {
					continue
				}
				for _, s := range []Searcher{Scanner{}, x} {
					if got := paths(d.searchWith(t, s, part)); len(got) != 2 {
						t.Errorf("%q in %q: %T found %q", part, text, s, got)
					}
				}
			}
		}
	}
}

// However many notes match, what is kept of them is bounded, the best are among it, and all are counted.
func TestManyMatches(t *testing.T) {
	records := make([]record, 5*maxRecords)
	for i := range records {
		p, err := contract.ParsePath(fmt.Sprintf("n%06d.md", i))
		if err != nil {
			t.Fatal(err)
		}
		records[i] = record{path: p, level: allTerms, mask: 1, values: []float32{float32(1 + i%100), 1}}
	}
	best := func(order func(i int) int) []string {
		total := tally{docs: []int{len(records), len(records)}, notes: len(records), skipped: map[envelope.Code]int{}}
		workers := make([]tally, 3)
		for i := range records {
			workers[i%3].keep(records[order(i)])
		}
		for i := range workers {
			if len(workers[i].records) > 2*maxRecords {
				t.Errorf("a worker keeps %d records", len(workers[i].records))
			}
			total.add(&workers[i])
		}
		if total.totals[allTerms] != len(records) || total.countMasked(1) != len(records) {
			t.Errorf("%d and %d of %d are counted", total.totals[allTerms], total.countMasked(1), len(records))
		}
		var names []string
		for _, r := range total.rank(selection{tier: TierExact, columns: []int{0}})[:50] {
			names = append(names, r.path.String())
		}
		return names
	}
	forward := best(func(i int) int { return i })
	backward := best(func(i int) int { return len(records) - 1 - i })
	if !slices.Equal(forward, backward) || forward[0] != "n000099.md" {
		t.Errorf("the best depend on who comes first: %q, %q", forward[:3], backward[:3])
	}
}

// A note that goes between being found and being shown is no match, and is not counted.
func TestNotesThatGoMeanwhile(t *testing.T) {
	d := vault(t, map[string]string{"a.md": "sensor\n", "b.md": "sensor\n", "c.md": "sensor\n"})
	q, err := ParseQuery("sensor")
	if err != nil {
		t.Fatal(err)
	}
	r, err := Scanner{}.Search(t.Context(), q, changing{d, func() {
		d.write(t, "a.md", "other\n")
		d.write(t, "b.md", "---\nprivate: true\n---\nsensor\n")
	}})
	if err != nil || !slices.Equal(paths(r), []string{"c.md"}) || r.Total != 1 {
		t.Errorf("found %q, total %d, %v", paths(r), r.Total, err)
	}
}

// changing is a disk that somebody changes once all notes have been visited.
type changing struct {
	disk
	change func()
}

func (c changing) Notes(ctx context.Context, visit func(Candidate) error) (workspace.Skips, error) {
	left, err := c.disk.Notes(ctx, visit)
	c.change()
	return left, err
}
