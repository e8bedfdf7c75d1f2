package gate

import (
	"errors"
	"testing"
	"time"

	"writ/envelope"
	"writ/policy"
)

func TestThrottle(t *testing.T) {
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	limits := policy.Limits{CallsPerMinute: 2}
	throttle := newThrottle(func() time.Time { return now })
	for range 2 {
		if err := throttle.admit(CallerLocal, limits); err != nil {
			t.Fatalf("a call within the limit: %v", err)
		}
	}
	refusal, ok := errors.AsType[*envelope.Error](throttle.admit(CallerLocal, limits))
	if !ok || refusal.Code != envelope.RateLimited || refusal.Code.Status() != envelope.Unavailable {
		t.Fatalf("the third call in a minute: %v", refusal)
	}
	if wait := refusal.Details["retry_after_ms"].(int64); wait < 29_000 || wait > 31_000 {
		t.Errorf("told to wait %d ms, want half a minute", wait)
	}
	if err := throttle.admit(CallerHTTP, limits); err != nil {
		t.Errorf("another caller has a limit of its own: %v", err)
	}
	now = now.Add(30 * time.Second)
	if err := throttle.admit(CallerLocal, limits); err != nil {
		t.Errorf("after the wait: %v", err)
	}
}

// Over stdio nothing bounds the calls unless the policy does; over HTTP something always does.
func TestThrottleWithoutALimit(t *testing.T) {
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	throttle := newThrottle(func() time.Time { return now })
	refused := 0
	for range 2000 {
		if throttle.admit(CallerLocal, policy.DefaultLimits()) != nil {
			t.Fatal("a local call was refused")
		}
		if throttle.admit(CallerHTTP, policy.DefaultLimits()) != nil {
			refused++
		}
	}
	if want := 2000 - policy.DefaultLimits().OverHTTP().CallsPerMinute; refused != want {
		t.Errorf("%d calls over HTTP were refused, want %d", refused, want)
	}
}
