package contract

import (
	"errors"
	"io/fs"
	"time"

	"writ/envelope"
)

// Origin says which call a change belongs to.
type Origin struct {
	RequestID   string
	Tool        string
	Caller      string // who calls; "local" for stdio and the command line
	Fingerprint string // SHA-256 of tool and arguments, in hexadecimal: the same call has the same
}

// ChangeKind says what a change does to the tree.
type ChangeKind string

// The kinds of change.
const (
	ChangeEdit   ChangeKind = "edit"   // other bytes in an existing file
	ChangeCreate ChangeKind = "create" // a file where none was
	ChangeDelete ChangeKind = "delete" // a file is gone
	ChangeMove   ChangeKind = "move"   // a file has another path
	ChangeMkdir  ChangeKind = "mkdir"  // directories where none were
	ChangeRmdir  ChangeKind = "rmdir"  // empty directories are gone
	ChangeBatch  ChangeKind = "batch"  // stands for the changes of one call together
	ChangeRun    ChangeKind = "run"    // none: a program is run. It stands in approvals alone
)

// Intent is a change as it is about to be made. It holds what is needed to undo it, and to tell after a crash whether
// it was made.
type Intent struct {
	Origin
	Kind   ChangeKind
	Path   Path // resolved; of a move: the source
	To     Path // of a move: the destination, else zero
	Before Version
	After  Version
	Mode   fs.FileMode // permission bits of the file before (of a create: after)
	// Attributes are what a deleted file was beside its bytes, its mode included, in the form of who made the change; nil
	// where there are none.
	Attributes []byte
	// Undo holds the bytes before, as the splices that turn the bytes after into them. Unused by move and mkdir; of a
	// delete it is one splice that inserts everything.
	Undo []Splice
	// Directories are those that the change makes on its way, outermost first; of a rmdir those that it takes away.
	Directories []Path
	// Batch is the change that stands for all of the call, "" for a change of its own.
	Batch string
	// Reverts is the change that this one undoes, "" for none.
	Reverts string
	// Temp is the temporary file that the change uses beside Path, "" where it uses none. After a crash it is swept.
	Temp string
}

// ErrInterrupted tells that an earlier change of the same place was cut short. It must be settled, and then all that was
// learnt of the place is to be learnt anew.
var ErrInterrupted = errors.New("an earlier change of the place was cut short")

// Batch is the changes of one call that are made together: all of them or none.
type Batch struct {
	Origin
	Reverts string // the batch that this one undoes, "" for none
	Intents []Intent
}

// Splice replaces Length bytes from Offset by New. Offsets count in the bytes before any splice of the same list; the
// list is sorted and its ranges do not overlap.
type Splice struct {
	Offset int64
	Length int64
	New    []byte
}

// Outcome is what became of an intent.
type Outcome string

// The outcomes.
const (
	OutcomeDone    Outcome = "succeeded" // it is on disk
	OutcomeNotDone Outcome = "not-done"  // nothing is different
	OutcomeUnknown Outcome = "unknown"   // it may or may not be on disk
)

// Change is one entry of the change log as callers see it.
type Change struct {
	ID        string
	RequestID string
	Time      time.Time
	Tool      string
	Kind      ChangeKind
	Path      Path
	To        Path // of a move
	Before    Version
	After     Version
	Outcome   Outcome
	Reverted  bool // a later change has undone it
	Caller    string
	Batch     string // the change that stands for all of the call, "" for a change of its own
	// RevertedBy is the newest change that undid this one; it may have been undone itself since.
	RevertedBy string
}

// CallRecord is what became of an earlier call.
type CallRecord struct {
	RequestID string
	Time      time.Time
	Tool      string
	Status    envelope.Status
	Code      envelope.Code // of the first error; "" where there was none
	Changes   []Change
}
