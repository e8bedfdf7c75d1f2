package console

import (
	"bufio"
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// What an attacker names and writes is text on every page.
func TestHostileTextIsText(t *testing.T) {
	t.Parallel()
	x := newRoom(t).enter()
	name := "<img src=x onerror=alert(1)>\u202e\u200b\"'`.md"
	content := "</td><script>alert(1)</script>\n\u202egnp\u202c \x1b[2J {{.Token}}\n--- a\n+++ b\n@@ -1 +1 @@\n"
	encode := func(v string) string {
		b, err := json.Marshal(v)
		x.must(err)
		return string(b)
	}
	asked := x.call("create_file", `{"path":`+encode("src/"+name)+`,"content":`+encode(content)+`}`)
	made := x.call("create_file", `{"path":`+encode("docs/"+name)+`,"content":`+encode(content)+`}`)
	if asked.approval == "" || made.change == "" {
		t.Fatalf("asked %+v, made %+v", asked, made)
	}
	pages := []string{"/", "/approvals/" + asked.approval, "/changes", "/changes/" + made.change, "/audit", "/changes?path=" + "%3Cscript%3E", "/audit?tool=%22%3E%3Cscript%3E", "/audit?path=..%2Fx%3Cscript%3E", "/changes/%3Cscript%3E"}
	for _, page := range pages {
		body := x.get(page, nil).body
		if regexp.MustCompile("(?i)<img|<script>|\x1b|\u202e|\u202c|\u200b").MatchString(body) {
			t.Errorf("%s holds what was written as it is:\n%s", page, body)
		}
	}
	for _, page := range []string{"/", "/changes/" + made.change} {
		x.contains(x.get(page, nil).body, "&lt;img src=x onerror=alert(1)&gt;", `\u{202e}gnp`, "{{.Token}}", "<ins>--- a</ins>")
	}
}

// Both languages say everything, and the one that a browser asks for is shown until somebody chooses.
func TestLanguages(t *testing.T) {
	t.Parallel()
	x := newRoom(t, "src/a.go", "one\n").enter()
	asked := x.call("replace_text", replace("src/a.go", "one\n", "one", "two"))
	x.contains(x.get("/", map[string]string{"Accept-Language": "fr, zh-TW;q=0.9, en;q=0.5"}).body, `<html lang="zh">`, "批准", "修改", asked.approval)
	x.contains(x.get("/", map[string]string{"Accept-Language": "fr"}).body, `<html lang="en">`, "Approve")
	if got := x.get("/changes?path=src&lang=zh", nil); got.url.RawQuery != "path=src" || !strings.Contains(got.body, `<html lang="zh">`) {
		t.Errorf("after choosing: %s", got.url)
	}
	x.contains(x.get("/scope", map[string]string{"Accept-Language": "en"}).body, `<html lang="zh">`, "权限与限制")
	x.contains(x.press("/", "/approvals/"+asked.approval+"/decline").body, "已拒绝")
}

// Every word that a page or the code says is there in every language, and none is there that nobody says.
func TestWords(t *testing.T) {
	t.Parallel()
	words, err := readWords()
	if err != nil {
		t.Fatal(err)
	}
	var said strings.Builder
	for _, pattern := range []string{"assets/*.html", "*.go"} {
		files, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			said.Write(data)
		}
	}
	for _, m := range regexp.MustCompile(`\{t "([a-z.0-9]+)"|Word: "([a-z.0-9]+)"|Title: "([a-z.0-9]+)"`).FindAllStringSubmatch(said.String(), -1) {
		key := m[1] + m[2] + m[3]
		if !strings.HasSuffix(key, ".") && words[key] == nil {
			t.Errorf("the word %s is not in words.json", key)
		}
	}
	for key, texts := range words {
		for _, lang := range languages {
			if texts[lang] == "" {
				t.Errorf("%s has no words in %s", key, lang)
			}
		}
		if strings.Count(texts["en"], "%") != strings.Count(texts["zh"], "%") {
			t.Errorf("%s is about other things in each language", key)
		}
		stem := strings.TrimSuffix(strings.TrimSuffix(key, ".one"), ".many")
		family, _, _ := strings.Cut(key, ".")
		if !strings.Contains(said.String(), `"`+stem+`"`) && !strings.Contains(said.String(), `"`+family+`." +`) {
			t.Errorf("nobody says %s", key)
		}
	}
}

// A page is told when what it shows is another, and not of what it does not show.
func TestLive(t *testing.T) {
	t.Parallel()
	x := newRoom(t, "src/a.go", "one\n").enter()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, x.inside+"/live?section=approvals", nil)
	x.must(err)
	r.Header.Set("Accept", "text/event-stream")
	answer, err := x.browser.Do(r)
	x.must(err)
	defer answer.Body.Close()
	events := make(chan news, 8)
	go func() {
		lines := bufio.NewScanner(answer.Body)
		for lines.Scan() {
			if data, ok := strings.CutPrefix(lines.Text(), "data: "); ok {
				var n news
				if json.Unmarshal([]byte(data), &n) == nil {
					events <- n
				}
			}
		}
		close(events)
	}()
	next := func() news {
		t.Helper()
		select {
		case n := <-events:
			return n
		case <-time.After(30 * time.Second):
			t.Fatal("nothing was told")
			return news{}
		}
	}
	begin := next()
	if begin.Pending != 0 || !strings.Contains(x.get("/", nil).body, `data-mark="`+begin.Mark+`"`) {
		t.Errorf("at first %+v", begin)
	}
	x.call("create_file", `{"path":"b.md","content":"x"}`) // nothing to do with approvals
	x.call("replace_text", replace("src/a.go", "one\n", "one", "two"))
	told := next()
	if told.Pending != 1 || told.Mark == begin.Mark {
		t.Errorf("told %+v after %+v", told, begin)
	}
	var once news
	got := x.get("/live?section=approvals", nil)
	if err := json.Unmarshal([]byte(got.body), &once); err != nil || once != told {
		t.Errorf("without a stream %q, %v", got.body, err)
	}
	if got := x.get("/live?section=changes", nil); strings.Contains(got.body, told.Mark) {
		t.Errorf("of changes %s", got.body)
	}
}

// A page where something can be pressed is not shown anew by itself.
func TestPagesDoNotMoveUnderTheHand(t *testing.T) {
	t.Parallel()
	x := newRoom(t, "src/a.go", "one\n").enter()
	x.contains(x.get("/", nil).body, `data-live="swap"`)
	x.call("replace_text", replace("src/a.go", "one\n", "one", "two"))
	x.contains(x.get("/", nil).body, `data-live="tell"`)
}
