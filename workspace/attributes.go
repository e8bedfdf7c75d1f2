package workspace

import (
	"encoding/json"
	"os"
)

// attributes are what a file is beside its bytes, as far as it survives a change. They are kept with a deletion, as JSON,
// and given back with the file when it is undone.
type attributes struct {
	UID  uint32 `json:"uid"`
	GID  uint32 `json:"gid"`
	Mode uint32 `json:"mode"` // permission bits, setuid, setgid and sticky, as unix numbers them
	// Extended attributes; access lists are among them on Linux. A name may hold any byte.
	Extended []extended `json:"extended,omitempty"`
	Unread   []string   `json:"unread,omitempty"` // those that may not be read
}

type extended struct {
	Name  []byte `json:"name"`
	Value []byte `json:"value"`
}

// model is what a new file is made like.
type model interface {
	// give makes a file so, and tells what it may not have.
	give(to *os.File) (lost []string, err error)
}

// modelFile makes a new file like one that is there.
type modelFile struct{ f *os.File }

func (l modelFile) give(to *os.File) (lost []string, err error) {
	a, err := attributesOf(l.f)
	if err != nil {
		return nil, err
	}
	return a.give(to)
}

// pack returns the form in which a deletion keeps the attributes; nil where the system has none.
func (a *attributes) pack() ([]byte, error) {
	if a == nil {
		return nil, nil
	}
	return json.Marshal(a)
}

// unpackAttributes is the inverse of pack.
func unpackAttributes(data []byte) (*attributes, error) {
	if len(data) == 0 {
		return nil, nil
	}
	a := new(attributes)
	return a, json.Unmarshal(data, a)
}
