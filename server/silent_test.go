package server

import (
	"net"
	"net/http"
	"testing"
)

// A shutdown closes the connections on which nothing was asked, and no other.
func TestSilentConnectionsAreClosed(t *testing.T) {
	var s silent
	quiet, quietEnd := net.Pipe()
	asking, askingEnd := net.Pipe()
	defer asking.Close()
	s.note(quiet, http.StateNew)
	s.note(asking, http.StateNew)
	s.note(asking, http.StateActive)
	s.close()
	if _, err := quietEnd.Read(make([]byte, 1)); err == nil {
		t.Error("a connection without a request is open")
	}
	go func() { asking.Write([]byte("x")) }()
	if _, err := askingEnd.Read(make([]byte, 1)); err != nil {
		t.Errorf("a connection with a request was closed: %v", err)
	}
}
