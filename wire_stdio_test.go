package main

import (
	"bufio"
	"bytes"
	"io"
	"slices"
	"strings"
	"syscall"
	"testing"
)

// pipes is the client of a program over stdio.
type pipes struct {
	*part
	in    io.WriteCloser
	out   *bufio.Reader
	among []string // what has to come, in any order
}

func playStdio(t *testing.T, p *part) {
	s := &pipes{part: p}
	s.start(t)
	in, err := s.cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := s.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := s.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	s.in, s.out = in, bufio.NewReader(out)
	reaped := false
	defer func() {
		if !reaped {
			go func() { s.done <- s.cmd.Wait() }()
		}
		s.kill()
	}()
	for _, r := range p.rules {
		t.Run(r.name, func(t *testing.T) {
			for _, line := range r.lines {
				if line != "= eof" && line != "= ended" {
					s.line(t, line)
					continue
				}
				if line == "= eof" {
					in.Close()
				}
				if rest, err := io.ReadAll(s.out); len(rest) > 0 || err != nil {
					t.Errorf("at its end the server says %.500q, %v", rest, err)
				}
				reaped = true
				go func() { s.done <- s.cmd.Wait() }()
				s.ended(t)
			}
			if !reaped {
				s.line(t, `> {"jsonrpc":"2.0","id":"barrier","method":"ping"}`)
				s.line(t, `< {"jsonrpc":"2.0","id":"barrier","result":{}}`)
			}
		})
	}
}

func (s *pipes) line(t *testing.T, line string) {
	t.Helper()
	send := func(text string) {
		if _, err := io.WriteString(s.in, s.fill(text)); err != nil {
			t.Fatal(err)
		}
	}
	mark, text, _ := strings.Cut(line, " ")
	if mark != "<*" {
		s.anyOrder(t)
	}
	switch {
	case line == "", s.disk(t, line):
	case mark == ">":
		send(text + "\n")
	case mark == ">|":
		send(text)
	case mark == "<*":
		s.among = append(s.among, text)
	case mark == "<":
		got, err := s.out.ReadBytes('\n')
		if err != nil {
			t.Fatalf("nothing comes: %v, want %s", err, text)
		}
		s.check(t, text, got)
	case line == "= hang up":
		s.in.Close()
	case line == "= term":
		if err := s.cmd.Process.Signal(syscall.SIGTERM); err != nil {
			t.Fatal(err)
		}
	default:
		t.Fatalf("what is %q?", line)
	}
}

// anyOrder reads what has to come in any order: answers, and what is told beside them.
func (s *pipes) anyOrder(t *testing.T) {
	t.Helper()
	for len(s.among) > 0 {
		got, err := s.out.ReadBytes('\n')
		if err != nil {
			t.Fatalf("nothing comes: %v, want %s", err, s.among)
		}
		i := slices.IndexFunc(s.among, func(want string) bool {
			return strings.Contains(want, `"method"`) == bytes.Contains(got, []byte(`"method"`))
		})
		if i < 0 {
			t.Fatalf("got %.500s, want %s", got, s.among)
		}
		s.check(t, s.among[i], got)
		s.among = slices.Delete(s.among, i, i+1)
	}
}
