package workspace

import (
	"writ/contract"
)

// CheckWritable returns the error of code read-only-file that a change of the file would end with, or nil.
func (f *File) CheckWritable() error {
	if f.Mode.Perm()&0o200 == 0 {
		return readOnlyFile(contract.Quote(f.Path.String()))
	}
	return nil
}

// CheckSize returns the error of code too-large that writing these splices to the file would end with, or nil.
func (r Reader) CheckSize(f *File, splices []contract.Splice) error {
	size := int64(len(f.Data))
	for _, s := range splices {
		size += int64(len(s.New)) - s.Length
	}
	if most := r.w.options.FileBytes; size > most {
		return tooLargeToWrite(contract.Quote(f.Path.String()), size, most)
	}
	return nil
}
