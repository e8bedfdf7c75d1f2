package workspace

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"writ/contract"
	"writ/envelope"
)

// sealed refuses files that begin with "sealed", whatever they are called.
type sealed struct{ everything }

var errSealed = &envelope.Error{Code: envelope.PrivateNote, Message: "sealed"}

func (sealed) Suspects(head []byte) bool { return bytes.HasPrefix(head, []byte("sealed")) }

func (s sealed) AllowContent(_ contract.Path, head []byte) error {
	if s.Suspects(head) {
		return errSealed
	}
	return nil
}

// Every way to a file's content asks about what it holds, large or small, first seen or known.
func TestContentIsJudgedOnEveryWay(t *testing.T) {
	forms(t, func(t *testing.T, portable bool) {
		root := t.TempDir()
		w := open(t, Options{Roots: []Root{{Dir: root}}, State: t.TempDir(), portable: portable})
		for name, text := range map[string]string{"small": "sealed word\n", "large": "sealed word\n" + strings.Repeat("line\n", 40<<10)} {
			if err := os.WriteFile(filepath.Join(root, name), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			p, v := path(t, name), contract.VersionOf([]byte(text))
			if _, err := w.Reader(everything{}).Lines(t.Context(), p, LineRange{}); err != nil { // known by now
				t.Fatal(err)
			}
			r, writer := w.Reader(sealed{}), w.Writer(sealed{}, nil, contract.Origin{})
			for way, try := range map[string]func() error{
				"load":   func() error { _, err := r.Load(t.Context(), p); return err },
				"lines":  func() error { _, err := r.Lines(t.Context(), p, LineRange{}); return err },
				"facts":  func() error { _, err := r.Facts(t.Context(), p); return err },
				"open":   func() error { _, err := r.FS().Open(name); return err },
				"judge":  func() error { return r.JudgeContent(t.Context(), p) },
				"search": func() error { _, err := r.Search(t.Context(), Query{Pattern: "word", Base: p}); return err },
				"delete": func() error { _, err := writer.Delete(t.Context(), p, v); return err },
				"move":   func() error { _, err := writer.Move(t.Context(), p, path(t, "elsewhere"), v); return err },
				"text": func() (err error) {
					_, walkErr := r.Walk(t.Context(), p, func(f *Visited) { _, err = r.TextOf(f) })
					return errors.Join(err, walkErr)
				},
				"replace": func() error {
					_, err := writer.Replace(t.Context(), p, v, func(*File) ([]contract.Splice, error) {
						t.Errorf("%s: an edit sees the content", name)
						return nil, nil
					})
					return err
				},
			} {
				if err := try(); !errors.Is(err, errSealed) {
					t.Errorf("%s %s: %v", way, name, err)
				}
			}
		}
		found, err := w.Reader(sealed{}).Search(t.Context(), Query{Pattern: "word"})
		if err != nil || found.Files != 0 || found.Total != 0 || found.Skipped.Total() != 0 {
			t.Errorf("a search tells of what it may not: %+v, %v", found, err)
		}
	})
}

// A file that becomes what a guard refuses is refused at once, and what it was is not shown as a difference.
func TestContentThatIsRefusedLater(t *testing.T) {
	forms(t, func(t *testing.T, portable bool) {
		root := t.TempDir()
		w := open(t, Options{Roots: []Root{{Dir: root}}, State: t.TempDir(), portable: portable})
		name := filepath.Join(root, "a")
		if err := os.WriteFile(name, []byte("open\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		writer := w.Writer(sealed{}, nil, contract.Origin{})
		done, err := writer.Replace(t.Context(), path(t, "a"), contract.VersionOf([]byte("open\n")), func(*File) ([]contract.Splice, error) {
			return []contract.Splice{{Offset: 0, Length: 0, New: []byte("sealed ")}}, nil
		})
		if err != nil {
			t.Fatalf("a caller may write what he won't see again: %v", err)
		}
		if _, known := writer.Recall(done.After); known {
			t.Error("refused content is remembered for a diff")
		}
		if _, err := writer.Load(t.Context(), path(t, "a")); !errors.Is(err, errSealed) {
			t.Errorf("read back: %v", err)
		}
		if _, err := writer.Reverting("chg").Restore(t.Context(), path(t, "b"), []byte("sealed\n"), Former{Mode: 0o600}); !errors.Is(err, errSealed) {
			t.Errorf("restored: %v", err)
		}
	})
}
