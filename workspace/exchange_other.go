//go:build !darwin && !windows

package workspace

import "os"

func exchangeEntries(*os.File, string, string) error { return errNoExchange }

func renameExclusively(int, string, int, string) error { return errNoExchange }
