package workspace

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"testing"

	"writ/contract"
)

var errJudged = errors.New("judged")

// A rehearsal finds the very change that would be made, and leaves everything as it is: no file, no intent, no temporary
// name.
func TestRehearsal(t *testing.T) {
	ctx := context.Background()
	for name, write := range map[string]func(t *testing.T, w Writer) error{
		"edit": func(t *testing.T, w Writer) error {
			_, err := w.Replace(ctx, path(t, "link"), contract.VersionOf([]byte("old")), whole("new"))
			return err
		},
		"create": func(t *testing.T, w Writer) error {
			_, err := w.Create(ctx, path(t, "x/y/new"), []byte("new"))
			return err
		},
		"delete": func(t *testing.T, w Writer) error {
			_, err := w.Delete(ctx, path(t, "d/a"), contract.VersionOf([]byte("old")))
			return err
		},
		"move": func(t *testing.T, w Writer) error {
			_, err := w.Move(ctx, path(t, "d/a"), path(t, "x/a"), contract.VersionOf([]byte("old")))
			return err
		},
		"mkdir": func(t *testing.T, w Writer) error { _, err := w.MakeDirectory(ctx, path(t, "x/y")); return err },
		"rmdir": func(t *testing.T, w Writer) error {
			_, err := w.RemoveDirectories(ctx, []contract.Path{path(t, "empty")})
			return err
		},
		"batch": func(t *testing.T, w Writer) error {
			done, err := w.ReplaceAll(ctx, members(t, "old", "d/a", "d/b"), wholeOf("new"))
			return firstRefusal(done, err)
		},
		"batch of its own": func(t *testing.T, w Writer) error {
			return firstRefusal(w.ReplaceEach(ctx, members(t, "old", "d/a", "d/b"), wholeOf("new")), nil)
		},
	} {
		t.Run(name, func(t *testing.T) {
			forms(t, func(t *testing.T, portable bool) {
				b := newBench(t, portable, map[string]string{"d/a": "old", "d/b": "old", "link": "->d/a"})
				if err := os.Mkdir(filepath.Join(b.root, "empty"), 0o700); err != nil {
					t.Fatal(err)
				}
				before := namesBelow(t, b.root)
				var planned []contract.Intent
				err := write(t, b.Rehearsing(func(p Planned) error {
					planned = append(planned, p.Intent)
					return errJudged
				}))
				if !errors.Is(err, errJudged) {
					t.Fatalf("ended with %v", err)
				}
				if after := namesBelow(t, b.root); !slices.Equal(before, after) || len(b.diary.intents) > 0 || b.onDisk("d/a") != "old" {
					t.Errorf("it left traces: %v, %v", after, b.diary.intents)
				}
				if err := write(t, b.Writer); err != nil {
					t.Fatal(err)
				}
				if len(planned) == 0 || !reflect.DeepEqual(outlines(planned), outlines(b.diary.intents)) {
					t.Errorf("planned %+v, made %+v", planned, b.diary.intents)
				}
			})
		})
	}
}

func firstRefusal(done BatchWritten, err error) error {
	if err == nil && len(done.Refused) > 0 {
		err = done.Refused[0].Err
	}
	return err
}

// outlines are the intents without what the way of making a change chooses.
func outlines(list []contract.Intent) []contract.Intent {
	list = slices.Clone(list)
	for i := range list {
		list[i].Temp, list[i].Mode, list[i].Batch = "", 0, ""
	}
	return list
}

func namesBelow(t *testing.T, root string) []string {
	var names []string
	err := filepath.WalkDir(root, func(name string, _ os.DirEntry, err error) error {
		names = append(names, name)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return names
}
