package policy

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Limits bounds what one call may cost. In a [Config] a zero field stands for its default; those of a [Policy] are
// filled in.
type Limits struct {
	FileBytes      int64         // the largest file that is read or written
	ResultBytes    int           // file text in one answer
	ArtifactBytes  int64         // results kept because they were too large for an answer, all together
	UndoBytes      int64         // what is kept to undo changes, all together
	UndoDays       int           // how long it is kept
	CallTime       time.Duration // wall time of one call
	CallsPerMinute int           // of one caller; 0: unlimited, but see OverHTTP
	CallsInFlight  int           // of one caller, those that are stuck in the system included
	Memory         int64         // what the process tries to get along with; 0: what there is

	// Page sizes: where an answer ends if the call names no limit of its own.
	PageLines   int // of a file
	PageEntries int // of a directory or a list of files
	PageMatches int // of a search in text
	PageNotes   int // of a search in notes
}

// DefaultLimits returns the limits where the policy sets none.
func DefaultLimits() Limits {
	return Limits{
		FileBytes:   32 * mebi,
		ResultBytes: 256 * kibi,

		ArtifactBytes: 64 * mebi,
		UndoBytes:     512 * mebi,
		UndoDays:      30,

		CallTime:      30 * time.Second,
		CallsInFlight: 128,
		PageLines:     2000,
		PageEntries:   1000,
		PageMatches:   200,
		PageNotes:     20,
	}
}

// callsPerMinuteOverHTTP holds for each HTTP caller where the policy sets nothing.
const callsPerMinuteOverHTTP = 600

// OverHTTP returns l as it holds for a caller that comes in over HTTP: never without a limit of calls.
func (l Limits) OverHTTP() Limits {
	if l.CallsPerMinute == 0 {
		l.CallsPerMinute = callsPerMinuteOverHTTP
	}
	return l
}

// filled returns l with defaults in its zero fields. A ResultBytes above its default raises the default pages in
// proportion: who lifts the one limit should not be stopped by the other.
func (l Limits) filled() Limits {
	d := DefaultLimits()
	fill(&l.FileBytes, d.FileBytes)
	fill(&l.ResultBytes, d.ResultBytes)
	fill(&l.ArtifactBytes, d.ArtifactBytes)
	fill(&l.UndoBytes, d.UndoBytes)
	fill(&l.UndoDays, d.UndoDays)
	fill(&l.CallTime, d.CallTime)
	fill(&l.CallsInFlight, d.CallsInFlight)
	page := func(size int) int {
		raised := int64(size) * int64(max(l.ResultBytes, d.ResultBytes)) / int64(d.ResultBytes)
		return int(min(raised, math.MaxInt32))
	}
	fill(&l.PageLines, page(d.PageLines))
	fill(&l.PageEntries, page(d.PageEntries))
	fill(&l.PageMatches, page(d.PageMatches))
	fill(&l.PageNotes, page(d.PageNotes))
	return l
}

func fill[T comparable](field *T, value T) {
	var zero T
	if *field == zero {
		*field = value
	}
}

const (
	kibi = 1 << 10
	mebi = 1 << 20
	gibi = 1 << 30
)

var units = []struct {
	suffix string
	bytes  int64
}{{"KiB", kibi}, {"MiB", mebi}, {"GiB", gibi}}

// parseSize reads a number of bytes: 1000000, 256KiB, 32MiB or 1GiB.
func parseSize(text string) (int64, error) {
	digits, unit := text, int64(1)
	for _, u := range units {
		if before, ok := strings.CutSuffix(text, u.suffix); ok {
			digits, unit = before, u.bytes
		}
	}
	if strings.Trim(digits, "0123456789") != "" || digits == "" {
		return 0, fmt.Errorf("%q is no size; write a whole number of bytes or one with KiB, MiB or GiB, such as 32MiB", text)
	}
	n, err := strconv.ParseInt(digits, 10, 64)
	if err != nil || n > math.MaxInt64/unit {
		return math.MaxInt64, nil
	}
	return n * unit, nil
}

// parseTime reads a duration with its unit: 500ms, 30s, 2m, 1h30m.
func parseTime(text string) (time.Duration, error) {
	d, err := time.ParseDuration(text)
	if err != nil || strings.Trim(text, "0123456789.hms") != "" {
		return 0, fmt.Errorf("%q is no duration; write numbers with ms, s, m or h, such as 30s", text)
	}
	return d, nil
}

// formatSize writes a size as parseSize reads it, in the largest unit that it is a whole number of.
func formatSize(size int64) string {
	for _, u := range slices.Backward(units) {
		if size >= u.bytes && size%u.bytes == 0 {
			return fmt.Sprintf("%d%s", size/u.bytes, u.suffix)
		}
	}
	return strconv.FormatInt(size, 10)
}
