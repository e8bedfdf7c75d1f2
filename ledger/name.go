package ledger

import (
	"crypto/rand"
	"encoding/binary"
	"strings"
	"time"

	"writ/contract"
	"writ/envelope"
)

// A change is named chg_ and twelve digits of base 32 (0-9, a-v): a number of 60 bits. Its upper 42 are the
// milliseconds since 1970, the lower 18 are random, unless that would not be more than the newest change's number: then
// it is the next one. So names sort by the order of the changes, whichever process made them, and no slip of a digit is
// likely to name another change.
const (
	namePrefix = "chg_"
	nameDigits = 12
	digits     = "0123456789abcdefghijklmnopqrstuv"
	randomBits = 18
	maxMillis  = 1<<42 - 1
)

// proposeID returns the number of a change that begins now, before it is compared with the newest.
func proposeID(now time.Time) int64 {
	var random [4]byte
	rand.Read(random[:])
	low := int64(binary.BigEndian.Uint32(random[:]) >> (32 - randomBits))
	return min(max(now.UnixMilli(), 0), maxMillis)<<randomBits | low
}

func nameOf(id int64) string {
	name := []byte(namePrefix + "000000000000")
	for i := len(name) - 1; i >= len(namePrefix); i-- {
		name[i] = digits[id&31]
		id >>= 5
	}
	return string(name)
}

// parseName returns the number behind a change's name, or an Error of code unknown-change.
func parseName(name string) (int64, error) {
	rest, isChange := strings.CutPrefix(name, namePrefix)
	if !isChange || len(rest) != nameDigits {
		return 0, unknownChange(name)
	}
	var id int64
	for i := range len(rest) {
		d := strings.IndexByte(digits, rest[i])
		if d < 0 {
			return 0, unknownChange(name)
		}
		id = id<<5 | int64(d)
	}
	return id, nil
}

// UnknownChange is the error of a name that no change has, or none that the caller may know of.
func UnknownChange(name string) error { return unknownChange(name) }

func unknownChange(name string) error {
	return envelope.Errorf(envelope.UnknownChange, "There is no change %s. Use a change_id that a write or list_changes returned.", contract.Quote(name))
}
