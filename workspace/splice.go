package workspace

import (
	"cmp"
	"slices"

	"writ/contract"
)

// ApplySplices returns data with the splices made. It panics on splices that do not fit data: they belong to the very
// bytes that they were made for, which a version names.
func ApplySplices(data []byte, splices []contract.Splice) []byte {
	size := len(data)
	for _, s := range splices {
		size += len(s.New) - int(s.Length)
	}
	out := make([]byte, 0, size)
	at := int64(0)
	for _, s := range splices {
		out = append(out, data[at:s.Offset]...)
		out = append(out, s.New...)
		at = s.Offset + s.Length
	}
	return append(out, data[at:]...)
}

// InvertSplices returns the splices that turn what ApplySplices returns back into data. They share memory with data.
func InvertSplices(data []byte, splices []contract.Splice) []contract.Splice {
	inverse := make([]contract.Splice, len(splices))
	shift := int64(0)
	for i, s := range splices {
		end := s.Offset + s.Length
		inverse[i] = contract.Splice{
			Offset: s.Offset + shift,
			Length: int64(len(s.New)),
			New:    data[s.Offset:end:end],
		}
		shift += int64(len(s.New)) - s.Length
	}
	return inverse
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
