package gate

import (
	"fmt"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"writ/envelope"
	"writ/policy"
)

// throttle bounds how many calls a caller makes in a minute. A minute's worth may come at once.
type throttle struct {
	limits policy.Limits
	clock  func() time.Time

	mu      sync.Mutex
	callers map[string]*rate.Limiter
}

func newThrottle(l policy.Limits, clock func() time.Time) *throttle {
	return &throttle{limits: l, clock: clock, callers: map[string]*rate.Limiter{}}
}

// admit returns nil, or the refusal that tells how long to wait.
func (t *throttle) admit(caller string) error {
	limiter, perMinute := t.limiter(caller)
	if limiter == nil {
		return nil
	}
	now := t.clock()
	r := limiter.ReserveN(now, 1)
	wait := r.DelayFrom(now)
	if wait == 0 {
		return nil
	}
	r.CancelAt(now)
	return &envelope.Error{
		Code:    envelope.RateLimited,
		Message: fmt.Sprintf("More than %d calls a minute are not answered. Wait for %s and try again.", perMinute, wait.Round(time.Millisecond)),
		Details: map[string]any{"retry_after_ms": wait.Milliseconds() + 1},
	}
}

// limiter returns the bucket of a caller, nil where it is not bounded. Callers are few: they are named by transport.
func (t *throttle) limiter(caller string) (*rate.Limiter, int) {
	l := t.limits
	if caller == CallerHTTP {
		l = l.OverHTTP()
	}
	if l.CallsPerMinute == 0 {
		return nil, 0
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.callers[caller] == nil {
		t.callers[caller] = rate.NewLimiter(rate.Limit(float64(l.CallsPerMinute)/60), l.CallsPerMinute)
	}
	return t.callers[caller], l.CallsPerMinute
}
