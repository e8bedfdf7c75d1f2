package walls

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"github.com/landlock-lsm/go-landlock/landlock"
	"github.com/landlock-lsm/go-landlock/landlock/syscall"
)

// The rights of each kind of place. Devices can't be made anywhere.
const (
	readRights = syscall.AccessFSReadFile | syscall.AccessFSReadDir
	runRights  = readRights | syscall.AccessFSExecute

	fileRights  = syscall.AccessFSReadFile | syscall.AccessFSExecute
	deviceRight = syscall.AccessFSReadFile | syscall.AccessFSWriteFile

	writeRights = readRights | syscall.AccessFSWriteFile | syscall.AccessFSTruncate | syscall.AccessFSRemoveDir |
		syscall.AccessFSRemoveFile | syscall.AccessFSMakeDir | syscall.AccessFSMakeReg | syscall.AccessFSMakeSym |
		syscall.AccessFSRefer
)

// firstABI is the first that is of use: the one before can't let a file be moved from one directory to another.
const firstABI = 2

// Available tells what the kernel can keep to.
func Available() Level {
	abi, err := syscall.LandlockGetABIVersion()
	if err != nil || abi < firstABI {
		return Level{}
	}
	return Level{ABI: abi}
}

// Raise raises the walls around all threads of this process, as far as the kernel can, and tells how far that is.
func (w Walls) Raise() (Level, error) {
	level := Available()
	if level.ABI == 0 {
		return level, nil
	}
	_, _ = time.Now().Zone() // reads the time zone, which lies outside
	var rules []landlock.Rule
	for _, places := range []struct {
		rights landlock.AccessFSSet
		names  []string
	}{{readRights, w.Read}, {writeRights, w.Write}, {runRights, w.Run}, {fileRights, w.Files}, {deviceRight, w.Devices}} {
		there, err := existing(places.names)
		if err != nil {
			return Level{}, err
		}
		if len(there) > 0 {
			rules = append(rules, landlock.PathAccess(places.rights, there...))
		}
	}
	config := landlock.V9
	if !w.Offline {
		config.HandledAccessNet = 0
	}
	if w.Signals {
		config.Scoped &^= syscall.ScopeSignal
	}
	if err := config.BestEffort().Restrict(rules...); err != nil {
		return Level{}, fmt.Errorf("raise the walls: %w", err)
	}
	level.Offline = w.Offline && level.ABI >= netABI
	return level, nil
}

// existing returns the names of those that are there.
func existing(names []string) ([]string, error) {
	var there []string
	for _, name := range names {
		_, err := os.Stat(name)
		switch {
		case err == nil:
			there = append(there, name)
		case !errors.Is(err, fs.ErrNotExist):
			return nil, fmt.Errorf("raise the walls: %w", err)
		}
	}
	return there, nil
}
