package console

import (
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"writ/ledger"
)

// A link is good once, and whoever has no session sees nothing.
func TestOnlyALinkLetsIn(t *testing.T) {
	t.Parallel()
	x := newRoom(t, "src/a.go", "one\n")
	link := x.site.URL + x.links[0]
	if early := x.get(link, map[string]string{"Sec-Purpose": "prefetch;prerender"}); early.status != http.StatusServiceUnavailable {
		t.Errorf("a browser that looks ahead is let in: %d", early.status)
	}
	x.do(http.MethodHead, link, nil, nil)
	x.browser.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	first := x.get(link, nil)
	cookie := first.header.Get("Set-Cookie")
	for _, part := range []string{"HttpOnly", "SameSite=Strict", "Path=/console/" + x.console.key + "/"} {
		if !strings.Contains(cookie, part) {
			t.Errorf("%q is not in the cookie %s", part, cookie)
		}
	}
	x.browser = x.newBrowser()
	if second := x.get(link, nil); second.status != http.StatusForbidden || len(second.header["Set-Cookie"]) > 0 {
		t.Errorf("the link is good twice: %d", second.status)
	}
	if len(x.links) != 2 || x.links[1] == x.links[0] {
		t.Errorf("the links told are %q", x.links)
	}
	x.inside = x.site.URL + x.console.root()
	for _, path := range []string{"/", "/changes", "/audit", "/scope", "/live", "/approvals/apr_x", "/changes/chg_x"} {
		if got := x.get(path, nil); got.status != http.StatusForbidden || strings.Contains(got.body, x.root) {
			t.Errorf("%s without a session: %d", path, got.status)
		}
	}
	for _, path := range []string{"/console/", "/console/changes", "/console/login", "/console/login?code=", "/console/x/"} {
		if got := x.get(x.site.URL+path, nil); got.status != http.StatusForbidden || strings.Contains(got.body, x.console.key) {
			t.Errorf("%s: %d", path, got.status)
		}
	}
}

func TestSessionEnds(t *testing.T) {
	t.Parallel()
	now := time.Now()
	x := newRoom(t)
	x.console.sessions.clock = func() time.Time { return now }
	x.enter()
	other := x.browser
	x.browser = x.newBrowser()
	x.enter()
	x.press("/", "/leave")
	if got := x.get("/", nil); got.status != http.StatusForbidden {
		t.Errorf("after leaving: %d", got.status)
	}
	x.browser = other
	if got := x.get("/", nil); got.status != http.StatusOK {
		t.Errorf("another session was ended too: %d", got.status)
	}
	now = now.Add(sessionTime)
	if got := x.get("/", nil); got.status != http.StatusForbidden {
		t.Errorf("after its time: %d", got.status)
	}
	for range maxSessions + 5 {
		x.browser = x.newBrowser()
		x.enter()
	}
	if n := len(x.console.sessions.open); n != maxSessions {
		t.Errorf("%d sessions are open", n)
	}
}

// A page of another origin can neither read nor press anything, under whatever name it reaches the console.
func TestOtherPagesAreKeptOut(t *testing.T) {
	t.Parallel()
	x := newRoom(t, "src/a.go", "one\n").enter()
	asked := x.call("replace_text", replace("src/a.go", "one\n", "one", "two"))
	approve := "/approvals/" + asked.approval + "/approve"
	for name, c := range map[string]struct {
		token  string
		header map[string]string
	}{
		"no token":                   {"", nil},
		"a wrong token":              {strings.Repeat("a", 26), nil},
		"another origin":             {x.token("/"), map[string]string{"Origin": "https://evil.example"}},
		"no origin at all":           {x.token("/"), map[string]string{"Origin": "null"}},
		"another port":               {x.token("/"), map[string]string{"Sec-Fetch-Site": "same-site"}},
		"another site":               {x.token("/"), map[string]string{"Sec-Fetch-Site": "cross-site"}},
		"another name for this host": {x.token("/"), map[string]string{"Host": "evil.example"}},
	} {
		form := url.Values{"token": {c.token}, "for": {"once"}}
		if got := x.do(http.MethodPost, approve, form, c.header); got.status != http.StatusForbidden {
			t.Errorf("%s: %d", name, got.status)
		}
	}
	for _, host := range []string{"evil.example", "evil.example:80", "127.0.0.1.evil.example", "", "169.254.1.1"} {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, x.inside+"/", nil)
		x.must(err)
		r.Host = host
		if host == "" {
			r.Host = "."
		}
		answer, err := x.browser.Do(r)
		x.must(err)
		answer.Body.Close()
		if answer.StatusCode != http.StatusForbidden {
			t.Errorf("as %q: %d", host, answer.StatusCode)
		}
	}
	if got := x.get(approve, nil); got.status == http.StatusOK {
		t.Errorf("a link approves: %d", got.status)
	}
	if large := x.do(http.MethodPost, approve, url.Values{"x": {strings.Repeat("y", maxForm)}, "token": {x.token("/")}}, nil); large.status != http.StatusForbidden {
		t.Errorf("a form that is too large: %d", large.status)
	}
	if a, err := x.book.Approval(t.Context(), asked.approval); err != nil || a.State != ledger.ApprovalPending {
		t.Errorf("it is %s, %v", a.State, err)
	}
	if got := x.get("/", map[string]string{"Host": "localhost:9999"}); strings.Contains(got.body, "not known") {
		t.Errorf("through a tunnel: %s", got.body)
	}
}

// No page holds a script, a style or an address from elsewhere, and each forbids them.
func TestPagesLoadNothing(t *testing.T) {
	t.Parallel()
	x := newRoom(t, "src/a.go", "one\n").enter()
	change := x.call("create_file", `{"path":"b.md","content":"x"}`).change
	asked := x.call("replace_text", replace("src/a.go", "one\n", "one", "two"))
	inline := regexp.MustCompile(`(?i)<style|<script[^>]*>[^<]|\sstyle=|\son[a-z]+=|javascript:|(src|href|action)="(https?:)?//`)
	for _, path := range []string{"/", "/changes", "/audit", "/scope", "/changes/" + change, "/approvals/" + asked.approval, "/changes/none", x.site.URL + "/console/"} {
		got := x.get(path, nil)
		if found := inline.FindString(got.body); found != "" {
			t.Errorf("%s holds %q", path, found)
		}
		policy := got.header.Get("Content-Security-Policy")
		if !strings.HasPrefix(policy, "default-src 'none'; script-src 'self'; style-src 'self';") || strings.Contains(policy, "unsafe") || !strings.Contains(policy, "frame-ancestors 'none'") {
			t.Errorf("%s: policy %q", path, policy)
		}
		if got.header.Get("X-Content-Type-Options") != "nosniff" || got.header.Get("Cache-Control") != "no-store" {
			t.Errorf("%s: %v", path, got.header)
		}
	}
	for _, asset := range []string{"style.css", "live.js", "icon.svg"} {
		got := x.get(x.site.URL+"/console/"+asset, nil)
		if got.status != http.StatusOK || regexp.MustCompile(`https?://[^w]|@import|url\(`).MatchString(got.body) {
			t.Errorf("%s: %d", asset, got.status)
		}
	}
}
