package console

import (
	"crypto/sha256"
	"crypto/subtle"
	"net/http"
	"strings"
	"sync"
	"time"
)

const (
	cookieName  = "writ_console"
	sessionTime = 12 * time.Hour
	maxSessions = 32 // the oldest gives way
)

// sessions are who is in, and the codes that let somebody in. A code is good once; both are kept as hashes, so that a
// comparison takes as long for a guess that is nearly right.
type sessions struct {
	clock func() time.Time

	mu    sync.Mutex
	codes map[digest]bool
	open  map[digest]*session
}

type digest [sha256.Size]byte

func digestOf(secret string) digest { return sha256.Sum256([]byte(secret)) }

// session is one browser that came in by a link.
type session struct {
	token string // that forms bring back, so that no other page can send them
	began time.Time

	mu   sync.Mutex
	told []notice // for the next page
}

func newSessions(clock func() time.Time) *sessions {
	return &sessions{clock: clock, codes: map[digest]bool{}, open: map[digest]*session{}}
}

// newCode returns a code that opens a session.
func (s *sessions) newCode() string {
	code := secret()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.codes[digestOf(code)] = true
	return code
}

// enter opens a session by a code and returns the secret that names it.
func (s *sessions) enter(code string) (name string, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.codes[digestOf(code)] {
		return "", false
	}
	delete(s.codes, digestOf(code))
	s.makeRoom()
	name = secret() + secret()
	s.open[digestOf(name)] = &session{token: secret(), began: s.clock()}
	return name, true
}

// makeRoom ends the sessions whose time is over, and the oldest where there are many.
func (s *sessions) makeRoom() {
	var oldest digest
	for d, one := range s.open {
		if s.isOver(one) {
			delete(s.open, d)
		} else if o := s.open[oldest]; o == nil || one.began.Before(o.began) {
			oldest = d
		}
	}
	if len(s.open) >= maxSessions {
		delete(s.open, oldest)
	}
}

func (s *sessions) isOver(one *session) bool { return s.clock().Sub(one.began) >= sessionTime }

// of returns the session of a request, nil where it has none.
func (s *sessions) of(r *http.Request) *session {
	cookie, err := r.Cookie(cookieName)
	if err != nil {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if one := s.open[digestOf(cookie.Value)]; one != nil && !s.isOver(one) {
		return one
	}
	return nil
}

func (s *sessions) leave(one *session) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for d, other := range s.open {
		if other == one {
			delete(s.open, d)
		}
	}
}

// sent tells whether a form came from a page of this session.
func (s *session) sent(r *http.Request) bool {
	return subtle.ConstantTimeCompare([]byte(r.PostFormValue("token")), []byte(s.token)) == 1
}

// tell keeps something to be said on the next page.
func (s *session) tell(n notice) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.told = append(s.told, n)
}

func (s *session) takeTold() []notice {
	s.mu.Lock()
	defer s.mu.Unlock()
	told := s.told
	s.told = nil
	return told
}

// login opens a session by a link. Browsers fetch links before anybody follows them, which must not use one up.
func (c *Console) login(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodGet || strings.Contains(r.Header.Get("Sec-Purpose"), "prefetch") {
		http.Error(w, "Not now", http.StatusServiceUnavailable)
		return
	}
	name, ok := c.sessions.enter(r.URL.Query().Get("code"))
	if !ok {
		c.closed(w, r)
		return
	}
	c.Invite()
	http.SetCookie(w, &http.Cookie{
		Name: cookieName, Value: name, Path: c.root() + "/", MaxAge: int(sessionTime.Seconds()),
		HttpOnly: true, SameSite: http.SameSiteStrictMode, Secure: r.TLS != nil || c.BehindTLS,
	})
	http.Redirect(w, r, c.root()+"/", http.StatusSeeOther)
}

// closed answers whoever is not in.
func (c *Console) closed(w http.ResponseWriter, r *http.Request) {
	v := &visit{Console: c, w: w, r: r, lang: languageOf(r)}
	v.status = http.StatusForbidden
	v.renderOrSay("closed", page{Title: "closed.title"})
}

// leave ends the session.
func (v *visit) leave() error {
	v.sessions.leave(v.session)
	http.Redirect(v.w, v.r, v.Base+"/", http.StatusSeeOther)
	return nil
}
