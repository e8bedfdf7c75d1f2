package workspace

import (
	"io/fs"
	"time"
)

// stamp tells one state of a file from another without reading it: who it is, and when it was last changed. Two equal
// stamps mean the same bytes only if the first was settled when the bytes were read.
type stamp struct {
	dev, ino     uint64
	size         int64
	mtime, ctime int64 // nanoseconds since 1970
}

// settling is how long after its last change a file's stamp may still stay the same through another change: a clock
// tick of the file system, and generously more.
const settling = 50 * time.Millisecond

// settled tells whether whatever changed the file after began would have given it another stamp. It is git's rule for
// "racily clean" entries. Times are those of the status change (ctime), which no program can set back, as it can the
// modification time; a system that has none never settles.
func (s stamp) settled(began time.Time) bool {
	return s.ctime != 0 && s.ino != 0 && s.ctime < began.Add(-settling).UnixNano()
}

// entryFacts are what the directory entry of a file says about it.
type entryFacts struct {
	stamp
	mode fs.FileMode
}

func factsOf(info fs.FileInfo) entryFacts {
	return entryFacts{stamp: stampOf(info), mode: info.Mode()}
}

func (f entryFacts) modified() time.Time { return time.Unix(0, f.mtime) }
