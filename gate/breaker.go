package gate

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"writ/contract"
	"writ/envelope"
	"writ/policy"
)

// A model that gets an error likes to send the same call again. The breaker counts how often the very same call of one
// caller has failed while its file stayed as it was, and from a certain number on answers in the tool's place, with
// the first error. A change of the file, other arguments or the cool-down opens the way again.

const (
	maxFailedWrites = 3
	maxFailedReads  = 10
	maxRemembered   = 1024 // failing calls that are remembered
)

// CoolDown is how long a call stays stopped after it has failed last.
const CoolDown = time.Minute

type breaker struct {
	clock func() time.Time

	mu     sync.Mutex
	failed map[string]*failure // by caller and fingerprint
}

type failure struct {
	tool  string
	most  int // from this count on the call is refused
	count int
	first *envelope.Error
	stamp string // of the file, when it failed last
	last  time.Time
}

func newBreaker(clock func() time.Time) *breaker {
	return &breaker{clock: clock, failed: map[string]*failure{}}
}

// watches tells whether the call has failed before. While no call fails, asking costs next to nothing.
func (b *breaker) watches(k *call) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.failed) > 0 && b.failed[k.key()] != nil
}

// admit returns the refusal of a call that has failed too often.
func (b *breaker) admit(k *call, stamp func() string) error {
	if !b.watches(k) {
		return nil
	}
	now := stamp()
	b.mu.Lock()
	defer b.mu.Unlock()
	f := b.failed[k.key()]
	if f == nil {
		return nil
	}
	if f.stamp != now || b.clock().Sub(f.last) > CoolDown {
		delete(b.failed, k.key())
		return nil
	}
	if f.count < f.most {
		return nil
	}
	return &envelope.Error{
		Code: envelope.RetryStopped,
		Message: fmt.Sprintf("This very call has failed %d times and would fail again. Do something else: change the arguments, or ask the user. The first error was: %s",
			f.count, f.first.Message),
		Details: map[string]any{"first_code": string(f.first.Code), "retry_after_ms": (CoolDown - b.clock().Sub(f.last)).Milliseconds()},
	}
}

func (k *call) maxFailures() int {
	if k.tool.Effect.Writes {
		return maxFailedWrites
	}
	return maxFailedReads
}

// note remembers how the call ended.
func (b *breaker) note(k *call, err error, stamp func() string) {
	if items, ok := errors.AsType[*envelope.Items](err); ok {
		err = items.Failed[0].Err
	}
	cause, ok := errors.AsType[*envelope.Error](err)
	if !ok || !worthCounting(cause) {
		return
	}
	now := stamp()
	b.mu.Lock()
	defer b.mu.Unlock()
	f := b.failed[k.key()]
	if f == nil || f.stamp != now {
		b.makeRoom()
		f = &failure{tool: k.Tool, most: k.maxFailures(), first: cause, stamp: now}
		b.failed[k.key()] = f
	}
	f.count++
	f.last = b.clock()
}

// worthCounting tells whether the error is one that the caller should do something about. Waiting, or a person, mends some,
// and a call that was carried out before is no failure.
func worthCounting(cause *envelope.Error) bool {
	switch cause.Code {
	case envelope.RetryStopped, envelope.ApprovalRequired, envelope.ApprovalDeclined, envelope.AlreadyApplied:
		return false
	}
	status := cause.Code.Status()
	return status != envelope.Unavailable && status != envelope.Unknown
}

// makeRoom forgets the failures that have cooled down and, where that is not enough, all: what is lost is a count.
func (b *breaker) makeRoom() {
	if len(b.failed) < maxRemembered {
		return
	}
	for key, f := range b.failed {
		if b.clock().Sub(f.last) > CoolDown {
			delete(b.failed, key)
		}
	}
	if len(b.failed) >= maxRemembered {
		clear(b.failed)
	}
}

// key names the call for the breaker: who calls, and what.
func (k *call) key() string { return k.Caller + "\x00" + k.fingerprint() }

// fingerprint is the SHA-256 of tool and arguments, in hexadecimal. The same call has the same, however its JSON was
// spelled.
func (k *call) fingerprint() string {
	if k.print == "" {
		h := sha256.New()
		h.Write([]byte(k.Tool + "\x00"))
		h.Write(k.args.Canonical())
		k.print = hex.EncodeToString(h.Sum(nil))
	}
	return k.print
}

// stamp returns what tells the files of the call from changed ones. What the caller may not see has one stamp.
func (g *Gate) stamp(ctx context.Context, k *call) func() string {
	return func() string {
		var stamps []string
		for _, name := range g.namesOf(ctx, k) {
			stamps = append(stamps, g.stampOf(ctx, k.policy, name))
		}
		return strings.Join(stamps, "\n")
	}
}

// namesOf lists the paths that a call is about. That of an undoing names a change.
func (g *Gate) namesOf(ctx context.Context, k *call) []string {
	names := k.paths()
	id := k.args.Text("change_id")
	if id == "" || g.ledger == nil {
		return names
	}
	changes, err := g.ledger.Parts(ctx, id)
	if err != nil {
		return names
	}
	for _, c := range changes {
		for _, p := range []contract.Path{c.Path, c.To} {
			if !p.IsTop() {
				names = append(names, p.String())
			}
		}
	}
	return names
}

func (g *Gate) stampOf(ctx context.Context, p *policy.Policy, name string) string {
	path, err := contract.ParsePath(name)
	if err != nil {
		return ""
	}
	info, err := g.files.Reader(guard{p}).Stat(ctx, path)
	if err != nil {
		return string(envelope.CodeOf(err))
	}
	return fmt.Sprint(info.Kind, info.Size, info.Modified.UnixNano())
}
