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
	clock func() time.Time

	mu      sync.Mutex
	callers map[string]*rate.Limiter
}

func newThrottle(clock func() time.Time) *throttle {
	return &throttle{clock: clock, callers: map[string]*rate.Limiter{}}
}

// admit returns nil, or the refusal that tells how long to wait. l are the caller's limits, which never change.
func (t *throttle) admit(caller string, l policy.Limits) error {
	limiter, perMinute := t.limiter(caller, l)
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

// limiter returns the bucket of a caller, nil where it is not bounded. Callers are few: the policy names them.
func (t *throttle) limiter(caller string, l policy.Limits) (*rate.Limiter, int) {
	if caller != CallerLocal {
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
