package policy

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
)

// Fingerprint names what of a root's notes may be read, and as what text. Two policies that have the same one show the
// same notes; what was kept under another must not be shown under this one.
func (p *Policy) Fingerprint() string { return p.fingerprint }

func (p *Policy) newFingerprint() string {
	include := make([]string, len(p.notes))
	for i, g := range p.notes {
		include[i] = g.String()
	}
	encodings := make([][2]string, len(p.encodings))
	for i, e := range p.encodings {
		encodings[i] = [2]string{e.glob.String(), e.name}
	}
	facts := []any{p.zones.Read, include, p.visibility, encodings, p.redact, p.limits.FileBytes}
	if p.own != nil { // the zones of two policies may be told as the same globs and differ in what they hide
		facts = append(facts, p.all, p.own.zones.Read)
	}
	told, err := json.Marshal(facts)
	if err != nil {
		panic(err) // it is text and numbers
	}
	sum := sha256.Sum256(told)
	return hex.EncodeToString(sum[:8])
}
