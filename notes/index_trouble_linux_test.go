package notes

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"writ/contract"
	"writ/workspace"
)

// What befalls an index from outside: processes that are killed, several that share one, disks that fill, vaults that are
// taken away. Whatever it is, no search gives less than what is on disk without saying so.

// envChild makes this test binary a process that indexes a vault: "FILE\nDIRECTORY".
const envChild = "WRIT_TEST_INDEX"

func TestMain(m *testing.M) {
	if at, isChild := os.LookupEnv(envChild); isChild {
		file, dir, _ := strings.Cut(at, "\n")
		os.Exit(indexAsChild(file, dir))
	}
	os.Exit(m.Run())
}

// speaking is a vault that says a line for each note that is read.
type speaking struct{ watchless }

func (v speaking) Some(ctx context.Context, files []contract.Path, visit func(Candidate) error) error {
	return v.watchless.Some(ctx, files, func(c Candidate) error {
		fmt.Println("reads", c.Path)
		return visit(c)
	})
}

// indexAsChild indexes the vault and says so, then indexes a note of its own that it writes and says how many notes it
// finds, until its input ends.
func indexAsChild(file, dir string) int {
	d := disk{dir}
	x := patient(IndexOptions{File: file, Vault: speaking{watchless{d}}, Log: slog.New(slog.NewTextHandler(os.Stderr, nil))})
	defer x.Close()
	if err := x.Build(context.Background(), func(Progress) {}); err != nil {
		fmt.Println("fails", err)
		return 1
	}
	fmt.Println("built")
	in := bufio.NewScanner(os.Stdin)
	for n := 0; in.Scan(); n++ {
		word := fmt.Sprintf("own%dx%d", os.Getpid(), n)
		if err := os.WriteFile(filepath.Join(dir, word+".md"), []byte("common "+word+"\n"), 0o644); err != nil {
			fmt.Println("fails", err)
			return 1
		}
		q, _ := ParseQuery(word)
		r, ok := x.searchIndex(context.Background(), &q, d)
		fmt.Println("finds", r.Total, ok)
	}
	return 0
}

// child is a running process that indexes.
type child struct {
	t    *testing.T
	cmd  *exec.Cmd
	say  io.WriteCloser
	hear *bufio.Scanner
}

// startChild starts a process that can't outlive the test by more than a minute.
func startChild(t *testing.T, file, dir string) *child {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	c := &child{t: t, cmd: exec.CommandContext(ctx, os.Args[0])}
	c.cmd.Env = append(os.Environ(), envChild+"="+file+"\n"+dir)
	c.cmd.Stderr = faithful{t}
	say, err := c.cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	hear, err := c.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	c.say, c.hear = say, bufio.NewScanner(hear)
	if err := c.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		say.Close()
		_ = c.cmd.Wait()
		cancel()
	})
	return c
}

// hears waits for the nth line that starts so, and returns it.
func (c *child) hears(start string, nth int) string {
	c.t.Helper()
	for c.hear.Scan() {
		if line := c.hear.Text(); strings.HasPrefix(line, start) {
			if nth--; nth <= 0 {
				return line
			}
		}
	}
	c.t.Fatalf("the process ended without saying %q", start)
	return ""
}

func (c *child) kill() {
	c.t.Helper()
	if err := c.cmd.Process.Kill(); err != nil {
		c.t.Fatal(err)
	}
	_ = c.cmd.Wait()
}

// writes makes the process write a note and search for it.
func (c *child) writes() {
	c.t.Helper()
	if _, err := fmt.Fprintln(c.say, "go"); err != nil {
		c.t.Error(err)
	}
}

// asDisk fails unless the index answers, and as a scan does.
func asDisk(t *testing.T, x *Index, source Source, queries ...string) {
	t.Helper()
	for _, query := range queries {
		agree(t, query, search(t, Scanner{}, source, query), search(t, x, source, query))
	}
}

// plantNotes writes n notes of which each has the words common, numberN and one that two others have.
func plantNotes(t *testing.T, d disk, n int) {
	t.Helper()
	for i := range n {
		d.write(t, fmt.Sprintf("d%d/n%d.md", i%7, i), fmt.Sprintf("# Note %d\n\ncommon number%d third%d 花园传感器\n", i, i, i/3))
	}
}

var planted = []string{"common", "number7", "third11", "传感", "numbre250", "how is common third40 explained"}

