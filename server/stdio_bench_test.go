package server

import (
	"bufio"
	"io"
	"os"
	"strings"
	"testing"
)

// benchmarkExchange sends line again and again over real pipes, each when the answer to the one before is there.
func benchmarkExchange(b *testing.B, text, line string) {
	inR, inW, err := os.Pipe()
	if err != nil {
		b.Fatal(err)
	}
	outR, outW, err := os.Pipe()
	if err != nil {
		b.Fatal(err)
	}
	gate := newFakeGate()
	gate.text = text
	ended := make(chan error, 1)
	go func() { ended <- New(gate, fakeInfo).Stdio(b.Context(), inR, outW) }()
	answers := bufio.NewReaderSize(outR, 1<<20)
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := io.WriteString(inW, line); err != nil {
			b.Fatal(err)
		}
		for more := true; more; {
			_, err := answers.ReadSlice('\n')
			if more = err == bufio.ErrBufferFull; err != nil && !more {
				b.Fatal(err)
			}
		}
	}
	inW.Close()
	if err := <-ended; err != nil {
		b.Fatal(err)
	}
}

func BenchmarkStdioPing(b *testing.B) {
	benchmarkExchange(b, "", `{"jsonrpc":"2.0","id":1,"method":"ping"}`+"\n")
}

func BenchmarkStdioSmallCall(b *testing.B) {
	benchmarkExchange(b, "", callLine("1", "refuse", `{"path":"docs/a.md"}`))
}

func BenchmarkStdioMegabyteResult(b *testing.B) {
	benchmarkExchange(b, strings.Repeat("a line of a text that is neither long nor short\n", 1<<20/48), callLine("1", "read", "{}"))
}

func BenchmarkStdioMegabyteArgument(b *testing.B) {
	benchmarkExchange(b, "", callLine("1", "refuse", `{"content":"`+strings.Repeat(`a line of a text that is neither long nor short\n`, 1<<20/49)+`"}`))
}

func BenchmarkAppendEscaped(b *testing.B) {
	text := strings.Repeat("a line of a text that is neither long nor short\n", chunk/48)
	buf := make([]byte, 0, 2*chunk)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		buf = appendEscaped(buf[:0], text)
	}
}

func BenchmarkScan(b *testing.B) {
	line := []byte(callLine("1", "refuse", `{"content":"`+strings.Repeat(`a line of a text that is neither long nor short\n`, 1<<20/49)+`"}`))
	b.SetBytes(int64(len(line)))
	for b.Loop() {
		if _, f := parse(line); f != nil {
			b.Fatal(f.message)
		}
	}
}
