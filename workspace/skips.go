package workspace

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"syscall"

	"writ/contract"
	"writ/envelope"
)

// SkipReason says why a walk, a listing or a search left an entry out that its caller may see.
type SkipReason string

// The reasons.
const (
	SkipBinary     SkipReason = "binary"       // a NUL byte, or bytes that are no text in the file's encoding
	SkipTooLarge   SkipReason = "too-large"    // larger than the limit file_bytes
	SkipPermission SkipReason = "permission"   // the operating system's
	SkipName       SkipReason = "name"         // a name that is not valid UTF-8, or that no path can hold
	SkipMount      SkipReason = "other-volume" // another file system that is mounted there
	SkipChanged    SkipReason = "changed"      // moved or replaced while it was looked at
	SkipIO         SkipReason = "io"           // a fault of the disk
)

// skipWords are the reasons in the order in which a warning names them, as they follow a number.
var skipWords = []struct {
	reason    SkipReason
	one, many string
}{
	{SkipBinary, "binary file", "binary files"},
	{SkipTooLarge, "file that is too large", "files that are too large"},
	{SkipPermission, "entry without permission from the operating system", "entries without permission from the operating system"},
	{SkipName, "name that is not valid UTF-8", "names that are not valid UTF-8"},
	{SkipMount, "entry on another file system", "entries on other file systems"},
	{SkipChanged, "entry that was moved or replaced meanwhile", "entries that were moved or replaced meanwhile"},
	{SkipIO, "entry that the disk could not read", "entries that the disk could not read"},
}

const skipExamples = 3

// Skips counts what was left out, by reason. The zero value is nothing. It is not safe for several goroutines at once.
type Skips struct {
	reasons map[SkipReason]*skipped
}

type skipped struct {
	count    int
	examples []string // the first few, by path
}

// Add counts one entry. Of all paths the first few in their order are kept, so that the answer does not depend on who
// came first.
func (s *Skips) Add(reason SkipReason, path string) {
	if s.reasons == nil {
		s.reasons = make(map[SkipReason]*skipped)
	}
	r := s.reasons[reason]
	if r == nil {
		r = &skipped{}
		s.reasons[reason] = r
	}
	r.count++
	r.addExample(path)
}

func (r *skipped) addExample(path string) {
	at, _ := slices.BinarySearch(r.examples, path)
	if at == skipExamples {
		return
	}
	r.examples = slices.Insert(r.examples, at, path)
	r.examples = r.examples[:min(len(r.examples), skipExamples)]
}

// merge adds the counts of other.
func (s *Skips) merge(other Skips) {
	for reason, o := range other.reasons {
		for i, path := range o.examples {
			s.Add(reason, path)
			if i == len(o.examples)-1 {
				s.reasons[reason].count += o.count - len(o.examples)
			}
		}
	}
}

// Count returns how many entries were left out for the reason.
func (s Skips) Count(reason SkipReason) int {
	if r := s.reasons[reason]; r != nil {
		return r.count
	}
	return 0
}

// Total returns how many entries were left out.
func (s Skips) Total() int {
	n := 0
	for _, r := range s.reasons {
		n += r.count
	}
	return n
}

// Warning returns the warning that tells what was left out; false where nothing was.
func (s Skips) Warning() (envelope.Warning, bool) {
	if s.Total() == 0 {
		return envelope.Warning{}, false
	}
	var parts []string
	counts := make(map[string]any)
	for _, w := range skipWords {
		r := s.reasons[w.reason]
		if r == nil {
			continue
		}
		counts[string(w.reason)] = r.count
		word := w.many
		if r.count == 1 {
			word = w.one
		}
		parts = append(parts, fmt.Sprintf("%d %s (%s)", r.count, word, r.quoted()))
	}
	return envelope.Warning{
		Code:    envelope.Skipped,
		Message: "Left out: " + strings.Join(parts, ", ") + ".",
		Details: map[string]any{"reasons": counts},
	}, true
}

func (r *skipped) quoted() string {
	quoted := make([]string, 0, skipExamples+1)
	for _, path := range r.examples {
		quoted = append(quoted, contract.Quote(path))
	}
	if r.count > len(quoted) {
		quoted = append(quoted, "…")
	}
	return strings.Join(quoted, ", ")
}

// reasonOf returns why an entry can't be looked at; false where it merely is gone.
func reasonOf(err error) (SkipReason, bool) {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "", false
	case errors.Is(err, errElsewhere), errors.Is(err, syscall.EXDEV):
		return SkipMount, true
	case errors.Is(err, errMoved), errors.Is(err, fs.ErrInvalid), errors.Is(err, syscall.ENOTDIR), errors.Is(err, syscall.ELOOP):
		return SkipChanged, true
	case errors.Is(err, fs.ErrPermission):
		return SkipPermission, true
	}
	switch envelope.CodeOf(err) {
	case envelope.PathNotFound:
		return "", false
	case envelope.OutsideRoot:
		return SkipMount, true
	case envelope.ChangedDuringCall, envelope.NotADirectory, envelope.NotARegularFile, envelope.IsDirectory, envelope.LinkLoop:
		return SkipChanged, true
	case envelope.Permission:
		return SkipPermission, true
	case envelope.TooLarge:
		return SkipTooLarge, true
	case envelope.NotText:
		return SkipBinary, true
	}
	return SkipIO, true
}
