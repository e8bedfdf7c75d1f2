package workspace

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"syscall"

	"writ/envelope"
)

// fault turns what the operating system said about a place into what the caller is told. place is quoted already. An
// error that says nothing to a caller is passed on with the place for the log.
func fault(err error, place string) error {
	var told *envelope.Error
	if err == nil || errors.As(err, &told) {
		return err
	}
	code, why := reasonFor(err)
	return &envelope.Error{Code: code, Message: place + " " + why, Err: plain(err)}
}

func reasonFor(err error) (envelope.Code, string) {
	switch {
	case errors.Is(err, errMoved):
		return envelope.ChangedDuringCall, "was moved or replaced while it was used. Try again."
	case errors.Is(err, errElsewhere), errors.Is(err, syscall.EXDEV):
		return envelope.OutsideRoot, "is on another file system that is mounted inside the root. It can't be entered."
	case errors.Is(err, fs.ErrNotExist):
		return envelope.PathNotFound, "does not exist."
	case errors.Is(err, fs.ErrExist):
		return envelope.AlreadyExists, "exists already."
	case isDiskFull(err):
		return envelope.DiskFull, "can't be written: the disk or the quota is full. Nothing was changed."
	case errors.Is(err, syscall.EROFS):
		return envelope.Permission, "can't be changed: the file system is mounted read-only, so the operating system gives no permission."
	case errors.Is(err, syscall.EBUSY):
		return envelope.Permission, "can't be changed: it is busy, or it is a mount of its own. The operating system gives no permission to replace it."
	case errors.Is(err, errAccessList):
		return envelope.Permission, "can't be changed: its access list can't be kept, and without it others could get at the file."
	case errors.Is(err, fs.ErrPermission):
		return envelope.Permission, "can't be used: the operating system gives no permission."
	case errors.Is(err, syscall.ENOTDIR):
		return envelope.NotADirectory, "can't be reached: a name on the way is not a directory."
	case errors.Is(err, syscall.EISDIR):
		return envelope.IsDirectory, "is a directory."
	case errors.Is(err, syscall.ELOOP):
		return envelope.LinkLoop, "can't be opened: its links lead round in a circle."
	case errors.Is(err, syscall.ENOTEMPTY):
		return envelope.NotEmpty, "is a directory that is not empty."
	case errors.Is(err, syscall.ENAMETOOLONG):
		return envelope.PathNotAllowed, "has a name that is too long for the file system."
	case errors.Is(err, syscall.EMFILE), errors.Is(err, syscall.ENFILE), errors.Is(err, syscall.EAGAIN):
		return envelope.Busy, "can't be opened at the moment: the system is busy. Try again."
	}
	return envelope.IO, "can't be used: the operating system reports an input or output error."
}

// plain strips what the standard library wraps around an errno, since it holds host paths.
func plain(err error) error {
	if errno, ok := errors.AsType[syscall.Errno](err); ok {
		return errno
	}
	return err
}

func notFound(place string) error {
	return envelope.Errorf(envelope.PathNotFound, "%s does not exist.", place)
}

func notADirectory(place string) error {
	return envelope.Errorf(envelope.NotADirectory, "%s is not a directory.", place)
}

func isDirectory(place string) error {
	return envelope.Errorf(envelope.IsDirectory, "%s is a directory, and a file is wanted.", place)
}

func notRegular(place string) error {
	return envelope.Errorf(envelope.NotARegularFile,
		"%s is not a regular file but a link, device, pipe or socket. Only regular files can be used here.", place)
}

func outsideRoot(place string) error {
	return envelope.Errorf(envelope.OutsideRoot,
		"%s leads out of the root through a link. Only relative links that stay inside are followed.", place)
}

func changedDuringCall(place string) error {
	return envelope.Errorf(envelope.ChangedDuringCall, "%s kept changing while it was looked at. Try again.", place)
}

func timedOut(err error) error {
	if errors.Is(err, context.DeadlineExceeded) {
		return &envelope.Error{Code: envelope.TimedOut, Message: "The time of the call ran out before anything was changed.", Err: err}
	}
	return fmt.Errorf("the call was given up before anything was changed: %w", err)
}
