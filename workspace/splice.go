package workspace

import (
	"bytes"
	"cmp"
	"errors"
	"slices"

	"writ/contract"
)

// ApplySplices returns data with the splices made. It panics on splices that do not fit data: they belong to the very
// bytes that they were made for, which a version names.
func ApplySplices(data []byte, splices []contract.Splice) []byte {
	parts, err := splice(data, splices)
	if err != nil {
		panic(err)
	}
	return bytes.Join(parts, nil)
}

// SplicesFit tells whether ApplySplices can be asked.
func SplicesFit(data []byte, splices []contract.Splice) bool {
	_, err := splice(data, splices)
	return err == nil
}

// splice returns the pieces that the splices make of old, or an error if they are not sorted or not within it.
func splice(old []byte, splices []contract.Splice) (pieces, error) {
	parts := make(pieces, 0, 2*len(splices)+1)
	at := int64(0)
	for _, s := range splices {
		if s.Offset < at || s.Length < 0 || s.Length > int64(len(old))-s.Offset {
			return nil, errors.New("splices overlap, are not sorted, or lie outside the file")
		}
		parts = append(parts, old[at:s.Offset], s.New)
		at = s.Offset + s.Length
	}
	return append(parts, old[at:]), nil
}

// inverse returns the splices that turn the bytes after into those before, which they share memory with.
func inverse(old []byte, splices []contract.Splice) []contract.Splice {
	back := make([]contract.Splice, len(splices))
	shift := int64(0)
	for i, s := range splices {
		end := s.Offset + s.Length
		back[i] = contract.Splice{Offset: s.Offset + shift, Length: int64(len(s.New)), New: old[s.Offset:end:end]}
		shift += int64(len(s.New)) - s.Length
	}
	return back
}

// JoinSplices returns the splices of several edits of the same bytes as one list, in order; false where two of them
// overlap. Ranges that touch do not overlap.
func JoinSplices(edits ...[]contract.Splice) ([]contract.Splice, bool) {
	joined := slices.Concat(edits...)
	slices.SortStableFunc(joined, func(a, b contract.Splice) int { return cmp.Compare(a.Offset, b.Offset) })
	for i := 1; i < len(joined); i++ {
		if joined[i].Offset < joined[i-1].Offset+joined[i-1].Length {
			return nil, false
		}
	}
	return joined, true
}
