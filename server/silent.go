package server

import (
	"net"
	"net/http"
	"sync"
)

// silent keeps the connections on which nothing was sent yet. A shutdown would wait for them, since a request may be on
// its way; nobody is owed an answer to what was not asked, so they are closed.
type silent struct {
	mu    sync.Mutex
	conns map[net.Conn]bool
}

// note follows a connection; it is an http.Server's ConnState.
func (s *silent) note(c net.Conn, state http.ConnState) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if state != http.StateNew {
		delete(s.conns, c)
		return
	}
	if s.conns == nil {
		s.conns = map[net.Conn]bool{}
	}
	s.conns[c] = true
}

func (s *silent) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for c := range s.conns {
		c.Close()
	}
}
