package server

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"runtime/debug"
)

// errTooLong stands for a line that was longer than the limit; it was skipped, and the next one can be read.
var errTooLong = errors.New("the line is too long")

// lineBuffer is how much is read at once; most lines fit.
const lineBuffer = 64 << 10

// lineReader reads the lines of its input. A last line without an end is a line too.
type lineReader struct {
	in     *bufio.Reader
	most   int      // bytes of the longest line that is taken
	before [][]byte // lines that come before those of in
}

func newLineReader(in io.Reader, most int) *lineReader {
	return &lineReader{in: bufio.NewReaderSize(in, lineBuffer), most: most}
}

// next returns the next line that is not blank, in memory of its own and without its end. It returns the input's error,
// io.EOF most often, after the last line.
func (r *lineReader) next() ([]byte, error) {
	if len(r.before) > 0 {
		line := r.before[0]
		r.before = r.before[1:]
		return line, nil
	}
	for {
		line, err := r.read()
		if errors.Is(err, errTooLong) {
			return nil, err
		}
		if line = bytes.TrimSpace(line); len(line) > 0 {
			return line, nil
		}
		if err != nil {
			return nil, err
		}
	}
}

// put puts a line before all that were not read yet, and behind the others that were put.
func (r *lineReader) put(line []byte) { r.before = append(r.before, line) }

func (r *lineReader) read() ([]byte, error) {
	part, err := r.in.ReadSlice('\n')
	line := bytes.Clone(part)
	for errors.Is(err, bufio.ErrBufferFull) {
		part, err = r.in.ReadSlice('\n')
		if len(line)+len(part) > r.most {
			return nil, r.skip(err)
		}
		if cap(line)-len(line) < len(part) {
			line = append(make([]byte, 0, min(2*cap(line)+lineBuffer, r.most)), line...)
		}
		line = append(line, part...)
	}
	return line, err
}

// skip drops the rest of a line, and gives back the memory that its start took.
func (r *lineReader) skip(err error) error {
	debug.FreeOSMemory()
	for errors.Is(err, bufio.ErrBufferFull) {
		_, err = r.in.ReadSlice('\n')
	}
	return errTooLong
}
