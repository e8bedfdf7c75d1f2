package workspace

import (
	"os"

	"golang.org/x/sys/unix"
)

func exchangeEntries(directory *os.File, a, b string) error {
	fd := int(directory.Fd())
	return orNoExchange(unix.RenameatxNp(fd, a, fd, b, unix.RENAME_SWAP))
}

func renameExclusively(from int, name string, to int, as string) error {
	return orNoExchange(unix.RenameatxNp(from, name, to, as, unix.RENAME_EXCL))
}

func orNoExchange(err error) error {
	if err == unix.ENOTSUP || err == unix.EINVAL || err == unix.ENOSYS {
		return errNoExchange
	}
	return err
}
