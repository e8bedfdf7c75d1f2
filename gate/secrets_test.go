package gate

import (
	"strings"
	"testing"

	"writ/workspace"
)

// joined puts a secret together, so that none stands in this file.
func joined(parts ...string) string { return strings.Join(parts, "") }

var (
	token  = joined("gh", "p_", "Ab3dEf6hIj9kLm2nOp5qRs8tUv1wXy4zAb7c")
	keyPEM = joined("-----BEGIN RSA PRIV", "ATE KEY-----\n") + strings.Repeat("MIIEpAIBAAKCAQEA7bq2Wm9zJf0u3vYk8QxR1tN5cHs6LgVd\n", 20) +
		joined("-----END RSA PRIV", "ATE KEY-----")
)

func TestFind(t *testing.T) {
	jwt := joined("ey", "JhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.ey", "JzdWIiOiIxMjM0NTY3ODkwIiwibmFtZSI6IkpvaG4ifQ.", "dozjgNryP4J3jVmNHl0w5N_XgL0n3I9PlFUP0THsR8U")
	for _, c := range []struct {
		name, text, kind, secret string // no kind: nothing is found
	}{
		{"a token in prose", "key " + token + " end\n", "github-pat", token},
		{"a token at the start", token, "github-pat", token},
		{"the start of a token", "key " + token[:30] + " end", "", ""},
		{"a token without entropy", "ghp_" + strings.Repeat("a", 36), "", ""},
		{"an access key", "id: " + joined("AK", "IAQ7XK3M5NPT2WZY4B") + "\n", "aws-access-token", joined("AK", "IAQ7XK3M5NPT2WZY4B")},
		{"an access key in a longer word", "xAK" + "IAQ7XK3M5NPT2WZY4B", "", ""},
		{"an access key of the manuals", joined("AK", "IAIOSFODNN7EXAMPLE"), "", ""},
		{"only the value beside a name", `cloudflare_key = "` + joined("a1b2c3d4e5f6g7h8i9j0", "k1l2m3n4o5p6q7r8s9t0") + "\"\n", "cloudflare-api-key", joined("a1b2c3d4e5f6g7h8i9j0", "k1l2m3n4o5p6q7r8s9t0")},
		{"a web token", "Bearer " + jwt + "\n", "jwt", jwt},
		{"a Slack token", joined("xo", "xb-", "123456789012-123456789012-AbCdEfGhIjKlMnOpQrStUvWx"), "slack-bot-token", joined("xo", "xb-", "123456789012-123456789012-AbCdEfGhIjKlMnOpQrStUvWx")},
		{"a password in a URL", "postgres://app:hunter2x@db.example/x", "url-password", "hunter2x"},
		{"a variable in a URL", "postgres://app:${PW}@db.example/x", "", ""},
		{"a port in a URL", "see http://example.org:8080/a@b", "", ""},
		{"a login of netrc", "machine h.example\n  login me\n  password s3cr3t!x\n", "netrc-password", "s3cr3t!x"},
		{"a password first", "default password s3cr3t!x login me\n", "netrc-password", "s3cr3t!x"},
		{"prose about passwords", "The default password is long. A machine has password protection.", "", ""},
		{"a private key", "a\n" + keyPEM + "\nb\n", "private-key", keyPEM},
		{"a private key in one line", `{"key": "` + strings.ReplaceAll(keyPEM, "\n", `\n`) + `"}`, "private-key", strings.ReplaceAll(keyPEM, "\n", `\n`)},
		{"a private key without an end", "a\n" + keyPEM[:700], "private-key", strings.TrimSpace(keyPEM[:700])},
		{"the name of a private key", "lines such as -----BEGIN PRIVATE KEY----- and so on\n", "", ""},
		{"curl with a user", "curl -u " + `"admin:` + joined("Zx81", "qWe9rTy") + `" https://h.example/` + "\n", "curl-auth-user", `"admin:` + joined("Zx81", "qWe9rTy") + `"`},
		{"data of a Kubernetes secret", "kind: Secret\nmetadata:\n  name: a\ndata:\n  token: QWxhZGRpbjpvcGVuIHNlc2FtZQ==\n", "kubernetes-secret-yaml", "token: QWxhZGRpbjpvcGVuIHNlc2FtZQ=="},
		{"nothing at all", "", "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := Secrets{}.Find([]byte(c.text))
			if c.kind == "" {
				if len(got) > 0 {
					t.Fatalf("found %v: %q", got, c.text[got[0].Start:got[0].End])
				}
				return
			}
			if len(got) != 1 {
				t.Fatalf("found %v, want one %s", got, c.kind)
			}
			if found := c.text[got[0].Start:got[0].End]; got[0].Kind != c.kind || found != c.secret {
				t.Errorf("found a %s: %q\nwant %s: %q", got[0].Kind, found, c.kind, c.secret)
			}
		})
	}
}

// Each rule compiles, and gives no reason to look at all of a text.
func TestEveryRuleIsSound(t *testing.T) {
	ids := map[string]bool{}
	for _, r := range loadSecretRules().rules {
		r.prepare.Do(r.study)
		r.compile.Do(r.compileAll)
		if len(r.Keywords) == 0 {
			t.Errorf("%s has no keyword", r.ID)
		}
		for _, word := range r.Keywords {
			if word != strings.ToLower(word) {
				t.Errorf("%s: the keyword %q is not in lower case", r.ID, word)
			}
		}
		if r.Group > r.re.NumSubexp() {
			t.Errorf("%s has no group %d", r.ID, r.Group)
		}
		ids[r.ID] = true
	}
	if len(ids) < 200 {
		t.Errorf("there are only %d kinds", len(ids))
	}
}

func TestTheAutomatonFindsEveryWord(t *testing.T) {
	words := []string{"he", "she", "his", "hers", "a", "aa"}
	text := "usHERS aaa his-SHE"
	var got []string
	newAutomaton(words).each([]byte(text), func(start, word int) { got = append(got, words[word]+"@"+text[start:]) })
	want := 0
	for _, word := range words {
		for i := range text {
			if strings.HasPrefix(strings.ToLower(text[i:]), word) {
				want++
			}
		}
	}
	if len(got) != want {
		t.Errorf("found %d words, want %d: %q", len(got), want, got)
	}
}

var plain = strings.Repeat("The quick brown fox jumps over the lazy dog, and the keys of the task are where they were.\n", 800)[:64<<10]

func BenchmarkRedact64KB(b *testing.B) {
	text := []byte(plain)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		Secrets{}.Find(text)
	}
}

func BenchmarkRedact1KB(b *testing.B) {
	text := []byte(plain[:1<<10])
	for b.Loop() {
		Secrets{}.Find(text)
	}
}

var _ workspace.SecretFinder = Secrets{}
