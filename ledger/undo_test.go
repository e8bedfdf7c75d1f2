package ledger

import (
	"bytes"
	"path/filepath"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"writ/contract"
)

// apply is what an undo does with splices.
func apply(t *rapid.T, data []byte, splices []contract.Splice) []byte {
	var out []byte
	at := int64(0)
	for _, s := range splices {
		if s.Offset < at || s.Offset+s.Length > int64(len(data)) {
			t.Fatalf("splice %d+%d after %d in %d bytes", s.Offset, s.Length, at, len(data))
		}
		out = append(append(out, data[at:s.Offset]...), s.New...)
		at = s.Offset + s.Length
	}
	return append(out, data[at:]...)
}

// anEdit draws bytes and splices that change them.
func anEdit(t *rapid.T) (data []byte, splices []contract.Splice) {
	data = rapid.SliceOfN(rapid.Byte(), 0, 200).Draw(t, "data")
	cuts := rapid.SliceOfN(rapid.IntRange(0, len(data)), 0, 8).Draw(t, "cuts")
	slices.Sort(cuts)
	for i := 0; i+1 < len(cuts); i += 2 {
		// Now and then more than a row takes.
		repeat := rapid.SampledFrom([]int{1, 1, 1, inlineLimit}).Draw(t, "repeat")
		fresh := bytes.Repeat(rapid.SliceOfN(rapid.Byte(), 0, 3).Draw(t, "new"), repeat)
		splices = append(splices, contract.Splice{Offset: int64(cuts[i]), Length: int64(cuts[i+1] - cuts[i]), New: fresh})
	}
	return data, splices
}

// invert returns the splices that turn what splices make of data back into data.
func invert(data []byte, splices []contract.Splice) []contract.Splice {
	var inverse []contract.Splice
	shift := int64(0)
	for _, s := range splices {
		inverse = append(inverse, contract.Splice{
			Offset: s.Offset + shift, Length: int64(len(s.New)), New: data[s.Offset : s.Offset+s.Length],
		})
		shift += int64(len(s.New)) - s.Length
	}
	return inverse
}

func TestStoredSplicesBringTheBytesBack(t *testing.T) {
	l := openAt(t, filepath.Join(t.TempDir(), "state"), Options{})
	rapid.Check(t, func(rt *rapid.T) {
		// The change turns after into before, so that its undo is what was drawn, large splices included.
		after, undo := anEdit(rt)
		before := apply(rt, after, undo)
		if again := apply(rt, before, invert(after, undo)); !bytes.Equal(again, after) {
			rt.Fatalf("the inverse does not undo")
		}
		id, err := l.Begin(t.Context(), contract.Intent{
			Kind: contract.ChangeEdit, Path: pathOf(t, "a"), Undo: undo,
			Before: contract.VersionOf(before), After: contract.VersionOf(after),
		})
		if err != nil {
			rt.Fatal(err)
		}
		c, stored, err := l.Change(t.Context(), id)
		if err != nil {
			rt.Fatal(err)
		}
		if got := contract.VersionOf(apply(rt, after, stored.Splices)); got != c.Before {
			rt.Fatalf("undo gives %s, want %s", got, c.Before)
		}
	})
}

func TestUnpackRefusesWhatPackDidNotMake(t *testing.T) {
	whole, _ := pack([]contract.Splice{{Offset: 3, Length: 2, New: []byte("abc")}, {Offset: 9, New: []byte("d")}})
	for n := range whole.splices {
		if _, err := unpack(whole.splices[:n], nil); err == nil {
			t.Errorf("the first %d of %d bytes were taken for undo data", n, len(whole.splices))
		}
	}
	for _, list := range [][]byte{{0xff, 0xff, 0xff, 0xff, 0x0f}, {1, 0, 0, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1}} {
		if _, err := unpack(list, nil); err == nil {
			t.Errorf("%x was taken for undo data", list)
		}
	}
}
