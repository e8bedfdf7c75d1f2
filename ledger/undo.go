package ledger

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io/fs"

	"writ/contract"
)

// Undo is what it takes to undo a change.
type Undo struct {
	// Splices turn the bytes after the change into those before it.
	Splices []contract.Splice
	// Mode holds the permission bits of the file before the change; of a create those after it.
	Mode fs.FileMode
	// Attributes are what a deleted file was beside its bytes, as the intent had them; nil where nothing is known.
	Attributes []byte
	// Directories are those that the change made on its way, outermost first.
	Directories []contract.Path
}

// inlineLimit is how many bytes of undo data a row takes at most. More go into an image, beside the database, so that
// they pass neither through the write-ahead log nor through its cache.
const inlineLimit = 256 << 10

// packed is undo data as a row holds them.
type packed struct {
	// splices is a list, each entry three uvarints: offset, length, and the number of new bytes. The list's own length
	// comes first, as a uvarint. The new bytes of all splices follow, one after the other, unless there is an image.
	splices []byte
	image   string // SHA-256 of the image in hexadecimal, "" for none
	size    int64  // bytes that the undo data take
}

// errUndoDamaged is kept apart from errDamaged: one change that can't be undone is no reason to set the database aside.
var errUndoDamaged = errors.New("the undo data are not those that were stored")

// pack returns the row's form of splices, without the image, and the new bytes that belong into one, if any.
func pack(splices []contract.Splice) (p packed, outside [][]byte) {
	var list []byte
	list = binary.AppendUvarint(list, uint64(len(splices)))
	fresh := 0
	for _, s := range splices {
		list = binary.AppendUvarint(list, uint64(s.Offset))
		list = binary.AppendUvarint(list, uint64(s.Length))
		list = binary.AppendUvarint(list, uint64(len(s.New)))
		fresh += len(s.New)
	}
	p = packed{splices: list, size: int64(len(list) + fresh)}
	if fresh > inlineLimit {
		for _, s := range splices {
			outside = append(outside, s.New)
		}
		return p, outside
	}
	for _, s := range splices {
		p.splices = append(p.splices, s.New...)
	}
	return p, nil
}

// unpack is the inverse of pack. image holds the image's bytes and is nil where there is none.
func unpack(list, image []byte) ([]contract.Splice, error) {
	r := bytes.NewReader(list)
	count, err := binary.ReadUvarint(r)
	if err != nil || count > uint64(len(list)) {
		return nil, errUndoDamaged
	}
	splices := make([]contract.Splice, count)
	sizes := make([]uint64, count)
	for i := range splices {
		offset, err1 := binary.ReadUvarint(r)
		length, err2 := binary.ReadUvarint(r)
		size, err3 := binary.ReadUvarint(r)
		if err1 != nil || err2 != nil || err3 != nil {
			return nil, errUndoDamaged
		}
		splices[i].Offset, splices[i].Length, sizes[i] = int64(offset), int64(length), size
	}
	fresh := list[len(list)-r.Len():]
	if image != nil {
		fresh = image
	}
	for i, size := range sizes {
		if size > uint64(len(fresh)) {
			return nil, errUndoDamaged
		}
		splices[i].New, fresh = fresh[:size:size], fresh[size:]
	}
	return splices, nil
}
