package main

import (
	"bufio"
	"io"
	"net/http"
	"net/http/cookiejar"
	"regexp"
	"strings"
	"testing"
)

// The console of a directory opens by the link that it prints, and nowhere but on this machine.
func TestConsole(t *testing.T) {
	t.Parallel()
	for _, address := range []string{"0.0.0.0:0", ":0", "no address"} {
		if got := writ(t, "", "console", "--listen", address, t.TempDir()); got.status != 2 || !strings.Contains(got.stderr, "listen on ") {
			t.Errorf("--listen %s: %+v", address, got)
		}
	}
	root := vault(t, "a.md", "one\n")
	command := program(t, "console", "--ask", "**", root)
	stderr, err := command.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = command.Process.Kill() })
	line, err := bufio.NewReader(stderr).ReadString('\n')
	link := regexp.MustCompile(`http://127\.0\.0\.1:\d+/login\?code=\w+`).FindString(line)
	if err != nil || link == "" {
		t.Fatalf("it says %q, %v", line, err)
	}
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	browser := http.Client{Jar: jar}
	page := func(address string) (int, string) {
		t.Helper()
		answer, err := browser.Get(address)
		if err != nil {
			t.Fatal(err)
		}
		defer answer.Body.Close()
		body, err := io.ReadAll(answer.Body)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(address, "login") {
			link = answer.Request.URL.String()
		}
		return answer.StatusCode, string(body)
	}
	if status, body := page(link); status != http.StatusOK || !strings.Contains(body, "Nothing waits for you.") {
		t.Errorf("the link opens %d %s", status, body)
	}
	if status, body := page(link + "scope"); status != http.StatusOK || !regexp.MustCompile(`write</span></dt><dd><span class="muted">nothing`).MatchString(body) {
		t.Errorf("what only the person may do is shown as the agent's: %d %s", status, body)
	}
}
