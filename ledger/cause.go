package ledger

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"syscall"

	"modernc.org/sqlite"
	codes "modernc.org/sqlite/lib"

	"writ/contract"
	"writ/envelope"
)

// causeOf turns a failure of the ledger into what the caller is told. Every message is true of a change (which has not
// been begun) and of a question alike. The failure itself stays behind it, for the log.
func causeOf(err error) error {
	if err == nil || envelope.CodeOf(err) != "" || errors.Is(err, contract.ErrInterrupted) || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	switch {
	case isFull(err):
		return cause(envelope.DiskFull, err, "The disk that holds the state directory is full, and no change is made without its record. A person must free some space.")
	case isForbidden(err):
		return cause(envelope.Permission, err, "The state directory can't be written to, and no change is made without its record. A person must grant access to it or choose another with --state.")
	case isBusy(err):
		return cause(envelope.Busy, err, "Other writ processes kept the change log busy. Try again in a moment.").With("retry_after_ms", 500)
	case isDamage(err):
		return cause(envelope.IO, err, "The change log in the state directory is damaged. Try once more: it is set aside then, and a new one begun. Tell a person.")
	case errors.Is(err, errRow):
		return cause(envelope.IO, err, "A row of the change log in the state directory is damaged, so this can't be answered. A person must look at it: `writ doctor` tells what is wrong.")
	case errors.Is(err, errGone):
		return cause(envelope.IO, err, "The change log was taken out of the state directory while it was in use, and no change is made without its record. Try once more: a new one is begun then. Tell a person.")
	case codeOf(err) != 0 || isSystem(err):
		return cause(envelope.IO, err, "The change log in the state directory can't be used, and no change is made without its record. A person must look at the server's log.")
	}
	return fmt.Errorf("ledger: %w", err)
}

func cause(code envelope.Code, err error, message string) *envelope.Error {
	return &envelope.Error{Code: code, Message: message, Err: err}
}

// errRow is a row that holds together for SQLite, and not what this program has put there. It is no errDamaged: the rest of
// the database is good.
var errRow = errors.New("a damaged row")

// codeOf returns SQLite's primary result code, 0 for any other error.
func codeOf(err error) int {
	if e, ok := errors.AsType[*sqlite.Error](err); ok {
		return e.Code() & 0xff
	}
	return 0
}

func isDamage(err error) bool {
	code := codeOf(err)
	return code == codes.SQLITE_CORRUPT || code == codes.SQLITE_NOTADB || errors.Is(err, errDamaged)
}

func isBusy(err error) bool {
	code := codeOf(err)
	return code == codes.SQLITE_BUSY || code == codes.SQLITE_LOCKED
}

func isFull(err error) bool {
	return codeOf(err) == codes.SQLITE_FULL || errors.Is(err, syscall.ENOSPC)
}

func isForbidden(err error) bool {
	code := codeOf(err)
	return code == codes.SQLITE_READONLY || code == codes.SQLITE_PERM ||
		errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EROFS)
}

// isSystem tells whether the operating system refused something.
func isSystem(err error) bool {
	_, onPath := errors.AsType[*fs.PathError](err)
	_, inCall := errors.AsType[syscall.Errno](err)
	return onPath || inCall || errors.Is(err, errNotFlushed)
}