// A process that is killed while it indexes leaves an index that is right, and that the next one completes.
func TestIndexOfAKilledProcess(t *testing.T) {
	d := disk{t.TempDir()}
	plantNotes(t, d, 300)
	file := filepath.Join(t.TempDir(), "notes.db")
	for _, at := range []int{1, 120, 299} {
		c := startChild(t, file, d.root)
		c.hears("reads", at)
		c.kill()
	}
	x := indexOf(t, watchless{d}, IndexOptions{File: file})
	asDisk(t, x, d, planted...)
	for _, at := range []int{1, 2, 5} { // while it brings what is there up to date
		d.write(t, "d0/n0.md", fmt.Sprintf("common changed%d\n", at))
		c := startChild(t, file, d.root)
		c.hears("reads", 1)
		c.kill()
		asDisk(t, x, d, fmt.Sprintf("changed%d", at), "number0", "common")
	}
	if err := x.Verify(t.Context()); err != nil {
		t.Error(err)
	}
}

// Seven processes begin while an eighth indexes, which is killed; each finds what it has just written.
func TestEightProcessesShareAnIndex(t *testing.T) {
	d := disk{t.TempDir()}
	plantNotes(t, d, 100)
	file := filepath.Join(t.TempDir(), "notes.db")
	killed := startChild(t, file, d.root)
	killed.hears("reads", 1)
	var all []*child
	for range 7 {
		all = append(all, startChild(t, file, d.root))
	}
	killed.kill()
	for _, c := range all {
		c.hears("built", 1)
	}
	for range 3 {
		for _, c := range all {
			c.writes()
		}
		for _, c := range all {
			if line := c.hears("finds", 1); line != "finds 1 true" {
				t.Errorf("a process %s", line)
			}
		}
	}
	x := indexOf(t, watchless{d}, IndexOptions{File: file})
	asDisk(t, x, d, planted...)
	if r := search(t, x, d, "common"); r.Total != 100+3*7 {
		t.Errorf("%d notes are found", r.Total)
	}
	if err := x.Verify(t.Context()); err != nil {
		t.Error(err)
	}
}

// A disk that is full leaves searches slow and right; once there is room they are fast again.
func TestIndexOnAFullDisk(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("mounting a file system takes root")
	}
	small := t.TempDir()
	if err := syscall.Mount("tmpfs", small, "tmpfs", 0, "size=300k"); err != nil {
		t.Skipf("no file system can be mounted here: %v", err)
	}
	t.Cleanup(func() { _ = syscall.Unmount(small, syscall.MNT_DETACH) })
	d := disk{t.TempDir()}
	plantNotes(t, d, 2*fewNotes)
	for i := range 40 {
		var b strings.Builder
		for n := range 2000 {
			fmt.Fprintf(&b, "w%dx%d ", i, n)
		}
		d.write(t, fmt.Sprintf("large%d.md", i), b.String())
	}
	x := patient(IndexOptions{File: filepath.Join(small, "notes.db"), Vault: watchless{d}, Log: slog.New(slog.DiscardHandler)})
	defer x.Close()
	for range 3 {
		q, _ := ParseQuery("common")
		r, err := x.Search(t.Context(), q, d)
		if err != nil || r.Total != 2*fewNotes {
			t.Fatalf("with a full disk %d are found: %v", r.Total, err)
		}
		x.work.Wait()
	}
	if err := syscall.Mount("tmpfs", small, "tmpfs", syscall.MS_REMOUNT, "size=64m"); err != nil {
		t.Fatal(err)
	}
	for range 3 { // one finds out, and begins
		q, _ := ParseQuery("common")
		if _, err := x.Search(t.Context(), q, d); err != nil {
			t.Fatal(err)
		}
		x.work.Wait()
	}
	asDisk(t, x, d, append(planted, "w7x1999")...)
}

