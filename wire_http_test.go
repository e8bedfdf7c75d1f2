package main

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// sockets is the client of a program over HTTP.
type sockets struct {
	*part
	address string
	conns   map[string]*wire
}

// wire is one connection, with one request and its answer.
type wire struct {
	net.Conn
	sent   []string
	answer *http.Response
	in     *bufio.Reader
}

func playHTTP(t *testing.T, p *part) {
	s := &sockets{part: p, conns: map[string]*wire{}}
	s.listen(t)
	defer func() {
		for _, c := range s.conns {
			c.Close()
		}
		s.kill()
	}()
	for _, r := range p.rules {
		t.Run(r.name, func(t *testing.T) {
			for _, line := range r.lines {
				s.line(t, line)
			}
		})
	}
}

func (s *sockets) listen(t *testing.T) {
	t.Helper()
	s.start(t, "--http", "127.0.0.1:0")
	if err := s.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	command, done := s.cmd, s.done
	go func() { done <- command.Wait() }()
	for range 600 {
		if url := regexp.MustCompile(`http://([^/\s]+)/mcp`).FindStringSubmatch(s.log.String()); url != nil {
			s.address = url[1]
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
	t.Fatalf("the program does not listen: %s", s.log)
}

func (s *sockets) line(t *testing.T, line string) {
	t.Helper()
	mark, text, _ := strings.Cut(line, " ")
	name := strings.TrimRight(mark, "<>")
	c := s.conns[name]
	switch {
	case line == "", s.disk(t, line):
	case strings.HasSuffix(mark, ">"):
		if c == nil || c.answer != nil || c.Conn != nil {
			c = &wire{}
			s.conns[name] = c
		}
		c.sent = append(c.sent, s.fill(text))
	case strings.HasSuffix(mark, "<"):
		if c.Conn == nil {
			c.send(t, s.address)
		}
		s.hear(t, c, text)
	case line == "= send a":
		s.conns["a"].send(t, s.address)
	case line == "= hang up a":
		s.conns["a"].Close()
	case line == "= term", line == "= restart":
		if err := s.cmd.Process.Signal(syscall.SIGTERM); err != nil {
			t.Fatal(err)
		}
		if line == "= restart" {
			s.ended(t)
			s.listen(t)
		}
	case line == "= ended":
		s.ended(t)
	default:
		t.Fatalf("what is %q?", line)
	}
}

// send sends the request, with the headers that every client sends where it has none of its own.
func (c *wire) send(t *testing.T, address string) {
	t.Helper()
	conn, err := net.DialTimeout("tcp", address, 10*time.Second)
	if err != nil {
		t.Fatal(err)
	}
	c.Conn, c.in = conn, bufio.NewReader(conn)
	if err := conn.SetDeadline(time.Now().Add(time.Minute)); err != nil {
		t.Fatal(err)
	}
	head, body := c.sent, ""
	for i, line := range c.sent {
		if line == "" {
			head, body = c.sent[:i], strings.Join(c.sent[i+1:], "\n")
			break
		}
	}
	var request strings.Builder
	request.WriteString(head[0] + " HTTP/1.1\r\n")
	for _, standard := range []string{"Host: " + address, "Content-Type: application/json", "Accept: application/json, text/event-stream", "Content-Length: " + strconv.Itoa(len(body))} {
		key, _, _ := strings.Cut(standard, ":")
		if !strings.Contains(strings.Join(head, "\n"), "\n"+key+":") {
			request.WriteString(standard + "\r\n")
		}
	}
	for _, header := range head[1:] {
		if !strings.HasSuffix(header, ":") {
			request.WriteString(header + "\r\n")
		}
	}
	// A server that refuses may close before all is sent; its answer tells.
	_, _ = io.WriteString(conn, request.String()+"\r\n"+body)
}

func (s *sockets) hear(t *testing.T, c *wire, want string) {
	t.Helper()
	if c.answer == nil {
		answer, err := http.ReadResponse(c.in, &http.Request{Method: strings.Fields(c.sent[0])[0]})
		if err != nil {
			t.Fatalf("no answer: %v", err)
		}
		c.answer, c.in = answer, bufio.NewReader(answer.Body)
	}
	key, value, isHeader := strings.Cut(want, ":")
	switch {
	case strings.HasPrefix(want, "{"), strings.HasPrefix(want, "["):
		s.check(t, want, c.message(t))
	case want == ".":
		if rest, err := io.ReadAll(c.in); err != nil || len(bytes.TrimSpace(rest)) > 0 {
			t.Errorf("there is more: %.500q, %v", rest, err)
		}
	case isHeader:
		if why := s.apartText(strings.TrimSpace(value), c.answer.Header.Get(key), key); why != "" {
			t.Error(why)
		}
	case strings.HasPrefix(want, "~"):
		if rest, err := io.ReadAll(c.in); err != nil || !strings.Contains(string(rest), want[1:]) {
			t.Errorf("the body is %.500q, %v", rest, err)
		}
	default:
		if got := strconv.Itoa(c.answer.StatusCode); got != want {
			t.Errorf("status %s, want %s", got, want)
		}
	}
}

// message returns the next event of a stream, or a body that is none.
func (c *wire) message(t *testing.T) []byte {
	t.Helper()
	if !strings.HasPrefix(c.answer.Header.Get("Content-Type"), "text/event-stream") {
		body, err := io.ReadAll(c.in)
		if err != nil {
			t.Fatal(err)
		}
		return body
	}
	kind := "message"
	for {
		line, err := c.in.ReadString('\n')
		if err != nil {
			t.Fatalf("the stream ends: %v", err)
		}
		if name, ok := strings.CutPrefix(line, "event: "); ok {
			kind = strings.TrimSpace(name)
		}
		if data, ok := strings.CutPrefix(line, "data: "); ok {
			if kind != "message" {
				data = fmt.Sprintf(`{"event":%q,"data":%q}`, kind, strings.TrimSpace(data))
			}
			return []byte(data)
		}
	}
}
