package console

import (
	"bytes"
	"embed"
	"encoding/json"
	"fmt"
	"html/template"
	"net/http"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"writ/contract"
	"writ/ledger"
	"writ/workspace"
)

//go:embed assets
var assets embed.FS

// page is what all pages have.
type page struct {
	Title   string // a word; see words.json
	Section string // which link leads to it; "" for none
	// Live says what becomes of a page that is out of date: "swap" shows the new one, "tell" says so and waits, since a
	// button that moves while somebody is about to press it is pressed in error; "" nothing.
	Live string
	Data any

	Lang, Base, Root, Token, Here, Mark string
	Pending                             int
	Notices                             []notice
	Roots                               []string
}

// languages are those that the console speaks, the first one where a browser wants none of them.
var languages = []string{"en", "zh"}

// parsePages returns for each language the pages in it, which are parsed when the first is shown.
func parsePages() map[string]func() (*template.Template, error) {
	words := sync.OnceValues(readWords)
	pages := map[string]func() (*template.Template, error){}
	for _, lang := range languages {
		pages[lang] = sync.OnceValues(func() (*template.Template, error) {
			known, err := words()
			if err != nil {
				return nil, err
			}
			return template.New("").Funcs(functions(lang, known)).ParseFS(assets, "assets/*.html")
		})
	}
	return pages
}

// wording is the words of all languages: a key, then the language.
type wording map[string]map[string]string

func readWords() (wording, error) {
	data, err := assets.ReadFile("assets/words.json")
	if err != nil {
		return nil, err
	}
	var words wording
	if err := json.Unmarshal(data, &words); err != nil {
		return nil, fmt.Errorf("words.json: %w", err)
	}
	return words, nil
}

func functions(lang string, words wording) template.FuncMap {
	say := func(key string, args ...any) string {
		text := words[key][lang]
		if len(args) == 0 {
			return text
		}
		return fmt.Sprintf(text, args...)
	}
	return template.FuncMap{
		"t":       say,
		"shown":   contract.Shown,
		"visible": workspace.Visible,
		"at":      func(t time.Time) string { return t.Local().Format(time.DateTime) },
		"stamp":   func(t time.Time) string { return t.UTC().Format(time.RFC3339) },
		"ago": func(t time.Time) string {
			key, n := agoOf(time.Since(t))
			return say(key, n...)
		},
		"n": func(key string, n int) string { return say(plural(key, n), n) },
		"notice": func(n notice) string {
			if n.Word == "" {
				return workspace.Visible(n.Text)
			}
			return say(n.Word, n.Args...)
		},
		"change":    func(c ledger.ApprovalChange) string { return say("kind." + string(c.Kind)) },
		"kind":      func(k contract.ChangeKind) string { return say("kind." + string(k)) },
		"less":      func(n, by int) int { return n - by },
		"wide":      func(n int) int64 { return int64(n) },
		"absolute":  absolute,
		"bytes":     bytesOf,
		"answering": func(p page, q, lasts any) answering { return answering{p, q, lasts} },
		"duration": func(us int64) string {
			return (time.Duration(us) * time.Microsecond).Round(10 * time.Microsecond).String()
		},
	}
}

func plural(key string, n int) string {
	if n == 1 {
		return key + ".one"
	}
	return key + ".many"
}

// agoOf returns the word for how long ago something was.
func agoOf(d time.Duration) (key string, args []any) {
	switch {
	case d < time.Minute:
		return "ago.now", nil
	case d < time.Hour:
		return "ago.minutes", []any{int(d.Minutes())}
	case d < 48*time.Hour:
		return "ago.hours", []any{int(d.Hours())}
	}
	return "ago.days", []any{int(d.Hours() / 24)}
}

// absolute names a directory as it is to be found from anywhere.
func absolute(dir string) string {
	if full, err := filepath.Abs(dir); err == nil {
		return full
	}
	return dir
}

func bytesOf(n int64) string {
	for _, unit := range []struct {
		name string
		size int64
	}{{"GiB", 1 << 30}, {"MiB", 1 << 20}, {"KiB", 1 << 10}} {
		if n >= unit.size {
			return strings.TrimSuffix(fmt.Sprintf("%.1f", float64(n)/float64(unit.size)), ".0") + " " + unit.name
		}
	}
	return fmt.Sprintf("%d B", n)
}

// render shows a page. It is put together before anything is sent, so that no half of one is.
func (v *visit) render(name string, p page) error {
	templates, err := v.pages[v.lang]()
	if err != nil {
		return err
	}
	p.Lang, p.Base = v.lang, v.Base
	if v.session != nil {
		p.Root = v.root() // nobody else may know it
		p.Token, p.Notices = v.session.token, v.session.takeTold()
		p.Here = strings.TrimPrefix(v.r.URL.RequestURI(), v.root())
		for _, r := range v.Policy.Roots() {
			p.Roots = append(p.Roots, absolute(r.Path))
		}
		if pulse, err := v.pulse(); err == nil { // a page about something else does without
			p.Pending, p.Mark = pulse.Pending(), markOf(p.Section, pulse)
		}
	}
	var out bytes.Buffer
	if err := templates.ExecuteTemplate(&out, name+".html", p); err != nil {
		return fmt.Errorf("the page %s: %w", name, err)
	}
	v.w.Header().Set("Content-Type", "text/html; charset=utf-8")
	if v.status != 0 {
		v.w.WriteHeader(v.status)
	}
	_, _ = out.WriteTo(v.w) // a browser that is gone needs no page
	return nil
}

func serveAsset(name string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) { http.ServeFileFS(w, r, assets, "assets/"+name) }
}

const languageCookie = "writ_language"

// languageOf is the language that somebody chose, or else the first of those his browser asks for that we speak.
func languageOf(r *http.Request) string {
	if cookie, err := r.Cookie(languageCookie); err == nil && isLanguage(cookie.Value) {
		return cookie.Value
	}
	for wanted := range strings.SplitSeq(r.Header.Get("Accept-Language"), ",") {
		name, _, _ := strings.Cut(strings.TrimSpace(wanted), ";")
		if name, _, _ = strings.Cut(strings.ToLower(name), "-"); isLanguage(name) {
			return name
		}
	}
	return languages[0]
}

func isLanguage(name string) bool {
	return slices.Contains(languages, name)
}

// chooseLanguage keeps in mind which language the query wants and shows the same page without that.
func (v *visit) chooseLanguage() bool {
	query := v.r.URL.Query()
	wanted := query.Get("lang")
	if v.r.Method != http.MethodGet || !isLanguage(wanted) {
		return false
	}
	http.SetCookie(v.w, &http.Cookie{
		Name: languageCookie, Value: wanted, Path: v.Base + "/", MaxAge: int((365 * 24 * time.Hour).Seconds()),
		HttpOnly: true, SameSite: http.SameSiteStrictMode,
	})
	query.Del("lang")
	to := url.URL{Path: v.r.URL.Path, RawQuery: query.Encode()}
	http.Redirect(v.w, v.r, to.String(), http.StatusSeeOther)
	return true
}
