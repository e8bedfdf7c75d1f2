package workspace

import (
	"encoding/binary"
	"unicode/utf8"
)

// validUTF8 is utf8.Valid for texts that are mostly ASCII with some other characters in between: it comes back to
// looking at 32 bytes at a time after each.
func validUTF8(b []byte) bool {
	for len(b) > 0 {
		b = b[asciiPrefix(b):]
		for len(b) > 0 && b[0] >= utf8.RuneSelf {
			r, n := utf8.DecodeRune(b)
			if r == utf8.RuneError && n == 1 {
				return false
			}
			b = b[n:]
		}
	}
	return true
}

// asciiPrefix returns how many bytes come before the first that is not ASCII.
func asciiPrefix(b []byte) int {
	const high = 0x8080808080808080
	n := 0
	for ; len(b)-n >= 32; n += 32 {
		w := b[n : n+32]
		if (binary.LittleEndian.Uint64(w)|binary.LittleEndian.Uint64(w[8:])|
			binary.LittleEndian.Uint64(w[16:])|binary.LittleEndian.Uint64(w[24:]))&high != 0 {
			break
		}
	}
	for ; n < len(b) && b[n] < utf8.RuneSelf; n++ {
	}
	return n
}
