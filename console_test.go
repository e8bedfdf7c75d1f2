package main

import (
	"bufio"
	"io"
	"net/http"
	"net/http/cookiejar"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// The console listens nowhere but on this machine.
func TestConsoleIsForThisMachine(t *testing.T) {
	t.Parallel()
	for _, address := range []string{"0.0.0.0:0", ":0", "no address"} {
		if got := writ(t, "", "console", "--listen", address, t.TempDir()); got.status != 2 || !strings.Contains(got.stderr, "listen on ") {
			t.Errorf("--listen %s: %+v", address, got)
		}
	}
}

// The console opens by the link that is printed, by itself and beside HTTP, and ends with the program although a page
// listens.
func TestConsoleOpensByItsLink(t *testing.T) {
	t.Parallel()
	root := vault(t, "a.md", "one\n")
	policyFile := filepath.Join(t.TempDir(), "writ.yaml")
	rules := "scope: {ask: ['**']}\ncallers: [{name: eva, token: 'sha256:" + strings.Repeat("0", 64) + "'" + "}]\n"
	if err := os.WriteFile(policyFile, []byte(rules), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, arguments := range map[string][]string{
		"by itself":   {"console", "--policy", policyFile, root},
		"beside HTTP": {"serve", "--policy", policyFile, "--http", "127.0.0.1:0", "--console", root},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			command := program(t, arguments...)
			stderr, err := command.StderrPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := command.Start(); err != nil {
				t.Fatal(err)
			}
			defer func() { _ = command.Process.Kill() }()
			lines := bufio.NewScanner(stderr)
			link := ""
			for link == "" && lines.Scan() {
				link = regexp.MustCompile(`http://127\.0\.0\.1:\d+\S*/login\?code=\w+`).FindString(lines.Text())
			}
			inside := openConsole(t, link)
			if answer, err := http.Post(link, "application/json", strings.NewReader("{}")); err != nil || answer.StatusCode < 400 {
				t.Errorf("a link takes a form: %v, %v", answer, err)
			}
			stream, err := inside.get("live", "text/event-stream")
			if err != nil {
				t.Fatal(err)
			}
			defer stream.Body.Close()
			if err := command.Process.Signal(os.Interrupt); err != nil {
				t.Fatal(err)
			}
			if _, err := io.ReadAll(stream.Body); err != nil {
				t.Logf("the stream ends with %v", err)
			}
			if _, err := io.ReadAll(stderr); err != nil {
				t.Logf("standard error ends with %v", err)
			}
			if err := command.Wait(); err != nil {
				t.Errorf("it ends with %v", err)
			}
		})
	}
}

// insider is a browser that a link let in.
type insider struct {
	*http.Client
	root string
}

func openConsole(t *testing.T, link string) *insider {
	t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	b := &insider{Client: &http.Client{Jar: jar}}
	answer, err := b.Get(link)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	b.root = answer.Request.URL.String()
	body, err := io.ReadAll(answer.Body)
	if err != nil || answer.StatusCode != http.StatusOK || !strings.Contains(string(body), "Nothing waits for you.") {
		t.Fatalf("%s opens %d %s, %v", link, answer.StatusCode, body, err)
	}
	answer, err = b.get("scope", "text/html")
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	body, err = io.ReadAll(answer.Body)
	if err != nil || !regexp.MustCompile(`write</span></dt><dd><span class="muted">nothing`).Match(body) {
		t.Errorf("what only the person may do is shown as the agent's: %s, %v", body, err)
	}
	return b
}

func (b *insider) get(path, accept string) (*http.Response, error) {
	r, err := http.NewRequest(http.MethodGet, b.root+path, nil)
	if err != nil {
		return nil, err
	}
	r.Header.Set("Accept", accept)
	return b.Do(r)
}
