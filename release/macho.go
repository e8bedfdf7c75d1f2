package main

import (
	"bytes"
	"debug/macho"
	"encoding/binary"
	"errors"
	"fmt"
)

// A universal file holds programs for several processors, each at an offset that its pages ask for. A bundle can name one
// program for macOS and not one for each processor, so this is how both get theirs. The programs stay as they are, their
// signatures included.

const (
	universalMagic = 0xcafebabe
	pageBits       = 14 // of arm64; a multiple of amd64's
)

// universal joins programs for macOS into one. The header is written with the highest byte first.
func universal(programs ...[]byte) ([]byte, error) {
	header := binary.BigEndian.AppendUint32(nil, universalMagic)
	header = binary.BigEndian.AppendUint32(header, uint32(len(programs)))
	at := pageAfter(len(header) + 20*len(programs))
	var body []byte
	for _, program := range programs {
		f, err := macho.NewFile(bytes.NewReader(program))
		if err != nil {
			return nil, fmt.Errorf("no program for macOS: %w", err)
		}
		if at+len(program) > 1<<32-1 {
			return nil, errors.New("the programs are too large to be joined")
		}
		for _, field := range []uint32{uint32(f.Cpu), f.SubCpu, uint32(at), uint32(len(program)), pageBits} {
			header = binary.BigEndian.AppendUint32(header, field)
		}
		body = append(body, program...)
		next := pageAfter(at + len(program))
		body = append(body, make([]byte, next-at-len(program))...)
		at = next
	}
	header = append(header, make([]byte, pageAfter(len(header))-len(header))...)
	return append(header, body...), nil
}

// pageAfter is the first offset from n on at which a page begins.
func pageAfter(n int) int {
	const page = 1 << pageBits
	return (n + page - 1) / page * page
}
