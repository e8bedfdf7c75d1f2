package contract

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"

	"writ/envelope"
)

// VersionDigits is the length of a version: the first 128 bits of a SHA-256, in hexadecimal.
const VersionDigits = 32

// Version names a file's exact bytes: the first 32 hexadecimal digits, in lower case, of their SHA-256. The zero
// Version names no bytes.
type Version struct{ s string }

// VersionOf returns the version of data.
func VersionOf(data []byte) Version { return VersionFromSum(sha256.Sum256(data)) }

// VersionFromSum returns the version that a whole SHA-256 stands for.
func VersionFromSum(sum [sha256.Size]byte) Version {
	return Version{hex.EncodeToString(sum[:VersionDigits/2])}
}

// ParseVersion returns s as a Version, or an Error of code length or type.
func ParseVersion(s string) (Version, error) {
	if len(s) != VersionDigits {
		return Version{}, envelope.Errorf(envelope.Length,
			"A version has %d hexadecimal digits, this one has %d characters. Use the version that a read of the file returned.", VersionDigits, len(s))
	}
	for i := range len(s) {
		if c := s[i]; (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return Version{}, &envelope.Error{
				Code:    envelope.Type,
				Message: fmt.Sprintf("A version has %d lower-case hexadecimal digits. Use the version that a read of the file returned.", VersionDigits),
			}
		}
	}
	return Version{s}, nil
}

func (v Version) String() string { return v.s }

// IsZero tells whether v names no bytes.
func (v Version) IsZero() bool { return v.s == "" }

// AppendText makes a version appear in JSON as its text.
func (v Version) AppendText(b []byte) ([]byte, error) { return append(b, v.s...), nil }
