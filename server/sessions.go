package server

import (
	"crypto/rand"
	"errors"
	"sync"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
)

const (
	// sessionTTL is how long a session without requests is kept.
	sessionTTL = 30 * time.Minute
	// maxSessions is how many sessions are kept; a new one drives out the one that was idle the longest.
	maxSessions = 1000
)

var errNoSession = errors.New("no such session")

// sessions are the HTTP sessions of clients before 2026-07-28. They are the library's session ids too, so that both
// agree on who is there.
type sessions struct {
	now func() time.Time

	mu   sync.Mutex
	byID map[string]*session
}

type session struct {
	client introduction
	used   time.Time
	open   int       // requests being answered
	subs   *listener // nil until it is asked for
}

// introduction is what a client has said about itself in its handshake or, since 2026-07-28, in its request.
type introduction struct {
	caller       string // who has made it
	name         string // "name/version"
	version      string // the protocol version that it wants, "" where it is not needed
	capabilities mcp.ClientCapabilities
}

func newSessions() *sessions { return &sessions{now: time.Now, byID: map[string]*session{}} }

// Generate opens a session and returns its id.
func (s *sessions) Generate() string {
	id := rand.Text()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.byID[id] = &session{used: s.now()}
	return id
}

// Validate is no error for a session that is open.
func (s *sessions) Validate(id string) (isTerminated bool, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.find(id) == nil {
		return false, errNoSession
	}
	return false, nil
}

// Terminate closes a session.
func (s *sessions) Terminate(id string) (isNotAllowed bool, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if x := s.byID[id]; x != nil && x.subs != nil {
		x.subs.close()
	}
	delete(s.byID, id)
	return false, nil
}

// find returns an open session. s.mu is held.
func (s *sessions) find(id string) *session {
	x := s.byID[id]
	if x == nil || s.isIdle(x) {
		return nil
	}
	x.used = s.now()
	return x
}

func (s *sessions) isIdle(x *session) bool { return x.open == 0 && s.now().Sub(x.used) >= sessionTTL }

// enter begins a request of the caller in a session and returns what its client has said.
func (s *sessions) enter(id, caller string) (c introduction, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	x := s.find(id)
	if x == nil || x.client.caller != caller {
		return introduction{}, false
	}
	x.open++
	return x.client, true
}

// leave ends what enter began.
func (s *sessions) leave(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if x := s.byID[id]; x != nil {
		x.open--
		x.used = s.now()
	}
}

// subscriptions returns what the session has subscribed to; nil where there is no session.
func (s *sessions) subscriptions(id string, begin func(caller string) *listener) *listener {
	s.mu.Lock()
	defer s.mu.Unlock()
	x := s.byID[id]
	if x == nil {
		return nil
	}
	if x.subs == nil {
		x.subs = begin(x.client.caller)
	}
	return x.subs
}

// version returns the protocol version that an open session was begun with, "" where there is none.
func (s *sessions) version(id string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if x := s.find(id); x != nil {
		return x.client.version
	}
	return ""
}

func (s *sessions) setClient(id string, c introduction) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if x := s.byID[id]; x != nil {
		x.client = c
	}
}

func (s *sessions) count() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.byID)
}

// surplus returns the ids of sessions to close: the idle ones, and the longest unused of those that are too many.
func (s *sessions) surplus() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var ids []string
	oldest, most := "", s.now()
	for id, x := range s.byID {
		switch {
		case s.isIdle(x):
			ids = append(ids, id)
		case x.open == 0 && !x.used.After(most):
			oldest, most = id, x.used
		}
	}
	if oldest != "" && len(s.byID)-len(ids) > maxSessions {
		ids = append(ids, oldest)
	}
	return ids
}