// So many changes that the kernel gives up counting are found by a walk.
func TestIndexAfterABurst(t *testing.T) {
	d := disk{t.TempDir()}
	plantNotes(t, d, 100)
	f := openFiles(t, d.root)
	x := indexOf(t, f, IndexOptions{})
	asDisk(t, x, f, planted...)
	one, other := filepath.Join(d.root, "d0/n0.md"), filepath.Join(d.root, "d1/n1.md")
	for range 25_000 { // two names in turn, so that no event is like the one before
		if err := errors.Join(syscall.Chmod(one, 0o600), syscall.Chmod(other, 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	for i := range 7 {
		d.write(t, fmt.Sprintf("d%d/n%d.md", i, i), fmt.Sprintf("common burst%d\n", i))
	}
	if err := os.Remove(filepath.Join(d.root, "d0/n7.md")); err != nil {
		t.Fatal(err)
	}
	asDisk(t, x, f, "burst0", "burst6", "number7", "number3", "common")
}

// A vault that is moved away, with another in its place, is not searched by what the first one said.
func TestIndexOfAVaultThatIsReplaced(t *testing.T) {
	base := t.TempDir()
	d := disk{filepath.Join(base, "vault")}
	d.write(t, "a.md", "apple\n")
	f := openFiles(t, d.root)
	x := patient(IndexOptions{File: filepath.Join(t.TempDir(), "notes.db"), Vault: f, Log: slog.New(slog.DiscardHandler)})
	defer x.Close()
	if err := x.Build(t.Context(), func(Progress) {}); err != nil {
		t.Fatal(err)
	}
	asDisk(t, x, f, "apple")
	if err := os.Rename(d.root, filepath.Join(base, "away")); err != nil {
		t.Fatal(err)
	}
	d.write(t, "b.md", "berry\n")
	for _, query := range []string{"apple", "berry", "appel"} {
		q, _ := ParseQuery(query)
		if r, err := x.Search(t.Context(), q, f); err == nil {
			t.Errorf("%q finds %d in a vault that is away", query, r.Total)
		}
	}
	if err := os.Rename(d.root, filepath.Join(base, "other")); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(filepath.Join(base, "away"), d.root); err != nil {
		t.Fatal(err)
	}
	d.write(t, "c.md", "apple\n")
	wantFound(t, x, f, "apple", "a.md", "c.md")
}

// unignored lets be read what no ignore file names.
type unignored struct{}

func (unignored) Allow(_ workspace.Access, p workspace.Place) error {
	if p.Ignored > 0 {
		return errors.New("ignored")
	}
	return nil
}

// What a note said is in the file no more once the note is gone, by whatever way, and the file was tidied.
func TestIndexForgetsWhatIsGone(t *testing.T) {
	d := disk{t.TempDir()}
	ways := map[string]func(name string) error{
		"removed": os.Remove,
		"renamed": func(name string) error { return os.Rename(name, strings.TrimSuffix(name, ".md")+".txt") },
		"private": func(name string) error {
			return os.WriteFile(name, []byte("---\nprivate: true\n---\nquixoticprivate\n"), 0o644)
		},
		"edited": func(name string) error { return os.WriteFile(name, []byte("other words\n"), 0o644) },
		"binary": func(name string) error { return os.WriteFile(name, []byte("quixoticbinary\x00\xff"), 0o644) },
		"ignored": func(name string) error {
			return os.WriteFile(filepath.Join(filepath.Dir(name), ".gitignore"), []byte("ignored.md\n"), 0o644)
		},
	}
	for way := range ways {
		d.write(t, way+".md", "---\ntags: [tagof"+way+"]\n---\n# Title"+way+"\n\nquixotic"+way+"\n")
	}
	d.write(t, "kept.md", "a word that stays\n")
	w, err := workspace.Open(workspace.Options{Roots: []workspace.Root{{Dir: d.root}}})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	r := w.Reader(unignored{})
	f := files{r, r.Follow()}
	file := filepath.Join(t.TempDir(), "notes.db")
	x := indexOf(t, f, IndexOptions{File: file})
	for way, do := range ways {
		wantFound(t, x, f, "quixotic"+way, way+".md")
		if err := do(filepath.Join(d.root, way+".md")); err != nil {
			t.Fatal(err)
		}
		for _, word := range []string{"quixotic" + way, "title" + way, "tag:tagof" + way} {
			wantFound(t, x, f, word)
		}
	}
	x.tidyUp(t.Context())
	wantFound(t, x, f, "stays", "kept.md")
	if err := x.Close(); err != nil {
		t.Fatal(err)
	}
	for _, end := range []string{"", "-wal"} {
		raw, err := os.ReadFile(file + end)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		for way := range ways {
			for _, word := range []string{"quixotic" + way, "title" + way, "Title" + way, "tagof" + way} {
				if strings.Contains(string(raw), word) {
					t.Errorf("%q is still in the file", word)
				}
			}
		}
	}
}
