package gate

import (
	"fmt"
	"sync"

	"writ/envelope"
)

// retryAfterMillis is when a call is worth another try that was refused because others run: most take far less.
const retryAfterMillis = 1000

// flights counts the calls of each caller that run at the moment. One that was answered at its deadline runs until the
// system lets go of it, so a drive that hangs costs a bounded number of threads.
type flights struct {
	mu      sync.Mutex
	callers map[string]*inFlight
}

type inFlight struct {
	running int // stuck ones included, those that wait for a person not
	stuck   int
}

func newFlights() *flights { return &flights{callers: map[string]*inFlight{}} }

// enter counts a call in, or refuses it where so many of the caller's run already.
func (f *flights) enter(caller string, most int) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	of := f.of(caller)
	if of.running < most {
		of.running++
		return nil
	}
	refusal := &envelope.Error{
		Code: envelope.RateLimited, Details: map[string]any{"retry_after_ms": retryAfterMillis},
		Message: fmt.Sprintf("%d calls are under way, and more at once are not answered. Wait until one has ended.", of.running),
	}
	if of.stuck > 0 {
		refusal.Code = envelope.Busy
		refusal.Message = fmt.Sprintf("%d calls are under way, %d of which are stuck in the system, and more at once are not answered. A drive may hang: tell the user, and try again later.",
			of.running, of.stuck)
	}
	return refusal
}

// strand notes that a call was answered without its result.
func (f *flights) strand(caller string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.of(caller).stuck++
}

// leave counts a call out.
func (f *flights) leave(caller string, wasStuck bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	of := f.of(caller)
	of.running--
	if wasStuck {
		of.stuck--
	}
}

// pause gives the place of a call to others while a person thinks; resume takes one, over the limit if need be, since
// what a person has allowed is not refused for want of a place.
func (f *flights) pause(caller string) { f.leave(caller, false) }

func (f *flights) resume(caller string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.of(caller).running++
}

// stuck tells how many calls of the caller were answered and have not come back.
func (f *flights) stuck(caller string) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.of(caller).stuck
}

// of returns the count of a caller. Callers are few: the policy names them.
func (f *flights) of(caller string) *inFlight {
	if f.callers[caller] == nil {
		f.callers[caller] = &inFlight{}
	}
	return f.callers[caller]
}
